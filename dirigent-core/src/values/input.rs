//! Everything that can happen to a channel, as values.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{AgentKey, Config, MessageId, Mode, RunId, Tail, Ticket, Timestamp};

/// Something that happened. Pass it to [`TurnMachine::handle`](crate::TurnMachine::handle) with its time.
///
/// Inputs contain ids and digests, never the words of a conversation, so you can safely store a recording of them. An
/// input may come twice, late or out of order, because the machine sorts that out.
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
    /// A tool created the channel, with a mode and its members.
    Create(Creation),
    /// An operator asks for another mode.
    SetMode(Mode),
    /// An agent asks whether it may run. This is the only input that is answered with a verdict.
    Gate {
        /// The agent that asks, or `None` if the registry does not know it.
        agent: Option<AgentKey>,
        /// The run that would start, if your host has names for runs.
        run: Option<RunId>,
        /// The newest message of the channel, if your host may know a newer one than the machine.
        latest: Option<MessageId>,
    },
    /// An agent's run ended.
    RunEnded {
        /// The agent that ran.
        agent: AgentKey,
        /// The run, if your host has names for runs.
        run: Option<RunId>,
        /// The result of the run.
        outcome: Outcome,
    },
    /// These messages are the whole reply of this run, and they have arrived. Only report it if you know that.
    Receipt {
        /// The agent that replied.
        agent: AgentKey,
        /// The run, if your host has names for runs.
        run: Option<RunId>,
        /// All messages of the reply; at least one.
        messages: Vec<MessageId>,
    },
    /// The library has the agent's whole reply, has stored it, and delivers it from now on. The turn is then in
    /// [`PhaseKind::Delivering`](crate::PhaseKind::Delivering). It has no deadline there, and ends with
    /// [`Input::RunEnded`] or [`Input::Undelivered`]. The same holds for a permitted run.
    ///
    /// It is refused as [`Refusal::StaleRun`](crate::Refusal::StaleRun) if this run does not have the floor, or if its
    /// reply was reported before.
    Replied {
        /// The agent that replied.
        agent: AgentKey,
        /// The run, if your host has names for runs.
        run: Option<RunId>,
        /// The agent that this one names as the next speaker, if it names one. The choice is ignored if that agent
        /// cannot have a turn then, or if it comes from a permitted run.
        next: Option<AgentKey>,
    },
    /// The delivery of a reply was given up, so the turn is over. It counts only after [`Input::Replied`]. Otherwise it
    /// is refused as [`Refusal::StaleRun`](crate::Refusal::StaleRun).
    Undelivered {
        /// The agent that replied.
        agent: AgentKey,
        /// The run, if your host has names for runs.
        run: Option<RunId>,
        /// True if a part of the reply stands in the channel. Then the agent counts as having spoken, and otherwise as
        /// skipped. It never counts as having passed.
        posted: bool,
    },
    /// The chat stopped answering requests, or answers again. While it is away, waits that depend on it stand still:
    /// the start deadline, the wait for a reply or a member list, and the end of a turn. A dormant channel does not
    /// wake meanwhile. Repeating this input does no harm.
    Chat {
        /// True if the chat does not answer.
        away: bool,
    },
    /// The trigger of the present turn may not have reached its agent. The agent is triggered once more, and has all
    /// its time to start. The input is ignored if no agent is being waited for, on hold, and while the chat is away.
    TriggerAgain,
    /// A message was seen in the channel: pushed, polled, or read later from the history.
    Message(Message),
    /// A human's message that mentions these agents, by their accounts and in its own words. With
    /// [`MentionRule::Ignored`](crate::config::MentionRule::Ignored) it is treated as [`Input::Message`].
    Addressed {
        /// The message.
        message: Message,
        /// The registered agents that it mentions; at most [`AGENTS_MAX`](crate::config::AGENTS_MAX).
        agents: Vec<AgentKey>,
    },
    /// A message was edited. `tail` digests its new content.
    MessageEdited {
        /// The edited message.
        id: MessageId,
        /// The author of the message.
        author: Author,
        /// The end of its new content.
        tail: Tail,
    },
    /// The members of the channel, as the answer to [`Effect::FetchMembers`](crate::Effect).
    Members {
        /// The ticket of the effect that this answers.
        ticket: Ticket,
        /// The registered agents that are present, in ascending order of their Discord ids; at most
        /// [`AGENTS_MAX`](crate::config::AGENTS_MAX).
        agents: Vec<AgentKey>,
    },
    /// A registered agent came into the channel.
    MemberJoined(AgentKey),
    /// An agent left the channel, or lost its identity.
    MemberLeft(AgentKey),
    /// A pending effect was carried out, or was not.
    Settled {
        /// The ticket of the effect.
        ticket: Ticket,
        /// The result: done, failed, doubtful or dropped.
        settlement: Settlement,
    },
    /// Wakes the channel without a message.
    Wake {
        /// The agent that speaks first, if it is listed. Otherwise the first of the list does.
        first: Option<AgentKey>,
        /// The cause of the wake, which transitions report.
        cause: WakeCause,
    },
    /// The initiator concludes its discussion, which archives it.
    Conclude {
        /// The agent that asks for it.
        by: AgentKey,
    },
    /// An operator archives the channel.
    Archive,
    /// Stops the channel: every agent is denied at once, until a resume.
    Stop,
    /// A person edited this message into a stop word. It is treated as [`Input::Stop`], and acknowledged like a stop
    /// word.
    EditedToStop(MessageId),
    /// A message was deleted. This matters only with
    /// [`PeopleRules::withdraw_deleted`](crate::config::PeopleRules::withdraw_deleted), and only for a question that no
    /// turn has taken and that has not reached the agent with the floor.
    Deleted(MessageId),
    /// The host removed a message of this agent from the channel, because it said only that the agent has nothing to
    /// say. The state stays as it is; only a transition reports it.
    Removed(AgentKey),
    /// Pauses the channel and keeps its order, until a resume.
    Hold,
    /// Ends a stop, a finish or a hold.
    Resume,
    /// Mutes the agent, which has no turns until it is unmuted.
    Mute(AgentKey),
    /// Unmutes the agent, which has turns again.
    Unmute(AgentKey),
    /// The chat surely refuses the messages of this agent in this channel. The agent keeps its place, but has no turns
    /// until it may write. If you repeat the input, only its end changes.
    MayNotWrite {
        /// The agent that may not write.
        agent: AgentKey,
        /// The moment at which it may write again by itself, if that is known, for example the end of a time-out.
        until: Option<Timestamp>,
    },
    /// The agent may write in this channel again, or you know of no reason why it should not.
    MayWrite(AgentKey),
    /// An operator chooses the agent that speaks next. This counts as a human's word.
    SpeakNext(AgentKey),
    /// The work is done, and no agent is active until the channel is resumed.
    Finish,
    /// The agent crashed or disconnected.
    Offline(AgentKey),
    /// The agent is back. It has turns again when it is assigned.
    Online(AgentKey),
    /// Assigns an agent that came back, which has turns again.
    Assign(AgentKey),
    /// The host reports what agents cost, in any unit that you like.
    Spent {
        /// The cost to add, in the unit of [`BudgetRules::cost`](crate::config::BudgetRules::cost).
        cost: u64,
    },
    /// An operator resets the budgets, which begin anew.
    ResetBudget,
    /// The host was restarted, so all runs are gone.
    RunsLost {
        /// True if the agent that ran should be asked once more. Otherwise its turn is over.
        rerun: bool,
    },
    /// The rules of the channel changed.
    Reconfigure(Arc<Config>),
    /// Time passed, and deadlines that are due fire.
    Tick,
}

