//! Everything that can happen to a channel, as values.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{AgentKey, Config, MessageId, Mode, RunId, Tail, Ticket, Timestamp};

/// Something that happened. Given to [`TurnMachine::handle`](crate::TurnMachine::handle) with its time.
///
/// Inputs hold ids and digests, never the words of a conversation, so a recording of them is safe
/// to keep. Each may be repeated, late or out of order; the machine sorts that out.
///
/// ```
/// use dirigent_core::{AgentKey, Input, RunId};
///
/// let gate = Input::Gate { agent: Some(AgentKey::new(1)), run: Some(RunId::new(7)), latest: None };
/// assert_eq!(gate.clone(), gate);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The channel was created by a tool, with a mode and its members.
    Create(Creation),
    /// An operator asks for another mode.
    SetMode(Mode),
    /// An agent wants to run: may it? The only input that is answered with a verdict.
    Gate {
        /// Who asks; `None` when the registry does not know it.
        agent: Option<AgentKey>,
        /// The run that would start, where the host has names for runs.
        run: Option<RunId>,
        /// The newest message of the channel, where the host knows it better than the machine.
        latest: Option<MessageId>,
    },
    /// An agent's run ended.
    RunEnded {
        /// Whose run.
        agent: AgentKey,
        /// Which run, where the host has names for runs.
        run: Option<RunId>,
        /// How it ended.
        outcome: Outcome,
    },
    /// The host knows that these messages are the whole reply of this run and have arrived.
    Receipt {
        /// Whose reply.
        agent: AgentKey,
        /// Which run, where the host has names for runs.
        run: Option<RunId>,
        /// All messages of the reply; at least one.
        messages: Vec<MessageId>,
    },
    /// The library holds the agent's whole reply, has stored it, and delivers it from now on. The
    /// turn is then in [`PhaseKind::Delivering`](crate::PhaseKind::Delivering): it has no deadline,
    /// and ends with [`Input::RunEnded`] or [`Input::Undelivered`]. A permitted run is treated alike.
    /// Refused as [`Refusal::StaleRun`](crate::Refusal::StaleRun) when this run does not hold the
    /// floor, or was reported before.
    Replied {
        /// Whose reply.
        agent: AgentKey,
        /// Which run, where the host has names for runs.
        run: Option<RunId>,
        /// To whom the agent hands over, if to anybody. An agent that cannot have a turn then, and a
        /// permitted run's choice, mean nothing.
        next: Option<AgentKey>,
    },
    /// The delivery of a reply was given up: the turn is over. Counts only after
    /// [`Input::Replied`], else it is refused as [`Refusal::StaleRun`](crate::Refusal::StaleRun).
    Undelivered {
        /// Whose reply.
        agent: AgentKey,
        /// Which run, where the host has names for runs.
        run: Option<RunId>,
        /// Whether a part of the reply stands in the channel. Then the agent counts as having
        /// spoken, else as skipped; it never counts as having had nothing to say.
        posted: bool,
    },
    /// The chat stopped answering requests, or answers again. While it is away the start deadline,
    /// the wait for a reply and for a member list, and the end of a turn stand still, and a dormant
    /// channel is not woken. Repeating it changes nothing.
    Chat {
        /// Whether the chat does not answer.
        away: bool,
    },
    /// The trigger of the present turn may not have reached its agent: the agent is triggered once
    /// more, and has all its time to start. It changes nothing where no agent is awaited, on hold, and
    /// while the chat is away.
    TriggerAgain,
    /// A message was seen in the channel: pushed, polled, or read later from the history.
    Message(Message),
    /// A human's message that mentions these agents, by their accounts and in its own words. With
    /// [`MentionRule::Ignored`](crate::config::MentionRule::Ignored) it is as [`Input::Message`].
    Addressed {
        /// The message.
        message: Message,
        /// The registered agents that it mentions; at most [`AGENTS_MAX`](crate::config::AGENTS_MAX).
        agents: Vec<AgentKey>,
    },
    /// A message was edited; `tail` digests its new content.
    MessageEdited {
        /// The edited message.
        id: MessageId,
        /// Its author.
        author: Author,
        /// The end of its new content.
        tail: Tail,
    },
    /// The members of the channel: the answer to [`Effect::FetchMembers`](crate::Effect).
    Members {
        /// The effect that is answered.
        ticket: Ticket,
        /// The registered agents present, in ascending order of their Discord ids; at most
        /// [`AGENTS_MAX`](crate::config::AGENTS_MAX).
        agents: Vec<AgentKey>,
    },
    /// A registered agent came into the channel.
    MemberJoined(AgentKey),
    /// An agent left the channel, or lost its identity.
    MemberLeft(AgentKey),
    /// What became of a pending effect.
    Settled {
        /// The effect.
        ticket: Ticket,
        /// What became of it.
        settlement: Settlement,
    },
    /// Wakes the channel without a message.
    Wake {
        /// Who speaks first, if listed; else the first of the list.
        first: Option<AgentKey>,
        /// What wakes the channel; transitions report it.
        cause: WakeCause,
    },
    /// The initiator concludes its discussion: archives it.
    Conclude {
        /// Who asks.
        by: AgentKey,
    },
    /// An operator archives the channel.
    Archive,
    /// Denies everybody at once, until resumed.
    Stop,
    /// A person edited this message into a stop word: as [`Input::Stop`], and acknowledged as a stop word is.
    EditedToStop(MessageId),
    /// A message was deleted. It matters only with
    /// [`PeopleRules::withdraw_deleted`](crate::config::PeopleRules::withdraw_deleted), and only to a question that no
    /// turn has taken, and of which the agent that has the floor was not told.
    Deleted(MessageId),
    /// The host removed a message of this agent's from the channel, because it said only that the agent has nothing to say. It
    /// changes nothing; a transition tells of it.
    Removed(AgentKey),
    /// Pauses the channel and keeps its order, until resumed.
    Hold,
    /// Ends a stop or a hold.
    Resume,
    /// The agent has no turns until unmuted.
    Mute(AgentKey),
    /// The agent has turns again.
    Unmute(AgentKey),
    /// The chat surely refuses what the agent writes in this channel: it keeps its place, and has no turns until it may write.
    /// Told again, it changes only the end.
    MayNotWrite {
        /// Who may not write.
        agent: AgentKey,
        /// When it may write again by itself, where that is known, as of a time-out.
        until: Option<Timestamp>,
    },
    /// The agent may write in this channel again, or nothing is known to the contrary.
    MayWrite(AgentKey),
    /// An operator chooses who speaks next; counts as a human's word.
    SpeakNext(AgentKey),
    /// The work is done: no agent is active until the channel is resumed.
    Finish,
    /// The agent crashed or disconnected.
    Offline(AgentKey),
    /// The agent is back; it has turns again when it is assigned.
    Online(AgentKey),
    /// An agent that came back has turns again.
    Assign(AgentKey),
    /// The host reports what agents cost, in any unit that it likes.
    Spent {
        /// How much more, in the unit of [`BudgetRules::cost`](crate::config::BudgetRules::cost).
        cost: u64,
    },
    /// An operator lets the budgets begin anew.
    ResetBudget,
    /// The host was restarted: whatever ran is gone.
    RunsLost {
        /// Whether the agent that ran is asked once more, or its turn is over.
        rerun: bool,
    },
    /// The rules changed.
    Reconfigure(Arc<Config>),
    /// Time passed; what is due expires.
    Tick,
}

