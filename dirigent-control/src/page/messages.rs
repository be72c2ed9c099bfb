//! The newest messages of a channel, which are read from the chat when a page is opened. They are drawn for one visitor
//! only. No shared drawing, store or log contains them.

use std::time::Duration;

use dirigent::ports::{AuthorKind, ChatKind, HistoryRequest, Identity};
use dirigent::{ChannelId, ChatMessage, UserId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::page::look::words::sentence;
use crate::page::made_once::Freshness;
use crate::page::places::Places;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The number of messages that are read.
const READ: u8 = 12;
/// The most characters that are shown of a message.
const CHARS_MAX: usize = 400;
/// The longest wait for the chat.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// The number of channels that are read at the same time, because the bot reads with the same account.
pub(crate) const READS_MAX: usize = 4;

/// The newest messages of a channel.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Messages {
    /// The messages, the newest one first.
    #[serde(rename = "messages")]
    pub(crate) newest: Vec<MessageLook>,
    /// The time at which they were read, in milliseconds of Unix time.
    #[serde(rename = "readAt")]
    pub(crate) read_at: u64,
    /// The address of the channel in Discord. `None` if its guild is unknown.
    pub(crate) link: Option<String>,
    /// A sentence that says why they cannot be read.
    pub(crate) trouble: Option<String>,
    /// True if the channel may just be empty.
    #[serde(skip)]
    pub(crate) is_unsure: bool,
}

impl Messages {
    /// Creates an answer without messages, for this reason.
    pub(crate) fn not_read(problem: &Problem) -> Self {
        Self { trouble: Some(sentence(&problem.detail)), ..Self::default() }
    }
}

/// A message. `Debug` hides its text.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageLook {
    /// The time at which it was sent, in milliseconds of Unix time.
    pub(crate) at: u64,
    /// The author. An agent has the name from the registry.
    pub(crate) author: String,
    /// The kind of author: `person`, `agent`, `moderator` or `bot`.
    pub(crate) kind: &'static str,
    /// The first 400 characters of the text.
    pub(crate) text: String,
    /// The files and embeds, in words.
    pub(crate) besides: Option<String>,
    /// The address of the message in Discord.
    pub(crate) link: Option<String>,
}

impl std::fmt::Debug for MessageLook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageLook").field("at", &self.at).finish_non_exhaustive()
    }
}

impl PageContext {
    /// Reads the newest messages of a channel from the chat.
    pub(crate) async fn messages(&self, channel: ChannelId) -> Result<Messages, Problem> {
        self.must_be_shown(channel).await?;
        let places = self.places.get(&self.dirigent).await;
        let (link, read_at) = (link(channel, &places), self.clock.now().as_millis());
        let identities = self.dirigent.agents();
        let read = async {
            let _place = self.reads.acquire().await;
            let moderator = self.chat.me().await?;
            let request = HistoryRequest { channel, after: None, limit: READ };
            Ok::<_, dirigent::ports::ApiError>((moderator, self.chat.history(request).await?))
        };
        let read = tokio::select! {
            biased;
            read = read => read.map_err(|error| format!("The chat does not tell them: {error}.")),
            () = self.clock.sleep_until(self.clock.now() + TIME_LIMIT) => {
                Err("The chat has not told them in time.".to_owned())
            }
        };
        let (moderator, mut told) = match read {
            Ok(told) => told,
            Err(trouble) => {
                let trouble = Some(trouble);
                return Ok(Messages { read_at, link, trouble, ..Messages::default() });
            }
        };
        told.retain(|message| message.kind != ChatKind::System);
        told.sort_unstable_by_key(|message| std::cmp::Reverse(message.id));
        let look = |message: &ChatMessage| {
            MessageLook::of(message, moderator, &identities, link.as_deref())
        };
        let newest: Vec<_> = told.iter().map(look).collect();
        // If the bot may not read a history, the chat shows it an empty one.
        let trouble = match self.chat.reads_history(channel) {
            Some(true) => None,
            _ if !newest.is_empty() => None,
            Some(false) => Some("The bot may not read this channel’s history."),
            None => {
                Some("Nothing was written here, or the bot may not read this channel’s history.")
            }
        };
        let is_unsure = trouble.is_some() && self.chat.reads_history(channel).is_none();
        let trouble = trouble.map(ToOwned::to_owned);
        Ok(Messages { newest, read_at, link, trouble, is_unsure })
    }
}

impl PageContext {
    /// Only channels on the page are read, because the bot's account may be able to read others.
    pub(crate) async fn must_be_shown(&self, channel: ChannelId) -> Result<(), Problem> {
        if !self.across().is_told_elsewhere(channel) {
            return self.must_exist(channel).await;
        }
        let id = channel.to_string();
        let rows = self.across().rows(Freshness::Lately).await?;
        let is_shown = rows.iter().any(|row| row.id == id);
        if is_shown { Ok(()) } else { Err(Problem::not_found("channel")) }
    }
}

/// Returns the address at which Discord shows the channel.
fn link(channel: ChannelId, places: &Places) -> Option<String> {
    let guild = places.channels.get(&channel)?.guild?;
    Some(format!("https://discord.com/channels/{guild}/{channel}"))
}

impl MessageLook {
    fn of(
        message: &ChatMessage,
        moderator: UserId,
        identities: &[Identity],
        channel: Option<&str>,
    ) -> Self {
        let agent = identities.iter().find(|own| own.discord_user_id == message.author);
        let kind = match (agent, message.author_kind) {
            _ if message.author == moderator => "moderator",
            (Some(_), _) => "agent",
            (None, AuthorKind::Human | AuthorKind::Bridged) => "person",
            (None, _) => "bot",
        };
        let name = agent.map(|own| own.agent_name.clone());
        let name = name.or_else(|| message.author_name.as_deref().map(ToOwned::to_owned));
        Self {
            at: message.sent_at.as_millis(),
            author: name.unwrap_or_else(|| message.author.to_string()),
            kind,
            text: shortened(named(&message.content, identities)),
            besides: besides(message),
            link: channel.map(|channel| format!("{channel}/{}", message.id.get())),
        }
    }
}

/// Returns the text with the names of agents instead of their accounts.
fn named(text: &str, identities: &[Identity]) -> String {
    let name = |text: String, own: &Identity| {
        let id = own.discord_user_id;
        let name = format!("@{}", own.agent_name);
        text.replace(&format!("<@{id}>"), &name).replace(&format!("<@!{id}>"), &name)
    };
    if text.contains("<@") {
        identities.iter().fold(text.to_owned(), name)
    } else {
        text.to_owned()
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn besides(message: &ChatMessage) -> Option<String> {
    let counted = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {one}s")),
    };
    let parts =
        [counted(message.attachments.len(), "file"), counted(usize::from(message.embeds), "embed")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
