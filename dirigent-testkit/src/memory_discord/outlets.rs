//! The receivers of events: queues, and sessions of the gateway.

use std::fmt;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::{Clock, UserId};

use super::accounts::Accounts;
use super::event::Event;
use super::events::{GatewayEvents, Inbox};
use super::faults::{Faults, PushFault};
use super::places::Places;
use super::world::World;

/// A session of the gateway. It gets every event as it happens, because the event's subject then
/// still exists.
pub trait Listener: Send + Sync {
    /// Returns true if its events will never be read.
    fn is_gone(&self, now: Timestamp) -> bool;

    /// Receives an event, even one that its account may not get. If it passes the event on, it draws
    /// a fault.
    fn hear(&self, world: &World, event: &Event, draw: &mut dyn FnMut() -> Option<PushFault>);

    /// Ends all delays.
    fn flush(&self);

    /// Called when an account's token is no longer valid.
    fn revoke(&self, user: UserId);
}

/// The destination of pushed events.
struct Outlet {
    inbox: Arc<Inbox>,
    /// The account of the connection. With `None` it gets every event.
    account: Option<UserId>,
    /// True for a connection of the gateway, which also gets events of guilds.
    is_gateway: bool,
}

impl Outlet {
    fn wants(&self, event: &Event, reach: Reach) -> bool {
        if self.is_gateway { reach == Reach::All && event.is_pushed() } else { event.is_chat() }
    }
}

/// The subscribers that get an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    /// Subscribers of channels, and no sessions of the gateway.
    Chat,
}

/// All receivers.
#[derive(Default)]
pub struct Outlets {
    queues: Vec<Outlet>,
    listeners: Vec<Arc<dyn Listener>>,
}

impl Outlets {
    /// Adds a queue for pushed events.
    pub(crate) fn subscribe(
        &mut self,
        account: Option<UserId>,
        is_gateway: bool,
        clock: Arc<dyn Clock>,
    ) -> GatewayEvents {
        let inbox = Arc::new(Inbox::new());
        self.queues.push(Outlet { inbox: Arc::clone(&inbox), account, is_gateway });
        GatewayEvents::new(inbox, clock)
    }

    /// Adds a session of the gateway.
    pub fn listen(&mut self, listener: Arc<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Removes receivers that are gone. Returns true if any are left.
    pub(crate) fn is_heard(&mut self, clock: &dyn Clock) -> bool {
        self.queues.retain(|outlet| !outlet.inbox.is_dropped());
        if !self.listeners.is_empty() {
            let now = clock.now();
            self.listeners.retain(|listener| !listener.is_gone(now));
        }
        !self.queues.is_empty() || !self.listeners.is_empty()
    }

    pub(crate) fn listeners(&self) -> &[Arc<dyn Listener>] {
        &self.listeners
    }

    /// Adds an event to the queues of everyone who may get it.
    pub(crate) fn push(
        &self,
        event: Event,
        reach: Reach,
        now: Timestamp,
        (places, accounts): (&Places, &Accounts),
        faults: &mut Faults,
    ) {
        let earshot = event.earshot();
        let mut event = Some(event);
        let mut outlets = self.queues.iter();
        while let Some(outlet) = outlets.next() {
            let wanted = event.as_ref().is_some_and(|event| outlet.wants(event, reach));
            let hears = outlet.account.is_none_or(|user| places.hears(earshot, user));
            if !wanted || !hears {
                continue;
            }
            let is_last = outlets.len() == 0;
            let Some(mut copy) = (if is_last { event.take() } else { event.clone() }) else {
                break;
            };
            if let Some(account) = outlet.account {
                accounts.hide_content(account, &mut copy);
            }
            outlet.inbox.put(copy, faults.draw_push(), now);
        }
    }

    /// Ends the sessions of an account.
    pub(crate) fn revoke(&self, user: UserId) {
        for listener in &self.listeners {
            listener.revoke(user);
        }
    }

    /// Ends all delays of pushed events.
    pub(crate) fn flush(&self) {
        for outlet in &self.queues {
            outlet.inbox.flush();
        }
        for listener in &self.listeners {
            listener.flush();
        }
    }
}

impl Drop for Outlets {
    fn drop(&mut self) {
        for outlet in &self.queues {
            outlet.inbox.close();
        }
    }
}

impl fmt::Debug for Outlets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlets")
            .field("queues", &self.queues.len())
            .field("listeners", &self.listeners.len())
            .finish()
    }
}
