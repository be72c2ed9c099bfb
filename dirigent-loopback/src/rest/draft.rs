//! The content of a new message, or of a change.

use dirigent::ports::Timestamp;
use dirigent::{ChatMessage, MessageId};
use serde_json::{Map, Value};

use super::ask::Ask;
use super::body::{self, CONTENT_MAX};
use super::components::{self, IS_COMPONENTS_V2};
use super::refusal::Refusal;
use super::{attachments, embeds};
use crate::parts::Parts;
use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::details::{Allowed, Details, Media, Rare};
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::snowflake::Snowflakes;

/// The content of a new message.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The text, or empty if there is none.
    pub(super) content: String,
    pub(super) details: Details,
    /// The parts that the world does not store.
    pub(super) parts: Parts,
}

impl Draft {
    /// Reads it from a body. `settable` are the flags that may be set.
    pub(super) fn read(
        ask: &Ask,
        fields: &Map<String, Value>,
        settable: u64,
        (ids, now): (&mut Snowflakes, Timestamp),
    ) -> Result<Self, Refusal> {
        let content = fields.get("content").unwrap_or(&Value::Null);
        let content = body::read_content(content, CONTENT_MAX)?.unwrap_or_default();
        let mut details = body::read_details(fields, settable)?;
        let media = Media {
            embeds: embeds::read(fields)?.unwrap_or_default(),
            attachments: attachments::read(fields, ask.files(), &[], (ids, now))?,
        };
        let flags = details.rare.as_ref().map_or(0, |rare| rare.flags);
        let components = components::read(fields, flags)?.unwrap_or_default();
        let poll = body::read_poll(fields, now)?;
        let sticker_items = body::read_stickers(fields, &ask.parts.stickers())?;
        let has_embeds = !media.embeds.is_empty();
        let has_more = has_embeds || poll.is_some() || !sticker_items.is_empty();
        components::check_alone(flags, has_more || !content.is_empty())?;
        if !media.is_empty() {
            details.rare_mut().media = media;
        }
        Ok(Self {
            content,
            details,
            parts: Parts { sticker_items, poll, components, ..Parts::default() },
        })
    }

    /// Returns true if the message is empty. Discord does not post it then.
    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.media().is_none_or(Media::is_empty) && self.parts.is_empty()
    }

    /// Returns the permissions that it needs, besides the permission to post.
    pub(super) fn rights(&self) -> Permissions {
        self.media().map_or(Permissions::NONE, rights_to_show)
    }

    fn media(&self) -> Option<&Media> {
        self.details.rare.as_ref().map(|rare| &rare.media)
    }
}

/// Returns the permissions to show this content.
fn rights_to_show(media: &Media) -> Permissions {
    let right = |is_needed, right| if is_needed { right } else { Permissions::NONE };
    right(!media.embeds.is_empty(), Permissions::EMBED_LINKS)
        | right(!media.attachments.is_empty(), Permissions::ATTACH_FILES)
}

/// A change of a message. `None` leaves a field unchanged.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    content: Option<String>,
    embeds: Option<Vec<Value>>,
    attachments: Option<Vec<Attachment>>,
    allowed: Option<Allowed>,
    flags: Option<u64>,
    /// The new parts that the world does not store.
    parts: Parts,
    changes_parts: bool,
}

impl Revision {
    /// Reads it from a body. `message` is the message before the change.
    pub(super) fn read(
        ask: &Ask,
        fields: &Map<String, Value>,
        settable: u64,
        (message, rare): (MessageId, Option<&Rare>),
        (ids, now): (&mut Snowflakes, Timestamp),
    ) -> Result<Self, Refusal> {
        let media = rare.map(|rare| &rare.media);
        let content = match fields.get("content") {
            None => None,
            Some(content) => Some(body::read_content(content, CONTENT_MAX)?.unwrap_or_default()),
        };
        let says_attachments =
            fields.get("attachments").is_some_and(|it| !it.is_null()) || !ask.files().is_empty();
        let had = media.map_or(&[][..], |media| &media.attachments);
        let attachments = says_attachments
            .then(|| attachments::read(fields, ask.files(), had, (ids, now)))
            .transpose()?;
        let allowed = body::read_allowed(fields)?.map(Box::new).map(Allowed::Listed);
        let flags = fields.get("flags").filter(|flags| !flags.is_null());
        let flags = flags.map(|_| body::read_flags(fields, settable)).transpose()?;
        // A message of only components stays one.
        let flags_after = flags.unwrap_or(0) | rare.map_or(0, |rare| rare.flags);
        let components = components::read(fields, flags_after)?;
        let changes_parts = components.is_some();
        let mut parts = ask.parts.of(message).unwrap_or_default();
        parts.components = components.unwrap_or(parts.components);
        let embeds = embeds::read(fields)?;
        Ok(Self { content, embeds, attachments, allowed, flags, parts, changes_parts })
    }

    /// Returns the permissions to show the new content.
    pub(super) fn rights(&self) -> Permissions {
        rights_to_show(&Media {
            embeds: self.embeds.clone().unwrap_or_default(),
            attachments: self.attachments.clone().unwrap_or_default(),
        })
    }

    /// Refuses a change that would leave the message empty, or with more than a message of components
    /// may have.
    pub(super) fn check(&self, content: &str, rare: Option<&Rare>) -> Result<(), Refusal> {
        let media = rare.map(|rare| &rare.media);
        let has_content = self.content.as_deref().map_or(!content.is_empty(), |it| !it.is_empty());
        let has_embeds = self.embeds.as_ref().map_or_else(
            || media.is_some_and(|media| !media.embeds.is_empty()),
            |embeds| !embeds.is_empty(),
        );
        let has_attachments = self.attachments.as_ref().map_or_else(
            || media.is_some_and(|media| !media.attachments.is_empty()),
            |attachments| !attachments.is_empty(),
        );
        let flags = self.flags.unwrap_or(0) | rare.map_or(0, |rare| rare.flags);
        components::check_alone(flags, has_content || has_embeds)?;
        if has_content || has_embeds || has_attachments || !self.parts.is_empty() {
            Ok(())
        } else {
            Err(Refusal::empty_message())
        }
    }

    /// Returns true if it changes nothing.
    pub(super) fn is_nothing(&self) -> bool {
        self.content.is_none()
            && self.embeds.is_none()
            && self.attachments.is_none()
            && self.flags.is_none()
            && !self.changes_parts
    }

    /// Stores the parts that the world does not, before sessions get the change.
    pub(super) fn keep_parts(&self, ask: &Ask, message: MessageId) {
        if self.changes_parts {
            ask.parts.keep(message, self.parts.clone());
        }
    }

    /// Changes a message. Flags that cannot be set stay, and so does the flag of only components.
    pub(super) fn apply(self, settable: u64, message: &mut ChatMessage, details: &mut Details) {
        if let Some(content) = self.content {
            message.content = content.into();
        }
        if let Some(allowed) = self.allowed {
            details.allowed = allowed;
        }
        let rare = details.rare_mut();
        if let Some(flags) = self.flags {
            rare.flags = rare.flags & (!settable | IS_COMPONENTS_V2) | flags;
        }
        if let Some(embeds) = self.embeds {
            rare.media.embeds = embeds;
        }
        if let Some(attachments) = self.attachments {
            rare.media.attachments = attachments;
        }
    }
}
