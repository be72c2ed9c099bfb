//! Logs a failure that repeats.

use dirigent_store::StoreError;

/// A failure is logged once, and counted until it is over.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    said: Option<String>,
    failures: u64,
}

impl Repeated {
    /// Logs a failure, unless it equals the last one. `what` is, for example, "the leases could not be renewed".
    pub(super) fn failed(&mut self, what: &str, error: &StoreError) {
        self.failures += 1;
        let why = error.to_string();
        if self.said.as_ref() != Some(&why) {
            tracing::warn!("{what}: {why}; it is tried until it succeeds");
            self.said = Some(why);
        }
    }

    /// Logs that it succeeded again. `what` is, for example, "the leases are renewed again".
    pub(super) fn succeeded(&mut self, what: &str) {
        let failures = std::mem::take(&mut self.failures);
        if self.said.take().is_some() {
            tracing::info!(failures, "{what}");
        }
    }
}
