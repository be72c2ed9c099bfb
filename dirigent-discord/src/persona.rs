//! Agents without a token of their own. A webhook of the moderator posts for each.

pub(crate) mod table;
mod tried;
mod webhooks;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::host::plain::{folded, is_name};
use dirigent::ports::{
    ApiError, Attachment, AuthorKind, Certainty, ErrorKind, HistoryRequest, Nonce, Post, Posted,
    Timestamp, WriteBar, is_post,
};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, UserId};
use twilight_http::routing::Route;

use crate::chat::{PAGE_MAX, PostBody, for_its_size};
use crate::route::Ask;
use crate::{DiscordAccount, wire};
use table::{Home, Webhook};
use tried::{Tried, TriedPosts};

const NAME_CHARS_MAX: usize = 80;

/// Words that must not be in a webhook's name, in lower case.
const NOT_IN_NAMES: [&str; 6] = ["clyde", "discord", "@", "#", ":", "```"];

/// The most attempts of a post to find its webhook. If it was deleted, it is created once more.
const WEBHOOKS_TRIED: u32 = 2;

/// The name and the picture of an agent without a token. [`DiscordAccount::persona`] gives it an account.
///
/// ```
/// use dirigent_discord::Persona;
/// let critic = Persona::new("Critic").avatar("https://example.org/critic.png");
/// assert_eq!(critic.name(), "Critic");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persona {
    name: String,
    avatar: Option<String>,
}

impl Persona {
    /// Creates a persona without a picture of its own. The name has 1 to 80 characters, and must be unique among an
    /// account's personas. It also identifies the agent: with another name it is another agent.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), avatar: None }
    }

    /// Sets the address (`https://…`) of the picture beside its messages. Discord reads it from there.
    #[must_use]
    pub fn avatar(mut self, address: impl Into<String>) -> Self {
        self.avatar = Some(address.into());
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn picture(&self) -> Option<&str> {
        self.avatar.as_deref()
    }

    fn check(&self) -> Result<(), PersonaError> {
        let name = self.name.as_str();
        let small = name.to_lowercase();
        let words: Vec<_> = name.split_whitespace().collect();
        if !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) {
            return Err(PersonaError::Length);
        }
        if !is_name(name) || words.join(" ") != name {
            return Err(PersonaError::Hidden);
        }
        if let Some(part) = NOT_IN_NAMES.into_iter().find(|part| small.contains(part)) {
            return Err(PersonaError::Refused(part));
        }
        // After an `@` its mention would be one of everyone.
        if let Some(all) = ["everyone", "here"].into_iter().find(|all| small.starts_with(all)) {
            return Err(PersonaError::Refused(all));
        }
        let is_address = |at: &String| at.starts_with("https://") || at.starts_with("http://");
        if self.avatar.as_ref().is_some_and(|avatar| !is_address(avatar)) {
            return Err(PersonaError::Avatar);
        }
        Ok(())
    }
}

/// Why a persona is not possible.
///
/// ```
/// use dirigent_discord::PersonaError;
/// assert!(PersonaError::Refused("clyde").to_string().contains("clyde"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PersonaError {
    /// The name is empty or too long.
    #[error("a persona's name must have 1 to 80 characters")]
    Length,
    /// The name has invisible characters, or white space that Discord removes.
    #[error(
        "a persona's name must not have hidden characters, line breaks, or white space at its ends or twice in a row"
    )]
    Hidden,
    /// The name contains this text, or begins with it. Discord refuses it, or would read it as a mention.
    #[error("a persona's name must not have \"{0}\" in it, or begin with that")]
    Refused(&'static str),
    /// Another persona of the account has a name that people cannot tell from this one.
    #[error("the name looks like that of the persona {0}")]
    Taken(String),
    /// The picture has no web address.
    #[error("a persona's picture must be an address with https:// or http://")]
    Avatar,
}

