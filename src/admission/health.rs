//! Knows which accounts reach the chat.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use dirigent_core::Timestamp;

use super::claim::AccountKey;
use super::line::Line;
use super::windows::SWEEP_AT;
use crate::ChannelId;

/// The number of failures in a row after which an account counts as down.
const DOWN_AFTER: u8 = 3;
/// The wait before the first probe. It doubles up to [`PROBE_MAX`].
const PROBE: Duration = Duration::from_secs(1);
/// The longest wait between two probes.
const PROBE_MAX: Duration = Duration::from_secs(10);

/// The accounts that failed recently. A healthy account takes no memory.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    failing: BTreeMap<AccountKey, Health>,
    /// The rooms that waited for an account that reaches the chat again, and that were not polled since.
    back: VecDeque<ChannelId>,
    probes: u32,
}

#[derive(Debug, Default)]
struct Health {
    failures: u8,
    down: Option<Box<Down>>,
}

/// An account that does not reach the chat.
#[derive(Debug)]
struct Down {
    /// The time of its last change. If the clock shows an earlier time, it was set back.
    since: Timestamp,
    back_off: Duration,
    probe: Probe,
    line: Line<()>,
}

/// The one request that finds out whether the chat answers again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// The next probe is at this time.
    At(Timestamp),
    /// The request of the probe is in progress. Each has a time-out, so its end is reported.
    UnderWay(u32),
}

impl Accounts {
    /// Returns whether a room may make a request of the account. If the account does not reach the chat, the request is
    /// its probe. Then [`Accounts::start_probe`] or [`Accounts::put_off_probe`] must follow. Otherwise the room stands
    /// in line.
    pub(super) fn admit(&mut self, now: Timestamp, account: AccountKey, room: ChannelId) -> bool {
        let Some(down) = self.down(account) else {
            return true;
        };
        down.notice_step_back(now);
        let may_go = down.is_due(now) && down.line.passes(room, |()| true);
        if !may_go {
            down.line.join(room, ());
        }
        may_go
    }

    /// Records that a request of this account starts now. Returns the number of the probe, if it is one.
    pub(super) fn start_probe(&mut self, now: Timestamp, account: AccountKey) -> Option<u32> {
        let number = self.probes.wrapping_add(1);
        let down = self.down(account)?;
        (down.probe, down.since) = (Probe::UnderWay(number), now);
        self.probes = number;
        Some(number)
    }

    /// Records that the probe waits for its place in the windows. Until then it stays this room's turn.
    pub(super) fn put_off_probe(
        &mut self,
        now: Timestamp,
        account: AccountKey,
        room: ChannelId,
        until: Timestamp,
    ) {
        if let Some(down) = self.down(account) {
            (down.probe, down.since) = (Probe::At(until), now);
            // It left the line when its turn came, and must not queue again behind the others.
            down.line.put_first(room, ());
        }
    }

    /// Records an answer of the chat to this account. All rooms that waited are polled, the oldest first.
    pub(super) fn answered(&mut self, account: AccountKey) {
        if self.failing.is_empty() {
            return;
        }
        if let Some(down) = self.failing.remove(&account).and_then(|health| health.down) {
            self.back.append(&mut down.line.into_rooms());
        }
    }

    /// Records that the chat did not answer a request of this account, or its probe of this number. Returns whether the
    /// account went down because of it.
    pub(super) fn failed(
        &mut self,
        now: Timestamp,
        account: AccountKey,
        probe: Option<u32>,
        refused: bool,
    ) -> bool {
        self.sweep();
        let health = self.failing.entry(account).or_default();
        if let Some(down) = &mut health.down {
            // Requests that left before the account went down prove nothing new.
            if probe.is_some_and(|probe| down.probe == Probe::UnderWay(probe)) {
                down.fail(now);
            }
            return false;
        }
        health.failures = health.failures.saturating_add(1);
        // Without a connection the chat is surely away. A single lost answer may be chance.
        if !refused && health.failures < DOWN_AFTER {
            return false;
        }
        let (probe, line) = (Probe::At(now + PROBE), Line::default());
        health.down = Some(Box::new(Down { since: now, back_off: PROBE, probe, line }));
        true
    }

    /// Returns the room that has its turn, to probe or to go on.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<ChannelId> {
        // These rooms waited, and their account surely reaches the chat again, so they come before a probe.
        let back = self.back.pop_front();
        let mut down = self.failing.values_mut().filter_map(|health| health.down.as_deref_mut());
        back.or_else(|| down.find_map(|down| down.next(now)))
    }

    /// Returns the time when it is a room's turn.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let down = self.failing.values().filter_map(|health| health.down.as_deref());
        let back = (!self.back.is_empty()).then(Timestamp::default);
        back.or_else(|| down.filter_map(Down::deadline).min())
    }

    fn down(&mut self, account: AccountKey) -> Option<&mut Down> {
        if self.failing.is_empty() {
            return None;
        }
        self.failing.get_mut(&account)?.down.as_deref_mut()
    }

    /// Drops accounts that no action waits for, from time to time.
    fn sweep(&mut self) {
        if self.failing.len() >= SWEEP_AT && self.failing.len().is_power_of_two() {
            let is_idle = |down: &Down| down.line.is_empty() && matches!(down.probe, Probe::At(_));
            self.failing.retain(|_, health| health.down.as_deref().is_some_and(|d| !is_idle(d)));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let down = self.failing.values().filter_map(|health| health.down.as_deref());
        let probing = |down: &Down| usize::from(!matches!(down.probe, Probe::At(_)));
        down.map(|down| down.line.len() + probing(down)).sum::<usize>() + self.back.len()
    }
}

impl Down {
    fn is_due(&self, now: Timestamp) -> bool {
        matches!(self.probe, Probe::At(at) if at <= now)
    }

    /// Returns the time of the next probe, if rooms wait.
    fn deadline(&self) -> Option<Timestamp> {
        match self.probe {
            // Without a room that waits, no request could be the probe.
            Probe::At(at) if !self.line.is_empty() => Some(at),
            Probe::At(_) | Probe::UnderWay(_) => None,
        }
    }

    /// Returns the room that may probe.
    fn next(&mut self, now: Timestamp) -> Option<ChannelId> {
        self.notice_step_back(now);
        if self.is_due(now) { self.line.next(|()| true) } else { None }
    }

    /// Records that the probe failed. The next one comes later.
    fn fail(&mut self, now: Timestamp) {
        self.back_off = self.back_off.saturating_mul(2).min(PROBE_MAX);
        (self.probe, self.since) = (Probe::At(now + self.back_off), now);
    }

    /// Adjusts to a clock that was set back, so that no wait gets longer. The time-out of a probe in progress may be
    /// far away by now, so it is not waited for.
    fn notice_step_back(&mut self, now: Timestamp) {
        if now < self.since {
            (self.probe, self.since) = (Probe::At(now + self.back_off), now);
        }
    }
}
