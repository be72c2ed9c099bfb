//! Time as a number that comes from outside.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::Add;
use core::time::Duration;

/// A moment, in milliseconds since an epoch of your choice. The driver uses Unix time.
///
/// The core never reads a clock, because every input brings its own time.
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
    /// One more than the milliseconds, so that an `Option` of a moment needs no extra space.
    NonZeroU64,
);

impl Timestamp {
    /// Returns the moment that lies this number of milliseconds after the epoch. The end of time is `u64::MAX - 1`.
    pub const fn from_millis(millis: u64) -> Self {
        match NonZeroU64::new(millis.saturating_add(1)) {
            Some(shifted) => Self(shifted),
            None => Self(NonZeroU64::MAX),
        }
    }

    /// Returns the milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the time that passed since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.get().saturating_sub(earlier.0.get()))
    }

    /// Returns the moment that lies `by` earlier, but no further back than the epoch.
    #[must_use]
    pub fn saturating_sub(self, by: Duration) -> Self {
        Self::from_millis(self.as_millis().saturating_sub(whole_millis(by)))
    }
}

/// Returns a `Duration` in whole milliseconds, saturating.
fn whole_millis(duration: Duration) -> u64 {
    // In 64 bits, because this is done several times with every input.
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
