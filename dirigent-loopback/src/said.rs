//! Messages as people write them with a client.

use std::fmt;

use dirigent::ports::{ApiError, ChatKind, ErrorKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use serde_json::json;

use super::LoopbackDiscord;
use super::files::{self, FILE_BYTES_MAX, FILES_MAX};
use super::forward::HAS_SNAPSHOT;
use super::parts::{AllParts, Parts};
use super::poll::PollRequest;
use super::stickers::STICKERS_MAX;
use super::wire::View;
use dirigent_testkit::memory_discord::Event;
use dirigent_testkit::memory_discord::details::{Allowed, Details};
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::pings::AllowedMentions;
use dirigent_testkit::memory_discord::world::World;

/// The longest text of a message, in characters (resources/message).
const CONTENT_CHARS_MAX: usize = 2_000;

/// A message as a person writes it with a client, for [`LoopbackDiscord::say`].
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::{LoopbackDiscord, Said};
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (person, bot) = (discord.add_human(), discord.add_bot());
/// let channel = discord.add_channel(discord.add_guild(person), "round-table", &[bot]);
/// let claim = discord.say(channel, bot, "It was the cable.");
///
/// let loopback = LoopbackDiscord::start(discord).await?;
/// loopback.say(channel, person, "Who says so?")?;
/// loopback.say(channel, person, Said::new("Are you sure?").reply_to(claim))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Said {
    text: String,
    reply_to: Option<MessageId>,
    /// True if the author of the answered message is not pinged.
    is_quiet_reply: bool,
    /// The names and contents of the files.
    files: Vec<(String, Vec<u8>)>,
    /// The message that it forwards.
    forwarded: Option<(ChannelId, MessageId)>,
    stickers: Vec<u64>,
    /// The address and title of a page that the text links to.
    preview: Option<(String, String)>,
    /// Discord's flag bits, without that of a forward.
    flags: u64,
    /// A question and its answers.
    poll: Option<(String, Vec<String>)>,
}

impl Said {
    /// Creates a message with this text, which may be empty if the message has something else. If the text has more
    /// than 2,000 characters, it becomes the file `message.txt`, as in a client.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates a forward, which shows the message as it is now. It has no text, because a client sends a comment as a
    /// second message.
    pub fn forward(channel: ChannelId, message: MessageId) -> Self {
        Self { forwarded: Some((channel, message)), ..Self::default() }
    }

    /// Answers a message of the same channel, and pings its author. The message may be deleted already.
    #[must_use]
    pub const fn reply_to(mut self, message: MessageId) -> Self {
        self.reply_to = Some(message);
        self
    }

    /// Does not ping the author of the answered message, as with the client's `@ OFF`.
    #[must_use]
    pub const fn without_ping(mut self) -> Self {
        self.is_quiet_reply = true;
        self
    }