impl DiscordAccount {
    /// Returns an account for an agent that has no token. Its messages are posted by a webhook. This account, the
    /// moderator's, creates the webhook in each channel once the agent has something to say there, which needs the
    /// permission Manage Webhooks.
    ///
    /// Give it to [`Builder::host`](dirigent::host::Builder::host) in place of a `DiscordAccount`. No registry lists
    /// it. Set up your personas before the driver starts.
    ///
    /// # Errors
    ///
    /// Returns an error if Discord does not accept the name, if another persona has a name that looks like it, or if
    /// the picture has no web address.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent::SystemClock;
    /// use dirigent_discord::{DiscordAccount, Persona, PersonaError};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let moderator = DiscordAccount::builder("a.bot.token", SystemClock::new());
    /// let moderator = Arc::new(moderator.proxy("http://127.0.0.1:8080").build()?);
    /// let critic = moderator.persona(Persona::new("Critic"))?;
    /// let again = moderator.persona(Persona::new("critic"));
    /// assert_eq!(again.err(), Some(PersonaError::Taken("Critic".to_owned())));
    /// # let _ = critic;
    /// # Ok(())
    /// # }
    /// ```
    pub fn persona(self: &Arc<Self>, persona: Persona) -> Result<PersonaAccount, PersonaError> {
        persona.check()?;
        let user = self
            .personas
            .add(persona.name(), &folded(persona.name()))
            .map_err(PersonaError::Taken)?;
        let (moderator, tried) = (Arc::clone(self), TriedPosts::default());
        Ok(PersonaAccount { moderator, user, persona, tried })
    }
}

/// The account of a [`Persona`]. It is a [`DiscordApi`] that posts by webhook, and does everything else through the
/// moderator's account.
///
/// Discord does not let a webhook answer a message, so its posts refer to none. A webhook's post also has no nonce. If
/// the answer to a post was lost, it is therefore looked for in the history, for 15 seconds before it is posted again.
///
/// ```
/// # use std::sync::Arc;
/// # use dirigent::{Agent, Dirigent};
/// use dirigent_discord::{DiscordAccount, Persona};
///
/// # fn set_up(moderator: Arc<DiscordAccount>, agent: impl Agent)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let critic = moderator.persona(Persona::new("Critic"))?;
/// let (dirigent, driver) = Dirigent::builder(moderator).host("critic", agent, critic).build()?;
/// # Ok(())
/// # }
/// ```
pub struct PersonaAccount {
    moderator: Arc<DiscordAccount>,
    user: UserId,
    persona: Persona,
    tried: TriedPosts,
}

impl PersonaAccount {
    /// Changes the text of a message of this persona. The new text pings no account.
    ///
    /// # Errors
    ///
    /// Returns `Gone` if the message or its webhook no longer exists, and `Invalid` if the text is empty or too long.
    /// Otherwise it returns an error of the transport.
    pub async fn edit(
        &self,
        channel: ChannelId,
        message: MessageId,
        content: &str,
    ) -> Result<(), ApiError> {
        let post = Post::new(channel, content, Nonce::from_parts(0, 0, 0));
        let body = PostBody::of_webhook(&post, &self.moderator.personas, None)?;
        let (webhook, home) = self.webhook_of(channel).await?;
        let (token, webhook_id) = (&*webhook.token, webhook.id.get());
        let (message_id, thread_id) = (message.get(), home.thread(channel));
        let route = Route::UpdateWebhookMessage { message_id, thread_id, token, webhook_id };
        let ask = Ask::posting("edit webhook message", webhook_id, &route, &body, &[], false)?;
        let edited = self.moderator.ask(ask).await.map(drop);
        edited.map_err(|error| if self.is_gone(&error, home, &webhook) { gone() } else { error })
    }

    /// Returns the persona's webhook for the channel, if there is one, and its place.
    async fn webhook_of(&self, channel: ChannelId) -> Result<(Webhook, Home), ApiError> {
        let home = self.moderator.webhooks_known(channel).await?;
        let webhook = self.moderator.personas.webhook(home.channel, self.user);
        Ok((webhook.ok_or_else(gone)?, home))
    }

