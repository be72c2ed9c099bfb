//! How a channel looks from outside, as plain data: what the model and the machine must agree on, and what observers note.

use dirigent_core::view::{Budget, Pause, PendingReply, Seat};
use dirigent_core::{
    AgentKey, Config, MessageId, Mode, PhaseKind, Ticket, Timestamp, TurnId, TurnMachine, TurnState,
};

/// A channel as it looked at one moment. Plain data, so that a test can forge one.
///
/// ```
/// use dirigent_core::{Config, PhaseKind, TurnMachine};
/// use dirigent_verify::model::Model;
/// use dirigent_verify::portrait::Portrait;
///
/// let machine = TurnMachine::new(Config::default().into(), 1);
/// let mut portrait = Portrait::default();
/// portrait.refill(&machine);
/// assert_eq!(portrait.phase, PhaseKind::Disabled);
/// assert_eq!(portrait, Model::new(Config::default().into()).portrait());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Portrait {
    /// What the channel is for.
    pub mode: Mode,
    /// How turns are kept.
    pub turn_state: TurnState,
    /// The phase.
    pub phase: PhaseKind,
    /// Who has the floor.
    pub speaker: Option<AgentKey>,
    /// Who may run once after a reminder.
    pub permit: Option<AgentKey>,
    /// Stopped or on hold.
    pub rest: Option<Pause>,
    /// The newest turn.
    pub turn: TurnId,
    /// The running turn's anchor.
    pub anchor: Option<MessageId>,
    /// The newest message.
    pub newest: Option<MessageId>,
    /// The list in speaking order.
    pub seats: Vec<Seat>,
    /// Turns since a human last spoke.
    pub turns: u32,
    /// Cycles since a human last spoke.
    pub cycles: u32,
    /// When the discussion's time is up.
    pub time_up: Option<Timestamp>,
    /// When something is due next.
    pub deadline: Option<Timestamp>,
    /// Who opened the discussion.
    pub initiator: Option<AgentKey>,
    /// The messages held: the first and the last.
    pub held: Option<(MessageId, MessageId)>,
    /// What an orchestrator is asked about: the first message and the last.
    pub asked: Option<(MessageId, MessageId)>,
    /// Whether a message is kept in mind.
    pub kept_in_mind: bool,
    /// Who is away, ascending, and whether it is offline.
    pub away: Vec<(AgentKey, bool)>,
    /// Who may not write, ascending, and until when.
    pub may_not_write: Vec<(AgentKey, Option<Timestamp>)>,
    /// The agent that is to speak next.
    pub chosen: Option<AgentKey>,
    /// The agents that this cycle is for, ascending; empty: for all.
    pub round: Vec<AgentKey>,
    /// Whether a person is awaited.
    pub awaits_human: bool,
    /// Whether a budget is spent.
    pub budget_spent: bool,
    /// What was used of the budgets.
    pub budget: Budget,
    /// Since when the chat does not answer.
    pub chat_away: Option<Timestamp>,
    /// The reply that waits or is delivered.
    pub reply: Option<PendingReply>,
    /// Who has had its turns for this hour.
    pub capped: Vec<AgentKey>,
    /// What is pending and since when, oldest first.
    pub pending: Vec<(Ticket, Timestamp)>,
    /// How many agents would be allowed if they asked now, where turns are kept.
    pub allowed: usize,
}

impl Default for Portrait {
    fn default() -> Self {
        Self {
            mode: Mode::None,
            turn_state: TurnState::Disabled,
            phase: PhaseKind::Disabled,
            speaker: None,
            permit: None,
            rest: None,
            turn: TurnId::new(0),
            anchor: None,
            newest: None,
            seats: Vec::new(),
            turns: 0,
            cycles: 0,
            time_up: None,
            deadline: None,
            initiator: None,
            held: None,
            asked: None,
            kept_in_mind: false,
            away: Vec::new(),
            may_not_write: Vec::new(),
            chosen: None,
            round: Vec::new(),
            awaits_human: false,
            budget_spent: false,
            budget: Budget::default(),
            chat_away: None,
            reply: None,
            capped: Vec::new(),
            pending: Vec::new(),
            allowed: 0,
        }
    }
}

