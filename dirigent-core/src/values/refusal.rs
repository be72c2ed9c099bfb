//! Refused inputs, which leave the channel as it was.

use core::fmt;

/// Defines the refusals with their names and sentences.
macro_rules! refusals {
    ($(#[$about:meta])* Refusal: $($(#[$doc:meta])* $name:ident = $text:literal: $sentence:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Refusal {
            $($(#[$doc])* $name,)*
        }

        impl Refusal {
            /// Returns the name in lower case, with hyphens.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Returns the refusal with this [name](Self::as_str).
            ///
            /// ```
            /// use dirigent_core::Refusal;
            /// assert_eq!(Refusal::named("archived"), Some(Refusal::Archived));
            /// assert_eq!(Refusal::named("unwilling"), None);
            /// ```
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$name => $sentence,)*
                })
            }
        }
    };
}

impl core::error::Error for Refusal {}

refusals! {
    /// The input was refused and changed nothing. Deadlines that were due have fired nevertheless, so carry out the
    /// effects in the buffer.
    ///
    /// ```
    /// use dirigent_core::Refusal;
    /// assert_eq!(Refusal::StaleRun.as_str(), "stale-run");
    /// ```
    Refusal:
    /// The message was seen before.
    RepeatedMessage = "repeated-message": "the message was seen before; nothing to do",
    /// The run does not have the floor: it was denied, replaced, timed out, ended before, or belongs to another agent.
    StaleRun = "stale-run": "the run does not hold the floor; its end changes nothing",
    /// No effect with this ticket is pending, for example because it was settled before.
    UnknownTicket = "unknown-ticket": "no such effect is pending any more; nothing to do",
    /// Turns are not kept in this channel, so the input has no meaning here.
    NotManaged = "not-managed": "turns are not kept in this channel; set its mode to chat first",
    /// The mode was given at creation and cannot be changed.
    ModeLocked = "mode-locked": "the mode of a work or discussion channel is locked",
    /// The modes work and discussion can only be given at creation, by their tools.
    CreationOnly = "creation-only": "work and discussion are given at creation: use create-work-channel or create-discussion-channel",
    /// The channel already has a mode.
    AlreadyCreated = "already-created": "the channel has a mode already",
    /// A discussion needs an initiator, and no other channel has one.
    InitiatorMismatch = "initiator-mismatch": "a discussion needs an initiator, and no other channel has one",
    /// The channel is archived.
    Archived = "archived": "the channel is archived for good",
    /// The channel is not a discussion.
    NotADiscussion = "not-a-discussion": "the channel is no discussion",
    /// Only the initiator may conclude a discussion.
    NotTheInitiator = "not-the-initiator": "only the initiator may conclude the discussion",
    /// The discussion was concluded before.
    AlreadyConcluded = "already-concluded": "the discussion was concluded before",
    /// The channel is stopped.
    Stopped = "stopped": "the channel is stopped; resume it first",
    /// The channel is not paused, so there is no stop or hold to end.
    NotPaused = "not-paused": "the channel is neither stopped nor on hold",
    /// The ceiling without a human was reached, and only a human's word lifts it.
    CeilingReached = "ceiling-reached": "the ceiling was reached; a person must write first",
    /// The work is done; resume the channel first.
    Finished = "finished": "the work in this channel is finished; resume it first",
    /// The agent is not in the speaker list.
    NotListed = "not-listed": "the agent is not in the channel's speaker list",
    /// The agent is muted.
    Muted = "muted": "the agent is muted; unmute it first",
    /// The agent may not write in the channel.
    MayNotWrite = "may-not-write": "the agent may not write in the channel; give its account the permission first",
    /// The agent is offline, or has not been assigned since it came back.
    AgentOffline = "agent-offline": "the agent is offline or not assigned; assign it when it is back",
    /// The agent already has the floor.
    HasTheFloor = "has-the-floor": "the agent has the floor already",
    /// A budget is spent, and an operator must reset it.
    BudgetSpent = "budget-spent": "a budget of the channel is spent; reset it first",
    /// An agent asked for a person, who must write first.
    AwaitingHuman = "awaiting-human": "an agent asked for a person; a person must write first",
    /// No message can be posted in the channel at the moment, because the chat does not answer, is not heard, or asks
    /// for patience. So no agent can be chosen while the channel is dormant.
    ChatAway = "chat-away": "nothing can be said in the channel at the moment; try again later",
    /// There are more agents than [`AGENTS_MAX`](crate::config::AGENTS_MAX).
    TooManyAgents = "too-many-agents": "a channel holds at most 64 agents",
    /// A receipt must name at least one message.
    EmptyReceipt = "empty-receipt": "a receipt must name at least one message",
    /// A setting cannot be obeyed. Call [`Config::validate`](crate::Config::validate) to find out which.
    BadConfig = "bad-config": "a setting cannot be obeyed; Config::validate says which",
}
