//! One account of Discord by serenity's routes and models, as the library's [`DiscordApi`].
//!
//! Every request is built by serenity and sent once by [`reqwest`], so that its whole answer can be
//! read. Serenity's own calls (`ChannelId::send_message` and its like) cannot be used for it:
//!
//! * Their error keeps of an answer the status and Discord's code, and nothing else: how long to wait
//!   after a 429 is lost, in the header and in the body.
//! * With serenity's rate limiter they wait, however long, and repeat a 429 by themselves; the driver, which
//!   paces its posts, could neither see nor end that.
//! * With the limiter, [`HttpBuilder::proxy`] is passed over without a word: a bot that was meant for a
//!   Discord on this machine would take its token to the real one.
//!
//! What is left out: this account does not read the headers in which Discord says that a limit is near; it runs
//! into each limit once, and then keeps it. `dirigent-discord` reads them.

use std::time::Duration;

use dirigent::ports::{ApiError, Certainty, ErrorKind, HistoryRequest, Post, Posted};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, UserId};
use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use serde_json::Value;
use serenity::all as discord;
use serenity::http::{Http, HttpBuilder, LightMethod, Request, Route};

use crate::message::chat_message;
use crate::shown::{allowed_mentions, embed};

/// A little less than the driver waits for a call.
const TIMEOUT: Duration = Duration::from_secs(9);

/// An account of Discord for the library.
#[derive(Debug)]
pub struct SerenityAccount {
    http: Http,
    client: reqwest::Client,
}

/// Serenity's client of an account, at Discord or at the address given (`http://host:port`).
///
/// # Errors
///
/// When TLS is not to be had.
pub fn http(token: &str, address: Option<&str>) -> reqwest::Result<Http> {
    let http = HttpBuilder::new(token).client(client(address)?);
    Ok(match address {
        // With the limiter, the address would be passed over.
        Some(address) => http.proxy(address).ratelimiter_disabled(true).build(),
        None => http.build(),
    })
}

fn client(address: Option<&str>) -> reqwest::Result<reqwest::Client> {
    let client = reqwest::Client::builder().timeout(TIMEOUT);
    let client = if address.is_some() { client.no_proxy() } else { client };
    client.build()
}

impl SerenityAccount {
    /// The account of this token, at Discord or at the address given (`http://host:port`).
    ///
    /// # Errors
    ///
    /// When TLS is not to be had.
    pub fn new(token: &str, address: Option<&str>) -> reqwest::Result<Self> {
        Ok(Self { http: http(token, address)?, client: client(address)? })
    }

    /// Makes one attempt. The answer is a success's.
    async fn ask(&self, request: Request<'_>) -> Result<Response, ApiError> {
        let (token, address) = (self.http.token(), self.http.proxy.as_deref());
        let built = request.build(&self.client, token, address);
        let built = built.map_err(|_| ApiError::new(ErrorKind::Invalid))?;
        let answer = built.send().await.map_err(not_answered)?;
        if answer.status().is_success() { Ok(answer) } else { Err(refused(answer).await) }
    }

    async fn read<T: serde::de::DeserializeOwned>(
        &self,
        request: Request<'_>,
    ) -> Result<T, ApiError> {
        let body = self.ask(request).await?.bytes().await.map_err(not_answered)?;
        let unreadable = |_| ApiError::new(ErrorKind::Unavailable);
        serde_json::from_slice(&body).map_err(unreadable)
    }

    async fn channel(&self, channel_id: discord::ChannelId) -> Result<GuildChannel, ApiError> {
        let asked =
            self.read(Request::new(Route::Channel { channel_id }, LightMethod::Get)).await?;
        match asked {
            discord::Channel::Guild(channel) => Ok(channel),
            // Direct messages are never managed.
            discord::Channel::Private(_) | _ => Err(ApiError::new(ErrorKind::Unsupported)),
        }
    }

    /// One member of a guild, if the account is one.
    async fn guild_member(
        &self,
        guild_id: discord::GuildId,
        user_id: discord::UserId,
    ) -> Result<Option<discord::Member>, ApiError> {
        let route = Route::GuildMember { guild_id, user_id };
        let Some(mut member) =
            found(self.read::<Value>(Request::new(route, LightMethod::Get)).await)?
        else {
            return Ok(None);
        };
        if let Some(member) = member.as_object_mut() {
            // Serenity wants to be told, Discord does not tell.
            member.insert("guild_id".to_owned(), guild_id.get().into());
        }
        let member = serde_json::from_value(member);
        member.map(Some).map_err(|_| ApiError::new(ErrorKind::Unavailable))
    }
}

/// What was asked for, if there is such a thing.
fn found<T>(asked: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::Gone => Ok(None),
        Err(error) => Err(error),
    }
}

type GuildChannel = discord::GuildChannel;

