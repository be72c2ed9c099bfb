//! Whether the chat answers this room, whether the room hears the chat, and whether it can say anything.

use std::time::Duration;

use dirigent_core::Timestamp;

use super::action::Account;
use crate::values::error::ErrorKind;

/// How long requests may fail, the gateway be lost or the store take nothing, until the turn machine is
/// told that the chat is away.
const TOLERANCE: Duration = Duration::from_secs(5);
/// The time from one probe to the next.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// How long the newest message is waited for after a new session began.
pub(crate) const NEWEST_WITHIN: Duration = Duration::from_secs(30);
/// How often the history is looked at while nothing is heard.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// What the room's own requests and the host say about the chat.
#[derive(Debug, Default)]
pub(crate) struct ChatHealth {
    trouble: Option<Box<Trouble>>,
    deaf: Option<Box<Deaf>>,
    /// A new session began, and what was missed before is neither read nor told: until then the newest message
    /// is waited for. A further loss of the gateway changes nothing in that.
    newest_by: Option<Timestamp>,
    /// Since when the store takes nothing: then nothing can be said either, and no agent can begin its turn.
    unstored_since: Option<Timestamp>,
    /// Whether the turn machine was told that the chat is away.
    is_told: bool,
}

#[derive(Clone, Copy, Debug)]
struct Trouble {
    /// Whose requests fail.
    account: Account,
    /// Since when.
    since: Timestamp,
    /// When the chat itself said that it goes on, where it did.
    until: Option<Timestamp>,
    kind: ErrorKind,
    /// When it is asked whether it answers again, if nothing else is asked.
    probe_at: Timestamp,
}

/// The host has no connection to the gateway: nothing that is said is heard.
#[derive(Clone, Copy, Debug)]
struct Deaf {
    since: Timestamp,
    /// When the history is looked at next.
    look_at: Timestamp,
    /// The connection is back with a new session: nothing is heard until it is known what was missed.
    stands: bool,
}

impl Trouble {
    /// From when on the turn machine is to know.
    fn matters_at(&self) -> Timestamp {
        if self.until.is_some() { self.since } else { self.since + TOLERANCE }
    }
}

impl ChatHealth {
    /// Whether nothing is known to be wrong, nothing was told to be, and nothing is waited for.
    pub(crate) const fn is_well(&self) -> bool {
        let is_heard = self.deaf.is_none() && self.newest_by.is_none();
        self.trouble.is_none() && is_heard && self.unstored_since.is_none() && !self.is_told
    }

    /// Since when requests fail, and how.
    pub(crate) fn failing(&self) -> Option<(Timestamp, ErrorKind)> {
        self.trouble.as_ref().map(|trouble| (trouble.since, trouble.kind))
    }

    /// An earlier process had told the machine that the chat is away.
    pub(crate) fn restored(since: Timestamp, now: Timestamp) -> Self {
        let (account, kind) = (Account::Moderator, ErrorKind::NoAnswer);
        let trouble = Trouble { account, since, until: None, kind, probe_at: now };
        Self { trouble: Some(Box::new(trouble)), is_told: true, ..Self::default() }
    }

    /// Since when the gateway is lost.
    pub(crate) fn deaf_since(&self) -> Option<Timestamp> {
        self.deaf.as_ref().map(|deaf| deaf.since)
    }

    /// Since when the chat does not answer. That it asks for patience is an answer.
    pub(crate) fn silent_since(&self) -> Option<Timestamp> {
        let (since, kind) = self.failing()?;
        (kind != ErrorKind::RateLimited).then_some(since)
    }

    /// Since when the store takes nothing.
    pub(crate) const fn unstored_since(&self) -> Option<Timestamp> {
        self.unstored_since
    }

    /// When the wait ends that the chat or the pace asks for, where that is all that is waited for and the turn machine knows it.
    pub(crate) fn limited_until(&self) -> Option<Timestamp> {
        let is_all = self.deaf.is_none() && self.unstored_since.is_none();
        self.trouble.as_ref().filter(|_| is_all && self.is_told)?.until
    }

    /// Whether the chat does not answer, or is not heard.
    pub(crate) fn is_out(&self) -> bool {
        self.deaf.is_some() || self.silent_since().is_some()
    }

    /// The connection to the gateway is lost.
    pub(crate) fn lost_gateway(&mut self, since: Timestamp) {
        let fresh = || Box::new(Deaf { since, look_at: since + TOLERANCE, stands: false });
        self.deaf.get_or_insert_with(fresh).stands = false;
    }

    /// A connection to the gateway is back, and the newest message is to be told. `stands`: no other one is
    /// lost.
    pub(crate) fn await_newest(&mut self, now: Timestamp, stands: bool) {
        if let Some(deaf) = &mut self.deaf {
            deaf.stands = stands;
        }
        let by = now + NEWEST_WITHIN;
        self.newest_by = Some(self.newest_by.map_or(by, |known| known.min(by)));
    }

