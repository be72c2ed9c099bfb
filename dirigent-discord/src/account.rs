//! One account of Discord, with the permissions of its token.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::ports::{ApiError, AuthorKind};
use dirigent::{ChannelId, ChatMessage, Clock, MessageId, UserId};
use hyper::body::Bytes;
use serde::de::DeserializeOwned;
use twilight_http::routing::Route;

use crate::file_host::FileHost;
use crate::guild_cache::GuildCache;
use crate::limit_headers::TooMany;
use crate::persona::table::Personas;
use crate::route::Ask;
use crate::traffic::Traffic;
use crate::transport::{Answer, Transport};
use crate::unfinished::UnfinishedReads;
use crate::{AccountBuilder, RestError, wire};

/// The most ids of posted messages that are remembered, to recognise a repeated post.
const POSTED_MAX: usize = 256;

/// A bot's account: a [`DiscordApi`](dirigent::DiscordApi) and a [`GuildApi`](dirigent::ports::GuildApi).
///
/// Create one value for each token. Each call makes one attempt and never waits for a limit. If a limit forbids a
/// request, it is not sent, and you get `RateLimited` with the time to wait. Use the account within a tokio runtime
/// with time and I/O, because its connections live there.
///
/// Two things it cannot know:
///
/// - [`Posted::deduplicated`](dirigent::ports::Posted::deduplicated) is true only if this value itself has seen the
///   message before, because Discord answers a first and a repeated post alike.
/// - Without permission to read a channel's history, Discord shows an empty history. With a [`Feed`](crate::Feed) the
///   account knows its permissions, and such a read is `Forbidden`.
///
/// ```no_run
/// use dirigent::{DiscordApi, SystemClock};
/// use dirigent_discord::DiscordAccount;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let token = std::env::var("DISCORD_TOKEN")?;
/// let account = DiscordAccount::builder(token, SystemClock::new()).build()?;
/// let me = account.me().await?;
/// # Ok(())
/// # }
/// ```
pub struct DiscordAccount {
    pub(crate) transport: Transport,
    pub(crate) file_host: FileHost,
    /// The webhooks that people speak through.
    pub(crate) bridges: Vec<UserId>,
    pub(crate) traffic: Traffic,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
    pub(crate) me: OnceLock<UserId>,
    pub(crate) posted: Mutex<VecDeque<MessageId>>,
    pub(crate) unfinished: UnfinishedReads,
    pub(crate) guild_cache: GuildCache,
    pub(crate) personas: Personas,
    pub(crate) application: OnceLock<wire::Application>,
}

impl DiscordAccount {
    /// Begins to set up an account. The clock paces its requests and measures waits. Accounts and library need not
    /// share a [`SystemClock`](dirigent::SystemClock), because all of them are one clock. In a test, let them share its
    /// manual clock.
    pub fn builder(token: impl Into<String>, clock: impl Clock) -> AccountBuilder {
        AccountBuilder::new(token.into(), Arc::new(clock))
    }

    /// Ends the pauses of all routes in these channels.
    pub(crate) fn ask_again_in(&self, channels: &[ChannelId]) {
        self.traffic.rights_changed(channels);
        self.personas.ask_again_in(channels);
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Returns the message as you want it to be read. The mention of a bot's role becomes the bot's, listed webhooks
    /// count as people, and a persona's webhook posts as the persona.
    pub(crate) fn told(&self, message: ChatMessage) -> ChatMessage {
        let mut message = self.guild_cache.name_bots(message);
        if message.author_kind == AuthorKind::Webhook && self.bridges.contains(&message.author) {
            message.author_kind = AuthorKind::Bridged;
        }
        self.personas.told(message)
    }

    /// Makes one attempt. Returns the body of a success.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Bytes, ApiError> {
        let now = self.clock.now();
        let route = ask.key.name;
        let permit = self.traffic.admit(now, ask.key).inspect_err(|error| {
            tracing::debug!(route, kind = ?error.kind(), "not sent");
        })?;
        let answer = match self.send(&ask, now + self.timeout).await {
            Ok(answer) => answer,
            Err(error) => {
                if matches!(error, RestError::NotConnected | RestError::NotAcceptable) {
                    permit.not_sent(self.clock.now());
                }
                return Err(error.report());
            }
        };
        let too_many = permit.answered(self.clock.now(), &answer);
        conclude(route, answer, too_many)
    }

    /// Makes one attempt that must end by `until`. It shows no token and is under no limit of this account, so no
    /// limit, refused token or ban guard holds it back.
    pub(crate) async fn ask_apart(&self, ask: Ask, until: Timestamp) -> Result<Bytes, ApiError> {
        let deadline = until.min(self.clock.now() + self.timeout);
        let answer = self.send(&ask, deadline).await.map_err(RestError::report)?;
        let too_many = self.traffic.answered_apart(self.clock.now(), &answer);
        conclude(ask.key.name, answer, too_many)
    }

    async fn send(&self, ask: &Ask, deadline: Timestamp) -> Result<Answer, RestError> {
        let sent = self.transport.send(&ask.request, &*self.clock, deadline).await;
        sent.inspect_err(|error| tracing::debug!(route = ask.key.name, %error, "not answered"))
    }

    /// Makes one attempt, and reads its answer as JSON.
    pub(crate) async fn read<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ApiError> {
        let body = self.ask(ask).await?;
        serde_json::from_slice(&body).map_err(|_| RestError::Unreadable.report())
    }

    /// Asks for this account's id, every time.
    pub(crate) async fn ask_me(&self) -> Result<UserId, ApiError> {
        let ask = Ask::bare("get current user", 0, &Route::GetCurrentUser);
        let me = self.read::<wire::WithId>(ask).await?.id.user();
        Ok(*self.me.get_or_init(|| me))
    }

    /// Returns this account's id. It asks only once, because the id never changes.
    pub(crate) async fn known_me(&self) -> Result<UserId, ApiError> {
        match self.me.get() {
            Some(me) => Ok(*me),
            None => self.ask_me().await,
        }
    }

    /// Remembers this account's id, because another client knows it.
    pub(crate) fn know_me(&self, me: UserId) {
        self.me.get_or_init(|| me);
    }

    /// Returns the application of this account. It asks only once.
    pub(crate) async fn application(&self) -> Result<wire::Application, ApiError> {
        if let Some(known) = self.application.get() {
            return Ok(*known);
        }
        let route = Route::GetCurrentUserApplicationInfo;
        let asked = self.read(Ask::bare("get current application", 0, &route)).await?;
        Ok(*self.application.get_or_init(|| asked))
    }

    /// Returns true if this message came back from a post before, and remembers it.
    pub(crate) fn was_posted(&self, id: MessageId) -> bool {
        let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
        if posted.contains(&id) {
            return true;
        }
        if posted.len() >= POSTED_MAX {
            posted.pop_front();
        }
        posted.push_back(id);
        false
    }
}

fn conclude(
    route: &'static str,
    answer: Answer,
    too_many: Option<TooMany>,
) -> Result<Bytes, ApiError> {
    let status = answer.status;
    if status.is_success() {
        tracing::debug!(route, status = status.as_u16(), "answered");
        return answer.body.ok_or_else(|| RestError::Broken.report());
    }
    let code = wire::Refused::code_in(answer.said());
    tracing::warn!(route, status = status.as_u16(), code, "refused");
    let refused = RestError::Refused { status: status.as_u16(), code };
    Err(match too_many {
        Some(too_many) => refused.report_until(too_many.wait),
        None => refused.report(),
    })
}

impl fmt::Debug for DiscordAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiscordAccount")
            .field("me", &self.me.get())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
