//! One account of Discord: what its token may do.

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
use crate::unfinished_reads::UnfinishedReads;
use crate::{AccountBuilder, RestError, wire};

/// How many ids of posted messages are remembered, to tell a repeated post.
const POSTED_MAX: usize = 256;

/// A bot's account: a [`DiscordApi`](dirigent::DiscordApi) and a [`GuildApi`](dirigent::ports::GuildApi).
///
/// One value a token. It makes one attempt a call and never waits for a limit: what the limits forbid
/// is answered with `RateLimited` and until when, without a request. It must be used within a tokio
/// runtime with time and I/O, on which its connections live.
///
/// What it cannot tell: [`Posted::deduplicated`](dirigent::ports::Posted::deduplicated) is true only where
/// this value itself has seen the message before, since Discord's answers to a first and a repeated post
/// are alike; and without the permission to read a channel's history, Discord shows an empty one. With a
/// [`Feed`](crate::Feed) the account knows its permissions, and such a history is `Forbidden`.
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
    /// The webhooks behind which people speak.
    pub(crate) bridges: Vec<UserId>,
    traffic: Traffic,
    clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
    me: OnceLock<UserId>,
    posted: Mutex<VecDeque<MessageId>>,
    pub(crate) unfinished: UnfinishedReads,
    pub(crate) guild_cache: GuildCache,
    pub(crate) personas: Personas,
    application: OnceLock<wire::Application>,
}

impl DiscordAccount {
    /// Begins to set up an account. The clock paces its requests and tells when a wait is over; each [`SystemClock`](dirigent::SystemClock)
    /// is the same clock, so that accounts and library need not share one. In a test they share its manual clock.
    pub fn builder(token: impl Into<String>, clock: impl Clock) -> AccountBuilder {
        AccountBuilder::new(token.into(), Arc::new(clock))
    }

    pub(crate) fn new(
        transport: Transport,
        file_host: FileHost,
        traffic: Traffic,
        clock: Arc<dyn Clock>,
        timeout: Duration,
    ) -> Self {
        Self {
            transport,
            file_host,
            bridges: Vec::new(),
            traffic,
            clock,
            timeout,
            me: OnceLock::new(),
            posted: Mutex::default(),
            unfinished: UnfinishedReads::default(),
            guild_cache: GuildCache::default(),
            personas: Personas::default(),
            application: OnceLock::new(),
        }
    }

    /// No route of these channels rests any more.
    pub(crate) fn ask_again_in(&self, channels: &[ChannelId]) {
        self.traffic.rights_changed(channels);
        self.personas.ask_again_in(channels);
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The message as this account's host wants it heard: the mention of a bot's role is the bot's, whom the host lists
    /// as people are people, and what the webhook of a persona posts is the persona's.
    pub(crate) fn told(&self, message: ChatMessage) -> ChatMessage {
        let mut message = self.guild_cache.name_bots(message);
        if message.author_kind == AuthorKind::Webhook && self.bridges.contains(&message.author) {
            message.author_kind = AuthorKind::Bridged;
        }
        self.personas.told(message)
    }

    /// Makes one attempt. The answer is a success's body.
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
        let too_many = permit.answered(
            self.clock.now(),
            answer.status,
            &answer.headers,
            answer.body.as_deref().unwrap_or_default(),
        );
        conclude(route, answer, too_many)
    }

    /// Makes one attempt, which is over by then, at what shows no token and stands under no limit of this account:
    /// neither a limit, nor a refused token, nor the guard against a ban holds it back.
    pub(crate) async fn ask_apart(&self, ask: Ask, until: Timestamp) -> Result<Bytes, ApiError> {
        let deadline = until.min(self.clock.now() + self.timeout);
        let answer = self.send(&ask, deadline).await.map_err(RestError::report)?;
        let too_many = self.traffic.answered_apart(
            self.clock.now(),
            answer.status,
            &answer.headers,
            answer.body.as_deref().unwrap_or_default(),
        );
        conclude(ask.key.name, answer, too_many)
    }

    async fn send(&self, ask: &Ask, deadline: Timestamp) -> Result<Answer, RestError> {
        let sent = self.transport.send(&ask.request, &*self.clock, deadline).await;
        sent.inspect_err(|error| tracing::debug!(route = ask.key.name, %error, "not answered"))
    }

    /// Makes one attempt at something that is answered in JSON.
    pub(crate) async fn read<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ApiError> {
        let body = self.ask(ask).await?;
        serde_json::from_slice(&body).map_err(|_| RestError::Unreadable.report())
    }

    /// Who this account is, asked every time.
    pub(crate) async fn ask_me(&self) -> Result<UserId, ApiError> {
        let ask = Ask::bare("get current user", 0, &Route::GetCurrentUser);
        let me = self.read::<wire::WithId>(ask).await?.id.user();
        Ok(*self.me.get_or_init(|| me))
    }

    /// Who this account is, asked once: an account never changes its id.
    pub(crate) async fn known_me(&self) -> Result<UserId, ApiError> {
        match self.me.get() {
            Some(me) => Ok(*me),
            None => self.ask_me().await,
        }
    }

    /// Another client has said who this account is.
    pub(crate) fn know_me(&self, me: UserId) {
        self.me.get_or_init(|| me);
    }

    /// The application to which this account belongs, asked once.
    pub(crate) async fn application(&self) -> Result<wire::Application, ApiError> {
        if let Some(known) = self.application.get() {
            return Ok(*known);
        }
        let route = Route::GetCurrentUserApplicationInfo;
        let asked = self.read(Ask::bare("get current application", 0, &route)).await?;
        Ok(*self.application.get_or_init(|| asked))
    }

    /// Whether a message was seen as an answer before; it is from now on.
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

/// A success's body, or what is to be reported.
fn conclude(
    route: &'static str,
    answer: Answer,
    too_many: Option<TooMany>,
) -> Result<Bytes, ApiError> {
    let Answer { status, body, .. } = answer;
    if status.is_success() {
        tracing::debug!(route, status = status.as_u16(), "answered");
        return body.ok_or_else(|| RestError::Broken.report());
    }
    let said = body.as_deref().unwrap_or_default();
    let code = wire::Refused::code_in(said);
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