    /// Returns true if a request failed because its webhook no longer exists, and forgets the webhook.
    fn is_gone(&self, error: &ApiError, home: Home, webhook: &Webhook) -> bool {
        let is_gone = webhooks::is_gone(error);
        if is_gone {
            self.moderator.personas.forget(home.channel, self.user, webhook.id);
        }
        is_gone
    }

    /// Makes the post, once the persona has its webhook there.
    async fn post_once(&self, post: &Post) -> Result<MessageId, ApiError> {
        let (channel, personas) = (post.channel, &self.moderator.personas);
        let body = PostBody::of_webhook(post, personas, Some(&self.persona))?;
        let mut last = ApiError::new(ErrorKind::Unavailable).with_certainty(Certainty::NotDone);
        for _ in 0..WEBHOOKS_TRIED {
            let made = self.moderator.webhook(channel, self.user).await;
            // Whatever else is in doubt, the post was not made.
            let (webhook, home) = made.map_err(|error| error.with_certainty(Certainty::NotDone))?;
            let (token, webhook_id) = (&*webhook.token, webhook.id.get());
            let (thread_id, wait) = (home.thread(channel), Some(true));
            let route =
                Route::ExecuteWebhook { thread_id, token, wait, with_components: None, webhook_id };
            let name = "execute webhook";
            let ask = Ask::posting(name, webhook_id, &route, &body, &post.files, false)?;
            let before = self.tried.begin(post.nonce, self.moderator.clock().now());
            match self.moderator.read::<wire::Placed>(ask).await {
                Ok(made) if made.channel_id.0 == channel.get() => {
                    return Ok(MessageId::new(made.id.0));
                }
                Ok(elsewhere) => {
                    tracing::warn!(webhook_id, "a webhook was moved to another channel");
                    personas.forget(home.channel, self.user, webhook.id);
                    self.take_back(&webhook, elsewhere.id.0).await;
                }
                Err(error) if self.is_gone(&error, home, &webhook) => {}
                // Its webhook does not know this thread, because a person has moved the webhook, or the thread is gone.
                Err(error) if thread_id.is_some() && error.kind() == ErrorKind::Gone => {
                    personas.forget(home.channel, self.user, webhook.id);
                    last = error;
                }
                Err(error) => {
                    if error.certainty() == Certainty::NotDone {
                        self.tried.restore(post.nonce, before);
                    }
                    let is_bare = post.files.is_empty();
                    return Err(if is_bare { error } else { for_its_size(error) });
                }
            }
            self.tried.restore(post.nonce, before);
        }
        Err(last)
    }

    /// Deletes what a webhook posted in another channel, if possible.
    async fn take_back(&self, webhook: &Webhook, message_id: u64) {
        let (token, webhook_id) = (&*webhook.token, webhook.id.get());
        let route = Route::DeleteWebhookMessage { message_id, thread_id: None, token, webhook_id };
        let ask = Ask::bare_without_token("delete webhook message", webhook_id, &route);
        let deleted = async { self.moderator.ask(ask?).await };
        if let Err(error) = deleted.await {
            tracing::warn!(webhook_id, message_id, %error, "what it posted there stays");
        }
    }

