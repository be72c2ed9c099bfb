//! What a bench is told on its command line.

/// The command line: `--name value` pairs; what cargo adds is passed over.
pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn read() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// Whether cargo runs the bench as a test: then once, and small.
    pub(crate) fn is_test(&self) -> bool {
        self.0.iter().any(|argument| argument == "--test")
    }

    pub(crate) fn value(&self, name: &str) -> Option<&String> {
        self.0.iter().skip_while(|argument| *argument != name).nth(1)
    }

    pub(crate) fn number(&self, name: &str, default: usize) -> usize {
        let given = self.value(name).map(|value| value.parse().expect("a number"));
        given.unwrap_or(if self.is_test() { default.min(200) } else { default })
    }
}
