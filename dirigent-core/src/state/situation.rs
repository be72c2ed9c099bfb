//! The mode of a channel, and all that can stop it from going on: a pause, an archive, an outage of the chat.

use alloc::boxed::Box;

use crate::state::Phase;
use crate::state::outage::ChatOutage;
use crate::{AgentKey, Config, Mode, Refusal, Timestamp, TurnState};

/// The situation of a channel. Operators and the chat change it, and turns only read it.
///
/// ```
/// assert!(!dirigent_core::snapshot::Situation::default().created);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Situation {
    /// The mode of the channel.
    pub mode: Mode,
    /// True if the channel was ever given a mode.
    pub created: bool,
    /// The pause, if the channel is stopped, finished or on hold.
    pub pause: Option<Pause>,
    /// The agent that opened the discussion.
    pub initiator: Option<AgentKey>,
    /// The circumstances of archiving, if the channel is archived.
    pub archived: Option<Box<Archived>>,
    /// The outage, if the chat does not answer.
    pub outage: Option<Box<ChatOutage>>,
}

/// The kind of pause of a channel that could go on.
///
/// ```
/// use dirigent_core::view::Pause;
/// assert_ne!(Pause::Held, Pause::Stopped);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pause {
    /// On hold: the order stays as it is.
    Held,
    /// Stopped: the cycle is over.
    Stopped,
    /// Finished: the work is done.
    Finished,
}

/// The circumstances of archiving a channel.
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
    /// The moment when the channel was archived.
    pub at: Timestamp,
    /// True if its initiator concluded it, and not an operator.
    pub concluded: bool,
    /// The agents that draw no notice with their last words for a while: the concluding one, and the one that ran.
    pub leaving: [Option<AgentKey>; 2],
    /// The moment when a bot last drew a notice.
    pub bot_notice_at: Option<Timestamp>,
}

impl Situation {
    /// Returns true if the channel keeps turns when enough agents are present.
    pub(crate) const fn keeps_turns(&self) -> bool {
        self.mode.keeps_turns() && self.archived.is_none()
    }

    /// Returns true if this number of agents is enough to keep turns.
    pub(crate) fn is_enough(&self, agents: usize, config: &Config) -> bool {
        agents >= 2 || (agents == 1 && self.keeps_turns_of_one(config))
    }

    /// Returns true if one agent alone has turns. A discussion needs two, because its agents work out a result among
    /// themselves. A lone agent would be reminded again and again to conclude.
    pub(crate) fn keeps_turns_of_one(&self, config: &Config) -> bool {
        self.mode == Mode::Chat && config.order.single_agent
    }

    /// Returns the turn state for this number of agents and this phase.
    pub(crate) fn turn_state(&self, agents: usize, phase: &Phase) -> TurnState {
        if self.archived.is_some() {
            TurnState::Archived
        // A lone agent in a chat has turns only with `order.single_agent`, and then the channel is not disabled.
        } else if agents == 1 && self.mode == Mode::Chat && *phase != Phase::Disabled {
            TurnState::Normal
        } else {
            self.mode.turn_state(agents)
        }
    }

    pub(crate) fn is_discussion(&self) -> bool {
        self.mode == Mode::Discussion
    }

    pub(crate) const fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    pub(crate) fn is_held(&self) -> bool {
        self.pause == Some(Pause::Held)
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self.pause, Some(Pause::Stopped | Pause::Finished))
    }

    pub(crate) const fn is_chat_away(&self) -> bool {
        self.outage.is_some()
    }

    /// Returns the time of a clock that stands still while the chat is away. All waits for the chat are measured by it.
    /// When the chat is back, their moments move by the length of the outage.
    pub(crate) fn chat_now(&self, now: Timestamp) -> Timestamp {
        self.outage.as_ref().map_or(now, |outage| outage.since)
    }

    /// Returns when a turn stops waiting for the chat. On hold there is no such moment, because the channel waits for a
    /// person anyway.
    pub(crate) fn patience_ends_at(&self, config: &Config) -> Option<Timestamp> {
        let outage = self.outage.as_ref().filter(|_| !self.is_paused())?;
        Some(outage.counted_from + config.deadlines.outage_max)
    }

    /// Returns true if the chat has been away for so long that no further agent is granted.
    pub(crate) fn has_lost_patience(&self, now: Timestamp, config: &Config) -> bool {
        self.patience_ends_at(config).is_some_and(|at| at <= now)
    }

    /// Restarts the wait for the chat after a hold.
    pub(crate) fn restart_patience(&mut self, now: Timestamp) {
        if let Some(outage) = &mut self.outage {
            outage.counted_from = now;
        }
    }

    /// Refuses stop and hold in a channel that neither wakes nor denies agents.
    pub(crate) const fn require_managed(&self) -> Result<(), Refusal> {
        match self.mode {
            _ if self.archived.is_some() => Err(Refusal::Archived),
            // Agents answer freely there, so nothing could be stopped.
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
