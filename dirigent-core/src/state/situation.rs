//! What a channel is for, and what keeps it from going on: a pause, an archive, a chat that is away.

use alloc::boxed::Box;

use crate::state::Phase;
use crate::state::outage::ChatOutage;
use crate::{AgentKey, Config, Mode, Refusal, Timestamp, TurnState};

/// The situation of a channel. Operators and the chat change it, turns only read it.
///
/// ```
/// assert!(!dirigent_core::snapshot::Situation::default().created);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Situation {
    /// What the channel is for.
    pub mode: Mode,
    /// Whether a mode was ever given.
    pub created: bool,
    /// Stopped, finished or on hold.
    pub pause: Option<Pause>,
    /// Who opened the discussion.
    pub initiator: Option<AgentKey>,
    /// How it was archived, if it was.
    pub archived: Option<Box<Archived>>,
    /// Since when the chat does not answer, if it does not.
    pub outage: Option<Box<ChatOutage>>,
}

/// Why a channel is paused although it could go on.
///
/// ```
/// use dirigent_core::view::Pause;
/// assert_ne!(Pause::Held, Pause::Stopped);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pause {
    /// On hold: the order is kept.
    Held,
    /// Stopped: the cycle is over.
    Stopped,
    /// Finished: the work is done.
    Finished,
}

/// How a channel was archived.
///
/// ```
/// let how = dirigent_core::snapshot::Archived {
///     at: Default::default(),
///     concluded: true,
///     leaving: [None; 2],
///     bot_notice_at: None,
/// };
/// assert!(how.concluded);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archived {
    /// When the channel was archived.
    pub at: Timestamp,
    /// By its initiator, and not by an operator.
    pub concluded: bool,
    /// Whose last words draw no notice for a while: the concluding agent and the one that ran.
    pub leaving: [Option<AgentKey>; 2],
    /// When a bot was last told so.
    pub bot_notice_at: Option<Timestamp>,
}

impl Situation {
    /// Whether turns are kept here when enough agents are present.
    pub(crate) const fn keeps_turns(&self) -> bool {
        self.mode.keeps_turns() && self.archived.is_none()
    }

    /// Whether this number of agents is enough to keep turns.
    pub(crate) fn is_enough(&self, agents: usize, config: &Config) -> bool {
        agents >= 2 || (agents == 1 && self.keeps_turns_of_one(config))
    }

    /// Whether one agent alone has turns. In a discussion agents work out a result among themselves: a lone one would be reminded to
    /// conclude again and again.
    pub(crate) fn keeps_turns_of_one(&self, config: &Config) -> bool {
        self.mode == Mode::Chat && config.order.single_agent
    }

    /// How turns are kept with this number of agents, in this phase.
    pub(crate) fn turn_state(&self, agents: usize, phase: &Phase) -> TurnState {
        if self.archived.is_some() {
            TurnState::Archived
        } else if agents == 1 && self.mode == Mode::Chat && *phase != Phase::Disabled {
            TurnState::Normal
        } else {
            self.mode.turn_state(agents)
        }
    }

    pub(crate) fn is_discussion(&self) -> bool {
        self.mode == Mode::Discussion
    }

    /// On hold, stopped or finished.
    pub(crate) const fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    pub(crate) fn is_held(&self) -> bool {
        self.pause == Some(Pause::Held)
    }

