//! Everything a channel asks its host to do, as values.

use crate::{AgentKey, MessageId, RunId, Ticket, Transition, TurnId};

/// Something to be done, or to be known. Written into the caller's buffer by
/// [`TurnMachine::handle`](crate::TurnMachine::handle), to be carried out in order, after the channel's new
/// state was stored.
///
/// An effect with a [`Ticket`] is pending until exactly one [`Input::Settled`](crate::Input::Settled) (for
/// [`Effect::FetchMembers`] a [`Input::Members`](crate::Input::Members) when it succeeded) answers it. Pending
/// effects are part of the state, so that a restart finds them in [`TurnMachine::pending`](crate::TurnMachine::pending).
///
/// ```
/// use dirigent_core::{Effect, Ticket};
/// assert_eq!(Effect::FetchMembers { ticket: Ticket::new(4) }.ticket(), Some(Ticket::new(4)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a host that skips an effect would stall a room; it must not compile then"
)]
pub enum Effect {
    /// Find out which registered agents are in the channel. Answered by `Input::Members`.
    FetchMembers {
        /// Its number, by which it is settled.
        ticket: Ticket,
    },
    /// Wake the agent that holds the floor: by a trigger message or directly.
    Trigger {
        /// Its number, by which it is settled.
        ticket: Ticket,
        /// Whom to wake.
        agent: AgentKey,
        /// The turn that was granted.
        turn: TurnId,
        /// 0 for the grant, then 1 for each re-trigger.
        attempt: u8,
    },
    /// Remove a trigger message. Nothing waits for it.
    Delete {
        /// Its number, by which it is settled.
        ticket: Ticket,
        /// The message to remove.
        message: MessageId,
    },
    /// Look for the speaker's messages: read the newest messages and give those after `after` as
    /// `Input::Message`, then settle.
    Poll {
        /// Its number, by which it is settled.
        ticket: Ticket,
        /// The turn's anchor; `None` means that every message counts.
        after: Option<MessageId>,
    },
    /// Post a notice of the moderator.
    Notice {
        /// Its number, by which it is settled.
        ticket: Ticket,
        /// Which one.
        notice: Notice,
    },
    /// Remind the initiator of an idle discussion to conclude it.
    Reminder {
        /// Its number, by which it is settled.
        ticket: Ticket,
        /// Whom to address.
        initiator: AgentKey,
        /// Where: the initiator has left the channel when this is the callback channel.
        place: ReminderPlace,
    },
    /// Hand a human's message to the agent whose turn it is, without disturbing the turn.
    Inject {
        /// Who has the floor.
        agent: AgentKey,
        /// The turn.
        turn: TurnId,
        /// The message to hand over.
        message: MessageId,
    },
    /// Hand the human messages that were held to the agent whose turn it is, all and in order.
    Deliver {
        /// Who has the floor.
        agent: AgentKey,
        /// The turn.
        turn: TurnId,
        /// The first message held.
        first: MessageId,
        /// The last message held; what people said in between is held too.
        last: MessageId,
    },
    /// A human spoke during a turn, which waits: let the orchestrator answer, then settle.
    Consult {
        /// Its number, by which it is settled.
        ticket: Ticket,
        /// Whose turn waits.
        agent: AgentKey,
        /// The turn.
        turn: TurnId,
        /// The first message to be answered.
        first: MessageId,
        /// The last one; what people said in between is meant too.
        last: MessageId,
    },
    /// The run lost its permission: cancel it where that is possible. Its end will be ignored.
    CancelRun {
        /// Whose run.
        agent: AgentKey,
        /// Which run, where the host named it.
        run: Option<RunId>,
        /// The turn it belonged to; `None` for the run after an idle reminder.
        turn: Option<TurnId>,
    },
    /// Something changed, and why. For history, logs and metrics; nothing to do.
    Transition(Transition),
}

impl Effect {
    /// The number of an effect that must be settled.
    pub const fn ticket(&self) -> Option<Ticket> {
        match *self {
            Self::FetchMembers { ticket }
            | Self::Trigger { ticket, .. }
            | Self::Delete { ticket, .. }
            | Self::Poll { ticket, .. }
            | Self::Notice { ticket, .. }
            | Self::Consult { ticket, .. }
            | Self::Reminder { ticket, .. } => Some(ticket),
            Self::Inject { .. }
            | Self::Deliver { .. }
            | Self::CancelRun { .. }
            | Self::Transition(_) => None,
        }
    }

    /// What changed, for the effect that tells it.
    pub const fn transition(&self) -> Option<Transition> {
        if let Self::Transition(transition) = self { Some(*transition) } else { None }
    }
}

/// A fixed sentence of the moderator. Hosts may override the words.
///
/// ```
/// use dirigent_core::Notice;
/// assert_eq!(Notice::Closed.text(), "This discussion is closed.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A message was written in a channel that was archived by an operator.
    Archived,
    /// A message was written in a discussion that was concluded.
    Closed,
    /// The ceiling of turns or cycles without a human was reached.
    Ceiling,
    /// An agent did not answer in time. `{agent}` in its words is the agent's name.
    TimedOut {
        /// The agent whose turn timed out.
        agent: AgentKey,
    },
    /// An agent crashed or disconnected. `{agent}` in its words is the agent's name.
    Disconnected {
        /// The agent that went offline.
        agent: AgentKey,
    },
    /// A budget is spent.
    Budget,
    /// A person stopped the channel in words. The library acknowledges it with this notice. Answer
    /// with a reaction to the message or a reply.
    Stopped {
        /// The person's message.
        message: MessageId,
    },
    /// A person let the channel go on in words. The library acknowledges it with this notice. Answer
    /// with a reaction to the message or a reply.
    Resumed {
        /// The person's message.
        message: MessageId,
    },
    /// As [`Notice::Resumed`], but nothing was left to go on with: the agents wait for a message.
    ResumedIdle {
        /// The person's message.
        message: MessageId,
    },
}

impl Notice {
    /// The default words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Archived => "This channel is archived and no longer active.",
            Self::Closed => "This discussion is closed.",
            Self::Ceiling => {
                "The agents have talked as long as they may without a person. Write a message to let them go on."
            }
            Self::TimedOut { .. } => "⏱️ {agent} turn timed out, moving to next agent",
            Self::Disconnected { .. } => "⚠️ {agent} disconnected",
            Self::Budget => "The budget of this channel is spent. An operator can reset it.",
            Self::Stopped { .. } => "Stopped. No agent speaks until the channel is resumed.",
            Self::Resumed { .. } => "Resumed.",
            Self::ResumedIdle { .. } => "Resumed. Write a message to go on.",
        }
    }
}

/// The default words of [`Effect::Reminder`].
pub const IDLE_REMINDER: &str =
    "Discussion is idle. Please summarize and call discussion-complete.";

/// Where an idle reminder is posted.
///
/// ```
/// use dirigent_core::ReminderPlace;
/// assert_ne!(ReminderPlace::Discussion, ReminderPlace::Callback);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a discussion knows no third place")]
pub enum ReminderPlace {
    /// In the discussion's own channel.
    Discussion,
    /// In the channel from which the discussion was opened.
    Callback,
}
