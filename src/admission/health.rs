//! Whether an account reaches the chat.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use dirigent_core::Timestamp;

use super::claim::{ASK_WITHIN, AccountKey, Waiter, Wakeup};
use super::line::Line;
use super::windows::SWEEP_AT;

/// After how many failures in a row an account counts as down.
const DOWN_AFTER: u8 = 3;
/// The wait before the first probe; doubles up to [`PROBE_MAX`].
const PROBE: Duration = Duration::from_secs(1);
/// The longest wait between two probes.
const PROBE_MAX: Duration = Duration::from_secs(10);
/// After how long without a report a probe counts as failed, at least.
const REPORT_WITHIN: Duration = Duration::from_secs(30);
/// How much later than its time-out the report of an attempt may come.
const REPORT_LATE: Duration = Duration::from_secs(5);

/// The accounts that failed lately. An account that is well takes no memory.
#[derive(Debug)]
pub(super) struct Accounts {
    failing: BTreeMap<AccountKey, Health>,
    /// After how long without a report a probe counts as failed. Longer than any attempt lasts.
    report_within: Duration,
}

#[derive(Debug, Default)]
struct Health {
    failures: u8,
    down: Option<Box<Down>>,
}

/// An account that does not reach the chat.
#[derive(Debug)]
struct Down {
    /// When this last changed: a clock that is before it was set back.
    since: Timestamp,
    back_off: Duration,
    report_within: Duration,
    probe: Probe,
    line: Line,
}

/// The one request that finds out whether the chat answers again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// Next at this time.
    At(Timestamp),
    /// It is this action's turn; by `by` it asks.
    Called { waiter: Waiter, by: Timestamp },
    /// Its request is under way.
    UnderWay { waiter: Waiter },
}

/// Whether a request of an account may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// The account is well.
    Free,
    /// As the account's probe: one of [`Accounts::start_probe`] and
    /// [`Accounts::delay_probe`] follows.
    Probe,
    /// The action waits in line.
    Wait,
}

impl Accounts {
    /// All accounts are well. An attempt at the chat may take as long as `attempt_timeout`.
    pub(super) fn new(attempt_timeout: Duration) -> Self {
        let report_within = REPORT_WITHIN.max(attempt_timeout.saturating_add(REPORT_LATE));
        Self { failing: BTreeMap::new(), report_within }
    }

    /// Whether an action may make its request. If not, it waits in line.
    pub(super) fn admit(&mut self, now: Timestamp, account: AccountKey, waiter: Waiter) -> Passage {
        let down = self.failing.get_mut(&account).and_then(|health| health.down.as_deref_mut());
        let Some(down) = down else {
            return Passage::Free;
        };
        down.notice_step_back(now);
        if matches!(down.probe, Probe::Called { waiter: called, .. } if called == waiter) {
            return Passage::Probe;
        }
        down.line.join(waiter);
        let is_next = matches!(down.probe, Probe::At(at) if at <= now);
        if !is_next || down.line.first() != Some(waiter) {
            return Passage::Wait;
        }
        down.call(now);
        Passage::Probe
    }

    /// The probe's request starts now.
    pub(super) fn start_probe(&mut self, now: Timestamp, account: AccountKey, waiter: Waiter) {
        self.set_probe(now, account, Probe::UnderWay { waiter });
    }

    /// The probe waits for its place in the windows and asks again then.
    pub(super) fn delay_probe(
        &mut self,
        now: Timestamp,
        account: AccountKey,
        waiter: Waiter,
        until: Timestamp,
    ) {
        self.set_probe(now, account, Probe::Called { waiter, by: until + ASK_WITHIN });
    }

    fn set_probe(&mut self, now: Timestamp, account: AccountKey, probe: Probe) {
        let down = self.failing.get_mut(&account).and_then(|health| health.down.as_deref_mut());
        if let Some(down) = down {
            (down.probe, down.since) = (probe, now);
        }
    }

    /// The chat answered this account: all rooms that waited may ask again, the oldest first.
    pub(super) fn answered(&mut self, account: AccountKey, calls: &mut Vec<Wakeup>) {
        if self.failing.is_empty() {
            return;
        }
        let Some(down) = self.failing.remove(&account).and_then(|health| health.down) else {
            return;
        };
        let called = match down.probe {
            Probe::Called { waiter, .. } => Some(waiter),
            Probe::At(_) | Probe::UnderWay { .. } => None,
        };
        let mut told = HashSet::new();
        let rooms = called.into_iter().chain(down.line.iter()).map(|waiter| waiter.room);
        calls.extend(rooms.filter(|room| told.insert(*room)).map(Wakeup::chat_back));
    }