    /// Stopped or finished.
    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self.pause, Some(Pause::Stopped | Pause::Finished))
    }

    /// Whether the chat does not answer.
    pub(crate) const fn is_chat_away(&self) -> bool {
        self.outage.is_some()
    }

    /// A clock that stands still while the chat is away. What waits for the chat is measured by it;
    /// when the chat is back, those moments move by the time that it was away.
    pub(crate) fn chat_now(&self, now: Timestamp) -> Timestamp {
        self.outage.as_ref().map_or(now, |outage| outage.since)
    }

    /// When a turn no longer waits for the chat. On hold the channel waits for a person anyway.
    pub(crate) fn patience_ends_at(&self, config: &Config) -> Option<Timestamp> {
        let outage = self.outage.as_ref().filter(|_| !self.is_paused())?;
        Some(outage.counted_from + config.deadlines.outage_max)
    }

    /// Whether the chat has been away for so long that no agent is granted any more.
    pub(crate) fn has_lost_patience(&self, now: Timestamp, config: &Config) -> bool {
        self.patience_ends_at(config).is_some_and(|at| at <= now)
    }

    /// A hold was ended: the chat is waited for anew.
    pub(crate) fn restart_patience(&mut self, now: Timestamp) {
        if let Some(outage) = &mut self.outage {
            outage.counted_from = now;
        }
    }

    /// Stop and hold make sense where agents could be woken or denied.
    pub(crate) const fn require_managed(&self) -> Result<(), Refusal> {
        match self.mode {
            _ if self.archived.is_some() => Err(Refusal::Archived),
            Mode::None | Mode::Work => Err(Refusal::NotManaged),
            Mode::Report | Mode::Discussion | Mode::Chat => Ok(()),
        }
    }

    pub(crate) const fn require_unarchived(&self) -> Result<(), Refusal> {
        if self.archived.is_some() { Err(Refusal::Archived) } else { Ok(()) }
    }

    pub(crate) const fn require_unstopped(&self) -> Result<(), Refusal> {
        match self.pause {
            Some(Pause::Stopped) => Err(Refusal::Stopped),
            Some(Pause::Finished) => Err(Refusal::Finished),
            Some(Pause::Held) | None => Ok(()),
        }
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        if let Some(archived) = &mut self.archived {
            visit(&mut archived.at);
            archived.bot_notice_at.iter_mut().for_each(&mut *visit);
        }
        if let Some(outage) = &mut self.outage {
            visit(&mut outage.since);
            visit(&mut outage.counted_from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away_since(millis: u64) -> Situation {
        let since = Timestamp::from_millis(millis);
        let outage = Some(Box::new(ChatOutage { since, counted_from: since }));
        Situation { outage, ..Situation::default() }
    }

    #[test]
    fn the_clock_of_the_chat_stands_still_while_the_chat_is_away() {
        let now = Timestamp::from_millis(9);
        assert_eq!(Situation::default().chat_now(now), now);
        assert_eq!(away_since(4).chat_now(now), Timestamp::from_millis(4));
    }

    #[test]
    fn patience_ends_after_the_longest_outage_but_not_on_hold() {
        let config = Config::default();
        let end = Timestamp::from_millis(4) + config.deadlines.outage_max;
        let mut standing = away_since(4);
        assert!(standing.has_lost_patience(end, &config));
        assert!(
            !standing.has_lost_patience(end.saturating_sub(config.deadlines.outage_max), &config)
        );
        standing.pause = Some(Pause::Held);
        assert!(!standing.has_lost_patience(end, &config));
        (standing.pause, standing.outage) = (None, None);
        assert!(!standing.has_lost_patience(end, &config), "the chat answers");
    }

    #[test]
    fn patience_begins_anew_after_a_hold_though_the_outage_does_not() {
        let mut standing = away_since(4);
        standing.restart_patience(Timestamp::from_millis(50));
        let outage = standing.outage.as_deref().copied();
        let (since, counted_from) = (Timestamp::from_millis(4), Timestamp::from_millis(50));
        assert_eq!(outage, Some(ChatOutage { since, counted_from }));
    }

    #[test]
    fn only_stop_and_finish_stop_and_only_a_hold_holds() {
        let paused = |pause| Situation { pause, ..Situation::default() };
        let [none, held, stopped, finished] =
            [None, Some(Pause::Held), Some(Pause::Stopped), Some(Pause::Finished)].map(paused);
        assert!(!none.is_paused() && held.is_paused() && stopped.is_paused());
        assert!(held.is_held() && !stopped.is_held());
        assert!(stopped.is_stopped() && finished.is_stopped() && !held.is_stopped());
    }
}
