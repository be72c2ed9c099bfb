//! What a message is made of, or is changed to.

use dirigent::ChatMessage;
use dirigent::ports::Timestamp;
use serde_json::{Map, Value};

use super::ask::Ask;
use super::body::{self, CONTENT_MAX};
use super::refusal::Refusal;
use super::{attachments, embeds};
use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::details::{Allowed, Details, Media};
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::snowflake::Snowflakes;

/// What a new message says and shows.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Empty where there is none.
    pub(super) content: String,
    pub(super) details: Details,
}

impl Draft {
    /// Reads it; `settable` are the flags that may be set.
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
        if !media.is_empty() {
            details.rare_mut().media = media;
        }
        Ok(Self { content, details })
    }

    /// Whether it says and shows nothing, which Discord does not post.
    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.media().is_none_or(Media::is_empty)
    }

    /// What it takes to post it, besides the right to post.
    pub(super) fn rights(&self) -> Permissions {
        self.media().map_or(Permissions::NONE, rights_to_show)
    }

    fn media(&self) -> Option<&Media> {
        self.details.rare.as_ref().map(|rare| &rare.media)
    }
}

/// What it takes to show this.
fn rights_to_show(media: &Media) -> Permissions {
    let right = |is_needed, right| if is_needed { right } else { Permissions::NONE };
    right(!media.embeds.is_empty(), Permissions::EMBED_LINKS)
        | right(!media.attachments.is_empty(), Permissions::ATTACH_FILES)
}

/// What of a message is changed. None leaves what is there.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    content: Option<String>,
    embeds: Option<Vec<Value>>,
    attachments: Option<Vec<Attachment>>,
    allowed: Option<Allowed>,
    flags: Option<u64>,
}

impl Revision {
    /// Reads it; `media` is what the message shows so far.
    pub(super) fn read(
        ask: &Ask,
        fields: &Map<String, Value>,
        settable: u64,
        media: Option<&Media>,
        (ids, now): (&mut Snowflakes, Timestamp),
    ) -> Result<Self, Refusal> {
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
        Ok(Self { content, embeds: embeds::read(fields)?, attachments, allowed, flags })
    }

    /// What it takes to show what is new.
    pub(super) fn rights(&self) -> Permissions {
        rights_to_show(&Media {
            embeds: self.embeds.clone().unwrap_or_default(),
            attachments: self.attachments.clone().unwrap_or_default(),
        })
    }

    /// Whether the message would say and show nothing afterwards.
    pub(super) fn empties(&self, content: &str, media: Option<&Media>) -> bool {
        let has_content = self.content.as_deref().map_or(!content.is_empty(), |it| !it.is_empty());
        let has_embeds = self.embeds.as_ref().map_or_else(
            || media.is_some_and(|media| !media.embeds.is_empty()),
            |embeds| !embeds.is_empty(),
        );
        let has_attachments = self.attachments.as_ref().map_or_else(
            || media.is_some_and(|media| !media.attachments.is_empty()),
            |attachments| !attachments.is_empty(),
        );
        !has_content && !has_embeds && !has_attachments
    }

    /// Whether it changes anything.
    pub(super) fn is_nothing(&self) -> bool {
        self.content.is_none()
            && self.embeds.is_none()
            && self.attachments.is_none()
            && self.flags.is_none()
    }

    /// Changes a message; flags that cannot be set stay.
    pub(super) fn apply(self, settable: u64, message: &mut ChatMessage, details: &mut Details) {
        if let Some(content) = self.content {
            message.content = content.into();
        }
        if let Some(allowed) = self.allowed {
            details.allowed = allowed;
        }
        let rare = details.rare_mut();
        if let Some(flags) = self.flags {
            rare.flags = rare.flags & !settable | flags;
        }
        if let Some(embeds) = self.embeds {
            rare.media.embeds = embeds;
        }
        if let Some(attachments) = self.attachments {
            rare.media.attachments = attachments;
        }
    }
}
