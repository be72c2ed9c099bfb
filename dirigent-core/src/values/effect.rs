//! Everything that a channel asks its host to do, as values.

use crate::{AgentKey, MessageId, RunId, Ticket, Transition, TurnId};

/// Something that you must do, or should know. [`TurnMachine::handle`](crate::TurnMachine::handle) appends effects to
/// your buffer. Store the channel's new state first, then carry them out in order.
///
/// An effect with a [`Ticket`] is pending until you answer it with exactly one
/// [`Input::Settled`](crate::Input::Settled). Answer a successful [`Effect::FetchMembers`] with
/// [`Input::Members`](crate::Input::Members) instead. Pending effects are part of the state, so that you find them in
/// [`TurnMachine::pending`](crate::TurnMachine::pending) after a restart.
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
    /// Find out which registered agents are in the channel, and answer with `Input::Members`.
    FetchMembers {
        /// The ticket that settles this effect.
        ticket: Ticket,
    },
    /// Tell the agent that has the floor of its turn, by a trigger message or by a call.
    Trigger {
        /// The ticket that settles this effect.
        ticket: Ticket,
        /// The agent to trigger.
        agent: AgentKey,
        /// The turn that was granted.
        turn: TurnId,
        /// The attempt: 0 for the grant, then 1 and up for the re-triggers.
        attempt: u8,
    },
    /// Remove a trigger message. The machine does not wait for it.
    Delete {
        /// The ticket that settles this effect.
        ticket: Ticket,
        /// The message to remove.
        message: MessageId,
    },
    /// Look for the speaker's reply: read the newest messages, pass those after `after` to the machine as
    /// `Input::Message`, then settle.
    Poll {
        /// The ticket that settles this effect.
        ticket: Ticket,
        /// The turn's anchor. With `None` every message counts.
        after: Option<MessageId>,
    },
    /// Post a notice as the moderator.
    Notice {
        /// The ticket that settles this effect.
        ticket: Ticket,
        /// The notice to post.
        notice: Notice,
    },
    /// Remind the initiator of an idle discussion to conclude it.
    Reminder {
        /// The ticket that settles this effect.
        ticket: Ticket,
        /// The agent to address.
        initiator: AgentKey,
        /// The channel to post in. It is the callback channel if the initiator has left the discussion's own.
        place: ReminderPlace,
    },
    /// Give a human's message to the agent that has the floor, without disturbing its turn.
    Inject {
        /// The agent that has the floor.
        agent: AgentKey,
        /// The turn of this agent.
        turn: TurnId,
        /// The message to hand over.
        message: MessageId,
    },
    /// Give the queued messages of people to the agent that has the floor, all of them and in order.
    Deliver {
        /// The agent that has the floor.
        agent: AgentKey,
        /// The turn of this agent.
        turn: TurnId,
        /// The first queued message.
        first: MessageId,
        /// The last queued message. All that people said in between is queued, too.
        last: MessageId,
    },
    /// Let the orchestrator answer a human who spoke during a turn, then settle. The turn waits for it.
    Consult {
        /// The ticket that settles this effect.
        ticket: Ticket,
        /// The agent that has to wait.
        agent: AgentKey,
        /// The turn that waits.
        turn: TurnId,
        /// The first message to answer.
        first: MessageId,
        /// The last message to answer. Answer all that people said in between as well.
        last: MessageId,
    },
    /// Cancel a run that lost its permission, if you can. The machine ignores its end.
    CancelRun {
        /// The agent that runs.
        agent: AgentKey,
        /// The run, or `None` if you gave it no name.
        run: Option<RunId>,
        /// The turn that the run belonged to, or `None` for the run after an idle reminder.
        turn: Option<TurnId>,
    },
    /// Record that something changed, and why, for example in a log or a metric. You need do no more.
    Transition(Transition),
}

impl Effect {
    /// Returns the ticket of an effect that must be settled.
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

    /// Returns the change, if this effect reports one.
    pub const fn transition(&self) -> Option<Transition> {
        if let Self::Transition(transition) = self { Some(*transition) } else { None }
    }
}

/// A fixed sentence of the moderator. You may replace the words.
///
/// ```
/// use dirigent_core::Notice;
/// assert_eq!(Notice::Closed.text(), "This discussion is closed.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A message came in a channel that an operator archived.
    Archived,
    /// A message came in a discussion that was concluded.
    Closed,
    /// The agents reached the ceiling of turns or cycles without a human.
    Ceiling,
    /// An agent did not answer in time. In the text, `{agent}` stands for the agent's name.
    TimedOut {
        /// The agent that took too long.
        agent: AgentKey,
    },
    /// An agent crashed or disconnected. In the text, `{agent}` stands for the agent's name.
    Disconnected {
        /// The agent that went offline.
        agent: AgentKey,
    },
    /// A budget is spent.
    Budget,
    /// A person stopped the channel with a word, and this notice acknowledges it. Answer with a reaction to the
    /// message, or with a reply.
    Stopped {
        /// The person's message.
        message: MessageId,
    },
    /// A person resumed the channel with a word, and this notice acknowledges it. Answer with a reaction to the
    /// message, or with a reply.
    Resumed {
        /// The person's message.
        message: MessageId,
    },
    /// A person resumed the channel as in [`Notice::Resumed`], but there was no conversation to go on with. The agents
    /// wait for a message.
    ResumedIdle {
        /// The person's message.
        message: MessageId,
    },
}

impl Notice {
    /// Returns the default text.
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

/// The default text of [`Effect::Reminder`].
pub const IDLE_REMINDER: &str =
    "Discussion is idle. Please summarize and call discussion-complete.";

/// The place of an idle reminder.
///
/// ```
/// use dirigent_core::ReminderPlace;
/// assert_ne!(ReminderPlace::Discussion, ReminderPlace::Callback);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a discussion knows no third place")]
pub enum ReminderPlace {
    /// The discussion's own channel.
    Discussion,
    /// The channel where the discussion was opened.
    Callback,
}
