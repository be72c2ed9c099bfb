//! A read-only view of a channel, and of each agent's place in it.

use crate::machine::deadlines::goes_on_at;
use crate::machine::gate::silence;
pub use crate::state::{Away, Budget, MayNotWrite, Pause, SeatTurn, Span};
use crate::state::{InitiatorPermit, Phase, State, TurnRun};
use crate::turn_machine::TurnMachine;
use crate::{
    AgentKey, Deadline, MessageId, Mode, PhaseKind, Reason, RunId, Timestamp, TurnId, TurnState,
};

/// Shows a channel as it is now: phase, speaker, list and counters. It only borrows the machine, so you can make one as
/// often as you like.
///
/// ```
/// use dirigent_core::{TurnMachine, Config, PhaseKind};
///
/// let channel = TurnMachine::new(Config::default().into(), 1);
/// assert_eq!(channel.view().phase(), PhaseKind::Disabled);
/// assert_eq!(channel.view().speaker(), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    channel: &'a TurnMachine,
}

impl<'a> View<'a> {
    pub(crate) const fn new(channel: &'a TurnMachine) -> Self {
        Self { channel }
    }

    const fn state(self) -> &'a State {
        &self.channel.snapshot.state
    }

    /// Returns the channel's mode.
    pub const fn mode(&self) -> Mode {
        self.state().standing.mode
    }

    /// Returns the state of turn keeping.
    pub fn turn_state(&self) -> TurnState {
        let state = self.state();
        state.standing.turn_state(state.roster.list.len(), &state.floor.phase)
    }

    /// Returns the phase.
    pub fn phase(&self) -> PhaseKind {
        self.state().floor.phase.kind()
    }

    /// Returns the agent that has the floor.
    pub fn speaker(&self) -> Option<AgentKey> {
        self.state().floor.speaker()
    }

    /// Returns the reason that keeps every agent silent, or the reason why agents need no floor. It returns `None`
    /// while an agent has the floor and may use it, or may run to conclude an idle discussion.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config, Reason};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().silence(), Some(Reason::Unmanaged));
    /// ```
    pub fn silence(&self) -> Option<Reason> {
        silence(&self.channel.look())
    }

    /// Returns the agent that may run once to conclude an idle discussion.
    pub fn permit(&self) -> Option<AgentKey> {
        self.state().reminders.permit().map(|permit| permit.agent)
    }

    /// Returns the run of the speaker, or else the permitted run. It returns `None` if no agent runs, or if the host
    /// gave the run no name.
    pub fn run(&self) -> Option<RunId> {
        match self.state().floor.turn_run() {
            Some(run) => run.id,
            None => self.state().reminders.permit().and_then(|permit| permit.run_id()),
        }
    }

    /// Returns the run of the speaker if it has ended and its turn goes on. That is so while its reply is still on its
    /// way into the channel, or while the turn waits for an answer to a person.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().ended_run(), None);
    /// ```
    pub fn ended_run(&self) -> Option<RunId> {
        let floor = &self.state().floor;
        let is_kept = floor.waiting.as_ref().is_some_and(|waiting| waiting.end.is_some());
        let is_over = is_kept || matches!(floor.phase, Phase::Confirming { .. });
        floor.turn_run().filter(|_| is_over)?.id
    }

    /// Returns the pause of the channel: on hold, stopped or finished.
    pub const fn pause(&self) -> Option<Pause> {
        self.state().standing.pause
    }

    /// Returns the number of the newest turn.
    pub const fn turn(&self) -> TurnId {
        self.state().floor.turn
    }

    /// Returns the anchor of the turn under way. Only later messages belong to its reply.
    pub fn anchor(&self) -> Option<MessageId> {
        self.state().floor.turn_run().and_then(|run| run.anchor)
    }

    /// Returns the newest message that the channel has seen.
    pub fn newest(&self) -> Option<MessageId> {
        self.state().seen.newest
    }

    /// Returns the list in speaking order.
    pub fn list(&self) -> impl ExactSizeIterator<Item = Seat> + use<'a> {
        let (roster, look) = (&self.channel.snapshot.state.roster, self.channel.look());
        roster.list.slots().iter().map(move |slot| Seat {
            agent: slot.agent,
            turn: slot.turn,
            left: slot.left,
            muted: roster.is_muted(slot.agent),
            may_not_write: !roster.may_write(slot.agent),
            away: roster.away(slot.agent).is_some(),
            nothing_new: look.has_nothing_new(slot),
        })
    }

    /// Returns the number of turns since a human last spoke.
    pub const fn turns_since_human(&self) -> u32 {
        self.state().quota.limits.turns
    }

    /// Returns the number of cycles since a human last spoke.
    pub const fn cycles_since_human(&self) -> u32 {
        self.state().quota.limits.cycles
    }

    /// Returns true if agents must wait for a human, because they have reached a ceiling. It is one of turns or cycles,
    /// or in a discussion one of time.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(!channel.view().is_at_ceiling());
    /// ```
    pub fn is_at_ceiling(&self) -> bool {
        self.channel.look().ceiling_reached()
    }

    /// Returns when the discussion's time is up, if it has a limit.
    pub fn time_up(&self) -> Option<Timestamp> {
        self.state().quota.limits.time_up(&self.channel.config, self.mode())
    }

    /// Returns when the turn under way is taken away, or its agent triggered once more, unless something happens
    /// before. It returns `None` while the turn waits.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().turn_ends_at(), None);
    /// ```
    pub fn turn_ends_at(&self) -> Option<Timestamp> {
        self.channel.look().turn_ends_at()
    }

    /// Returns since when the chat has not answered, or `None` if it answers.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config, Input, Timestamp};
    /// let mut channel = TurnMachine::new(Config::default().into(), 1);
    /// let noon = Timestamp::from_millis(1);
    /// channel.handle(noon, &Input::Chat { away: true }, &mut Vec::new())?;
    /// assert_eq!(channel.view().chat_away_since(), Some(noon));
    /// # Ok::<(), dirigent_core::Refusal>(())
    /// ```
    pub fn chat_away_since(&self) -> Option<Timestamp> {
        self.state().standing.outage.as_ref().map(|outage| outage.since)
    }

    /// Returns the reply that the library has and delivers, of the turn or of the permitted run.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().pending_reply(), None);
    /// ```
    pub fn pending_reply(&self) -> Option<PendingReply> {
        let State { floor, reminders, .. } = self.state();
        if let Some(run) = floor.turn_run().filter(|_| floor.has_replied()) {
            let waits = !matches!(floor.phase, Phase::Delivering { .. });
            let TurnRun { agent, id: run, .. } = run;
            return Some(PendingReply { agent, run, turn: Some(floor.turn), waits });
        }
        let permit = reminders.permit().filter(InitiatorPermit::is_delivering)?;
        Some(PendingReply { agent: permit.agent, run: permit.run_id(), turn: None, waits: false })
    }

    /// Returns when the channel goes on by itself at the latest. By then the turn under way is taken away or counts as
    /// ended, its agent is triggered once more, or a turn is granted. It returns `None` if the channel waits for
    /// something from outside, for example a person's word, an order, or an answer of the chat.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().goes_on_at(), None);
    /// ```
    pub fn goes_on_at(&self) -> Option<Timestamp> {
        goes_on_at(&self.channel.look())
    }

    /// Returns when something is due next, and why.
    pub fn deadline(&self) -> Option<Deadline> {
        self.channel.next_deadline()
    }

    /// Returns true if this is a discussion that its initiator concluded.
    pub fn is_concluded(&self) -> bool {
        self.state().standing.archived.as_ref().is_some_and(|archived| archived.concluded)
    }

    /// Returns the messages of people that the next grant hands over.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().queued(), None);
    /// ```
    pub fn queued(&self) -> Option<Span> {
        self.state().words.queued()
    }

    /// Returns the messages that an orchestrator was asked about while a turn waits.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().asked(), None);
    /// ```
    pub fn asked(&self) -> Option<Span> {
        self.state().floor.waiting.as_ref().map(|waiting| waiting.asked)
    }

    /// Returns true if a message waits that will wake the channel when an agent can be granted.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(!channel.view().is_wake_pending());
    /// ```
    pub const fn is_wake_pending(&self) -> bool {
        self.state().words.wake_pending
    }

    /// Returns true if the channel woke for a word, or handed one over, and no turn has replied or passed since.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(!channel.view().is_wake_unserved());
    /// ```
    pub const fn is_wake_unserved(&self) -> bool {
        self.state().words.wake_unserved
    }

    /// Returns the agents that are away, by ascending key, listed or not.
    ///
    /// ```
    /// use dirigent_core::{AgentKey, TurnMachine, Config, Input, Timestamp};
    /// let mut channel = TurnMachine::new(Config::default().into(), 1);
    /// let crashed = Input::Offline(AgentKey::new(1));
    /// channel.handle(Timestamp::from_millis(1), &crashed, &mut Vec::new())?;
    /// assert!(channel.view().away().iter().all(|away| away.offline));
    /// # Ok::<(), dirigent_core::Refusal>(())
    /// ```
    pub fn away(&self) -> &'a [Away] {
        self.channel.snapshot.state.roster.all_away()
    }

    /// Returns the agents that may not write here, by ascending key, listed or not.
    ///
    /// ```
    /// use dirigent_core::{AgentKey, TurnMachine, Config, Input, Timestamp};
    /// let mut channel = TurnMachine::new(Config::default().into(), 1);
    /// let refused = Input::MayNotWrite { agent: AgentKey::new(1), until: None };
    /// channel.handle(Timestamp::from_millis(1), &refused, &mut Vec::new())?;
    /// assert_eq!(channel.view().may_not_write().len(), 1);
    /// # Ok::<(), dirigent_core::Refusal>(())
    /// ```
    pub fn may_not_write(&self) -> &'a [MayNotWrite] {
        self.channel.snapshot.state.roster.may_not_write()
    }

    /// Returns the agent that an operator wants to speak next.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.view().chosen(), None);
    /// ```
    pub fn chosen(&self) -> Option<AgentKey> {
        self.state().cycle.chosen()
    }

    /// Returns the agents that this cycle is for, by ascending key. If the slice is empty, the cycle is for all agents.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(channel.view().round().is_empty());
    /// ```
    pub fn round(&self) -> &'a [AgentKey] {
        self.channel.snapshot.state.cycle.plans.get().map_or(&[], |plans| &plans.round)
    }

    /// Returns true if an agent asked for a person, who has not written yet.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(!channel.view().awaits_human());
    /// ```
    pub fn awaits_human(&self) -> bool {
        self.state().words.awaits_human
    }

    /// Returns the used part of the budgets.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config, Input, Timestamp};
    /// let mut channel = TurnMachine::new(Config::default().into(), 1);
    /// let spent = Input::Spent { cost: 7 };
    /// channel.handle(Timestamp::from_millis(1), &spent, &mut Vec::new())?;
    /// assert_eq!(channel.view().budget().cost, 7);
    /// # Ok::<(), dirigent_core::Refusal>(())
    /// ```
    pub fn budget(&self) -> Budget {
        self.state().quota.budget.value()
    }

    /// Returns true if a budget is spent.
    ///
    /// ```
    /// use dirigent_core::{TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(!channel.view().is_budget_spent());
    /// ```
    pub fn is_budget_spent(&self) -> bool {
        self.channel.look().budget_spent()
    }

    /// Returns true if the agent has had its turns for this hour.
    ///
    /// ```
    /// use dirigent_core::{AgentKey, TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert!(!channel.view().is_capped(AgentKey::new(1)));
    /// ```
    pub fn is_capped(&self, agent: AgentKey) -> bool {
        self.channel.look().is_capped(agent)
    }

    /// Returns the agent that opened the discussion.
    pub const fn initiator(&self) -> Option<AgentKey> {
        self.state().standing.initiator
    }
}

