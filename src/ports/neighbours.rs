//! Carries events to the process that acts for their channel.

use std::time::Duration;

use async_trait::async_trait;
use dirigent_core::MessageId;
use serde::{Deserialize, Serialize};

use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::values::carried::Carried;
use crate::{ChannelId, ChatMessage, UserId};

/// One event of the gateway that concerns one channel. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::ports::GatewayEvent;
/// use dirigent::ChannelId;
///
/// let event = GatewayEvent::ChannelDeleted(ChannelId::new(7));
/// assert_eq!(event.channel().get(), 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "who tells events must know each")]
pub enum GatewayEvent {
    /// [`Dirigent::message_created`](crate::Dirigent::message_created).
    MessageCreated(ChatMessage),
    /// [`Dirigent::message_updated`](crate::Dirigent::message_updated).
    MessageUpdated(ChatMessage),
    /// [`Dirigent::message_deleted`](crate::Dirigent::message_deleted).
    MessageDeleted {
        /// The channel of the message.
        channel: ChannelId,
        /// The deleted message.
        #[serde(with = "crate::written")]
        message: MessageId,
    },
    /// [`Dirigent::typing_started`](crate::Dirigent::typing_started).
    TypingStarted {
        /// The channel.
        channel: ChannelId,
        /// The account that types.
        user: UserId,
    },
    /// [`Dirigent::member_joined`](crate::Dirigent::member_joined).
    MemberJoined {
        /// The channel that the account can see now.
        channel: ChannelId,
        /// The account.
        user: UserId,
    },
    /// [`Dirigent::member_left`](crate::Dirigent::member_left).
    MemberLeft {
        /// The channel that the account can no longer see.
        channel: ChannelId,
        /// The account.
        user: UserId,
    },
    /// [`Dirigent::newest_message`](crate::Dirigent::newest_message), or
    /// [`Dirigent::newest_message_of_thread`](crate::Dirigent::newest_message_of_thread).
    NewestMessage {
        /// The channel of the message.
        channel: ChannelId,
        /// The channel's newest message.
        #[serde(with = "crate::written")]
        message: MessageId,
        /// The parent channel, if the channel is a thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ChannelId>,
    },
    /// [`Dirigent::thread_seen`](crate::Dirigent::thread_seen).
    ThreadSeen {
        /// The thread.
        thread: ChannelId,
        /// The parent channel of the thread.
        parent: ChannelId,
    },
    /// [`Dirigent::channel_deleted`](crate::Dirigent::channel_deleted).
    ChannelDeleted(ChannelId),
}

impl GatewayEvent {
    /// Returns the channel that the event concerns. For an event of a thread this is the thread.
    pub const fn channel(&self) -> ChannelId {
        match self {
            Self::MessageCreated(message) | Self::MessageUpdated(message) => message.channel,
            Self::MessageDeleted { channel, .. }
            | Self::TypingStarted { channel, .. }
            | Self::MemberJoined { channel, .. }
            | Self::MemberLeft { channel, .. }
            | Self::NewestMessage { channel, .. }
            | Self::ChannelDeleted(channel) => *channel,
            Self::ThreadSeen { thread, .. } => *thread,
        }
    }
}

/// The other processes on the same store, if not every process hears all events. An implementation takes events that
/// this process hears for channels of the others, and carries them there. You pass it to
/// [`Builder::neighbours`](crate::host::Builder::neighbours). `dirigent-cluster` has one. If every process has a
/// gateway connection for all guilds, it carries requests alone: see [`hear_all`](Self::hear_all).
///
/// At the other end [`Dirigent::event_here`](crate::Dirigent::event_here) takes an event, and
/// [`Dirigent::request_here`](crate::Dirigent::request_here) takes a request. They pass it on to no other process.
///
/// ```
/// use std::sync::Mutex;
/// use dirigent::ports::{GatewayEvent, OtherProcesses};
///
/// /// Keeps what is to be carried.
/// #[derive(Default)]
/// struct Queue(Mutex<Vec<GatewayEvent>>);
///
/// impl OtherProcesses for Queue {
///     fn heard(&self, event: GatewayEvent) {
///         self.0.lock().unwrap().push(event);
///     }
///
///     fn reconnected(&self) {}
/// }
/// ```
#[async_trait]
pub trait OtherProcesses: Send + Sync + 'static {
    /// Takes an event of a channel that another process acts for. If it is unknown whether one does, keep the event
    /// until one does, which may be this process ([`Standing::acts`](super::ownership::Standing::acts)). Return at
    /// once. You may deliver an event twice, but keep the order within a channel if you can.
    fn heard(&self, event: GatewayEvent);

    /// Reports that events of any channel may have been missed. Tell each of the other processes with
    /// [`Dirigent::reconnected_here`](crate::Dirigent::reconnected_here). Return at once.
    fn reconnected(&self);

    /// Returns whether each process hears all events by itself, for example because it has a gateway connection for all
    /// guilds. Then no event is carried. A slash command is left to the process that acts for its channel, because that
    /// process has heard it, too. The answer must not change. Default: no.
    fn hear_all(&self) -> bool {
        false
    }

    /// Carries a request to the process that acts for the channel, and returns its answer within this time. The request
    /// must be carried out at most once. The default carries no request.
    async fn request(
        &self,
        channel: ChannelId,
        request: &ChannelRequest,
        within: Duration,
    ) -> Carried<ChannelAnswer> {
        let _ = (channel, request, within);
        Carried::NoWay
    }
}
