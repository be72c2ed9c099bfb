//! Decides which action may start now. All rooms ask it, and the answer is *now*, *at* a time, or *in line*.
//!
//! Four things make an action wait: the pace of posts, a rate limit from the chat, an account that does not reach the
//! chat, and a full pool. The first two end at a known time. For the others the room stands in a line, and the driver
//! polls it when its turn comes. A room that no longer needs the place does not ask then, and the next room is polled,
//! so no place has to be taken back. The admission knows no turns and no clock, and never waits.

mod bars;
mod claim;
mod health;
mod line;
mod places;
mod pool;
mod windows;

use dirigent_core::Timestamp;

use self::bars::Bars;
use self::health::Accounts;
use self::places::Places;
use self::pool::Pool;
use crate::settings::Pacing;

pub(crate) use self::claim::{AccountKey, Admitted, Claim, ClaimKind, Next, Report, Wait};

/// The limits that a host sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) pacing: Pacing,
    /// The most agents that run at once. 0 counts as 1.
    pub(crate) calls_max: usize,
    /// The most calls of one agent that run at once, if this is limited. 0 counts as 1.
    pub(crate) agent_calls_max: Option<usize>,
    /// The most consultations that run at once. 0 counts as 1.
    pub(crate) consults_max: usize,
}

/// Decides which actions may start.
///
/// A room asks with [`Admission::admit`] before it starts an action. Every admitted action ends with
/// [`Admission::report`]. The driver polls each room that [`Admission::next`] returns, whenever an action has ended,
/// and at [`Admission::next_deadline`].
#[derive(Debug)]
pub(crate) struct Admission {
    places: Places,
    bars: Bars,
    accounts: Accounts,
    calls: Pool,
    consults: Pool,
}

impl Admission {
    pub(crate) fn new(limits: Limits) -> Self {
        let Limits { pacing, calls_max, agent_calls_max, consults_max } = limits;
        Self {
            places: Places::new(pacing),
            bars: Bars::default(),
            accounts: Accounts::default(),
            calls: Pool::new(calls_max, agent_calls_max),
            consults: Pool::new(consults_max, None),
        }
    }

    /// Decides whether the action starts now.
    pub(crate) fn admit(&mut self, now: Timestamp, claim: Claim) -> Result<Admitted, Wait> {
        let Claim { room, account, kind, .. } = claim;
        let (is_admitted, probe) = match kind {
            ClaimKind::Post => (true, self.admit_post(now, &claim)?),
            ClaimKind::Read if self.accounts.admit(now, account, room) => {
                (true, self.accounts.start_probe(now, account))
            }
            ClaimKind::Read => (false, None),
            ClaimKind::Call => (self.calls.admit(room, account), None),
            ClaimKind::Consult => (self.consults.admit(room, account), None),
        };
        if is_admitted { Ok(Admitted { claim, probe }) } else { Err(Wait::Line) }
    }

    /// Decides about a post. A paced post reserves its place when the room asks first, and claims it when the room asks
    /// again at that time. A second later the place counts as used.
    fn admit_post(&mut self, now: Timestamp, claim: &Claim) -> Result<Option<u32>, Wait> {
        let Claim { room, target, account, .. } = *claim;
        if let Some(until) = self.bars.until(now, target, account) {
            // The room comes back by itself, so others may use its place until then. It waits in no line, because a
            // rate limit is an answer, and an answer ends the account's line.
            self.places.give_back(room, target);
            return Err(Wait::Until(until));
        }
        if !self.accounts.admit(now, account, room) {
            self.places.give_back(room, target);
            return Err(Wait::Line);
        }
        let at = self.places.claim(now, claim);
        if at > now {
            self.accounts.put_off_probe(now, account, room, at);
            return Err(Wait::Until(at));
        }
        Ok(self.accounts.start_probe(now, account))
    }

    /// Records how an action ended. The place of a call or consultation becomes free, whatever the report says.
    ///
    /// Every answer of the chat proves that the account reaches the chat, even a refusal. A rate limit of another
    /// request does not apply to posts.
    pub(crate) fn report(&mut self, now: Timestamp, admitted: &Admitted, report: Report) {
        let Admitted { claim: Claim { target, account, kind, .. }, probe } = *admitted;
        match (kind, report) {
            // A call is no request to the chat, so its end says nothing about the account.
            (ClaimKind::Call, _) => return self.calls.release(account),
            (ClaimKind::Consult, _) => return self.consults.release(account),
            (_, Report::Away { refused }) => {
                if self.accounts.failed(now, account, probe, refused) {
                    // Its posts cannot leave now, and must not delay those of other accounts.
                    self.places.give_back_all_of(account);
                }
                return;
            }
            (ClaimKind::Post, Report::RateLimited { until }) => {
                self.bars.bar(now, target, account, until);
            }
            (_, Report::Answered | Report::RateLimited { .. }) => {}
        }
        self.accounts.answered(account);
    }

    /// Returns a room to poll now, before you ask for another.
    #[must_use]
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<Next> {
        if let Some(room) = self.calls.next().or_else(|| self.consults.next()) {
            return Some(Next { room, is_for_chat: false });
        }
        self.accounts.next(now).map(|room| Next { room, is_for_chat: true })
    }

    /// Returns the time for the next call of [`Admission::next`]. `None` while no room waits for a time.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let moves = self.calls.moves() || self.consults.moves();
        if moves { Some(Timestamp::default()) } else { self.accounts.deadline() }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let pools = self.calls.len() + self.consults.len();
        self.places.len() + self.bars.len() + self.accounts.len() + pools
    }
}

#[cfg(test)]
mod tests;
