//! What a process writes, up to a limit.

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout};

/// How much is read at once.
const CHUNK: usize = 16 * 1_024;

/// Both outputs of a process.
#[derive(Debug)]
pub(crate) struct Pipes {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Vec<u8>,
    err: Vec<u8>,
    most: usize,
    /// How much was read in all.
    total: usize,
}

/// What a reading brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    /// More was written.
    Written,
    /// One of the outputs is closed.
    Closed,
    /// The limit is reached.
    Full,
}

impl Pipes {
    /// Takes the outputs of a process, and keeps at most this number of bytes of each.
    pub(super) fn of(child: &mut Child, most: usize) -> Self {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Self { stdout, stderr, out: Vec::new(), err: Vec::new(), most, total: 0 }
    }

    pub(crate) const fn are_closed(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Reads more of either output. Nothing is lost when the future is dropped.
    pub(crate) async fn read(&mut self) -> Capture {
        let Self { stdout, stderr, out, err, most, total } = self;
        let before = out.len() + err.len();
        let captured = tokio::select! {
            captured = more(stdout, out, *most), if stdout.is_some() => captured,
            captured = more(stderr, err, *most), if stderr.is_some() => captured,
            else => Capture::Closed,
        };
        *total = total.saturating_add(out.len() + err.len() - before);
        captured
    }

    /// Returns how much was read in all, with what was taken out.
    #[cfg(feature = "acp")]
    pub(crate) const fn total(&self) -> usize {
        self.total
    }

    /// Reads both outputs to their ends, and keeps nothing.
    #[cfg(feature = "serve")]
    pub(crate) async fn discard(mut self) {
        (self.out, self.err) = (Vec::new(), Vec::new());
        while !self.are_closed() {
            self.read().await;
            self.out.clear();
            self.err.clear();
        }
    }

    pub(crate) fn stdout(&self) -> &[u8] {
        &self.out
    }

    /// Takes the first line that is whole out of what was written, without its end.
    #[cfg(feature = "acp")]
    pub(crate) fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.out.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<u8> = self.out.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    #[cfg(any(feature = "acp", feature = "serve"))]
    pub(crate) fn stderr(&self) -> &[u8] {
        &self.err
    }

    pub(super) fn into_written(self) -> (Vec<u8>, Vec<u8>) {
        (self.out, self.err)
    }
}

/// Reads more of one output. An output that cannot be read counts as closed.
async fn more(
    pipe: &mut Option<impl AsyncRead + Unpin>,
    written: &mut Vec<u8>,
    most: usize,
) -> Capture {
    let Some(open) = pipe else {
        return Capture::Closed;
    };
    written.reserve(CHUNK);
    // One byte more than is kept tells a full output from one that is longer.
    let room = (most + 1 - written.len().min(most)) as u64;
    match open.take(room).read_buf(written).await {
        Ok(0) | Err(_) => {
            *pipe = None;
            Capture::Closed
        }
        Ok(_) if written.len() > most => {
            written.truncate(most);
            Capture::Full
        }
        Ok(_) => Capture::Written,
    }
}
