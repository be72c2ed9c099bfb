//! The way to a failure, written down only when it will be read.

use super::{Failure, Report};

/// One line a step, or nothing at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// The lines, if they are wanted.
    lines: Option<Vec<String>>,
}

/// Runs without a trace, and once more with one if that fails: tracing costs more than checking.
pub(super) fn only_failures(
    attempt: impl Fn(Trace) -> Result<Report, Failure>,
) -> Result<Report, Failure> {
    attempt(Trace::off()).map_err(|untraced| attempt(Trace::on()).err().unwrap_or(untraced))
}

impl Trace {
    /// Writes nothing down: most checks find nothing.
    pub(super) const fn off() -> Self {
        Self { lines: None }
    }

    /// Writes every step down.
    pub(super) const fn on() -> Self {
        Self { lines: Some(Vec::new()) }
    }

    /// Begins a line.
    pub(super) fn begin(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(line());
        }
    }

    /// Adds to the line.
    pub(super) fn add(&mut self, text: impl FnOnce() -> String) {
        if let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) {
            line.push_str(&text());
        }
    }

    /// What was written down.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
