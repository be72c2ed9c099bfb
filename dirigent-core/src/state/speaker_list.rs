//! The speaker list: its order and its marks, and how it is rebuilt and shuffled.

use alloc::vec::Vec;

use crate::state::rng::Rng;
use crate::{AgentKey, Timestamp};

/// The most agents in a channel's speaker list, and in its mute list.
pub const AGENTS_MAX: usize = 64;

/// The speaker list of a channel, in speaking order.
///
/// ```
/// assert!(dirigent_core::snapshot::SpeakerList::default().slots.is_empty());
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct SpeakerList {
    /// The places in the list. Each agent has one.
    pub slots: Vec<Slot>,
}

/// One agent's place in the list.
///
/// ```
/// use dirigent_core::snapshot::Slot;
/// use dirigent_core::AgentKey;
/// let slot = Slot::new(AgentKey::new(1));
/// assert!(!slot.left && slot.grace_from.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The agent of this slot.
    pub agent: AgentKey,
    /// The state of its turn in this cycle.
    pub turn: SeatTurn,
    /// True if the agent has left the channel.
    pub left: bool,
    /// The end of the agent's last turn that neither passed nor ended with its whole reply. For a while after that, the
    /// agent's messages count as late pieces of that turn.
    pub grace_from: Option<Timestamp>,
    /// True if the agent passed and no author has said anything since. It is only set with
    /// [`OrderRules::skip_passed`](crate::config::OrderRules::skip_passed).
    pub passed: bool,
    /// True if no other account has said anything since the agent's last reply. While the agent has the floor, it means
    /// since its grant.
    pub nothing_new: bool,
}

/// The state of an agent's turn in this cycle.
///
/// ```
/// use dirigent_core::view::SeatTurn;
/// assert_eq!(SeatTurn::default(), SeatTurn::Ahead);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SeatTurn {
    /// The turn is still to come, or under way.
    #[default]
    Ahead,
    /// The agent completed its turn with nothing to say.
    Passed,
    /// The agent completed its turn with a reply.
    Spoke,
    /// The agent did not complete its turn: it left, is muted, or did not answer in time.
    Skipped,
}

impl Slot {
    /// Creates the place of an agent with a turn ahead and without any mark.
    pub const fn new(agent: AgentKey) -> Self {
        let (left, passed, nothing_new) = (false, false, false);
        Self { agent, turn: SeatTurn::Ahead, left, grace_from: None, passed, nothing_new }
    }
}

/// The most orders that are drawn for one shuffle.
const DRAWS_MAX: usize = 100;

impl SpeakerList {
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn position(&self, agent: AgentKey) -> Option<usize> {
        self.slots.iter().position(|slot| slot.agent == agent)
    }