/// A channel's beginning, as a tool makes it.
///
/// ```
/// use dirigent_core::{AgentKey, Creation, Mode};
///
/// let creation = Creation {
///     mode: Mode::Discussion,
///     members: vec![AgentKey::new(1), AgentKey::new(2)],
///     initiator: Some(AgentKey::new(1)),
/// };
/// assert!(creation.mode.is_locked());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that callers build")]
pub struct Creation {
    /// The mode it is created with.
    pub mode: Mode,
    /// The registered agents in it, in the order of their first turns; empty when not
    /// known yet. At most [`AGENTS_MAX`](crate::config::AGENTS_MAX).
    pub members: Vec<AgentKey>,
    /// Who opened it and may conclude it: exactly for [`Mode::Discussion`].
    pub initiator: Option<AgentKey>,
}

/// How a run ended.
///
/// ```
/// use dirigent_core::text::SilencePolicy;
/// use dirigent_core::Outcome;
/// assert_eq!(SilencePolicy::Strict.outcome(" NO_REPLY "), Outcome::Pass);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The agent has nothing to say.
    Pass,
    /// The agent said something that is on its way into the channel.
    Spoke {
        /// The end of the text that is delivered.
        tail: Tail,
    },
    /// The agent said something, and by the host's completion policy it has not finished: it keeps
    /// the floor.
    Unfinished {
        /// The end of the text that is delivered.
        tail: Tail,
    },
    /// The agent said something, and asks for a person to answer before any agent does.
    AwaitsHuman {
        /// The end of the text that is delivered.
        tail: Tail,
    },
    /// The agent said what was said before, as the host recognises it; counts as an empty turn. What of it is posted all the
    /// same is a late piece of this turn.
    Repeated,
    /// The run broke off without a text; counts as an empty turn.
    Failed,
}

