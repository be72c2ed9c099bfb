//! The way to a failure, written down only when somebody will read it.

/// One line a step, or nothing at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// The lines, if they are wanted.
    lines: Option<Vec<String>>,
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
