//! Outages, in which requests fail in one way until you end the outage.

use std::collections::BTreeMap;
use std::sync::Arc;

use dirigent::UserId;
use dirigent::ports::Post;
use dirigent::ports::Timestamp;
use tokio::sync::Notify;

use super::faults::Fault;
use super::ledger::Call;
use super::world::World;

/// The way in which requests fail until
/// [`MemoryDiscord::end_outages`](super::MemoryDiscord::end_outages). It concerns every account and
/// every operation, unless you narrow it.
///
/// ```
/// use dirigent_testkit::memory_discord::{Call, Fault, Outage};
/// use std::time::Duration;
///
/// let members_unreadable = Outage::refused().only(Call::Members);
/// let late = Outage::failing(Fault::LandsLate { by: Duration::from_secs(20) }).only(Call::Post);
/// assert_ne!(members_unreadable, late);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    regime: Regime,
    accounts: Option<Vec<UserId>>,
    calls: Option<Vec<Call>>,
}

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regime {
    /// The request is neither performed nor answered during the outage.
    Hanging,
    /// The request meets this fault.
    Failing(Fault),
}

impl Outage {
    /// Refuses every connection. No request is performed, and the caller knows that at once
    /// (`Unavailable`, `NotDone`).
    pub const fn refused() -> Self {
        Self::failing(Fault::Refused)
    }

    /// Makes requests hang until you end the outage. If the caller still waits then, the request is
    /// performed and answered. If it was dropped before, it is never performed.
    pub const fn hanging() -> Self {
        Self { regime: Regime::Hanging, accounts: None, calls: None }
    }

    /// Lets every request meet this fault, for example [`Fault::LostAnswer`] or [`Fault::LandsLate`].
    pub const fn failing(fault: Fault) -> Self {
        Self { regime: Regime::Failing(fault), accounts: None, calls: None }
    }

    /// Narrows the outage to one account. Call it again to add another one.
    #[must_use]
    pub fn of(mut self, account: UserId) -> Self {
        self.accounts.get_or_insert_default().push(account);
        self
    }

    /// Narrows the outage to one operation. Call it again to add another one.
    #[must_use]
    pub fn only(mut self, call: Call) -> Self {
        self.calls.get_or_insert_default().push(call);
        self
    }

    fn hits(&self, account: UserId, call: Call) -> bool {
        self.accounts.as_ref().is_none_or(|accounts| accounts.contains(&account))
            && self.calls.as_ref().is_none_or(|calls| calls.contains(&call))
    }
}

/// The current outages, and the late posts.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    lasting: Vec<Outage>,
    /// Notified when an outage ends.
    pub(crate) lifted: Arc<Notify>,
    /// Late posts, by the time of their arrival and a number.
    late: BTreeMap<(Timestamp, u64), (UserId, Post)>,
    next_number: u64,
    /// Notified when a post is added to `late`.
    pub(crate) posted_late: Arc<Notify>,
}

impl Outages {
    pub(crate) fn begin(&mut self, outage: Outage) {
        self.lasting.push(outage);
    }

    pub(crate) fn end(&mut self) {
        self.lasting.clear();
        self.lifted.notify_waiters();
    }

    /// Returns the regime for this request. The outage that began last decides.
    pub(crate) fn regime(&self, account: UserId, call: Call) -> Option<Regime> {
        let outage = self.lasting.iter().rev().find(|outage| outage.hits(account, call))?;
        Some(outage.regime)
    }

    /// Returns the time at which the next late post arrives.
    pub(crate) fn next_landing(&self) -> Option<Timestamp> {
        self.late.keys().next().map(|(at, _)| *at)
    }

    pub(crate) fn land_later(&mut self, at: Timestamp, author: UserId, post: Post) {
        self.next_number += 1;
        self.late.insert((at, self.next_number), (author, post));
        self.posted_late.notify_one();
    }

    fn take_landed(&mut self, now: Timestamp) -> Option<(UserId, Post)> {
        let first = self.late.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

impl World {
    /// Performs the late posts that are due. If the chat would now refuse a post, it is lost.
    pub(crate) fn land_due(&mut self) {
        if self.outages.next_landing().is_none() {
            return;
        }
        let now = self.clock.now();
        while let Some((author, post)) = self.outages.take_landed(now) {
            drop(self.accept(author, post));
        }
    }
}
