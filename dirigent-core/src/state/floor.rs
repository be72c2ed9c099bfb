//! The agent that has the floor, and the progress of its turn.

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
    /// The phase, which says who has the floor and how far the turn has come.
    pub phase: Phase,
    /// The newest turn.
    pub turn: TurnId,
    /// The history and limits of the turn under way.
    pub terms: Rare<TurnTerms>,
    /// The details of a turn that waits.
    pub waiting: Option<Box<Waiting>>,
    /// The moment when the phase last changed, or when something was last remembered.
    pub last_activity_at: Timestamp,
}

/// The history and limits of a turn, beyond its phase.
///
/// ```
/// assert!(!dirigent_core::snapshot::TurnTerms::default().spoken);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TurnTerms {
    /// The moment when the turn must have ended, whatever happens in it.
    pub until: Option<Timestamp>,
    /// The moment when its run counts as slow.
    pub slow_at: Option<Timestamp>,
    /// True if its agent has spoken without finishing.
    pub spoken: bool,
    /// The number of times that its agent was asked to go on.
    pub continued: u8,
    /// True if its reply asks for a person.
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

    /// Returns the run of the turn under way, even if the turn waits.
    pub(crate) fn turn_run(&self) -> Option<TurnRun> {
        match (&self.phase, &self.waiting) {
            // A turn that waits keeps its run, so that an end of the run is recognised.
            (Phase::Waiting(agent), Some(waiting)) => match waiting.from {
                WaitingFrom::Running { run: id, anchor, .. } => {
                    Some(TurnRun { agent: *agent, id, anchor })
                }
                WaitingFrom::Granted { .. } | WaitingFrom::Continuing => None,
            },
            (phase, _) => phase.run().copied(),
        }
    }

    /// Returns true if the agent that has the floor has made its reply. The reply is being delivered, or will be when
    /// the turn goes on.
    pub(crate) fn has_replied(&self) -> bool {
        matches!(self.phase, Phase::Delivering { .. }) || self.waits_replied()
    }

    /// Returns true if the turn waits with a reply that is delivered when it goes on.
    pub(crate) fn waits_replied(&self) -> bool {
        self.waiting.as_deref().is_some_and(Waiting::is_replied)
    }

    pub(crate) fn has_spoken(&self) -> bool {
        self.terms.get().is_some_and(|terms| terms.spoken)
    }

    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.terms.get().and_then(|terms| terms.until)
    }

    /// Returns when the channel stops waiting for the speaker, unless something happens before. A granted agent must
    /// have started, a run must have ended, or a reply must have arrived.
    #[inline]
    pub(crate) fn turn_ends_at(&self, standing: &Situation, config: &Config) -> Option<Timestamp> {
        if let Phase::Granted(Grant { until, .. })
        | Phase::Running { until, .. }
        | Phase::Continuing { until, .. } = &self.phase
        {
            // While the chat is away, the turn's end stands still. The run goes on, because it does not need the chat.
            let end = self.end().filter(|_| !standing.is_chat_away());
            return until.iter().copied().chain(end).min();
        }
        // A delivered reply has no time limit before its run has ended. A turn that waits has none either, because its
        // agent does not cause the wait.
        let Phase::Confirming { since, .. } = &self.phase else {
            return None;
        };
        // A reply cannot arrive while the chat is away, so its wait stands still.
        (!standing.is_chat_away()).then(|| *since + config.confirmation.delivery_timeout)
    }

    /// Sets the moment at which the agent with the floor must have started. On hold, the turn has neither this deadline
    /// nor an end. While the chat is away, its end stands still.
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
        // A hold is no fault of the agent, so it takes no time from the turn.
        if let Some(terms) = self.terms.existing().filter(|_| held) {
            terms.until = None;
        }
    }

    /// Gives the turn all its time again.
    pub(crate) fn set_turn_end(&mut self, chat_now: Timestamp, config: &Config) {
        if let Some(limit) = config.deadlines.turn {
            self.terms.edit().until = Some(chat_now + limit);
        } else if let Some(terms) = self.terms.existing() {
            terms.until = None;
        }
    }

    /// Starts the time after which a run counts as slow.
    pub(crate) fn watch_run(&mut self, now: Timestamp, config: &Config) {
        if let Some(limit) = config.deadlines.slow_after {
            self.terms.edit().slow_at = Some(now + limit);
        }
    }

    /// Stops that time at the end of the run.
    pub(crate) fn unwatch_run(&mut self) {
        if let Some(terms) = self.terms.existing() {
            terms.slow_at = None;
        }
    }

    /// Removes the turn's end and the slow time, because the agent has done its part: only the chat can be late now.
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
