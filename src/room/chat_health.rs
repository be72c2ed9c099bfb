//! The health of the connection between this room and the chat: outgoing requests, incoming events, and the store.

use std::time::Duration;

use dirigent_core::Timestamp;

use super::action::Account;
use crate::values::error::ErrorKind;

/// How long requests may fail, the gateway may be lost or the store may accept no commit, until the turn machine learns
/// that the chat is away.
const TOLERANCE: Duration = Duration::from_secs(5);
/// The time from one probe to the next.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// How long the newest message is awaited after a new session began.
pub(crate) const NEWEST_WITHIN: Duration = Duration::from_secs(30);
/// The interval at which the history is read while no events are heard.
const LOOK_EVERY: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
pub(crate) struct ChatHealth {
    trouble: Option<Box<Trouble>>,
    deaf: Option<Box<Deaf>>,
    /// The time until which the newest message is awaited. A new session began, and the missed messages are neither
    /// read nor reported. A further loss of the gateway does not change that.
    newest_by: Option<Timestamp>,
    /// The time since when the store accepts no commits. Then no message is posted either, and no turn begins.
    unstored_since: Option<Timestamp>,
    /// `true` if the turn machine knows that the chat is away.
    is_told: bool,
}

#[derive(Clone, Copy, Debug)]
struct Trouble {
    account: Account,
    since: Timestamp,
    /// The time when the chat goes on, if the chat itself told it.
    until: Option<Timestamp>,
    kind: ErrorKind,
    /// The time of the next probe, if there is no other request.
    probe_at: Timestamp,
}

/// A lost connection to the gateway: no messages are heard.
#[derive(Clone, Copy, Debug)]
struct Deaf {
    since: Timestamp,
    look_at: Timestamp,
    /// `true` if the connection is back with a new session. The channel is unheard until the missed messages are known.
    stands: bool,
}

impl Trouble {
    /// Returns when the turn machine must know.
    fn matters_at(&self) -> Timestamp {
        if self.until.is_some() { self.since } else { self.since + TOLERANCE }
    }
}

impl ChatHealth {
    /// Returns whether no trouble is known, the machine knows of none, and nothing is awaited.
    pub(crate) const fn is_well(&self) -> bool {
        let is_heard = self.deaf.is_none() && self.newest_by.is_none();
        self.trouble.is_none() && is_heard && self.unstored_since.is_none() && !self.is_told
    }

    /// Returns since when requests fail, and the kind of failure.
    pub(crate) fn failing(&self) -> Option<(Timestamp, ErrorKind)> {
        self.trouble.as_ref().map(|trouble| (trouble.since, trouble.kind))
    }

    /// Creates the state after an earlier process told the machine that the chat is away.
    pub(crate) fn restored(since: Timestamp, now: Timestamp) -> Self {
        let (account, kind) = (Account::Moderator, ErrorKind::NoAnswer);
        let trouble = Trouble { account, since, until: None, kind, probe_at: now };
        Self { trouble: Some(Box::new(trouble)), is_told: true, ..Self::default() }
    }

    pub(crate) fn deaf_since(&self) -> Option<Timestamp> {
        self.deaf.as_ref().map(|deaf| deaf.since)
    }

    /// Returns since when the chat does not answer. A request for patience is an answer.
    pub(crate) fn silent_since(&self) -> Option<Timestamp> {
        let (since, kind) = self.failing()?;
        (kind != ErrorKind::RateLimited).then_some(since)
    }

    pub(crate) const fn unstored_since(&self) -> Option<Timestamp> {
        self.unstored_since
    }

    /// Returns the end of the wait that the chat or the pace asks for, if that is the only wait, and the machine knows
    /// it.
    pub(crate) fn limited_until(&self) -> Option<Timestamp> {
        let is_all = self.deaf.is_none() && self.unstored_since.is_none();
        self.trouble.as_ref().filter(|_| is_all && self.is_told)?.until
    }

    pub(crate) fn is_out(&self) -> bool {
        self.deaf.is_some() || self.silent_since().is_some()
    }

    pub(crate) fn lost_gateway(&mut self, since: Timestamp) {
        let fresh = || Box::new(Deaf { since, look_at: since + TOLERANCE, stands: false });
        // A session that is lost again while its newest message is awaited does not end that wait, because what was
        // missed before it must still be read.
        self.deaf.get_or_insert_with(fresh).stands = false;
    }

    /// Records that a connection to the gateway is back, and the newest message will be reported. `stands` says that no
    /// other connection is lost.
    pub(crate) fn await_newest(&mut self, now: Timestamp, stands: bool) {
        if let Some(deaf) = &mut self.deaf {
            deaf.stands = stands;
        }
        let by = now + NEWEST_WITHIN;
        // The earliest wait counts, because a clock that was set back once turned 30 s into an hour.
        self.newest_by = Some(self.newest_by.map_or(by, |known| known.min(by)));
    }

    pub(crate) const fn awaits_newest(&self) -> bool {
        self.newest_by.is_some()
    }

    /// Returns whether the newest message should have been reported by now.
    pub(crate) fn misses_newest(&self, now: Timestamp) -> bool {
        self.newest_by.is_some_and(|by| by <= now)
    }

    /// Records that the newest message was reported, or that missed messages are read.
    pub(crate) const fn newest_told(&mut self) {
        self.newest_by = None;
    }

