//! A failure that repeats.

use dirigent_store::StoreError;

/// It is said once, and counted until it is over.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    said: Option<String>,
    failures: u64,
}

impl Repeated {
    /// Says it, unless that was said. `what`: for example "the leases could not be renewed".
    pub(super) fn failed(&mut self, what: &str, error: &StoreError) {
        self.failures += 1;
        let why = error.to_string();
        if self.said.as_ref() != Some(&why) {
            tracing::warn!("{what}: {why}; it is tried until it succeeds");
            self.said = Some(why);
        }
    }

    /// It succeeded. `what`: for example "the leases are renewed again".
    pub(super) fn succeeded(&mut self, what: &str) {
        let failures = std::mem::take(&mut self.failures);
        if self.said.take().is_some() {
            tracing::info!(failures, "{what}");
        }
    }
}
