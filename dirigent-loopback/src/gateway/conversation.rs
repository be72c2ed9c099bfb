//! One connection, without its socket.

use std::sync::Arc;

use dirigent::ports::Timestamp;
use tokio::sync::Notify;

use super::close::Close;
use super::command_limit::CommandLimit;
use super::compression::Compression;
use super::faults::GatewayFault;
use super::frame::{self, ClientFrame, Resume};
use super::heartbeat::{Heartbeat, Pulse};
use super::identify::Identify;
use super::members::MembersRequest;
use super::picture;
use super::session::{Errand, Holder};
use super::subscriber::Subscriber;
use crate::state::ServerContext;

/// The next action of a connection.
pub(super) enum Act {
    /// Send a payload.
    Say(Arc<str>),
    /// Send the reason, and close.
    Close(Close),
    /// Break without a word.
    Cut,
}

impl Act {
    fn say(payload: String) -> Self {
        Self::Say(payload.into())
    }
}

/// The server's side of one connection.
pub(super) struct Conversation {
    state: Arc<ServerContext>,
    holder: Holder,
    /// The session of the connection.
    subscriber: Option<Arc<Subscriber>>,
    heartbeat: Heartbeat,
    limit: CommandLimit,
    /// True if a fault silences it.
    is_silent: bool,
}

impl Conversation {
    pub(super) fn new(state: Arc<ServerContext>, now: Timestamp) -> Self {
        let number = state.gateway.next_connection();
        Self {
            state,
            holder: Holder { number, bell: Arc::new(Notify::new()) },
            subscriber: None,
            heartbeat: Heartbeat::new(now),
            limit: CommandLimit::default(),
            is_silent: false,
        }
    }

