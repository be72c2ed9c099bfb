//! Keeps the messages of the channel: up to where it was heard, and the recent ones.

use std::sync::Arc;

use dirigent_core::{AgentKey, Author, MessageId};

use super::beside::Beside;
use super::context::Context;
use super::step::Step;
use crate::values::message::{Attachment, AuthorKind, ChatKind};
use crate::values::reply_file::ReplyFile;
use crate::values::shown::Shown;
use crate::{ChannelId, ChatMessage, UserId};

impl Step<'_> {
    /// Records that a post of ours is in the channel.
    pub(super) fn note_own(&mut self, message: MessageId) {
        if self.turns.keeps_turns() {
            self.marks.note(message);
        }
    }

    /// Keeps a post of ours that is in the channel. Other agents must see it even if no event reports it.
    pub(super) fn remember_own(&mut self, message: ChatMessage) {
        if self.turns.keeps_turns() {
            self.marks.note(message.id);
            self.lanes
                .inbox
                .remember_own(self.cx.directory.of_user(message.author), Arc::new(message));
        }
    }

    pub(super) fn remember(&mut self, mut message: ChatMessage, author: Author) {
        self.cx.directory.name_author(&mut message, author);
        // The moderator's posts are about turns, not part of the conversation.
        if self.turns.keeps_turns() && author != Author::Moderator {
            self.lanes.inbox.remember(Arc::new(message));
        }
    }
}

/// Returns a message of ours, as an event would report it. The moderator is not an agent.
pub(super) fn own_message(
    cx: &Context<'_>,
    (channel, id): (ChannelId, MessageId),
    (author, agent): (UserId, Option<AgentKey>),
    beside: &Beside,
    content: Arc<str>,
) -> ChatMessage {
    let mut message = ChatMessage {
        author_name: agent.and_then(|agent| cx.directory.display_name(agent)).cloned(),
        author_kind: AuthorKind::Bot,
        kind: if beside.reply_to.is_some() { ChatKind::Reply } else { ChatKind::Default },
        reply_to: beside.reply_to,
        sent_at: cx.chat.sent_at(id),
        ..ChatMessage::new(id, channel, author, content)
    };
    if beside.extras.is_some() {
        let embeds = beside.embeds();
        message.embeds = u8::try_from(embeds.len()).unwrap_or(u8::MAX);
        message.shown = embeds.iter().map(Shown::embed).collect();
        message.attachments = beside.files.iter().map(attachment).collect();
    }
    message
}

/// Returns a file of ours. Its address is unknown until an event reports it.
fn attachment(file: &ReplyFile) -> Attachment {
    Attachment::new(file.name(), "", u64::try_from(file.bytes().len()).unwrap_or(u64::MAX))
}