/// The beginning of a channel that a tool creates.
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
    /// The mode of the new channel.
    pub mode: Mode,
    /// The registered agents in it, in the order of their first turns. Leave it empty if you do not know them yet. At
    /// most [`AGENTS_MAX`](crate::config::AGENTS_MAX).
    pub members: Vec<AgentKey>,
    /// The agent that opened it and may conclude it. Set it exactly for [`Mode::Discussion`].
    pub initiator: Option<AgentKey>,
}

/// The result of a run, as the host reports it.
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
    /// The agent said something, but has not finished by your completion policy, so it keeps the floor.
    Unfinished {
        /// The end of the text that is delivered.
        tail: Tail,
    },
    /// The agent said something, and asks for a person to answer before any agent does.
    AwaitsHuman {
        /// The end of the text that is delivered.
        tail: Tail,
    },
    /// The agent repeated what was said before, as far as your host can recognise it. This counts as an empty turn. If
    /// a part of it is posted nevertheless, it is a late piece of this turn.
    Repeated,
    /// The run broke off without a text. This counts as an empty turn.
    Failed,
}

/// A message, reduced to the facts that the turn rules need.
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
    /// The id of the message.
    pub id: MessageId,
    /// The author of the message.
    pub author: Author,
    /// The kind of the message.
    pub kind: MessageKind,
    /// The end of its text.
    pub tail: Tail,
    /// True if the message was read late from the history, and was not pushed. A pushed message counts as seen before
    /// if a newer one was forgotten. A backfilled one does so only if its own id is among the 256 that are remembered.
    /// Do not pass the same backfilled message again after the channel forgot its ids
    /// ([`MemberRules::forget_after`](crate::config::MemberRules::forget_after)), because the channel could not
    /// recognise it.
    pub backfilled: bool,
}

