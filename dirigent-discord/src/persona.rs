//! Agents without a token of their own: a webhook of the moderator's posts for each.

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

use crate::chat::{PAGE_MAX, WebhookBody, for_its_size};
use crate::route::Ask;
use crate::{DiscordAccount, wire};
use table::{Home, Webhook};
use tried::{Tried, TriedPosts};

/// The longest name that Discord gives a webhook, in characters.
const NAME_CHARS_MAX: usize = 80;

/// What a webhook's name must not contain, in lower case.
const NOT_IN_NAMES: [&str; 6] = ["clyde", "discord", "@", "#", ":", "```"];

/// How often a post looks for its webhook: one that was deleted is made once more.
const WEBHOOKS_TRIED: u32 = 2;

/// The name and the picture of an agent that has no token. [`DiscordAccount::persona`] gives it an account.
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
    /// A persona without a picture of its own. The name is 1 to 80 characters long, and each persona of an account has
    /// another one. It is also what the agent is known by: with another name it is another agent.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), avatar: None }
    }

    /// The picture beside its messages, at this address (`https://…`), from where Discord takes it.
    #[must_use]
    pub fn avatar(mut self, address: impl Into<String>) -> Self {
        self.avatar = Some(address.into());
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of the picture.
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
        // Behind an `@`, its mention would be one of all.
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

/// Why a persona cannot be.
///
/// ```
/// use dirigent_discord::PersonaError;
/// assert!(PersonaError::Refused("clyde").to_string().contains("clyde"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PersonaError {
    /// The name is empty, or too long.
    #[error("a persona's name must have 1 to 80 characters")]
    Length,
    /// Something in the name is not seen, or it has white space that Discord takes away.
    #[error(
        "a persona's name must not have hidden characters, line breaks, or white space at its ends or twice in a row"
    )]
    Hidden,
    /// This must not be in the name, or not at its beginning: Discord refuses it, or would read it as a mention.
    #[error("a persona's name must not have \"{0}\" in it, or begin with that")]
    Refused(&'static str),
    /// Another persona of the account has a name that people cannot tell from this one.
    #[error("the name looks like that of the persona {0}")]
    Taken(String),
    /// The picture has no address of the web.
    #[error("a persona's picture must be an address with https:// or http://")]
    Avatar,
}

impl DiscordAccount {
    /// An account for an agent that has no token: its messages are posted by a webhook that this account, the
    /// moderator's, makes in each channel as soon as the agent has something to say there. It needs the permission Manage
    /// Webhooks.
    ///
    /// Give it to [`Builder::host`](dirigent::host::Builder::host) in the place of a `DiscordAccount`. No registry lists
    /// it. Personas are set up before the driver starts.
    ///
    /// # Errors
    ///
    /// When Discord takes no such name, another persona has one that looks like it, or the picture has no address of the web.
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

/// The account of a [`Persona`]: a [`DiscordApi`] that posts by webhook, and does all else by the moderator's account.
///
/// Discord does not let a webhook answer a message, so its posts refer to none. It knows no nonce of a webhook's post,
/// either: a post whose answer was lost is looked for in the history, for 15 seconds before it is made again.
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
    /// Changes what a message of this persona says. The new text pings no account.
    ///
    /// # Errors
    ///
    /// `Gone` when the message, or the webhook that wrote it, does not exist any more, `Invalid` for an empty or too
    /// long text, or as transport fails.
    pub async fn edit(
        &self,
        channel: ChannelId,
        message: MessageId,
        content: &str,
    ) -> Result<(), ApiError> {
        let post = Post::new(channel, content, Nonce::from_parts(0, 0, 0));
        let body = WebhookBody::new(&post, &self.moderator.personas, None)?;
        let (webhook, home) = self.webhook_of(channel).await?;
        let (token, webhook_id) = (webhook.token.as_str(), webhook.id.get());
        let (message_id, thread_id) = (message.get(), home.thread(channel));
        let route = Route::UpdateWebhookMessage { message_id, thread_id, token, webhook_id };
        let ask = Ask::posting("edit webhook message", webhook_id, &route, &body, &[], false)?;
        let edited = self.moderator.ask(ask).await.map(drop);
        edited.map_err(|error| if self.is_gone(&error, home, &webhook) { gone() } else { error })
    }

    /// The persona's webhook that posts in the channel, if there is one, and where it stands.
    async fn webhook_of(&self, channel: ChannelId) -> Result<(Webhook, Home), ApiError> {
        let home = self.moderator.webhooks_known(channel).await?;
        let webhook = self.moderator.personas.webhook(home.channel, self.user);
        Ok((webhook.ok_or_else(gone)?, home))
    }

    /// Whether a request failed because its webhook is not there any more; then it is forgotten.
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
        let body = WebhookBody::new(post, personas, Some(&self.persona))?;
        let mut last = ApiError::new(ErrorKind::Unavailable).with_certainty(Certainty::NotDone);
        for _ in 0..WEBHOOKS_TRIED {
            let made = self.moderator.webhook(channel, self.user).await;
            // Whatever is in doubt, the post is not.
            let (webhook, home) = made.map_err(|error| error.with_certainty(Certainty::NotDone))?;
            let (token, webhook_id) = (webhook.token.as_str(), webhook.id.get());
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
                // Its webhook knows no such thread: a person has moved it, or the thread is gone.
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

    /// Deletes what a webhook posted in another channel, if it can.
    async fn take_back(&self, webhook: &Webhook, message_id: u64) {
        let (token, webhook_id) = (webhook.token.as_str(), webhook.id.get());
        let route = Route::DeleteWebhookMessage { message_id, thread_id: None, token, webhook_id };
        let ask = Ask::bare_without_token("delete webhook message", webhook_id, &route);
        let deleted = async { self.moderator.ask(ask?).await };
        if let Err(error) = deleted.await {
            tracing::warn!(webhook_id, message_id, %error, "what it posted there stays");
        }
    }

    /// The message that an earlier attempt of this post made, as the history shows it.
    async fn made_by(&self, post: &Post, tried: Tried) -> Result<Option<MessageId>, ApiError> {
        let mut after = tried.behind(&*self.moderator);
        let words = self.moderator.personas.posted(&post.content);
        // In the form in which the history tells it.
        let told = ChatMessage {
            author_kind: AuthorKind::Bot,
            ..ChatMessage::new(MessageId::new(0), post.channel, self.user, &*words)
        };
        let words = self.moderator.told(told).content;
        let what = (&*words, u8::try_from(post.embeds.len()).unwrap_or(u8::MAX));
        loop {
            let request = HistoryRequest { channel: post.channel, after, limit: PAGE_MAX };
            let page = self.moderator.history(request).await;
            // As long as it cannot be read, the earlier attempt is in doubt.
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

    /// Why this persona cannot delete the message: it is another's, or is gone.
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
    /// Not an account of Discord's: a number that follows from the name.
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
            // It may still come, and a second one would not be known as the same.
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
        let (token, webhook_id) = (webhook.token.as_str(), webhook.id.get());
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

    /// The moderator types: Discord lets no webhook do so.
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
