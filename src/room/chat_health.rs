//! Whether the chat answers this room.

use std::time::Duration;

use dirigent_core::Timestamp;

use super::action::Account;
use crate::ErrorKind;

/// How long requests may fail until the turn machine is told that the chat is away.
const TOLERANCE: Duration = Duration::from_secs(5);
/// The time from one probe to the next.
const PROBE_EVERY: Duration = Duration::from_secs(10);

/// What the room's own requests say about the chat.
#[derive(Debug, Default)]
pub(crate) struct ChatHealth {
    trouble: Option<Trouble>,
}

#[derive(Clone, Copy, Debug)]
struct Trouble {
    /// Whose requests fail.
    account: Account,
    /// Since when.
    since: Timestamp,
    /// When the chat itself said that it goes on, where it did.
    until: Option<Timestamp>,
    /// Whether the turn machine knows.
    is_told: bool,
    kind: ErrorKind,
    /// When it is asked whether it answers again, if nothing else is asked.
    probe_at: Timestamp,
}

impl ChatHealth {
    /// Since when requests fail, and how.
    pub(crate) fn failing(&self) -> Option<(Timestamp, ErrorKind)> {
        self.trouble.map(|trouble| (trouble.since, trouble.kind))
    }

    /// An earlier process had told the machine that the chat is away.
    pub(crate) fn restored(since: Timestamp, now: Timestamp) -> Self {
        let (account, kind) = (Account::Moderator, ErrorKind::NoAnswer);
        let probe_at = now;
        Self {
            trouble: Some(Trouble { account, since, until: None, is_told: true, kind, probe_at }),
        }
    }

    /// A request of this account was not answered.
    pub(crate) fn failed(&mut self, account: Account, now: Timestamp, kind: ErrorKind) {
        let fresh =
            Trouble { account, since: now, until: None, is_told: false, kind, probe_at: now };
        let trouble = self.trouble.get_or_insert(fresh);
        trouble.until = None;
        trouble.kind = kind;
        trouble.probe_at = now + PROBE_EVERY;
    }

    /// What is to be said waits until then, since the chat or the pace asks for it.
    pub(crate) fn limited(&mut self, account: Account, now: Timestamp, until: Timestamp) {
        if until.since(now) <= TOLERANCE || self.trouble.is_some_and(|t| t.until.is_none()) {
            return;
        }
        let is_told = self.trouble.is_some_and(|trouble| trouble.is_told);
        let since = self.trouble.map_or(now, |trouble| trouble.since);
        let (until, kind, probe_at) = (Some(until), ErrorKind::RateLimited, until);
        self.trouble = Some(Trouble { account, since, until, is_told, kind, probe_at });
    }

    /// A request of this account was answered. Returns whether the machine must be told.
    pub(crate) fn answered(&mut self, account: Account) -> bool {
        let over = self.trouble.filter(|trouble| trouble.account == account);
        if over.is_some() {
            self.trouble = None;
        }
        over.is_some_and(|trouble| trouble.is_told)
    }

    /// Whether the machine is to be told now that the chat is away, or that it is back.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<bool> {
        let trouble = self.trouble.as_mut()?;
        if trouble.until.is_some_and(|until| until <= now) {
            let told = trouble.is_told;
            self.trouble = None;
            return told.then_some(false);
        }
        let waited = trouble.until.is_some() || now.since(trouble.since) >= TOLERANCE;
        if !trouble.is_told && waited {
            trouble.is_told = true;
            return Some(true);
        }
        None
    }

    pub(crate) const fn is_told(&self) -> bool {
        matches!(self.trouble, Some(Trouble { is_told: true, .. }))
    }

    /// Whose account is to be probed now.
    pub(crate) fn probe(&self, now: Timestamp) -> Option<Account> {
        let trouble = self.trouble.filter(|trouble| trouble.is_told && trouble.until.is_none())?;
        (trouble.probe_at <= now).then_some(trouble.account)
    }

    /// The probe is on its way.
    pub(crate) fn probed(&mut self, now: Timestamp) {
        if let Some(trouble) = &mut self.trouble {
            trouble.probe_at = now + PROBE_EVERY;
        }
    }

    /// When there is something to be told, or to be probed.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let trouble = self.trouble?;
        Some(match (trouble.until, trouble.is_told) {
            (Some(_), false) => trouble.since,
            (Some(until), true) => until,
            (None, false) => trouble.since + TOLERANCE,
            (None, true) => trouble.probe_at,
        })
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        if let Some(trouble) = &mut self.trouble {
            trouble.since = trouble.since.saturating_sub(by);
            trouble.until = trouble.until.map(|until| until.saturating_sub(by));
            trouble.probe_at = trouble.probe_at.saturating_sub(by);
        }
    }
}