/// A reply that the library has and delivers. [`Input::Replied`](crate::Input::Replied) was given for it, and its run
/// has not ended.
///
/// ```
/// use dirigent_core::view::PendingReply;
/// use dirigent_core::AgentKey;
/// let reply = PendingReply { agent: AgentKey::new(1), run: None, turn: None, waits: false };
/// assert!(!reply.waits);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests compare")]
pub struct PendingReply {
    /// The agent that replied.
    pub agent: AgentKey,
    /// The run that made the reply, if the host named it.
    pub run: Option<RunId>,
    /// The turn of the reply, or `None` for the run that an idle reminder permitted.
    pub turn: Option<TurnId>,
    /// True if the turn waits for an answer to a person. The reply is delivered when the turn goes on.
    pub waits: bool,
}

/// One place in the speaker list.
///
/// ```
/// use dirigent_core::view::{Seat, SeatTurn};
/// use dirigent_core::AgentKey;
///
/// let (agent, turn) = (AgentKey::new(1), SeatTurn::Ahead);
/// let [left, muted, may_not_write, away, nothing_new] = [false; 5];
/// let seat = Seat { agent, turn, left, muted, may_not_write, away, nothing_new };
/// assert!(seat.is_available());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests compare")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Seat {
    /// The agent in this place.
    pub agent: AgentKey,
    /// The state of its turn in this cycle.
    pub turn: SeatTurn,
    /// True if the agent has left the channel. The next list does not contain it.
    pub left: bool,
    /// True if the agent is muted.
    pub muted: bool,
    /// True if the chat surely refuses the agent's messages here ([`Input::MayNotWrite`](crate::Input::MayNotWrite)).
    pub may_not_write: bool,
    /// True if the agent is offline, or came back and was not assigned.
    pub away: bool,
    /// True if another agent has the floor and this one spoke last, so that it is not asked until something is said
    /// ([`OrderRules::skip_last_speaker`](crate::config::OrderRules::skip_last_speaker)).
    pub nothing_new: bool,
}

impl Seat {
    /// Returns true if the agent can be given the floor.
    pub const fn is_available(&self) -> bool {
        !self.left && !self.muted && !self.may_not_write && !self.away
    }
}

/// The state of an agent in a channel.
///
/// ```
/// use dirigent_core::view::AgentState;
/// assert_eq!(AgentState::Queued.as_str(), "queued");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the seed names exactly these five")]
pub enum AgentState {
    /// It has no turns here.
    Idle,
    /// It is in the speaker list and waits for its turn.
    Queued,
    /// It has the floor.
    Active,
    /// Its turn waits until a human has been answered.
    Waiting,
    /// It crashed or disconnected.
    Offline,
}

impl AgentState {
    /// Returns the name in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Queued => "queued",
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Offline => "offline",
        }
    }
}