    pub(crate) fn slot(&self, agent: AgentKey) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.agent == agent)
    }

    pub(crate) fn slot_mut(&mut self, agent: AgentKey) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.agent == agent)
    }

    pub(crate) fn first(&self) -> Option<AgentKey> {
        self.slots.first().map(|slot| slot.agent)
    }

    /// Starts the time in which messages of this agent are late pieces of the turn that ends.
    pub(crate) fn expect_late_pieces(&mut self, agent: AgentKey, now: Timestamp) {
        if let Some(slot) = self.slot_mut(agent) {
            slot.grace_from = Some(now);
        }
    }

    /// Puts the second of two first.
    pub(crate) fn swap_pair(&mut self) {
        self.slots.reverse();
    }

    pub(crate) fn begin_cycle(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.turn = SeatTurn::Ahead);
    }

    /// Returns the agents that spoke in this cycle.
    pub(crate) fn speakers(&self) -> impl Iterator<Item = AgentKey> + '_ {
        self.slots.iter().filter(|slot| slot.turn == SeatTurn::Spoke).map(|slot| slot.agent)
    }

    /// Allows agents that passed to be asked again, because a cycle begins for something new.
    pub(crate) fn forget_passed(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.passed = false);
    }

    /// Allows agents that passed or spoke last to be asked again, because something was said. Returns true if there
    /// were any.
    pub(crate) fn forget_silent(&mut self) -> bool {
        self.slots.iter_mut().fold(false, |any, slot| {
            let was_silent = slot.passed | slot.nothing_new;
            (slot.passed, slot.nothing_new) = (false, false);
            any | was_silent
        })
    }

    /// Ends the turn of this agent. If it spoke, all others may be asked again. The agent itself may be too, unless its
    /// reply is the last word: the library delivered it, and no news came since the grant.
    #[inline]
    pub(crate) fn end_turn(&mut self, agent: AgentKey, turn: SeatTurn, passed: bool, last: bool) {
        let spoke = turn == SeatTurn::Spoke;
        for slot in &mut self.slots {
            if slot.agent == agent {
                (slot.turn, slot.passed) = (turn, passed);
                // News that came during the turn makes the reply no last word.
                slot.nothing_new &= last;
            } else if spoke {
                // Agents that passed before may want to answer this.
                (slot.passed, slot.nothing_new) = (false, false);
            }
        }
    }

    /// Notes that something was said, which is news to all agents except its author. Returns true if it was news to any
    /// of them.
    pub(crate) fn hear(&mut self, author: Option<AgentKey>) -> bool {
        self.slots.iter_mut().fold(false, |any, slot| {
            // An author's own words are no news to it.
            let is_news = slot.nothing_new && Some(slot.agent) != author;
            slot.nothing_new &= !is_news;
            any | is_news
        })
    }

    /// Turns the list so that this agent's place is first. The places before it follow behind the last.
    pub(crate) fn turn_to(&mut self, agent: AgentKey) {
        if let Some(at) = self.position(agent) {
            self.slots.rotate_left(at);
        }
    }

    /// Returns the agent behind this one, around the list.
    pub(crate) fn behind(&self, agent: AgentKey) -> Option<AgentKey> {
        let next = self.slots.get(self.position(agent)? + 1).or(self.slots.first())?;
        Some(next.agent)
    }

    /// Turns the list so that the place behind this agent's is first, and its own is last.
    pub(crate) fn turn_behind(&mut self, agent: AgentKey) {
        if let Some(at) = self.position(agent) {
            self.slots.rotate_left(at + 1);
        }
    }

    /// Moves these agents, given in ascending order, to the front. They keep their order in the list.
    pub(crate) fn put_first(&mut self, agents: &[AgentKey]) {
        // The sort is stable, so the addressed keep the order that they had.
        self.slots.sort_by_key(|slot| agents.binary_search(&slot.agent).is_err());
    }

    /// Moves a slot to this place among the others, with its turn ahead. Returns the state of the turn that it had.
    pub(crate) fn move_to(&mut self, agent: AgentKey, at: usize) -> Option<SeatTurn> {
        let from = self.position(agent)?;
        let slot = self.slots.remove(from);
        let at = at.min(self.slots.len());
        self.slots.insert(at, Slot { turn: SeatTurn::Ahead, ..slot });
        Some(slot.turn)
    }

    /// Returns true if any agent completed a turn in this cycle.
    pub(crate) fn anybody_completed(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.turn, SeatTurn::Spoke | SeatTurn::Passed))
    }

    /// Clears the mark of one agent that had left and is present again. Returns that agent, if there is one.
    pub(crate) fn unmark(&mut self, present: &[AgentKey]) -> Option<AgentKey> {
        let mut slots = self.slots.iter_mut();
        let slot = slots.find(|slot| slot.left && present.contains(&slot.agent))?;
        slot.left = false;
        Some(slot.agent)
    }

    /// Rebuilds the list from the present agents. Those that stay keep their order, and newcomers follow. Returns true
    /// if there are newcomers.
    pub(crate) fn rebuild(&mut self, present: &[AgentKey]) -> bool {
        // An agent that left and comes back is a newcomer at the end.
        self.slots.retain(|slot| present.contains(&slot.agent));
        let before = self.slots.len();
        for agent in present {
            if self.position(*agent).is_none() {
                self.slots.push(Slot::new(*agent));
            }
        }
        self.slots.len() > before
    }

    /// Shuffles the list so that every allowed order is equally likely: it draws orders until one is allowed. At least
    /// half of all orders are allowed, so a hundred draws in vain do not happen. If they did, the last order would
    /// stand.
    pub(crate) fn shuffle(&mut self, rng: &mut Rng, is_allowed: impl Fn(&[Slot]) -> bool) {
        for _ in 0..DRAWS_MAX {
            for unplaced in (2..=self.slots.len()).rev() {
                // Swapping each place with a random earlier one makes every order equally likely.
                self.slots.swap(unplaced - 1, rng.below(unplaced));
            }
            if is_allowed(&self.slots) {
                return;
            }
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.slots.shrink_to_fit();
    }
}