    /// Returns whether the lost connection is back.
    pub(crate) fn stands(&self) -> bool {
        self.deaf.as_ref().is_some_and(|deaf| deaf.stands)
    }

    /// Records that the gateway serves the channel again. Returns since when it had not.
    pub(crate) fn hears(&mut self) -> Option<Timestamp> {
        self.deaf.take().map(|deaf| deaf.since)
    }

    /// Returns whether to read the history now, because no events are heard.
    pub(crate) fn looks(&mut self, now: Timestamp) -> bool {
        let due = self.deaf.as_mut().filter(|deaf| deaf.look_at <= now);
        due.map(|deaf| deaf.look_at = now + LOOK_EVERY).is_some()
    }

    pub(crate) fn store_failed(&mut self, since: Timestamp) {
        self.unstored_since.get_or_insert(since);
    }

    pub(crate) const fn stored(&mut self) {
        self.unstored_since = None;
    }

    /// Records that a request of this account was not answered.
    pub(crate) fn failed(&mut self, account: Account, now: Timestamp, kind: ErrorKind) {
        let fresh = Trouble { account, since: now, until: None, kind, probe_at: now };
        let trouble = self.trouble.get_or_insert_with(|| Box::new(fresh));
        if trouble.until.is_some() {
            // A chat that only asked for patience until now did answer.
            trouble.since = now;
        }
        trouble.until = None;
        trouble.kind = kind;
        trouble.probe_at = now + PROBE_EVERY;
    }

    /// Records that posts wait until then, because the chat or the pace asks for it.
    pub(crate) fn limited(&mut self, account: Account, now: Timestamp, until: Timestamp) {
        // A short wait is no outage, and a rate limit must not hide that the chat is silent.
        if until.since(now) <= TOLERANCE || self.trouble.as_ref().is_some_and(|t| t.until.is_none())
        {
            return;
        }
        let since = self.trouble.as_ref().map_or(now, |trouble| trouble.since);
        let (until, kind, probe_at) = (Some(until), ErrorKind::RateLimited, until);
        self.trouble = Some(Box::new(Trouble { account, since, until, kind, probe_at }));
    }

    /// Records that a request of this account was answered. Returns whether that ends a trouble. A limit on posts ends
    /// with its time, or when a post succeeds.
    pub(crate) fn answered(&mut self, account: Account, is_post: bool) -> bool {
        let is_over = |trouble: &mut Box<Trouble>| {
            trouble.account == account && (trouble.until.is_none() || is_post)
        };
        self.trouble.take_if(is_over).is_some()
    }

    /// Returns whether to tell the machine now that the chat is away, or that it is back.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<bool> {
        if self.is_well() {
            return None;
        }
        // A limit ends with its time even if no post is made to prove it.
        self.trouble.take_if(|trouble| trouble.until.is_some_and(|until| until <= now));
        let is_away = self.matters_at().is_some_and(|at| at <= now);
        // A shorter trouble is not an outage yet, but a reported outage ends only with its cause.
        let goes_on = self.is_told && self.matters_at().is_some();
        let away = is_away || goes_on;
        (away != self.is_told).then(|| {
            self.is_told = away;
            away
        })
    }

    fn matters_at(&self) -> Option<Timestamp> {
        let trouble = self.trouble.as_ref().map(|trouble| trouble.matters_at());
        let deaf = self.deaf.as_ref().map(|deaf| deaf.since);
        let others = deaf.into_iter().chain(self.unstored_since).map(|since| since + TOLERANCE);
        trouble.into_iter().chain(others).min()
    }

    pub(crate) fn probe(&self, now: Timestamp) -> Option<Account> {
        let trouble = self.trouble.as_deref();
        let trouble = trouble.filter(|trouble| self.is_told && trouble.until.is_none())?;
        (trouble.probe_at <= now).then_some(trouble.account)
    }

    /// Returns whether there is an account to probe, now or later.
    pub(crate) const fn is_probing(&self) -> bool {
        self.is_told && self.trouble.is_some()
    }

    pub(crate) fn probed(&mut self, now: Timestamp) {
        if let Some(trouble) = &mut self.trouble {
            trouble.probe_at = now + PROBE_EVERY;
        }
    }

    /// Returns the moments at which there is something to report, to probe or to read.
    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let is_told = self.is_told;
        let matters_at = if is_told || self.is_well() { None } else { self.matters_at() };
        let trouble = self.trouble.as_ref().filter(|_| is_told);
        let probe = trouble.map(|trouble| trouble.until.unwrap_or(trouble.probe_at));
        let look_at = self.deaf.as_ref().filter(|_| is_told).map(|deaf| deaf.look_at);
        [matters_at, probe, look_at, self.newest_by].into_iter().flatten()
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        let back = |at: &mut Timestamp| *at = at.saturating_sub(by);
        if let Some(trouble) = &mut self.trouble {
            back(&mut trouble.since);
            back(&mut trouble.probe_at);
            trouble.until.iter_mut().for_each(back);
        }
        self.unstored_since.iter_mut().for_each(back);
        if let Some(deaf) = &mut self.deaf {
            back(&mut deaf.since);
            back(&mut deaf.look_at);
        }
        self.newest_by.iter_mut().for_each(back);
    }
}

#[cfg(test)]
mod tests;
