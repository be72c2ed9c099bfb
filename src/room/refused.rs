//! A record that the store refuses as it is, and the time when it is tried again.

use std::time::Duration;

use dirigent_core::Timestamp;

use super::commit::Stamp;
use crate::values::error::ErrorKind;

/// The wait after the store has refused the record. It doubles up to [`WAIT_MAX`].
const WAIT: Duration = Duration::from_secs(60);
/// The longest wait if the record is still the one that was refused.
const WAIT_MAX: Duration = Duration::from_secs(3_600);
/// The longest wait if the record has changed since.
const WAIT_CHANGED_MAX: Duration = Duration::from_secs(600);

/// Returns whether such an error of the store refuses the record as it is, so that a repetition is in vain.
pub(crate) const fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Unsupported)
}

/// The refusals of the record as it is. `None` while the store accepts it.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Option<Box<Refused>>);

impl Refusals {
    /// Records that the record of this stamp was refused. If the stamp is unknown, it is that of the refusal before, or
    /// else the newest.
    pub(super) fn again(&mut self, now: Timestamp, stamp: Option<Stamp>, newest: Stamp) {
        // A read after a conflict has no stamp of its own.
        let first = Refused { since: now, times: 0, at: now, stamp: newest, is_hurried: false };
        let before = self.0.take().map_or(first, |before| *before);
        self.0 = Some(Box::new(Refused {
            times: before.times.saturating_add(1),
            at: now,
            stamp: stamp.unwrap_or(before.stamp),
            is_hurried: false,
            ..before
        }));
    }

    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    /// Returns since when the store has refused the record as it is, and accepted none.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.0.as_ref().map(|refused| refused.since)
    }

    /// Returns when the record is tried again, if that is awaited.
    pub(super) fn next_at(&self, newest: Stamp) -> Option<Timestamp> {
        let refused = self.0.as_ref().filter(|refused| !refused.is_hurried)?;
        // A changed record may have lost what was refused, so it is tried more often.
        let longest = if newest > refused.stamp { WAIT_CHANGED_MAX } else { WAIT_MAX };
        let doubled = 1 << refused.times.saturating_sub(1).min(16);
        Some(refused.at + WAIT.saturating_mul(doubled).min(longest))
    }

    pub(super) fn retry_now(&mut self) {
        if let Some(refused) = &mut self.0 {
            refused.is_hurried = true;
        }
    }

    pub(super) fn move_back(&mut self, by: Duration) {
        if let Some(refused) = &mut self.0 {
            refused.since = refused.since.saturating_sub(by);
            refused.at = refused.at.saturating_sub(by);
        }
    }
}

/// A refusal of the record as it is. The store has accepted none since.
#[derive(Clone, Copy, Debug)]
struct Refused {
    since: Timestamp,
    times: u32,
    at: Timestamp,
    stamp: Stamp,
    /// `true` if the next attempt may start at once, because a command came.
    is_hurried: bool,
}