    /// The chat did not answer a request of this account. Returns whether the account went down
    /// with that.
    pub(super) fn failed(
        &mut self,
        now: Timestamp,
        account: AccountKey,
        waiter: Waiter,
        refused: bool,
    ) -> bool {
        self.sweep();
        let health = self.failing.entry(account).or_default();
        if let Some(down) = &mut health.down {
            // Requests that left before the account went down say nothing new.
            if down.probe == (Probe::UnderWay { waiter }) {
                down.fail(now);
            }
            return false;
        }
        health.failures = health.failures.saturating_add(1);
        if !refused && health.failures < DOWN_AFTER {
            return false;
        }
        let probe = Probe::At(now + PROBE);
        let line = Line::default();
        let (since, back_off, report_within) = (now, PROBE, self.report_within);
        health.down = Some(Box::new(Down { since, back_off, report_within, probe, line }));
        true
    }

    /// The action is not made: if it was the probe, the next in line is called.
    pub(super) fn withdraw(&mut self, now: Timestamp, waiter: Waiter, calls: &mut Vec<Wakeup>) {
        for down in self.down() {
            if !down.line.leave(waiter) && down.withdraw_probe(now, waiter) {
                calls.extend(down.call(now));
            }
        }
    }

    /// When the next probe is due, or given up.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let down = self.failing.values().filter_map(|health| health.down.as_deref());
        down.filter_map(Down::deadline).min()
    }

    /// Calls the probes that are due.
    pub(super) fn expire(&mut self, now: Timestamp, calls: &mut Vec<Wakeup>) {
        for down in self.down() {
            down.notice_step_back(now);
            if down.deadline().is_some_and(|deadline| deadline <= now) {
                down.give_up_probe(now);
                calls.extend(down.call(now));
            }
        }
    }

    fn down(&mut self) -> impl Iterator<Item = &mut Down> {
        self.failing.values_mut().filter_map(|health| health.down.as_deref_mut())
    }

    /// Drops accounts that no action waits for, now and then.
    fn sweep(&mut self) {
        if self.failing.len() >= SWEEP_AT && self.failing.len().is_power_of_two() {
            let is_idle = |down: &Down| down.line.is_empty() && matches!(down.probe, Probe::At(_));
            self.failing.retain(|_, health| health.down.as_deref().is_some_and(|d| !is_idle(d)));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let down = self.failing.values().filter_map(|health| health.down.as_deref());
        down.map(|down| down.line.len() + usize::from(!matches!(down.probe, Probe::At(_)))).sum()
    }
}

impl Down {
    /// When something is to be done, for those that wait.
    fn deadline(&self) -> Option<Timestamp> {
        let at = match self.probe {
            Probe::At(at) => at,
            Probe::Called { by, .. } => by,
            Probe::UnderWay { .. } => self.since + self.report_within,
        };
        Some(at).filter(|_| !self.line.is_empty())
    }

    /// Calls the oldest action if a probe is due.
    fn call(&mut self, now: Timestamp) -> Option<Wakeup> {
        if !matches!(self.probe, Probe::At(at) if at <= now) {
            return None;
        }
        let waiter = self.line.pop()?;
        (self.probe, self.since) = (Probe::Called { waiter, by: now + ASK_WITHIN }, now);
        Some(Wakeup::try_again(waiter))
    }

    /// The probe failed: the next comes later.
    fn fail(&mut self, now: Timestamp) {
        self.back_off = self.back_off.saturating_mul(2).min(PROBE_MAX);
        (self.probe, self.since) = (Probe::At(now + self.back_off), now);
    }

    /// Its action did not ask, or no report came.
    fn give_up_probe(&mut self, now: Timestamp) {
        match self.probe {
            Probe::At(_) => {}
            Probe::Called { .. } => (self.probe, self.since) = (Probe::At(now), now),
            Probe::UnderWay { .. } => self.fail(now),
        }
    }

    /// Returns whether the action was the probe.
    fn withdraw_probe(&mut self, now: Timestamp, waiter: Waiter) -> bool {
        let is_probe = match self.probe {
            Probe::At(_) => false,
            Probe::Called { waiter: probe, .. } | Probe::UnderWay { waiter: probe } => {
                probe == waiter
            }
        };
        if is_probe {
            (self.probe, self.since) = (Probe::At(now), now);
        }
        is_probe
    }

    /// No wait gets longer because the clock was set back.
    fn notice_step_back(&mut self, now: Timestamp) {
        if now < self.since {
            self.since = now;
            match &mut self.probe {
                Probe::At(at) => *at = now + self.back_off,
                Probe::Called { by, .. } => *by = now + ASK_WITHIN,
                Probe::UnderWay { .. } => {}
            }
        }
    }
}