#[dirigent::async_trait]
impl DiscordApi for SerenityAccount {
    async fn me(&self) -> Result<UserId, ApiError> {
        let me: discord::CurrentUser =
            self.read(Request::new(Route::UserMe, LightMethod::Get)).await?;
        Ok(UserId::new(me.id.get()))
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        let length = post.content.chars().count();
        let shows_nothing = post.content.trim().is_empty() && post.embeds.is_empty();
        if shows_nothing || length > discord::constants::MESSAGE_CODE_LIMIT {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let channel_id = discord::ChannelId::new(post.channel.get());
        let mut message = discord::CreateMessage::new()
            .content(&*post.content)
            .embeds(post.embeds.into_iter().map(embed).collect::<Result<_, _>>()?)
            .allowed_mentions(allowed_mentions(&post.mentions))
            .nonce(discord::Nonce::String(post.nonce.as_str().to_owned()))
            .enforce_nonce(true);
        if let Some(original) = post.reply_to {
            let reference = discord::MessageReference::from((
                channel_id,
                discord::MessageId::new(original.get()),
            ));
            message = message.reference_message(reference.fail_if_not_exists(false));
        }
        let body = serde_json::to_vec(&message).map_err(|_| ApiError::new(ErrorKind::Invalid))?;
        let request = Request::new(Route::ChannelMessages { channel_id }, LightMethod::Post);
        let posted: discord::Message = self.read(request.body(Some(body))).await?;
        // Discord's answers to a first and a repeated post are alike.
        Ok(Posted { id: MessageId::new(posted.id.get()), deduplicated: false })
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        let channel_id = discord::ChannelId::new(channel.get());
        let message_id = discord::MessageId::new(message.get());
        let route = Route::ChannelMessage { channel_id, message_id };
        self.ask(Request::new(route, LightMethod::Delete)).await.map(drop)
    }

    async fn history(&self, asked: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        if !(1..=100).contains(&asked.limit) {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let channel_id = discord::ChannelId::new(asked.channel.get());
        let mut params = vec![("limit", asked.limit.to_string())];
        params.extend(asked.after.map(|after| ("after", after.get().to_string())));
        let request = Request::new(Route::ChannelMessages { channel_id }, LightMethod::Get);
        let messages: Vec<discord::Message> = self.read(request.params(Some(params))).await?;
        Ok(messages.iter().map(chat_message).collect())
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        let asked = self.channel(discord::ChannelId::new(channel.get())).await?;
        let (guild_id, asked_id) = (asked.guild_id, asked.id);
        let is_private = asked.kind == discord::ChannelType::PrivateThread;
        // A thread is seen by the accounts that see what it hangs from; a private one only by its own members.
        let decisive = match asked.parent_id.filter(|_| asked.thread_metadata.is_some()) {
            Some(parent) => self.channel(parent).await?,
            None => asked,
        };
        let guild: discord::PartialGuild =
            self.read(Request::new(Route::Guild { guild_id }, LightMethod::Get)).await?;
        let mut seeing = Vec::new();
        // One request an account: no list of the guild's members, and no privileged intent.
        for user in among {
            let user_id = discord::UserId::new(user.get());
            let Some(member) = self.guild_member(guild_id, user_id).await? else { continue };
            let rights = guild.user_permissions_in(&decisive, &member);
            if !rights.view_channel() {
                continue;
            }
            if is_private && !rights.manage_threads() {
                let route = Route::ChannelThreadMember { channel_id: asked_id, user_id };
                let added = self.read::<Value>(Request::new(route, LightMethod::Get)).await;
                if found(added)?.is_none() {
                    continue;
                }
            }
            seeing.push(user);
        }
        Ok(seeing)
    }

    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        let channel_id = discord::ChannelId::new(channel.get());
        self.ask(Request::new(Route::ChannelTyping { channel_id }, LightMethod::Post))
            .await
            .map(drop)
    }
}

/// No answer came, or only a part of it: whether it was done is known only if no connection came about.
fn not_answered(error: reqwest::Error) -> ApiError {
    let (kind, certainty) = if error.is_connect() {
        (ErrorKind::Unavailable, Certainty::NotDone)
    } else {
        (ErrorKind::NoAnswer, Certainty::Unknown)
    };
    ApiError::new(kind).with_certainty(certainty).with_source(error.without_url())
}

/// What a status means. What is neither success nor refusal leaves doubt, as the kinds say by themselves:
/// a gateway in between may have answered after Discord had begun.
async fn refused(answer: Response) -> ApiError {
    match answer.status() {
        StatusCode::UNAUTHORIZED => ApiError::new(ErrorKind::Unauthorized),
        StatusCode::FORBIDDEN => ApiError::new(ErrorKind::Forbidden),
        StatusCode::NOT_FOUND => ApiError::new(ErrorKind::Gone),
        StatusCode::TOO_MANY_REQUESTS => {
            ApiError::new(ErrorKind::RateLimited).with_retry_after(wait_of(answer).await)
        }
        StatusCode::REQUEST_TIMEOUT => ApiError::new(ErrorKind::NoAnswer),
        status if status.is_client_error() => ApiError::new(ErrorKind::Invalid),
        _ => ApiError::new(ErrorKind::Unavailable),
    }
}

/// How long a 429 says to wait: to the millisecond in its body, else in whole seconds in its header.
async fn wait_of(answer: Response) -> Duration {
    let header = answer.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
    let header = header.and_then(|wait| wait.parse().ok());
    let body: Value = match answer.bytes().await {
        Ok(body) => serde_json::from_slice(&body).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    let seconds = body.get("retry_after").and_then(Value::as_f64).or(header).unwrap_or(1.0);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(1))
}