    /// Returns the bell that rings when there is something to do.
    pub(super) fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.holder.bell)
    }

    /// Returns true if large payloads may be packed one by one.
    pub(super) fn packs(&self) -> bool {
        self.subscriber.as_ref().is_some_and(|subscriber| subscriber.session().packed)
    }

    /// Returns the time at which to look at the clock.
    pub(super) fn due(&self) -> Timestamp {
        let held = self.subscriber.as_ref().and_then(|subscriber| subscriber.session().due());
        held.map_or(self.heartbeat.due(), |held| held.min(self.heartbeat.due()))
    }

    /// Greets the client, and returns the compression. It fails if the server does not support the
    /// address.
    pub(super) fn on_open(query: &str) -> Result<(Compression, Act), Close> {
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        if value("encoding").is_some_and(|encoding| encoding != "json") {
            return Err(Close::NotSpoken("Only encoding=json is spoken here."));
        }
        let version = value("v").and_then(|version| version.parse().ok());
        if !version.is_some_and(|version| picture::VERSIONS.contains(&version)) {
            return Err(Close::InvalidApiVersion);
        }
        let compression = Compression::named(value("compress"));
        let compression = compression.ok_or(Close::NotSpoken("No such compression here."))?;
        Ok((compression, Act::say(frame::hello())))
    }

    /// Handles a payload.
    pub(super) fn on_payload(&mut self, payload: &[u8], now: Timestamp) -> Vec<Act> {
        if self.limit.is_exceeded(now) {
            return self.end(Close::RateLimited, now);
        }
        let answered = match frame::read(payload) {
            Err(close) => Err(close),
            Ok(ClientFrame::Heartbeat) => {
                self.heartbeat.on_beat(now);
                Ok(self.aloud(frame::heartbeat_ack()))
            }
            Ok(ClientFrame::Identify(identify)) => self.on_identify(&identify),
            Ok(ClientFrame::Resume(resume)) => self.on_resume(&resume),
            Ok(ClientFrame::Presence) => self.authenticated().map(|_| Vec::new()),
            Ok(ClientFrame::Members(request)) => self.on_members(&request),
        };
        answered.unwrap_or_else(|close| self.end(close, now))
    }

    /// Called when the bell rings, or when the clock reaches [`due`](Self::due).
    pub(super) fn on_time(&mut self, now: Timestamp) -> Vec<Act> {
        let mut acts = self.run_errands(now);
        match self.heartbeat.on_time(now) {
            Pulse::Fine => {}
            Pulse::Late => acts.extend(self.aloud(frame::heartbeat_request())),
            Pulse::Gone => acts.extend(self.end(Close::SessionTimedOut, now)),
        }
        acts
    }

    /// Called when the connection is lost, or when the client closes it with this code.
    pub(super) fn on_end(&mut self, code: Option<u16>, now: Timestamp) {
        if let Some(subscriber) = self.subscriber.take() {
            subscriber.session().leave(self.holder.number, code, now);
        }
    }

    fn on_identify(&mut self, identify: &Identify) -> Result<Vec<Act>, Close> {
        if self.subscriber.is_some() {
            return Err(Close::AlreadyAuthenticated);
        }
        let gateway = &self.state.gateway;
        self.subscriber = Some(gateway.identify(&self.state, identify, self.holder.clone())?);
        // READY waits in the session, and its bell has rung.
        self.holder.bell.notify_one();
        Ok(Vec::new())
    }

    fn on_resume(&mut self, resume: &Resume) -> Result<Vec<Act>, Close> {
        if self.subscriber.is_some() {
            return Err(Close::AlreadyAuthenticated);
        }
        let gateway = &self.state.gateway;
        self.subscriber = gateway.resume(&self.state, resume, self.holder.clone())?;
        if self.subscriber.is_none() {
            return Ok(self.aloud(frame::invalid_session(false)));
        }
        Ok(Vec::new())
    }

    fn on_members(&mut self, request: &MembersRequest) -> Result<Vec<Act>, Close> {
        let subscriber = self.authenticated()?;
        let world = self.state.discord.world();
        let mut session = subscriber.session();
        for chunk in picture::members(&world, &session, request)? {
            session.tell("GUILD_MEMBERS_CHUNK", chunk);
        }
        Ok(Vec::new())
    }

    fn authenticated(&self) -> Result<&Arc<Subscriber>, Close> {
        self.subscriber.as_ref().ok_or(Close::NotAuthenticated)
    }

    /// Sends the session's events, and performs ordered faults.
    fn run_errands(&mut self, now: Timestamp) -> Vec<Act> {
        let mut acts = Vec::new();
        while !self.is_silent {
            let Some(subscriber) = self.subscriber.clone() else {
                break;
            };
            let errand = subscriber.session().errand(self.holder.number, now);
            let order = match errand {
                Errand::Leave => {
                    self.subscriber = None;
                    acts.push(Act::Cut);
                    break;
                }
                Errand::Send { texts, order } => {
                    acts.extend(texts.into_iter().map(Act::Say));
                    order
                }
            };
            let Some(order) = order else {
                break;
            };
            acts.extend(self.obey(order, now));
        }
        acts
    }

    fn obey(&mut self, order: GatewayFault, now: Timestamp) -> Vec<Act> {
        match order {
            GatewayFault::Cut => {
                self.on_end(None, now);
                vec![Act::Cut]
            }
            GatewayFault::Reconnect => vec![Act::say(frame::reconnect())],
            GatewayFault::InvalidSession { resumable } => {
                if let Some(subscriber) = self.subscriber.take() {
                    let mut session = subscriber.session();
                    session.leave(self.holder.number, None, now);
                    if !resumable {
                        session.end();
                    }
                }
                vec![Act::say(frame::invalid_session(resumable))]
            }
            GatewayFault::Close { code } => self.end(Close::Ordered(code), now),
            GatewayFault::Silent => {
                self.is_silent = true;
                Vec::new()
            }
        }
    }

    fn end(&mut self, close: Close, now: Timestamp) -> Vec<Act> {
        self.on_end(Some(close.code()), now);
        vec![Act::Close(close)]
    }

    fn aloud(&self, payload: String) -> Vec<Act> {
        if self.is_silent { Vec::new() } else { vec![Act::say(payload)] }
    }
}
