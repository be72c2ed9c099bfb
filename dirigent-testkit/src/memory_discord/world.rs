//! All state of one in-memory Discord, behind one lock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{ApiError, AuthorKind, ChannelId, Clock, ErrorKind, Timestamp, UserId};

use super::applications::Applications;
use super::event::{Event, Inbox};
use super::faults::{Fault, Faults, PushFault, rate_limited};
use super::hash::IdMap;
use super::ledger::{Call, Ledger};
use super::nonces::Nonces;
use super::outage::{Outages, Regime};
use super::places::Places;
use super::snowflake::Snowflakes;

/// An account.
#[derive(Clone, Debug)]
pub struct Account {
    /// What others call it.
    pub name: String,
    /// What it is.
    pub kind: AuthorKind,
    /// Whether its token works no more.
    pub revoked: bool,
    /// Whether it lacks the message-content intent.
    pub content_hidden: bool,
    /// Whether it lacks the guild-members intent.
    pub members_hidden: bool,
}

impl Account {
    pub const fn new(name: String, kind: AuthorKind) -> Self {
        Self { name, kind, revoked: false, content_hidden: false, members_hidden: false }
    }
}

/// Where pushed events go.
struct Outlet {
    inbox: Arc<Inbox>,
    /// Whose connection it is; none hears everything.
    account: Option<UserId>,
    /// Whether it is a connection of the gateway, which hears of guilds too.
    is_gateway: bool,
}

impl Outlet {
    fn wants(&self, event: &Event) -> bool {
        if self.is_gateway { event.is_pushed() } else { event.is_chat() }
    }
}

/// A session of the gateway. It hears of everything while it happens, when what an event speaks of is
/// still there to be told.
pub trait Listener: Send + Sync {
    /// Whether what it hears will never be read.
    fn is_gone(&self, now: Timestamp) -> bool;

    /// Hears an event, which it may have no right to. Where it tells it on, it draws a fault.
    fn hear(&self, world: &World, event: &Event, draw: &mut dyn FnMut() -> Option<PushFault>);

    /// Ends all delays.
    fn flush(&self);

    /// Hears that an account's token works no more.
    fn revoke(&self, user: UserId);
}

/// What an account was told to wait for.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// When it was told.
    from: Timestamp,
    /// When it may go on.
    until: Timestamp,
}

/// All state.
pub struct World {
    pub clock: Arc<dyn Clock>,
    pub(crate) ids: Snowflakes,
    pub accounts: IdMap<UserId, Account>,
    pub places: Places,
    pub nonces: Nonces,
    pub(crate) ledger: Ledger,
    pub(crate) faults: Faults,
    pub(crate) outages: Outages,
    /// How many messages a channel keeps.
    pub(crate) history_max: usize,
    /// Rate limits in force.
    limits: IdMap<(UserId, Call, Option<ChannelId>), Limit>,
    outlets: Vec<Outlet>,
    listeners: Vec<Arc<dyn Listener>>,
    /// Commands, and who used which.
    pub applications: Applications,
}

