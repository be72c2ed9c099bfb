//! Reads the output of a process, up to a limit.

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout};

/// The number of bytes to read at once.
const CHUNK: usize = 16 * 1_024;

/// Both outputs of a process.
#[derive(Debug)]
pub(crate) struct Pipes {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Vec<u8>,
    err: Vec<u8>,
    most: usize,
    /// The number of bytes that were read in all.
    total: usize,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    /// There is more output.
    Written,
    /// One of the outputs is closed.
    Closed,
    /// The limit is reached.
    Full,
}

impl Pipes {
    /// Takes the outputs of a process. It stores at most this many bytes of each.
    pub(super) fn of(child: &mut Child, most: usize) -> Self {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Self { stdout, stderr, out: Vec::new(), err: Vec::new(), most, total: 0 }
    }

    pub(crate) const fn are_closed(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Reads more of either output. You can drop the future without losing bytes.
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

    /// Returns how many bytes were read in all, including those taken out.
    #[cfg(feature = "acp")]
    pub(crate) const fn total(&self) -> usize {
        self.total
    }

    /// Reads both outputs to their ends, and drops the bytes.
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

    /// Takes the first complete line from the output, without its end.
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

/// Reads more of one output. If it cannot be read, it counts as closed.
async fn more(
    pipe: &mut Option<impl AsyncRead + Unpin>,
    written: &mut Vec<u8>,
    most: usize,
) -> Capture {
    let Some(open) = pipe else {
        return Capture::Closed;
    };
    written.reserve(CHUNK);
    // Read one byte more than may be stored, to tell a full output from one that is too long.
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