    /// Returns the message that an earlier attempt of this post made, as the history shows it.
    async fn made_by(&self, post: &Post, tried: Tried) -> Result<Option<MessageId>, ApiError> {
        let mut after = tried.behind(&*self.moderator);
        let words = self.moderator.personas.posted(&post.content);
        // Compare it in the form that the history shows.
        let told = ChatMessage {
            author_kind: AuthorKind::Bot,
            ..ChatMessage::new(MessageId::new(0), post.channel, self.user, &*words)
        };
        let words = self.moderator.told(told).content;
        let what = (&*words, u8::try_from(post.embeds.len()).unwrap_or(u8::MAX));
        loop {
            let request = HistoryRequest { channel: post.channel, after, limit: PAGE_MAX };
            let page = self.moderator.history(request).await;
            // While the page cannot be read, the earlier attempt stays in doubt.
            let page = page.map_err(|error| error.with_certainty(Certainty::Unknown))?;
            let mut own = page.iter().filter(|it| it.author == self.user && Some(it.id) > after);
            let found =
                own.find(|it| is_post(it, what, &post.nonce) && !self.tried.has_made(it.id));
            let newest = page.iter().map(|message| message.id).max();
            if found.is_some() || page.len() < usize::from(PAGE_MAX) || newest <= after {
                return Ok(found.map(|message| message.id));
            }
            after = newest;
        }
    }

    /// Returns why this persona cannot delete the message: it is another's, or does not exist.
    async fn not_own(&self, channel: ChannelId, message: MessageId) -> ApiError {
        let (channel_id, message_id) = (channel.get(), message.get());
        let route = Route::GetMessage { channel_id, message_id };
        match self.moderator.ask(Ask::bare("get message", channel_id, &route)).await {
            Ok(_) => ApiError::new(ErrorKind::Forbidden),
            Err(error) => error,
        }
    }
}

fn gone() -> ApiError {
    ApiError::new(ErrorKind::Gone)
}

#[async_trait]
impl DiscordApi for PersonaAccount {
    /// Returns a number that follows from the name. It is not an account of Discord's.
    async fn me(&self) -> Result<UserId, ApiError> {
        Ok(self.user)
    }

    fn persona(&self) -> Option<(UserId, String)> {
        Some((self.user, self.persona.name.clone()))
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        let tried = self.tried.get(&post.nonce, self.moderator.clock().now());
        let known = match tried {
            Some(Tried { made: Some(id), .. }) => Some(id),
            Some(tried) => self.made_by(&post, tried).await?,
            None => None,
        };
        let now = self.moderator.clock().now();
        let lands_in = tried.filter(|_| known.is_none()).and_then(|tried| tried.lands_in(now));
        if let Some(wait) = lands_in {
            // It may still arrive, and a second one could not be recognised as its repetition.
            return Err(ApiError::new(ErrorKind::Unavailable).with_retry_after(wait));
        }
        let id = match known {
            Some(id) => id,
            None => self.post_once(&post).await?,
        };
        self.tried.made(post.nonce, now, id);
        Ok(Posted { id, deduplicated: known.is_some() })
    }

    fn sends_files(&self) -> bool {
        true
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        let (webhook, home) = match self.webhook_of(channel).await {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Gone => {
                return Err(self.not_own(channel, message).await);
            }
            Err(error) => return Err(error),
        };
        let (token, webhook_id) = (&*webhook.token, webhook.id.get());
        let (message_id, thread_id) = (message.get(), home.thread(channel));
        let route = Route::DeleteWebhookMessage { message_id, thread_id, token, webhook_id };
        let ask = Ask::bare_without_token("delete webhook message", webhook_id, &route)?;
        match self.moderator.ask(ask).await {
            Ok(_) => Ok(()),
            Err(error)
                if self.is_gone(&error, home, &webhook) || error.kind() == ErrorKind::Gone =>
            {
                Err(self.not_own(channel, message).await)
            }
            Err(error) => Err(error),
        }
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.moderator.history(request).await
    }

    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        self.moderator.reads_history(channel)
    }

    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        self.moderator.write_bars(channel, among)
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.moderator.members(channel, among).await
    }

    fn sent_at(&self, message: MessageId) -> Timestamp {
        self.moderator.sent_at(message)
    }

    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        self.moderator.file(file, max).await
    }

    /// Shows the moderator as typing, because Discord lets no webhook do so.
    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.moderator.typing(channel).await
    }
}

impl fmt::Debug for PersonaAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.persona.name;
        f.debug_struct("PersonaAccount").field("name", name).finish_non_exhaustive()
    }
}
