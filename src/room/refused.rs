//! A record that the store refuses as it is, and when it is tried again.

use std::time::Duration;

use dirigent_core::Timestamp;

use super::commit::Stamp;
use crate::values::error::ErrorKind;

/// The wait after the store has refused the record; doubles up to [`WAIT_MAX`].
const WAIT: Duration = Duration::from_secs(60);
/// The longest wait where the record is still the one that was refused.
const WAIT_MAX: Duration = Duration::from_secs(3_600);
/// The longest wait where the record has changed since.
const WAIT_CHANGED_MAX: Duration = Duration::from_secs(600);

/// Whether a store that answers with this refuses the record as it is: a repetition would meet the same error.
pub(crate) const fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Unsupported)
}

/// That the store has refused the record as it is, and has taken none since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    since: Timestamp,
    times: u32,
    /// When it was last refused.
    at: Timestamp,
    /// Which state that was.
    stamp: Stamp,
    /// The next attempt is not waited for: a command came.
    is_hurried: bool,
}

impl Refused {
    /// The record of this stamp was refused: for the first time, or after `before`.
    pub(super) fn again(before: Option<Self>, now: Timestamp, stamp: Stamp) -> Self {
        Self {
            since: before.map_or(now, |before| before.since),
            times: before.map_or(0, |before| before.times).saturating_add(1),
            at: now,
            stamp,
            is_hurried: false,
        }
    }

    pub(super) const fn since(&self) -> Timestamp {
        self.since
    }

    pub(super) const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The next attempt may be made at once.
    pub(super) const fn hurry(&mut self) {
        self.is_hurried = true;
    }

    /// When the record is tried again, where that is waited for.
    pub(super) fn next_at(&self, newest: Stamp) -> Option<Timestamp> {
        let longest = if newest > self.stamp { WAIT_CHANGED_MAX } else { WAIT_MAX };
        let doubled = 1 << self.times.saturating_sub(1).min(16);
        let wait = WAIT.saturating_mul(doubled).min(longest);
        (!self.is_hurried).then(|| self.at + wait)
    }

    /// Time went back by this much.
    pub(super) fn move_back(&mut self, by: Duration) {
        for moment in [&mut self.since, &mut self.at] {
            *moment = moment.saturating_sub(by);
        }
    }
}
