//! One event of one channel, in the form for the driver.

use dirigent::ports::ChannelRequest;
use dirigent::{CallError, ChannelId, ChatMessage, Dirigent, MessageId, UserId};

/// A gateway event of one channel.
#[derive(Clone, Debug)]
pub(super) enum ChannelEvent {
    /// A message was posted. The parent is given if the channel is a thread without a mode.
    Created(ChatMessage, Option<ChannelId>),
    Updated(ChatMessage),
    Deleted(Vec<MessageId>),
    Typing(UserId),
    /// The id of the channel's newest message. The parent is given if the channel is a thread.
    Newest(MessageId, Option<ChannelId>),
    Joined(UserId),
    Left(UserId),
    /// A person stopped the channel with a reaction.
    Stopped,
    ChannelDeleted,
}

impl ChannelEvent {
    /// Reports the event to the driver. It waits for the driver's store if the channel is not in memory.
    pub(super) async fn tell(
        self,
        dirigent: Dirigent,
        channel: ChannelId,
    ) -> Result<(), CallError> {
        match self {
            Self::Created(message, parent) => {
                let inherited = match parent {
                    Some(parent) => dirigent.thread_seen(channel, parent).await,
                    None => Ok(()),
                };
                inherited.and(dirigent.message_created(message).await)
            }
            Self::Updated(message) => dirigent.message_updated(message).await,
            Self::Deleted(messages) => {
                for message in messages {
                    dirigent.message_deleted(channel, message).await?;
                }
                Ok(())
            }
            Self::Typing(user) => dirigent.typing_started(channel, user).await,
            Self::Newest(newest, None) => dirigent.newest_message(channel, newest).await,
            Self::Newest(newest, Some(parent)) => {
                dirigent.newest_message_of_thread(channel, parent, newest).await
            }
            Self::Joined(user) => dirigent.member_joined(channel, user).await,
            Self::Left(user) => dirigent.member_left(channel, user).await,
            Self::Stopped => match dirigent.channel(channel).request(&ChannelRequest::Stop).await {
                // The channel is stopped or archived, or has no mode.
                Err(CallError::Refused(_)) | Ok(_) => Ok(()),
                Err(error) => Err(error),
            },
            Self::ChannelDeleted => dirigent.channel_deleted(channel).await,
        }
    }

    /// Returns the event in a few bytes. Of a message this is only the id, and the driver then reads the history up to
    /// it. Returns `None` for an event that the history shows by itself.
    ///
    /// A message of a thread without a mode stays whole. The thread takes its parent's mode from it, and the history
    /// from before the mode is not read.
    pub(super) fn condensed(&self) -> Option<Self> {
        match self {
            Self::Created(message, None) => Some(Self::Newest(message.id, None)),
            Self::Updated(_) | Self::Deleted(_) | Self::Typing(_) => None,
            Self::Created(_, Some(_))
            | Self::Newest(..)
            | Self::Joined(_)
            | Self::Left(_)
            | Self::Stopped
            | Self::ChannelDeleted => Some(self.clone()),
        }
    }
}

/// Returns true if an event must be reported again after this error.
///
/// This includes an event that is in force but not stored yet, because a deleted channel's record is erased only once
/// its end is stored. Every event is idempotent.
pub(super) const fn is_repeated(error: &CallError) -> bool {
    matches!(error, CallError::Failed(_) | CallError::NotStored)
}
