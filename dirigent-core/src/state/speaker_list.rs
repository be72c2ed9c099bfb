//! Who speaks after whom: the list, its marks, and how it is rebuilt and shuffled.

use alloc::vec::Vec;

use crate::state::rng::Rng;
use crate::{AgentKey, Timestamp};

/// The most agents that a channel's list and its mute list hold.
pub const AGENTS_MAX: usize = 64;

/// The speaker list of a channel, in speaking order.
///
/// ```
/// assert!(dirigent_core::snapshot::SpeakerList::default().slots.is_empty());
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct SpeakerList {
    /// The places, each agent's once.
    pub slots: Vec<Slot>,
}

/// One agent's place.
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
    /// What became of its turn in this cycle.
    pub turn: SeatTurn,
    /// It has left the channel.
    pub left: bool,
    /// When a turn of it last ended otherwise than by passing or with its whole reply: for a while
    /// after that, its messages are taken for late pieces of that turn.
    pub grace_from: Option<Timestamp>,
    /// It passed, and nothing was said since (only kept with
    /// [`OrderRules::skip_passed`](crate::config::OrderRules::skip_passed)).
    pub passed: bool,
    /// No other account has said anything since its last reply, or, while it has the floor, since it was
    /// granted.
    pub nothing_new: bool,
}

/// What became of an agent's turn in this cycle.
///
/// ```
/// use dirigent_core::view::SeatTurn;
/// assert_eq!(SeatTurn::default(), SeatTurn::Ahead);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SeatTurn {
    /// It is still to come, or under way.
    #[default]
    Ahead,
    /// Completed with nothing to say.
    Passed,
    /// Completed with a reply.
    Spoke,
    /// Not completed: the agent left, is muted, or did not answer in time.
    Skipped,
}

impl Slot {
    /// A fresh place.
    pub const fn new(agent: AgentKey) -> Self {
        let (left, passed, nothing_new) = (false, false, false);
        Self { agent, turn: SeatTurn::Ahead, left, grace_from: None, passed, nothing_new }
    }
}

/// How often an order is drawn at most.
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

    /// From now on, messages of this agent are late pieces of the turn that ends, for a while.
    pub(crate) fn expect_late_pieces(&mut self, agent: AgentKey, now: Timestamp) {
        if let Some(slot) = self.slot_mut(agent) {
            slot.grace_from = Some(now);
        }
    }

    /// Puts the second of two first.
    pub(crate) fn swap_pair(&mut self) {
        self.slots.reverse();
    }

    /// Begins a cycle, in which no agent has taken a turn.
    pub(crate) fn begin_cycle(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.turn = SeatTurn::Ahead);
    }

    /// Who spoke in this cycle.
    pub(crate) fn speakers(&self) -> impl Iterator<Item = AgentKey> + '_ {
        self.slots.iter().filter(|slot| slot.turn == SeatTurn::Spoke).map(|slot| slot.agent)
    }

    /// A cycle begins for something that was new before: agents that passed may be asked again.
    pub(crate) fn forget_passed(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.passed = false);
    }

    /// Something was said: agents that passed, or spoke last, may be asked again.
    /// Returns whether there were any.
    pub(crate) fn forget_silent(&mut self) -> bool {
        self.slots.iter_mut().fold(false, |any, slot| {
            let was_silent = slot.passed | slot.nothing_new;
            (slot.passed, slot.nothing_new) = (false, false);
            any | was_silent
        })
    }

    /// The turn of this agent is over. Where it spoke, all others may be asked again; itself only if its reply is
    /// no last word, or something is new since it was granted.
    #[inline]
    pub(crate) fn end_turn(&mut self, agent: AgentKey, turn: SeatTurn, passed: bool, last: bool) {
        let spoke = turn == SeatTurn::Spoke;
        for slot in &mut self.slots {
            if slot.agent == agent {
                (slot.turn, slot.passed) = (turn, passed);
                slot.nothing_new &= last;
            } else if spoke {
                (slot.passed, slot.nothing_new) = (false, false);
            }
        }
    }

    /// Another account than this agent's said something, or this one did: it is news to all others. Returns whether
    /// any of them had nothing new.
    pub(crate) fn hear(&mut self, author: Option<AgentKey>) -> bool {
        self.slots.iter_mut().fold(false, |any, slot| {
            let is_news = slot.nothing_new && Some(slot.agent) != author;
            slot.nothing_new &= !is_news;
            any | is_news
        })
    }

    /// Turns the list so that this agent's place is first; those before it follow behind the last.
    pub(crate) fn turn_to(&mut self, agent: AgentKey) {
        if let Some(at) = self.position(agent) {
            self.slots.rotate_left(at);
        }
    }

    /// Who stands behind this agent, around the list.
    pub(crate) fn behind(&self, agent: AgentKey) -> Option<AgentKey> {
        let next = self.slots.get(self.position(agent)? + 1).or(self.slots.first())?;
        Some(next.agent)
    }

    /// Turns the list so that the place behind this agent's is first, and its own last.
    pub(crate) fn turn_behind(&mut self, agent: AgentKey) {
        if let Some(at) = self.position(agent) {
            self.slots.rotate_left(at + 1);
        }
    }

    /// Puts these agents, given in ascending order, first, in the order of the list.
    pub(crate) fn put_first(&mut self, agents: &[AgentKey]) {
        self.slots.sort_by_key(|slot| agents.binary_search(&slot.agent).is_err());
    }

    /// Moves a slot so that it stands at this place of the others, with its turn ahead; gives what
    /// became of the turn it had.
    pub(crate) fn move_to(&mut self, agent: AgentKey, at: usize) -> Option<SeatTurn> {
        let from = self.position(agent)?;
        let slot = self.slots.remove(from);
        let at = at.min(self.slots.len());
        self.slots.insert(at, Slot { turn: SeatTurn::Ahead, ..slot });
        Some(slot.turn)
    }

    /// Whether anybody completed a turn of this cycle.
    pub(crate) fn anybody_completed(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.turn, SeatTurn::Spoke | SeatTurn::Passed))
    }

    /// The mark of an agent that has left and is present is cleared; gives whose, if there is one.
    pub(crate) fn unmark(&mut self, present: &[AgentKey]) -> Option<AgentKey> {
        let mut slots = self.slots.iter_mut();
        let slot = slots.find(|slot| slot.left && present.contains(&slot.agent))?;
        slot.left = false;
        Some(slot.agent)
    }

    /// Takes over who is present: those who stay keep their order, newcomers follow.
    /// Returns whether anybody is new.
    pub(crate) fn rebuild(&mut self, present: &[AgentKey]) -> bool {
        self.slots.retain(|slot| present.contains(&slot.agent));
        let before = self.slots.len();
        for agent in present {
            if self.position(*agent).is_none() {
                self.slots.push(Slot::new(*agent));
            }
        }
        self.slots.len() > before
    }

    /// Puts the list into a random order, each order that is allowed equally likely: orders
    /// are drawn until one is. Half of all orders are allowed or more, so a hundred draws in vain do
    /// not happen; if they did, the last order drawn would stand.
    pub(crate) fn shuffle(&mut self, rng: &mut Rng, is_allowed: impl Fn(&[Slot]) -> bool) {
        for _ in 0..DRAWS_MAX {
            for unplaced in (2..=self.slots.len()).rev() {
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
