//! What an observer notes of a channel: everything a view shows, as plain data.

use dirigent_core::view::{Budget, Pause, PendingReply, Seat};
use dirigent_core::{
    AgentKey, Config, Deadline, MessageId, Mode, PhaseKind, Timestamp, TurnId, TurnMachine,
    TurnState,
};

/// A channel as it looked at one moment. Plain data, so that a test can forge one.
///
/// ```
/// use dirigent_core::{TurnMachine, Config, PhaseKind};
/// use dirigent_verify::invariants::ViewSnapshot;
///
/// let channel = TurnMachine::new(Config::default().into(), 1);
/// let mut glance = ViewSnapshot::default();
/// glance.refill(&channel);
/// assert_eq!(glance.phase, PhaseKind::Disabled);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ViewSnapshot {
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
    pub deadline: Option<Deadline>,
    /// Who opened the discussion.
    pub initiator: Option<AgentKey>,
    /// The messages held: the first and the last.
    pub held: Option<(MessageId, MessageId)>,
    /// What an orchestrator is asked about: the first message and the last.
    pub asked: Option<(MessageId, MessageId)>,
    /// Whether a message is kept in mind.
    pub kept_in_mind: bool,
    /// Who is away, and whether it is offline.
    pub away: Vec<(AgentKey, bool)>,
    /// Whom an operator chose.
    pub chosen: Option<AgentKey>,
    /// The agents that this cycle is for; empty: for all.
    pub round: Vec<AgentKey>,
    /// Whether a person is awaited.
    pub awaits_human: bool,
    /// Whether a budget is spent.
    pub budget_spent: bool,
    /// What was used of the budgets.
    pub budget: Budget,
    /// Who has had its turns for this hour.
    pub capped: Vec<AgentKey>,
    /// Whether the chat does not answer.
    pub chat_away: bool,
    /// The reply that is held by the library.
    pub reply: Option<PendingReply>,
    /// How many changes it went through.
    pub revision: u64,
    /// How many effects are pending.
    pub pending: usize,
    /// How many agents would be allowed if they asked now, where turns are kept.
    pub allowed: usize,
}

impl Default for ViewSnapshot {
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
            chosen: None,
            round: Vec::new(),
            awaits_human: false,
            budget_spent: false,
            budget: Budget::default(),
            capped: Vec::new(),
            chat_away: false,
            reply: None,
            revision: 0,
            pending: 0,
            allowed: 0,
        }
    }
}

impl ViewSnapshot {
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
        self.deadline = view.deadline();
        self.initiator = view.initiator();
        self.refill_steering(channel);
        self.revision = channel.revision();
        self.pending = channel.pending().len();
        self.allowed = if self.keeps_turns() { self.count_allowed(channel) } else { 0 };
    }

    /// Looks at what goes beyond the plain rotation.
    fn refill_steering(&mut self, channel: &TurnMachine) {
        let view = channel.view();
        self.held = view.queued().map(|span| (span.first, span.last));
        self.asked = view.asked().map(|span| (span.first, span.last));
        self.kept_in_mind = view.is_wake_pending();
        self.away.clear();
        self.away.extend(view.away().iter().map(|away| (away.agent, away.offline)));
        self.chosen = view.chosen();
        self.round.clear();
        self.round.extend(view.round());
        self.awaits_human = view.awaits_human();
        self.budget_spent = view.is_budget_spent();
        self.budget = view.budget();
        self.chat_away = view.chat_away_since().is_some();
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

    /// How many of the agents that could hold a permission would be allowed.
    fn count_allowed(&self, channel: &TurnMachine) -> usize {
        let unlisted = self.permit.filter(|agent| self.seat(*agent).is_none());
        let asked = self.seats.iter().map(|seat| seat.agent).chain(unlisted);
        asked.filter(|agent| channel.explain(*agent).allows()).count()
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