impl World {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            places: Places::new(Arc::clone(&clock)),
            clock,
            ids: Snowflakes::default(),
            accounts: IdMap::default(),
            nonces: Nonces::new(),
            ledger: Ledger::default(),
            faults: Faults::new(0),
            outages: Outages::default(),
            history_max: 1_000,
            limits: IdMap::default(),
            outlets: Vec::new(),
            listeners: Vec::new(),
            applications: Applications::default(),
        }
    }

    /// A new id.
    pub fn next_id(&mut self) -> u64 {
        let now = self.clock.now();
        self.ids.next(now)
    }

    /// Lets a request in, or says why not; with the fault that hits it.
    pub(crate) fn admit(
        &mut self,
        me: UserId,
        call: Call,
        channel: Option<ChannelId>,
    ) -> Result<Option<Fault>, ApiError> {
        if let Some(Regime::Failing(fault)) = self.outages.regime(me, call) {
            return Ok(Some(fault));
        }
        if self.accounts.get(&me).is_none_or(|account| account.revoked) {
            self.ledger.count_unauthorized();
            return Err(ApiError::new(ErrorKind::Unauthorized));
        }
        if let Some(wait) = self.limit_left((me, call, channel)) {
            self.ledger.count_too_early();
            return Err(rate_limited(wait));
        }
        let fault = self.faults.draw(me, call);
        if let Some(Fault::RateLimited { retry_after }) = fault {
            let from = self.clock.now();
            self.limits.insert((me, call, channel), Limit { from, until: from + retry_after });
        }
        Ok(fault)
    }

    /// How long the account still has to wait. A clock that stepped back ends a limit.
    fn limit_left(&mut self, key: (UserId, Call, Option<ChannelId>)) -> Option<Duration> {
        if self.limits.is_empty() {
            return None;
        }
        let limit = *self.limits.get(&key)?;
        let now = self.clock.now();
        if now < limit.from || now >= limit.until {
            self.limits.remove(&key);
            return None;
        }
        Some(limit.until.since(now))
    }

    /// Ends all rate limits.
    pub(crate) fn lift_limits(&mut self) {
        self.limits.clear();
    }

    /// Adds a queue for pushed events.
    pub(crate) fn subscribe(&mut self, account: Option<UserId>, is_gateway: bool) -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::new());
        self.outlets.push(Outlet { inbox: Arc::clone(&inbox), account, is_gateway });
        inbox
    }

    /// Adds a session of the gateway.
    pub fn listen(&mut self, listener: Arc<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Whether anybody listens.
    pub(crate) fn is_heard(&mut self) -> bool {
        self.outlets.retain(|outlet| !outlet.inbox.is_dropped());
        if !self.listeners.is_empty() {
            let now = self.clock.now();
            self.listeners.retain(|listener| !listener.is_gone(now));
        }
        !self.outlets.is_empty() || !self.listeners.is_empty()
    }

    /// Pushes an event to everybody who may know of it.
    pub fn publish(&mut self, event: Event) {
        if event.is_pushed() {
            self.tell_listeners(&event);
        }
        self.publish_where(event, Outlet::wants);
    }

    /// Pushes an event to those who listen to channels, and not to sessions of the gateway.
    pub(crate) fn publish_to_chat(&mut self, event: Event) {
        self.publish_where(event, |outlet, event| !outlet.is_gateway && outlet.wants(event));
    }

    fn publish_where(&mut self, event: Event, wants: impl Fn(&Outlet, &Event) -> bool) {
        if !self.is_heard() {
            return;
        }
        let now = self.clock.now();
        let earshot = event.earshot();
        let mut event = Some(event);
        let mut outlets = self.outlets.iter();
        while let Some(outlet) = outlets.next() {
            let wanted = event.as_ref().is_some_and(|event| wants(outlet, event));
            let hears = outlet.account.is_none_or(|user| self.places.hears(earshot, user));
            if !wanted || !hears {
                continue;
            }
            let is_last = outlets.len() == 0;
            let Some(mut copy) = (if is_last { event.take() } else { event.clone() }) else {
                break;
            };
            if let Some(account) = outlet.account {
                hide_content(&self.accounts, account, &mut copy);
            }
            let fault = self.faults.draw_push();
            outlet.inbox.put(copy, fault, now);
        }
    }

    /// Lets the sessions of the gateway hear of it.
    fn tell_listeners(&mut self, event: &Event) {
        if !self.is_heard() || self.listeners.is_empty() {
            return;
        }
        // They read the world while faults are drawn from it.
        let mut faults = std::mem::replace(&mut self.faults, Faults::new(0));
        for listener in &self.listeners {
            listener.hear(self, event, &mut || faults.draw_push());
        }
        self.faults = faults;
    }

    /// Makes an account's token invalid, or valid again. Its sessions end.
    pub fn set_revoked(&mut self, user: UserId, is_revoked: bool) {
        if let Some(account) = self.accounts.get_mut(&user) {
            account.revoked = is_revoked;
        }
        if is_revoked {
            for listener in &self.listeners {
                listener.revoke(user);
            }
        }
    }

    /// Ends all delays of pushed events.
    pub(crate) fn flush_pushes(&self) {
        for outlet in &self.outlets {
            outlet.inbox.flush();
        }
        for listener in &self.listeners {
            listener.flush();
        }
    }

    /// Whether the account is shown this text. Without the message-content intent a bot is shown
    /// only its own and those that mention it (events/gateway).
    pub(crate) fn shows_content(&self, account: UserId, author: UserId, content: &str) -> bool {
        shows_content(&self.accounts, account, author, content)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for outlet in &self.outlets {
            outlet.inbox.close();
        }
    }
}

fn hide_content(accounts: &IdMap<UserId, Account>, account: UserId, event: &mut Event) {
    if let Event::MessageCreated(message) | Event::MessageEdited(message) = event {
        if !shows_content(accounts, account, message.author, &message.content) {
            message.content = Arc::default();
        }
    }
}

fn shows_content(
    accounts: &IdMap<UserId, Account>,
    account: UserId,
    author: UserId,
    content: &str,
) -> bool {
    let hidden = accounts.get(&account).is_some_and(|account| account.content_hidden);
    !hidden || account == author || content.contains(&format!("<@{account}>"))
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("accounts", &self.accounts.len())
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}
