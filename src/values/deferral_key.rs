//! The key of a deferred run.

use std::fmt;

/// Identifies a run that waits for its turn, within this process.
///
/// ```
/// fn log(key: dirigent::hooks::DeferralKey) -> String {
///     format!("called back as {key}")
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeferralKey(u64);

impl DeferralKey {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for DeferralKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
