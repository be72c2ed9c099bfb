//! Where what is heard of channels goes, for which another process acts.

use std::time::Duration;

use async_trait::async_trait;
use dirigent_core::MessageId;
use serde::{Deserialize, Serialize};

use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::values::carried::Carried;
use crate::{ChannelId, ChatMessage, UserId};

/// One event of the gateway that concerns one channel. `Debug` shows no text.
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
        /// Where it stood.
        channel: ChannelId,
        /// Which message.
        #[serde(with = "crate::written")]
        message: MessageId,
    },
    /// [`Dirigent::typing_started`](crate::Dirigent::typing_started).
    TypingStarted {
        /// Where it types.
        channel: ChannelId,
        /// Whose account it is.
        user: UserId,
    },
    /// [`Dirigent::member_joined`](crate::Dirigent::member_joined).
    MemberJoined {
        /// What the account can see now.
        channel: ChannelId,
        /// Whose account it is.
        user: UserId,
    },
    /// [`Dirigent::member_left`](crate::Dirigent::member_left).
    MemberLeft {
        /// What the account can see no longer.
        channel: ChannelId,
        /// Whose account it is.
        user: UserId,
    },
    /// [`Dirigent::newest_message`](crate::Dirigent::newest_message), or
    /// [`Dirigent::newest_message_of_thread`](crate::Dirigent::newest_message_of_thread).
    NewestMessage {
        /// Where it stands.
        channel: ChannelId,
        /// The channel's newest message.
        #[serde(with = "crate::written")]
        message: MessageId,
        /// The channel that it belongs to, where it is a thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ChannelId>,
    },
    /// [`Dirigent::thread_seen`](crate::Dirigent::thread_seen).
    ThreadSeen {
        /// The thread.
        thread: ChannelId,
        /// The channel that it belongs to.
        parent: ChannelId,
    },
    /// [`Dirigent::channel_deleted`](crate::Dirigent::channel_deleted).
    ChannelDeleted(ChannelId),
}

impl GatewayEvent {
    /// Returns the channel that the event concerns; a thread's is the thread.
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

/// The other processes on the same store, where not each of them hears all events: takes what this one hears of channels
/// that are another's, and carries it there; from [`Builder::neighbours`](crate::host::Builder::neighbours). `dirigent-cluster` has
/// one. Where every process has a gateway connection for all guilds, it has requests alone to carry: see [`hear_all`](Self::hear_all).
///
/// At the other end [`Dirigent::event_here`](crate::Dirigent::event_here) takes the event, and
/// [`Dirigent::request_here`](crate::Dirigent::request_here) a request; neither carries it further.
///
/// ```
/// use std::sync::Mutex;
/// use dirigent::ports::{GatewayEvent, Neighbours};
///
/// /// Keeps what is to be carried.
/// #[derive(Default)]
/// struct Queue(Mutex<Vec<GatewayEvent>>);
///
/// impl Neighbours for Queue {
///     fn heard(&self, event: GatewayEvent) {
///         self.0.lock().unwrap().push(event);
///     }
///
///     fn reconnected(&self) {}
/// }
/// ```
#[async_trait]
pub trait Neighbours: Send + Sync + 'static {
    /// An event was heard of a channel for which another process acts, or may: then it waits until one does, perhaps this one
    /// ([`Standing::acts`](super::ownership::Standing::acts)). It must return at once. Duplicates are fine at the other end; the order
    /// within a channel should stay.
    fn heard(&self, event: GatewayEvent);

    /// Events of any channel may have been missed: each of the others is to be told, by
    /// [`Dirigent::reconnected_here`](crate::Dirigent::reconnected_here). It must return at once.
    fn reconnected(&self);

    /// Returns whether each process hears all events by itself, for example because it has a gateway connection for all guilds. Then
    /// no event is carried, and a slash command is left to the process that acts for its channel, which has heard it, too. It
    /// must not change. Default: no.
    fn hear_all(&self) -> bool {
        false
    }

    /// Something is asked of a channel for which another process acts: that process is to do it, and to answer within this time. It
    /// is asked once at most. By default nothing is asked.
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