impl Portrait {
    /// Looks again, reusing the buffers.
    pub fn refill(&mut self, channel: &TurnMachine) {
        let view = channel.view();
        self.mode = view.mode();
        self.turn_state = view.turn_state();
        self.phase = view.phase();
        self.speaker = view.speaker();
        self.permit = view.permit();
        self.rest = view.pause();
        self.turn = view.turn();
        self.anchor = view.anchor();
        self.newest = view.newest();
        self.seats.clear();
        self.seats.extend(view.list());
        self.turns = view.turns_since_human();
        self.cycles = view.cycles_since_human();
        self.time_up = view.time_up();
        self.deadline = channel.next_deadline().map(|deadline| deadline.at);
        self.initiator = view.initiator();
        self.refill_steering(channel);
        let pending = channel.pending().iter();
        self.pending.clear();
        self.pending.extend(pending.filter_map(|it| Some((it.effect.ticket()?, it.since))));
        self.allowed = self.count_allowed(|agent| channel.explain(agent).allows());
    }

    /// Looks at what goes beyond the plain rotation.
    fn refill_steering(&mut self, channel: &TurnMachine) {
        let view = channel.view();
        self.held = view.queued().map(|span| (span.first, span.last));
        self.asked = view.asked().map(|span| (span.first, span.last));
        self.kept_in_mind = view.is_wake_pending();
        self.may_not_write.clear();
        self.may_not_write.extend(view.may_not_write().iter().map(|it| (it.agent, it.until)));
        self.away.clear();
        self.away.extend(view.away().iter().map(|away| (away.agent, away.offline)));
        self.chosen = view.chosen();
        self.round.clear();
        self.round.extend(view.round());
        self.awaits_human = view.awaits_human();
        self.budget_spent = view.is_budget_spent();
        self.budget = view.budget();
        self.chat_away = view.chat_away_since();
        self.reply = view.pending_reply();
        self.capped.clear();
        let listed = self.seats.iter().map(|seat| seat.agent);
        self.capped.extend(listed.filter(|agent| view.is_capped(*agent)));
    }

    /// Whether no agent is active by order: stopped or finished.
    pub const fn is_stopped(&self) -> bool {
        matches!(self.rest, Some(Pause::Stopped | Pause::Finished))
    }

    /// Whether the channel is in one of the phases in which turns are kept.
    pub const fn keeps_turns(&self) -> bool {
        self.is_active() || matches!(self.phase, PhaseKind::Dormant | PhaseKind::Unknown)
    }

    /// Whether a turn, or the reading of the list before one, is under way.
    pub const fn is_active(&self) -> bool {
        is_active(self.phase)
    }

    /// The seat of this agent.
    pub fn seat(&self, agent: AgentKey) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.agent == agent)
    }

    /// Whether agents have talked as long as these rules let them at this moment.
    pub(crate) fn is_at_ceiling(&self, rules: &Config, now: Timestamp) -> bool {
        turns_max(rules, self.mode).is_some_and(|max| self.turns >= max)
            || cycles_max(rules, self.mode).is_some_and(|max| self.cycles >= max)
            || self.time_up.is_some_and(|at| at <= now)
    }

    /// How many of the agents that could hold a permission would be allowed, where turns are kept.
    pub(crate) fn count_allowed(&self, is_allowed: impl Fn(AgentKey) -> bool) -> usize {
        let unlisted = self.permit.filter(|agent| self.seat(*agent).is_none());
        let asked = self.seats.iter().map(|seat| seat.agent).chain(unlisted);
        if self.keeps_turns() { asked.filter(|agent| is_allowed(*agent)).count() } else { 0 }
    }
}

/// How many cycles may begin in a channel of this mode until a person speaks.
pub(crate) fn cycles_max(rules: &Config, mode: Mode) -> Option<u32> {
    if mode == Mode::Discussion {
        rules.ceilings.discussion.cycles
    } else {
        rules.ceilings.chat.cycles
    }
}

/// How many turns may begin in a channel of this mode until a person speaks.
pub(crate) fn turns_max(rules: &Config, mode: Mode) -> Option<u32> {
    if mode == Mode::Discussion {
        rules.ceilings.discussion.turns
    } else {
        rules.ceilings.chat.turns
    }
}

/// Whether a phase is one that must come to an end by itself.
pub(crate) const fn is_active(phase: PhaseKind) -> bool {
    matches!(
        phase,
        PhaseKind::Refreshing
            | PhaseKind::Granted
            | PhaseKind::Running
            | PhaseKind::Delivering
            | PhaseKind::Confirming
            | PhaseKind::Continuing
            | PhaseKind::Waiting
    )
}

/// Whether an agent has the floor in this phase.
pub(crate) const fn has_speaker(phase: PhaseKind) -> bool {
    is_active(phase) && !matches!(phase, PhaseKind::Refreshing)
}
