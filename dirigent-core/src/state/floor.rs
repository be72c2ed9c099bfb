//! Who has the floor, how far that turn got, and what it has been through.

use alloc::boxed::Box;

use crate::state::interruption::{Waiting, WaitingFrom};
use crate::state::phase::{Grant, Phase, TurnRun};
use crate::state::rare::Rare;
use crate::state::situation::Situation;
use crate::{AgentKey, Config, Timestamp, TurnId};

/// The floor, and the turn of the agent that has it.
///
/// ```
/// use dirigent_core::snapshot::{Floor, Phase};
/// assert_eq!(Floor::default().phase, Phase::Disabled);
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Floor {
    /// Who has the floor, and how far it got.
    pub phase: Phase,
    /// The newest turn.
    pub turn: TurnId,
    /// What the turn under way has been through.
    pub terms: Rare<TurnTerms>,
    /// The turn that waits, while it does.
    pub waiting: Option<Box<Waiting>>,
    /// When the phase changed or something was last remembered.
    pub last_activity_at: Timestamp,
}

/// What a turn has been through, beyond its phase.
///
/// ```
/// assert!(!dirigent_core::snapshot::TurnTerms::default().spoken);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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

impl Default for Floor {
    fn default() -> Self {
        Self {
            phase: Phase::Disabled,
            turn: TurnId::default(),
            terms: Rare::default(),
            waiting: None,
            last_activity_at: Timestamp::default(),
        }
    }
}

impl Floor {
    pub(crate) const fn speaker(&self) -> Option<AgentKey> {
        self.phase.speaker()
    }

    /// The run of the turn under way, whether the turn waits or not.
    pub(crate) fn turn_run(&self) -> Option<TurnRun> {
        match (&self.phase, &self.waiting) {
            (Phase::Waiting(agent), Some(waiting)) => match waiting.from {
                WaitingFrom::Running { run: id, anchor, .. } => {
                    Some(TurnRun { agent: *agent, id, anchor })
                }
                WaitingFrom::Granted { .. } | WaitingFrom::Continuing => None,
            },
            (phase, _) => phase.run().copied(),
        }
    }

    /// Whether the agent that has the floor has made its reply, which waits to be delivered or is.
    pub(crate) fn has_replied(&self) -> bool {
        matches!(self.phase, Phase::Delivering { .. }) || self.waits_replied()
    }

    /// Whether the turn waits with a reply that is delivered when it goes on.
    pub(crate) fn waits_replied(&self) -> bool {
        self.waiting.as_deref().is_some_and(Waiting::is_replied)
    }

    /// Whether the agent of this turn has spoken without finishing.
    pub(crate) fn has_spoken(&self) -> bool {
        self.terms.get().is_some_and(|terms| terms.spoken)
    }

    /// When the turn must have ended, while it has such an end.
    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.terms.get().and_then(|terms| terms.until)
    }

    /// When the speaker is waited for no longer, if nothing happens before: one that was granted or
    /// asked to go on must have started, a run must have ended, a reply must have arrived.
    #[inline]
    pub(crate) fn turn_ends_at(&self, standing: &Situation, config: &Config) -> Option<Timestamp> {
        if let Phase::Granted(Grant { until, .. })
        | Phase::Running { until, .. }
        | Phase::Continuing { until, .. } = &self.phase
        {
            // While the chat is away the end of the turn stands still; a run has its own deadline.
            let end = self.end().filter(|_| !standing.is_chat_away());
            return until.iter().copied().chain(end).min();
        }
        // A reply has no time limit before its run has ended, and a rest is not the agent's.
        let Phase::Confirming { since, .. } = &self.phase else {
            return None;
        };
        (!standing.is_chat_away()).then(|| *since + config.confirmation.delivery_timeout)
    }

    /// Sets until when the agent that has the floor must have started. On hold the turn has neither
    /// that deadline nor an end; while the chat is away its end stands still.
    pub(crate) fn set_start_deadline(
        &mut self,
        standing: &Situation,
        now: Timestamp,
        config: &Config,
    ) {
        let held = standing.is_paused();
        let start = config.deadlines.start.filter(|_| !held && !standing.is_chat_away());
        let at = start.map(|limit| now + limit);
        let (Phase::Granted(Grant { until, .. }) | Phase::Continuing { until, .. }) =
            &mut self.phase
        else {
            return;
        };
        *until = at;
        if let Some(terms) = self.terms.existing().filter(|_| held) {
            terms.until = None;
        }
    }

    /// The turn has all its time before it.
    pub(crate) fn set_turn_end(&mut self, chat_now: Timestamp, config: &Config) {
        if let Some(limit) = config.deadlines.turn {
            self.terms.edit().until = Some(chat_now + limit);
        } else if let Some(terms) = self.terms.existing() {
            terms.until = None;
        }
    }

    /// A run began: it is slow after a while.
    pub(crate) fn watch_run(&mut self, now: Timestamp, config: &Config) {
        if let Some(limit) = config.deadlines.slow_after {
            self.terms.edit().slow_at = Some(now + limit);
        }
    }

    /// The run is over.
    pub(crate) fn unwatch_run(&mut self) {
        if let Some(terms) = self.terms.existing() {
            terms.slow_at = None;
        }
    }

    /// A reply that is made has no time limit: neither its turn's end nor a slow run.
    pub(crate) fn forget_turn_limits(&mut self) {
        if let Some(terms) = self.terms.existing() {
            (terms.until, terms.slow_at) = (None, None);
        }
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        self.phase.for_each_moment(visit);
        if let Some(TurnTerms { until, slow_at, .. }) = self.terms.existing() {
            [until, slow_at].into_iter().flatten().for_each(&mut *visit);
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.for_each_moment(visit);
        }
        visit(&mut self.last_activity_at);
    }
}
