//! Time as a number that comes in from outside.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::Add;
use core::time::Duration;

/// A moment: milliseconds since an epoch of the host's choice (the driver uses Unix time).
///
/// The core never asks what time it is; every input brings its own.
///
/// ```
/// use core::time::Duration;
/// use dirigent_core::Timestamp;
///
/// let later = Timestamp::from_millis(1_000) + Duration::from_secs(2);
/// assert_eq!(later.as_millis(), 3_000);
/// assert_eq!(later.since(Timestamp::from_millis(1_000)), Duration::from_secs(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(
    /// One more than the milliseconds, so that "no moment" takes no room of its own.
    NonZeroU64,
);

impl Timestamp {
    /// The moment this number of milliseconds after the epoch; the end of time is `u64::MAX - 1`.
    pub const fn from_millis(millis: u64) -> Self {
        match NonZeroU64::new(millis.saturating_add(1)) {
            Some(shifted) => Self(shifted),
            None => Self(NonZeroU64::MAX),
        }
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0.get() - 1
    }

    /// Time passed since `earlier`; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.get().saturating_sub(earlier.0.get()))
    }

    /// The moment `by` earlier, no further back than the epoch.
    #[must_use]
    pub fn saturating_sub(self, by: Duration) -> Self {
        Self::from_millis(self.as_millis().saturating_sub(whole_millis(by)))
    }
}

/// A `Duration` in whole milliseconds, saturating.
fn whole_millis(duration: Duration) -> u64 {
    // In 64 bits, since this is done several times with every input.
    let seconds = duration.as_secs().saturating_mul(1_000);
    seconds.saturating_add(u64::from(duration.subsec_millis()))
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    /// Saturates at the end of time instead of overflowing.
    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(by)))
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::from_millis(0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.as_millis())
    }
}
