//! All state of one Discord in memory, behind one lock.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::{ChannelId, Clock, UserId};

use super::accounts::Accounts;
use super::applications::Applications;
use super::event::Event;
use super::events::GatewayEvents;
use super::faults::{Fault, Faults, rate_limited};
use super::ledger::{Call, Ledger};
use super::limits::Limits;
use super::nonces::Nonces;
use super::outage::{Outages, Regime};
use super::outlets::{Outlets, Reach};
use super::places::Places;
use super::snowflake::Snowflakes;
use super::webhooks::Webhooks;

/// All state.
pub struct World {
    pub clock: Arc<dyn Clock>,
    pub ids: Snowflakes,
    pub accounts: Accounts,
    pub places: Places,
    pub nonces: Nonces,
    pub(crate) ledger: Ledger,
    pub(crate) faults: Faults,
    pub(crate) outages: Outages,
    /// The most messages that a channel stores.
    pub(crate) history_max: usize,
    pub(crate) limits: Limits,
    pub outlets: Outlets,
    /// Commands, and their uses.
    pub applications: Applications,
    pub webhooks: Webhooks,
    /// Files that people attached, by address.
    pub(crate) files: HashMap<String, Vec<u8>>,
    /// The address of files and webhooks, for example `http://127.0.0.1:8120`. It is empty without a
    /// server.
    pub web_address: String,
}

impl World {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            places: Places::new(Arc::clone(&clock)),
            clock,
            ids: Snowflakes::default(),
            accounts: Accounts::default(),
            nonces: Nonces::new(),
            ledger: Ledger::default(),
            faults: Faults::new(0),
            outages: Outages::default(),
            history_max: 1_000,
            limits: Limits::default(),
            outlets: Outlets::default(),
            applications: Applications::default(),
            webhooks: Webhooks::default(),
            files: HashMap::new(),
            web_address: String::new(),
        }
    }

    /// Returns a new id.
    pub fn next_id(&mut self) -> u64 {
        let now = self.clock.now();
        self.ids.next(now)
    }

    /// Admits a request and returns its fault, or says why it is refused.
    pub(crate) fn admit(
        &mut self,
        me: UserId,
        call: Call,
        channel: Option<ChannelId>,
    ) -> Result<Option<Fault>, ApiError> {
        if let Some(Regime::Failing(fault)) = self.outages.regime(me, call) {
            return Ok(Some(fault));
        }
        if !self.accounts.has_token(me) {
            self.ledger.count_unauthorized();
            return Err(ApiError::new(ErrorKind::Unauthorized));
        }
        let key = (me, call, channel);
        if let Some(wait) = self.limits.left(&*self.clock, key) {
            self.ledger.count_too_early();
            return Err(rate_limited(wait));
        }
        let fault = self.faults.draw(me, call);
        if let Some(Fault::RateLimited { retry_after }) = fault {
            self.limits.begin(self.clock.now(), key, retry_after);
        }
        Ok(fault)
    }

    /// Returns the events from now on, of an account or of everything.
    pub(crate) fn subscribe(&mut self, account: Option<UserId>, is_gateway: bool) -> GatewayEvents {
        self.outlets.subscribe(account, is_gateway, Arc::clone(&self.clock))
    }

    /// Pushes an event to everyone who may get it.
    pub fn publish(&mut self, event: Event) {
        self.push(event, Reach::All);
    }

    /// Pushes an event to subscribers of channels, and not to sessions of the gateway.
    pub(crate) fn publish_to_chat(&mut self, event: Event) {
        self.push(event, Reach::Chat);
    }

    fn push(&mut self, event: Event, reach: Reach) {
        if !self.outlets.is_heard(&*self.clock) {
            return;
        }
        if reach == Reach::All && event.is_pushed() {
            // The listeners read the world while faults are drawn from it.
            let mut faults = std::mem::replace(&mut self.faults, Faults::new(0));
            for listener in self.outlets.listeners() {
                listener.hear(self, &event, &mut || faults.draw_push());
            }
            self.faults = faults;
        }
        let now = self.clock.now();
        let seen_by = (&self.places, &self.accounts);
        self.outlets.push(event, reach, now, seen_by, &mut self.faults);
    }

    /// Makes an account's token invalid, or valid again. If it becomes invalid, its sessions end.
    pub(crate) fn set_revoked(&mut self, user: UserId, is_revoked: bool) {
        if let Some(account) = self.accounts.get_mut(user) {
            account.revoked = is_revoked;
        }
        if is_revoked {
            self.outlets.revoke(user);
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("accounts", &self.accounts.len())
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}