/// A message as far as the turn rules care.
///
/// ```
/// use dirigent_core::{Author, Message, MessageId, MessageKind, Tail};
///
/// let hello = Message {
///     id: MessageId::new(1),
///     author: Author::Human,
///     kind: MessageKind::Conversation,
///     tail: Tail::of("hello"),
///     backfilled: false,
/// };
/// assert_eq!(hello.author, Author::Human);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that callers build")]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Who wrote it.
    pub author: Author,
    /// What kind of message it is.
    pub kind: MessageKind,
    /// The end of its text.
    pub tail: Tail,
    /// Whether it was read late from the history and not pushed. A message that is pushed counts as
    /// seen before when a newer one was forgotten; a backfilled one only when its own id is among
    /// the 256 that are remembered. The host must not give the same backfilled message again after
    /// the channel forgot its ids ([`MemberRules::forget_after`](crate::config::MemberRules::forget_after)): the channel could not tell.
    pub backfilled: bool,
}

/// Who wrote a message.
///
/// ```
/// use dirigent_core::{AgentKey, Author};
/// assert_ne!(Author::Human, Author::Agent(AgentKey::new(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Author {
    /// A person.
    Human,
    /// A registered agent, by its account and never by its name.
    Agent(AgentKey),
    /// A bot or webhook that is no registered agent.
    Bot,
    /// The library's own account.
    Moderator,
}

/// What kind of message it is.
///
/// ```
/// use dirigent_core::MessageKind;
/// assert_ne!(MessageKind::Conversation, MessageKind::System);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageKind {
    /// Something said to the channel: Discord's default and reply types with content.
    Conversation,
    /// Joins, pins, boosts, threads, command answers, empty system content: never part of the
    /// conversation, with any author.
    System,
    /// The whole message is a configured stop word. From a human it stops the channel; from
    /// anybody else it is conversation.
    StopWord,
    /// The whole message is a configured resume word. From a human it resumes the channel; from
    /// anybody else, or when nothing is paused, it is conversation.
    ResumeWord,
    /// Said by an agent that never asks before it runs, so that only what it writes shows that it ran. Within its turn it is a
    /// part of its reply. Outside of it, it counts towards the ceilings and moves no turn, and a transition tells of it
    /// ([`Cause::Unpermitted`](crate::Cause::Unpermitted)). From anybody but an agent it is conversation.
    Unasked,
    /// The same, read late, and surely written outside of all turns of its author. It counts, and a transition tells of it, even
    /// while its author has the floor. From anybody but an agent it is conversation.
    OutOfTurn,
}

/// What became of a pending effect.
///
/// ```
/// use dirigent_core::{MessageId, Settlement};
/// let posted = Settlement::Done { message: Some(MessageId::new(5)) };
/// assert_ne!(posted, Settlement::Doubtful);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settlement {
    /// It was carried out.
    Done {
        /// The message it posted, where it posted one.
        message: Option<MessageId>,
    },
    /// It certainly was not carried out, and will not be tried again.
    Failed {
        /// When it may be worth asking again, where the other side said so.
        retry_at: Option<Timestamp>,
    },
    /// It may have been carried out or not, and no reconciliation could tell.
    Doubtful,
    /// It was overtaken by events and not attempted.
    Dropped,
}

/// Why a channel is woken without a message.
///
/// ```
/// use dirigent_core::WakeCause;
/// assert_ne!(WakeCause::Operator, WakeCause::Guide);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WakeCause {
    /// A person asked for it; counts as a human's word and resets the ceilings.
    Operator,
    /// A discussion's guide was posted.
    Guide,
    /// A discussion's result arrived in its callback channel.
    Result,
    /// No turn took what a person said, and the channel became dormant: the host wakes it by itself. That is
    /// no human's word, so the ceilings stay. Transitions report it as [`Cause::HumanMessage`](crate::Cause::HumanMessage).
    Unheard,
}
