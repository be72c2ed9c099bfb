//! A session as a subscriber of the Discord in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::UserId;
use dirigent::ports::GuildId;
use dirigent::ports::Timestamp;
use serde_json::Value;

use super::close::Close;
use super::faults::GatewayFault;
use super::line::News;
use super::picture;
use super::session::Session;
use crate::alterations::{Alterations, AlteredEvent};
use crate::parts::AllParts;
use crate::wire::{self, Dispatch, View, intent};
use dirigent_testkit::memory_discord::outlets::Listener;
use dirigent_testkit::memory_discord::world::World;
use dirigent_testkit::memory_discord::{Event, PushFault};

/// A session that connections and the world share. The world's lock is taken before the session's.
pub(super) struct Subscriber {
    user: UserId,
    session: Mutex<Session>,
    alterations: Arc<Alterations>,
    parts: Arc<AllParts>,
}

impl Subscriber {
    pub(super) const fn new(
        session: Session,
        alterations: Arc<Alterations>,
        parts: Arc<AllParts>,
    ) -> Self {
        Self { user: session.user, session: Mutex::new(session), alterations, parts }
    }

    pub(super) const fn user(&self) -> UserId {
        self.user
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the event in the form for this session, or `None` if the session does not get it.
    fn told(
        &self,
        session: &Session,
        world: &World,
        event: &Event,
        dispatch: Dispatch,
    ) -> Option<News> {
        let Dispatch { name, mut data, intents } = dispatch;
        let is_wanted = session.intents.hear(intents) && session.shard.hears(guild_of(&data, name));
        if !is_wanted {
            return None;
        }
        if let (Event::GuildMemberAdded { guild, .. }, "GUILD_CREATE") = (event, name) {
            data = picture::guild(world, session, *guild)?;
        }
        let is_connected = session.is_connected();
        let account = self.user;
        let data =
            self.alterations.change_event(AlteredEvent { account, name, data, is_connected })?;
        Some(News { name, data })
    }
}

impl Listener for Subscriber {
    fn is_gone(&self, now: Timestamp) -> bool {
        self.session().is_gone(now)
    }

    fn hear(&self, world: &World, event: &Event, draw: &mut dyn FnMut() -> Option<PushFault>) {
        if !world.places.hears(event.earshot(), self.user) {
            return;
        }
        let mut session = self.session();
        let mut view = View::over_rest(world, &self.parts, self.user);
        view.has_content_intent &= session.intents.has(intent::CONTENT);
        let role = wire::managed_role_told(view, event);
        if let Some(news) = role.and_then(|role| self.told(&session, world, event, role)) {
            session.push(news, None, world.clock.now());
        }
        let dispatch = wire::dispatch(view, event);
        if let Some(news) = dispatch.and_then(|it| self.told(&session, world, event, it)) {
            session.push(news, draw(), world.clock.now());
        }
    }

    fn flush(&self) {
        self.session().flush();
    }

    fn revoke(&self, user: UserId) {
        if user == self.user {
            let code = Close::AuthenticationFailed.code();
            self.session().order(GatewayFault::Close { code });
        }
    }
}

/// Returns the guild of an event.
fn guild_of(data: &Value, name: &str) -> Option<GuildId> {
    let field = if matches!(name, "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE") {
        "id"
    } else {
        "guild_id"
    };
    data.get(field)?.as_str()?.parse().ok().map(GuildId::new)
}