    /// Whether the newest message is waited for.
    pub(crate) const fn awaits_newest(&self) -> bool {
        self.newest_by.is_some()
    }

    /// Whether the newest message should have been told by now.
    pub(crate) fn misses_newest(&self, now: Timestamp) -> bool {
        self.newest_by.is_some_and(|by| by <= now)
    }

    /// The newest message was told, or what was missed is read.
    pub(crate) const fn newest_told(&mut self) {
        self.newest_by = None;
    }

    /// Whether the connection that was lost is back.
    pub(crate) fn stands(&self) -> bool {
        self.deaf.as_ref().is_some_and(|deaf| deaf.stands)
    }

    /// The gateway tells of the channel again. Returns since when it had not.
    pub(crate) fn hears(&mut self) -> Option<Timestamp> {
        self.deaf.take().map(|deaf| deaf.since)
    }

    /// Whether the history is to be looked at now, since nothing is heard.
    pub(crate) fn looks(&mut self, now: Timestamp) -> bool {
        let due = self.deaf.as_mut().filter(|deaf| deaf.look_at <= now);
        due.map(|deaf| deaf.look_at = now + LOOK_EVERY).is_some()
    }

    /// A commit failed that began at this time.
    pub(crate) fn store_failed(&mut self, since: Timestamp) {
        self.unstored_since.get_or_insert(since);
    }

    /// A commit succeeded.
    pub(crate) const fn stored(&mut self) {
        self.unstored_since = None;
    }

    /// A request of this account was not answered.
    pub(crate) fn failed(&mut self, account: Account, now: Timestamp, kind: ErrorKind) {
        let fresh = Trouble { account, since: now, until: None, kind, probe_at: now };
        let trouble = self.trouble.get_or_insert_with(|| Box::new(fresh));
        if trouble.until.is_some() {
            // What only asked for patience until now did answer.
            trouble.since = now;
        }
        trouble.until = None;
        trouble.kind = kind;
        trouble.probe_at = now + PROBE_EVERY;
    }

    /// What is to be said waits until then, since the chat or the pace asks for it.
    pub(crate) fn limited(&mut self, account: Account, now: Timestamp, until: Timestamp) {
        if until.since(now) <= TOLERANCE || self.trouble.as_ref().is_some_and(|t| t.until.is_none())
        {
            return;
        }
        let since = self.trouble.as_ref().map_or(now, |trouble| trouble.since);
        let (until, kind, probe_at) = (Some(until), ErrorKind::RateLimited, until);
        self.trouble = Some(Box::new(Trouble { account, since, until, kind, probe_at }));
    }

    /// A request of this account was answered. Returns whether that ends a trouble: a limit on what is to be
    /// said ends with its time, or when something could be posted.
    pub(crate) fn answered(&mut self, account: Account, is_post: bool) -> bool {
        let is_over = |trouble: &mut Box<Trouble>| {
            trouble.account == account && (trouble.until.is_none() || is_post)
        };
        self.trouble.take_if(is_over).is_some()
    }

    /// Whether the machine is to be told now that the chat is away, or that it is back.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<bool> {
        if self.is_well() {
            return None;
        }
        self.trouble.take_if(|trouble| trouble.until.is_some_and(|until| until <= now));
        let is_away = self.matters_at().is_some_and(|at| at <= now);
        // Less than that is no outage yet; but one that was told ends with its cause.
        let goes_on = self.is_told && self.matters_at().is_some();
        let away = is_away || goes_on;
        (away != self.is_told).then(|| {
            self.is_told = away;
            away
        })
    }

    /// From when on the turn machine is to know that the chat is away.
    fn matters_at(&self) -> Option<Timestamp> {
        let trouble = self.trouble.as_ref().map(|trouble| trouble.matters_at());
        let deaf = self.deaf.as_ref().map(|deaf| deaf.since);
        let others = deaf.into_iter().chain(self.unstored_since).map(|since| since + TOLERANCE);
        trouble.into_iter().chain(others).min()
    }

    /// Whose account is to be probed now.
    pub(crate) fn probe(&self, now: Timestamp) -> Option<Account> {
        let trouble = self.trouble.as_deref();
        let trouble = trouble.filter(|trouble| self.is_told && trouble.until.is_none())?;
        (trouble.probe_at <= now).then_some(trouble.account)
    }

    /// Whether there is something to be probed, now or later.
    pub(crate) const fn is_probing(&self) -> bool {
        self.is_told && self.trouble.is_some()
    }

    /// The probe is on its way.
    pub(crate) fn probed(&mut self, now: Timestamp) {
        if let Some(trouble) = &mut self.trouble {
            trouble.probe_at = now + PROBE_EVERY;
        }
    }

    /// The moments at which there is something to be told, to be probed or to be looked at.
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
