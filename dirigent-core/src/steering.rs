//! What people, hosts and options ask of a channel beyond the plain rotation (rules 49 to 66).

use alloc::vec::Vec;

use crate::{AgentKey, MessageId, Outcome, RunId, Ticket, Timestamp};

/// Everything a channel keeps for the rules that a plain turn does not need: messages held, agents
/// away, choices, budgets. A channel that uses none of it owns none of it.
///
/// ```
/// use dirigent_core::{AgentKey, Away, Steering};
///
/// let mut steering = Steering::default();
/// assert!(steering.is_empty());
/// steering.away.push(Away { agent: AgentKey::new(1), offline: true });
/// assert!(!steering.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Steering {
    /// What the turn under way has been through.
    pub terms: TurnTerms,
    /// The turn that rests while the orchestrator answers.
    pub waiting: Option<Waiting>,
    /// People's messages that the next grant hands over.
    pub held: Option<Span>,
    /// Who is away, by ascending key.
    pub away: Vec<Away>,
    /// Who an operator wants to speak next.
    pub chosen: Option<AgentKey>,
    /// Whom this cycle is for, ascending; empty: for all agents.
    pub round: Vec<AgentKey>,
    /// Whom a cycle to come is for, ascending; empty: none is planned.
    pub next_round: Vec<AgentKey>,
    /// Only a human wakes the channel.
    pub awaits_human: bool,
    /// Turns with a reply of late, oldest first, while agents are capped.
    pub spoken: Vec<SpokenTurn>,
    /// What was used of the budgets.
    pub budget: Budget,
    /// Since when the chat does not answer.
    pub outage: Option<Outage>,
}

/// A chat that does not answer.
///
/// ```
/// use dirigent_core::{Outage, Timestamp};
/// let since = Timestamp::from_millis(5);
/// let outage = Outage { since, counted_from: since };
/// assert!(outage.counted_from >= outage.since);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Outage {
    /// When the channel was told so.
    pub since: Timestamp,
    /// From when [`Config::outage_max`](crate::Config::outage_max) counts: later than `since` when
    /// a hold was ended meanwhile.
    pub counted_from: Timestamp,
}

/// What a turn has been through, beyond its phase.
///
/// ```
/// assert!(!dirigent_core::TurnTerms::default().spoken);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct TurnTerms {
    /// When it must have ended, whatever happens in it.
    pub until: Option<Timestamp>,
    /// When its run is slow.
    pub slow_at: Option<Timestamp>,
    /// Its agent has spoken without finishing.
    pub spoken: bool,
    /// How often its agent was asked to go on.
    pub continued: u8,
    /// Its reply asks for a person.
    pub awaits_human: bool,
}

/// A range of messages, by id.
///
/// ```
/// use dirigent_core::{MessageId, Span};
///
/// let mut span = Span::of(MessageId::new(5));
/// span.cover(Span::of(MessageId::new(3)));
/// assert_eq!((span.first.get(), span.last.get()), (3, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Span {
    /// The lowest.
    pub first: MessageId,
    /// The highest.
    pub last: MessageId,
}

impl Span {
    /// One message.
    pub const fn of(message: MessageId) -> Self {
        Self { first: message, last: message }
    }

