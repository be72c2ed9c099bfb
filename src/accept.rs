//! Accepts connections while the process may be short of file descriptors. The servers of this workspace share it.

use std::io;
use std::time::Duration;

/// The time that a server waits after it could not accept a connection. It usually lacks file descriptors, and they are
/// free again when other connections close. If it tried again at once, it would use a whole core and fill the log.
const AGAIN: Duration = Duration::from_millis(100);

/// Decides what follows when a server cannot accept a connection. It logs a shortage once, and not at each attempt.
///
/// ```
/// use dirigent::accept::Shortage;
/// use std::io::{Error, ErrorKind};
///
/// let mut shortage = Shortage::new("the page");
/// assert!(!shortage.failed(Error::from_raw_os_error(24))?.is_zero(), "too many open files");
/// shortage.accepted();
/// assert!(shortage.failed(ErrorKind::InvalidInput.into()).is_err(), "no listener");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Shortage {
    server: &'static str,
    failed: u64,
}

impl Shortage {
    /// Creates one for a server. The name of the server appears in the log.
    pub const fn new(server: &'static str) -> Self {
        Self { server, failed: 0 }
    }

    /// Takes an error of an accept. Returns the time to wait before the next accept.
    ///
    /// # Errors
    ///
    /// Returns the error itself if the listener can never accept again.
    pub fn failed(&mut self, error: io::Error) -> io::Result<Duration> {
        let kind = error.kind();
        if matches!(kind, io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected) {
            return Err(error);
        }
        // Only this connection is gone, and the next one may be there already.
        if matches!(kind, io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
            return Ok(Duration::ZERO);
        }
        if self.failed == 0 {
            tracing::warn!(%error, server = self.server, "no connection can be accepted; it is tried again until one can");
        }
        self.failed += 1;
        Ok(AGAIN)
    }

    /// Notes that the server accepted a connection, so a shortage is over.
    pub fn accepted(&mut self) {
        if self.failed > 0 {
            let attempts = std::mem::take(&mut self.failed);
            tracing::warn!(attempts, server = self.server, "connections are accepted again");
        }
    }
}

/// Returns the number of connections that a server may keep. This is at most `most`, and at most half of the file
/// descriptors that the process may open, because the other half is for Discord, stores and models. It is at least 1.
pub fn connections_max(most: usize) -> usize {
    most.min(descriptors() / 2).max(1)
}

#[cfg(unix)]
fn descriptors() -> usize {
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
const fn descriptors() -> usize {
    usize::MAX
}

#[cfg(test)]
mod tests {
    use dirigent_testkit::Log;

    use super::*;

    /// PG2: a shortage of file descriptors is waited for, and told twice however long it lasts.
    #[test]
    fn a_shortage_is_told_once_and_when_it_is_over() {
        let log = Log::default();
        log.during(|| {
            let mut shortage = Shortage::new("the page");
            shortage.accepted();
            for _ in 0..55_000 {
                let wait = shortage.failed(io::Error::from_raw_os_error(24)).unwrap();
                assert_eq!(wait, AGAIN);
            }
            let reset = io::ErrorKind::ConnectionReset.into();
            assert_eq!(shortage.failed(reset).unwrap(), Duration::ZERO);
            shortage.accepted();
            shortage.accepted();
        });
        let lines = log.lines();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("no connection can be accepted"), "{lines:?}");
        assert!(lines[1].contains("again") && lines[1].contains("55000"), "{lines:?}");
    }

    /// PG2: connections leave half of the file descriptors to the rest of the process.
    #[test]
    fn connections_leave_file_descriptors_for_the_rest() {
        assert_eq!(connections_max(1), 1);
        assert_eq!(connections_max(0), 1);
        assert!(connections_max(usize::MAX) <= descriptors() / 2);
    }
}
