//! All sessions of a server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::UserId;
use dirigent::ports::Timestamp;

use super::close::Close;
use super::faults::GatewayFaults;
use super::frame::Resume;
use super::identify::Identify;
use super::picture;
use super::session::{Holder, Session};
use super::shard::Shard;
use super::subscriber::Subscriber;
use crate::alterations::AlteredEvent;
use crate::state::ServerContext;
use crate::wire::intent;
use dirigent_testkit::Random;

/// All sessions, and their faults.
#[derive(Default)]
pub(crate) struct Gateway {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The sessions by id.
    subscribers: BTreeMap<String, Arc<Subscriber>>,
    faults: Arc<GatewayFaults>,
    /// How many sessions each shard of an account has had.
    begun: BTreeMap<(UserId, [u64; 2]), u64>,
    /// The number of connections so far.
    connections: u64,
}

impl Gateway {
    /// Returns a number for a new connection.
    pub(super) fn next_connection(&self) -> u64 {
        let mut inner = self.inner();
        inner.connections += 1;
        inner.connections
    }

    /// Begins a session, or returns why the connection ends.
    pub(super) fn identify(
        &self,
        state: &ServerContext,
        identify: &Identify,
        holder: Holder,
    ) -> Result<Arc<Subscriber>, Close> {
        let user = state.holder(&identify.token).ok_or(Close::AuthenticationFailed)?;
        if !identify.intents.are_allowed(state.privileged_intents(user)) {
            return Err(Close::DisallowedIntents);
        }
        // Read the guilds and subscribe under one lock, so that no event is lost in between.
        let mut world = state.discord.world();
        let now = world.clock.now();
        let mut session = self.new_session(user, identify, holder, now);
        let guilds = picture::guilds(&world, &session);
        if Shard::is_overloaded(guilds.len()) {
            return Err(Close::ShardingRequired);
        }
        let ready = picture::ready(&world, &session, &guilds, &state.gateway_url());
        let altered = |name, data| {
            let account = user;
            state.alterations.change_event(AlteredEvent { account, name, data, is_connected: true })
        };
        if let Some(ready) = altered("READY", ready) {
            session.tell("READY", ready);
        }
        if session.intents.has(intent::GUILDS) {
            for guild in guilds {
                let guild = picture::guild(&world, &session, guild);
                if let Some(guild) = guild.and_then(|guild| altered("GUILD_CREATE", guild)) {
                    session.tell("GUILD_CREATE", guild);
                }
            }
        }
        let id = session.id.clone();
        let (alterations, parts) = (Arc::clone(&state.alterations), Arc::clone(&state.parts));
        let subscriber = Arc::new(Subscriber::new(session, alterations, parts));
        world.outlets.listen(Arc::clone(&subscriber) as _);
        drop(world);
        self.inner().subscribers.insert(id, Arc::clone(&subscriber));
        Ok(subscriber)
    }

    /// Gives a session to another connection. Returns `None` if it cannot be resumed.
    pub(super) fn resume(
        &self,
        state: &ServerContext,
        resume: &Resume,
        holder: Holder,
    ) -> Result<Option<Arc<Subscriber>>, Close> {
        let user = state.holder(&resume.token).ok_or(Close::AuthenticationFailed)?;
        let now = state.discord.clock().now();
        let known = self.inner().subscribers.get(&resume.session).cloned();
        let Some(subscriber) = known.filter(|subscriber| subscriber.user() == user) else {
            return Ok(None);
        };
        if state.alterations.refuses_resumes() {
            subscriber.session().end();
            return Ok(None);
        }
        let is_resumed = subscriber.session().resume(holder, resume.seq, now)?;
        Ok(is_resumed.then_some(subscriber))
    }

    /// Returns the sessions that are not over.
    pub(super) fn sessions(&self, now: Timestamp) -> Vec<Arc<Subscriber>> {
        let inner = self.inner();
        let subscribers = inner.subscribers.values();
        subscribers.filter(|subscriber| !subscriber.session().is_gone(now)).cloned().collect()
    }

    /// Returns how many sessions the account has begun.
    pub(super) fn begun(&self, user: UserId) -> u64 {
        self.inner().begun.iter().filter(|((of, _), _)| *of == user).map(|(_, count)| count).sum()
    }

    /// Replaces the plan of random faults in every session.
    pub(super) fn set_faults(&self, faults: GatewayFaults) {
        let mut inner = self.inner();
        inner.faults = Arc::new(faults);
        for subscriber in inner.subscribers.values() {
            let mut session = subscriber.session();
            let count = inner.begun.get(&(session.user, session.shard.pair())).copied();
            let dice = inner.faults.dice(session.user, session.shard, count.unwrap_or(0));
            session.set_faults(Arc::clone(&inner.faults), dice);
        }
    }

    /// Creates a session, and removes those that are over.
    fn new_session(
        &self,
        user: UserId,
        identify: &Identify,
        holder: Holder,
        now: Timestamp,
    ) -> Session {
        let mut inner = self.inner();
        inner.subscribers.retain(|_, subscriber| !subscriber.session().is_gone(now));
        let faults = Arc::clone(&inner.faults);
        let count = inner.begun.entry((user, identify.shard.pair())).or_default();
        *count += 1;
        let dice = faults.dice(user, identify.shard, *count);
        // A connection begins one session at a time, so the id is unique by connection and count.
        let mut letters = Random::new(holder.number.rotate_left(32) ^ *count ^ user.get());
        let id = format!("{:016x}{:016x}", letters.draw(), letters.draw());
        Session::new(id, user, identify, faults, dice, holder)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
