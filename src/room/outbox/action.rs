//! What an outbox message asks for, and how that ends.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use crate::values::error::{Certainty, ErrorKind};
use crate::values::message::Nonce;
use crate::{ChannelId, ChatMessage, UserId};

/// The next request for an outbox message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutboxAction {
    /// Read the id of the channel's newest message.
    NewestIn { to: ChannelId },
    /// Read the oldest messages after this one.
    FindPage { to: ChannelId, after: MessageId },
    /// Post part number `part`. A repetition must not be started at `not_after` or later: then the
    /// chat may have forgotten the nonce.
    Post {
        to: ChannelId,
        part: usize,
        nonce: Nonce,
        content: Arc<str>,
        not_after: Option<Timestamp>,
    },
    /// Wake the callback room, and wait until that is stored. A refusal counts as done.
    WakeRoom { to: ChannelId },
}

/// How a request for an outbox message ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OutboxResult<'a> {
    /// The newest message, where the channel shows any.
    Newest(Option<MessageId>),
    /// Messages after the one asked for, in any order; `full` when there may be more.
    Page { messages: &'a [ChatMessage], full: bool },
    /// The part was posted.
    Posted { id: MessageId },
    /// The request failed; `began` is when it was started.
    Failed {
        kind: ErrorKind,
        certainty: Certainty,
        retry_after: Option<Duration>,
        began: Timestamp,
    },
    /// The callback room is awake, or refused.
    WakeOutcome,
}

/// What is known of the chat when a result comes in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatFacts {
    /// The account that posts. While it is unknown, a part in doubt is not posted again.
    pub(crate) moderator: Option<UserId>,
    /// Whether the account may read the history of the channel, where the chat says so.
    pub(crate) reads_history: Option<bool>,
    /// The newest message that the room knows of in the channel, where that is its own.
    pub(crate) newest: Option<MessageId>,
}

/// What became of the first attempt at an outbox message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstAttempt {
    /// It is not over.
    Pending,
    /// All parts are in the channel.
    Posted,
    /// It failed, or the chat is away: the message is posted later.
    Queued,
}