    /// Widens the range by another.
    pub fn cover(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Widens what may be a range by what may be another.
pub(crate) fn join(range: &mut Option<Span>, other: Option<Span>) {
    match (range.as_mut(), other) {
        (Some(range), Some(other)) => range.cover(other),
        (None, Some(other)) => *range = Some(other),
        (_, None) => {}
    }
}

/// A turn that rests until a human was answered.
///
/// ```
/// use dirigent_core::{MessageId, Rested, Span, Ticket, Waiting};
///
/// let waiting = Waiting {
///     rested: Rested::Granted { attempt: 0 },
///     since: Default::default(),
///     consult: Ticket::new(1),
///     until: Default::default(),
///     asked: Span::of(MessageId::new(1)),
///     more: None,
///     unanswered: None,
///     end: None,
/// };
/// assert!(waiting.end.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Waiting {
    /// How far the turn had got.
    pub rested: Rested,
    /// Since when it rests.
    pub since: Timestamp,
    /// The debt that the answer settles.
    pub consult: Ticket,
    /// Until when the answer is waited for.
    pub until: Timestamp,
    /// What the orchestrator was asked about.
    pub asked: Span,
    /// What people have said since.
    pub more: Option<Span>,
    /// What was asked about before in vain.
    pub unanswered: Option<Span>,
    /// How the run ended meanwhile.
    pub end: Option<Outcome>,
}

/// How far a turn had got when it came to rest.
///
/// ```
/// use dirigent_core::Rested;
/// assert_ne!(Rested::Continuing, Rested::Granted { attempt: 0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "no other phase comes to rest")]
pub enum Rested {
    /// Its agent had not started.
    Granted {
        /// Re-triggers made.
        attempt: u8,
    },
    /// Its agent ran.
    Running {
        /// The host's name for the run.
        run: Option<RunId>,
        /// Only later messages belong to the reply.
        anchor: Option<MessageId>,
        /// When the run must have ended, as if it had not come to rest.
        until: Option<Timestamp>,
        /// The host has already confirmed the whole reply.
        receipt: bool,
        /// The library has the whole reply, and delivers it when the turn goes on.
        replied: bool,
    },
    /// Its agent had spoken without finishing.
    Continuing,
}

/// An agent that is away.
///
/// ```
/// use dirigent_core::{AgentKey, Away};
/// let back = Away { agent: AgentKey::new(1), offline: false };
/// assert!(!back.offline);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Away {
    /// Who.
    pub agent: AgentKey,
    /// It is offline; else it came back and was not assigned yet.
    pub offline: bool,
}

/// A turn with a reply, counted against the cap of its agent.
///
/// ```
/// use dirigent_core::{AgentKey, SpokenTurn};
/// let turn = SpokenTurn { agent: AgentKey::new(1), at: Default::default() };
/// assert_eq!(turn.agent.get(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct SpokenTurn {
    /// Whose.
    pub agent: AgentKey,
    /// When it ended.
    pub at: Timestamp,
}

/// What was used of a channel's budgets since it was made or they began anew.
///
/// ```
/// assert_eq!(dirigent_core::Budget::default().cost, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Budget {
    /// Turns granted while their number was bounded.
    pub turns: u32,
    /// Cycles begun while their number was bounded.
    pub cycles: u32,
    /// Cost that the host reported, in its own unit.
    pub cost: u64,
    /// Whether it was announced that a budget is spent.
    pub announced: bool,
}

impl Steering {
    /// Whether there is nothing to be kept.
    pub fn is_empty(&self) -> bool {
        let Self { terms, waiting, held, away, chosen, round, next_round, .. } = self;
        let Self { awaits_human, spoken, budget, outage, .. } = self;
        *terms == TurnTerms::default()
            && waiting.is_none()
            && held.is_none()
            && chosen.is_none()
            && !awaits_human
            && outage.is_none()
            && [away.is_empty(), round.is_empty(), next_round.is_empty(), spoken.is_empty()]
                == [true; 4]
            && *budget == Budget::default()
    }

    /// Every moment that is waited for or from.
    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        let TurnTerms { until, slow_at, .. } = &mut self.terms;
        [until, slow_at].into_iter().flatten().for_each(&mut *visit);
        self.spoken.iter_mut().map(|turn| &mut turn.at).for_each(&mut *visit);
        if let Some(Outage { since, counted_from }) = &mut self.outage {
            [since, counted_from].into_iter().for_each(&mut *visit);
        }
        if let Some(Waiting { rested, since, until, .. }) = &mut self.waiting {
            [since, until].into_iter().for_each(&mut *visit);
            if let Rested::Running { until: Some(until), .. } = rested {
                visit(until);
            }
        }
    }

    /// Forgets who was chosen and whom a cycle to come was for.
    pub(crate) fn forget_plans(&mut self) {
        self.chosen = None;
        self.next_round.clear();
    }

    /// Keeps the newest `most` of each agent's turns with a reply.
    pub(crate) fn keep_spoken(&mut self, most: u8) {
        let mut kept: Vec<(AgentKey, u8)> = Vec::new();
        self.spoken.reverse();
        self.spoken.retain(|turn| {
            let Some((_, count)) = kept.iter_mut().find(|(agent, _)| *agent == turn.agent) else {
                kept.push((turn.agent, 1));
                return true;
            };
            let keep = *count < most;
            *count = count.saturating_add(1);
            keep
        });
        self.spoken.reverse();
    }
}