/// The author of a message.
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
    /// A registered agent, identified by its account and never by its name.
    Agent(AgentKey),
    /// A bot or webhook that is not a registered agent.
    Bot,
    /// The library's own account.
    Moderator,
}

/// The kind of a message.
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
    /// A message that is never part of the conversation, from any author. Examples are joins, pins, boosts, threads,
    /// command answers, and empty system content.
    System,
    /// The whole message is a configured stop word. From a human it stops the channel. From any other author it is
    /// conversation.
    StopWord,
    /// The whole message is a configured resume word. From a human it resumes the channel. From any other author, or if
    /// the channel is not paused, it is conversation.
    ResumeWord,
    /// An agent that never asks before it runs said this, so that only its messages show that it ran. Within its turn
    /// the message is a part of its reply. Outside of it, the message counts towards the ceilings and moves no turn,
    /// and a transition reports it ([`Cause::Unpermitted`](crate::Cause::Unpermitted)). From an author that is no agent
    /// it is conversation.
    Unasked,
    /// A message as in [`MessageKind::Unasked`], but read late, and surely written outside of all turns of its author.
    /// It counts, and a transition reports it, even while its author has the floor. From an author that is no agent it
    /// is conversation.
    OutOfTurn,
}

/// The result of a pending effect, as the host reports it.
///
/// ```
/// use dirigent_core::{MessageId, Settlement};
/// let posted = Settlement::Done { message: Some(MessageId::new(5)) };
/// assert_ne!(posted, Settlement::Doubtful);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settlement {
    /// You carried it out.
    Done {
        /// The message that you posted for it, if you posted one.
        message: Option<MessageId>,
    },
    /// You certainly did not carry it out, and will not try again.
    Failed {
        /// The moment when it may be worth asking again, if the other side named one.
        retry_at: Option<Timestamp>,
    },
    /// You may have carried it out or not, and could not find out.
    Doubtful,
    /// You did not attempt it, because later events made it pointless.
    Dropped,
}

/// The cause of a wake that needs no message.
///
/// ```
/// use dirigent_core::WakeCause;
/// assert_ne!(WakeCause::Operator, WakeCause::Guide);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WakeCause {
    /// A person asked for it. This counts as a human's word, and resets the ceilings.
    Operator,
    /// A discussion's guide was posted.
    Guide,
    /// A discussion's result arrived in its callback channel.
    Result,
    /// No turn took what a person said, and the channel became dormant, so the host wakes it by itself. This is not a
    /// human's word, so the ceilings stay. Transitions report it as
    /// [`Cause::HumanMessage`](crate::Cause::HumanMessage).
    Unheard,
}
