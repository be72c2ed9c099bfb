//! The parts of a message that the driver does not read.

use std::sync::Arc;

use dirigent::ports::{AuthorKind, ChatKind, Embed, Mentions, Nonce, Shown, Timestamp};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use serde_json::Value;

use super::attachment::Attachment;
use super::embeds;
use super::pings::AllowedMentions;
use super::reactions::Reactions;
use super::webhooks::PostedAs;

/// The details of a message besides its text.
#[derive(Clone, Debug)]
pub struct Details {
    /// The accounts that its text may ping.
    pub allowed: Allowed,
    /// Details that only few messages have.
    pub rare: Option<Box<Rare>>,
}

/// The accounts that a text may ping.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// Every account that it names.
    Named,
    /// No account.
    None,
    /// One account, if the text names it.
    User(UserId),
    /// The accounts that its poster listed.
    Listed(Box<AllowedMentions>),
}

/// Details that only few messages have.
#[derive(Clone, Debug, Default)]
pub struct Rare {
    /// The message that it answers.
    pub reply_to: Option<MessageId>,
    /// The time of the last change of its text.
    pub edited_at: Option<Timestamp>,
    /// Discord's flags.
    pub flags: u64,
    /// Its nonce as it was given, unless that has the form of the library's own nonces.
    pub nonce: Option<Value>,
    /// The command that it answers.
    pub command: Option<UsedCommand>,
    /// Discord's number for its kind, unless that is an ordinary message or a reply.
    pub kind: Option<u8>,
    pub media: Media,
    pub reactions: Reactions,
    /// The name and picture that a webhook chose for it.
    pub guise: Option<PostedAs>,
    /// The channel that the message is about, for example a new thread.
    pub about: Option<ChannelId>,
}

/// The content of a message besides its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Media {
    /// The embeds as they are written.
    pub embeds: Vec<Value>,
    pub attachments: Vec<Attachment>,
}

impl Media {
    pub fn is_empty(&self) -> bool {
        self.embeds.is_empty() && self.attachments.is_empty()
    }
}

/// A use of a command.
#[derive(Clone, Debug)]
pub struct UsedCommand {
    /// The id of the interaction.
    pub interaction: u64,
    pub name: String,
    pub user: UserId,
}

impl Details {
    /// Returns the details of a message that may ping every account it names.
    pub const fn plain() -> Self {
        Self { allowed: Allowed::Named, rare: None }
    }

    /// Returns the details of a post.
    pub(crate) fn of_post(
        mentions: Mentions,
        reply_to: Option<MessageId>,
        embeds: &[Embed],
    ) -> Self {
        let allowed = match mentions {
            Mentions::User(user) => Allowed::User(user),
            Mentions::Allowed(chosen) => Allowed::Listed(Box::new(AllowedMentions {
                everyone: chosen.everyone,
                users: chosen.users.clone(),
                roles: chosen.roles.clone(),
                replied_user: chosen.replied_user,
                ..AllowedMentions::default()
            })),
            Mentions::None | _ => Allowed::None,
        };
        let mut details = Self { allowed, rare: None };
        if reply_to.is_some() || !embeds.is_empty() {
            let rare = details.rare_mut();
            rare.reply_to = reply_to;
            rare.media.embeds = embeds.iter().map(embeds::written).collect();
        }
        details
    }

    /// Copies into the message what the driver reads: its files, the message that it answers, and a name that is not
    /// the author's.
    pub fn tell(&self, message: &mut ChatMessage) {
        if let Some(rare) = &self.rare {
            // A pin and the first message of a thread name a message, too, but do not answer it.
            if message.kind == ChatKind::Reply {
                message.reply_to = rare.reply_to;
            }
            message.embeds = u8::try_from(rare.media.embeds.len()).unwrap_or(u8::MAX);
            if message.author_kind != AuthorKind::Human {
                let embeds = rare.media.embeds.iter().map(embeds::read);
                message.shown = embeds.map(|embed| Shown::embed(&embed)).collect();
            }
            message.attachments = rare.media.attachments.iter().map(Attachment::told).collect();
            let name = rare.guise.as_ref().and_then(|guise| guise.name.as_deref());
            message.author_name = name.map(Arc::from).or(message.author_name.take());
        }
    }

    /// Returns the nonce for the message. If a message cannot express it, it is stored here as it was given.
    pub fn nonce(&mut self, given: &Value) -> Option<Nonce> {
        let nonce = match given {
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number.to_string().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if nonce.is_none() || !given.is_string() {
            self.rare_mut().nonce = Some(given.clone());
        }
        nonce
    }

    pub fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}