    /// Attaches a file. A PNG picture is shown with its width and height.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.into(), bytes.into()));
        self
    }

    /// Lets Discord show a page that the text links to, as an embed of type `link`. It comes shortly after the message,
    /// in a `MESSAGE_UPDATE` that does not count as the author's edit.
    #[must_use]
    pub fn preview(mut self, url: impl Into<String>, title: impl Into<String>) -> Self {
        self.preview = Some((url.into(), title.into()));
        self
    }

    /// Sets flags by Discord's bits, for example `1 << 12` for no push message, or `1 << 1` for a message published in
    /// another guild.
    #[must_use]
    pub const fn flags(mut self, bits: u64) -> Self {
        self.flags |= bits;
        self
    }

    /// Adds a sticker of [`LoopbackDiscord::add_sticker`]. A message has at most three.
    #[must_use]
    pub fn sticker(mut self, id: u64) -> Self {
        self.stickers.push(id);
        self
    }

    /// Creates a poll that is open for a day, with at most 10 answers of 55 characters. The question has at most 300
    /// characters, and the message has no text.
    pub fn poll<T: Into<String>>(
        question: impl Into<String>,
        answers: impl IntoIterator<Item = T>,
    ) -> Self {
        let answers = answers.into_iter().map(Into::into).collect();
        Self { poll: Some((question.into(), answers)), ..Self::default() }
    }

    /// Moves a text that is too long for a message into a file.
    fn with_paste_as_file(mut self) -> Self {
        if self.text.trim().chars().count() > CONTENT_CHARS_MAX {
            let text = std::mem::take(&mut self.text);
            self.files.push(("message.txt".to_owned(), text.into_bytes()));
        }
        self
    }

    /// Returns true if a client would send it.
    fn is_sendable(&self) -> bool {
        let is_empty =
            self.text.trim().is_empty() && self.files.is_empty() && self.stickers.is_empty();
        if self.forwarded.is_some() || self.poll.is_some() {
            return is_empty && self.reply_to.is_none();
        }
        let are_large = self.files.iter().any(|(_, bytes)| bytes.len() > FILE_BYTES_MAX);
        let are_few = self.files.len() <= FILES_MAX && self.stickers.len() <= STICKERS_MAX;
        !is_empty && !are_large && are_few
    }

    /// Returns the permissions that it needs, besides the permission to post.
    fn rights(&self) -> Permissions {
        if self.files.is_empty() { Permissions::NONE } else { Permissions::ATTACH_FILES }
    }

    /// Returns the parts that the Discord in memory does not store.
    fn parts(&self, view: View<'_>) -> Result<Parts, ApiError> {
        let invalid = || ApiError::new(ErrorKind::Invalid);
        if let Some((channel, message)) = self.forwarded {
            return Parts::of_forward(view, channel, message);
        }
        let now = view.world.clock.now();
        let poll = self.poll.as_ref();
        let poll = poll.map(|(question, answers)| PollRequest::new(question, answers).open(now));
        let sticker_items = view.parts.stickers().items(&self.stickers);
        Ok(Parts {
            poll: poll.transpose().map_err(|_| invalid())?,
            sticker_items: sticker_items.ok_or_else(invalid)?,
            ..Parts::default()
        })
    }

    /// Returns the parts that the Discord in memory stores.
    fn details(&mut self, world: &mut World) -> Details {
        let allowed = if self.is_quiet_reply {
            let all = AllowedMentions {
                everyone: true,
                any_user: true,
                any_role: true,
                ..AllowedMentions::default()
            };
            Allowed::Listed(Box::new(all))
        } else {
            Allowed::Named
        };
        let mut details = Details { allowed, rare: None };
        if self.reply_to.is_some() {
            details.rare_mut().reply_to = self.reply_to;
        }
        let forward = if self.forwarded.is_some() { HAS_SNAPSHOT } else { 0 };
        if self.flags | forward != 0 {
            details.rare_mut().flags = self.flags | forward;
        }
        for (name, bytes) in self.files.drain(..) {
            let file = files::attachment(world.next_id(), &name, None, bytes);
            details.rare_mut().media.attachments.push(file);
        }
        details
    }

    /// Posts it, if the account may and a client would send it.
    fn post(
        self,
        world: &mut World,
        all_parts: &AllParts,
        (channel, user): (ChannelId, UserId),
    ) -> Result<MessageId, ApiError> {
        let mut said = self.with_paste_as_file();
        let (_, rights) = world.places.seen(channel, user)?;
        if !rights.write || !world.places.permissions(channel, user).contains(said.rights()) {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        if !said.is_sendable() {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let parts = said.parts(View::over_rest(world, all_parts, user))?;
        let details = said.details(world);
        let id = MessageId::new(world.next_id());
        let message = ChatMessage {
            author_kind: world.accounts.kind_of(user),
            kind: if said.reply_to.is_some() { ChatKind::Reply } else { ChatKind::Default },
            ..ChatMessage::new(id, channel, user, said.text.trim())
        };
        all_parts.keep(id, parts);
        world.append(message, details);
        if let Some(preview) = said.preview {
            show_preview(world, (channel, id), preview);
        }
        Ok(id)
    }
}

/// Adds the embed of a page to a message.
fn show_preview(
    world: &mut World,
    (channel, message): (ChannelId, MessageId),
    (url, title): (String, String),
) {
    let embed = json!({ "type": "link", "url": url, "title": title });
    let room = world.places.rooms.get_mut(&channel);
    if let Some(details) = room.and_then(|room| room.messages.details_mut(message)) {
        details.rare_mut().media.embeds.push(embed);
        world.publish(Event::MessageMarked { channel, message });
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Said").field("reply_to", &self.reply_to).finish_non_exhaustive()
    }
}

impl LoopbackDiscord {
    /// Lets an account write a message, as a person does with a client. Returns the id of the message.
    ///
    /// # Errors
    ///
    /// Returns `Gone` if the channel, or the message to forward, does not exist. Returns `Forbidden` if the account may
    /// not post this there. Returns `Invalid` if a client would not send it, for example because it is empty.
    pub fn say(
        &self,
        channel: ChannelId,
        user: UserId,
        said: impl Into<Said>,
    ) -> Result<MessageId, ApiError> {
        let mut world = self.state.discord.world();
        said.into().post(&mut world, &self.state.parts, (channel, user))
    }
}
