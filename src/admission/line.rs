//! A queue: first in, first out. A room stands in a line once, and does not leave when it no longer needs the place.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::ChannelId;

/// The rooms that wait, oldest first, and what each waits for.
#[derive(Debug)]
pub(super) struct Line<T> {
    order: VecDeque<ChannelId>,
    wants: FxHashMap<ChannelId, T>,
    /// The room that is polled because its turn has come.
    turn: Option<ChannelId>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), wants: FxHashMap::default(), turn: None }
    }
}

impl<T: Copy> Line<T> {
    /// Adds a room at the end. A room that already waits keeps its place, whatever it waits for now.
    pub(super) fn join(&mut self, room: ChannelId, wanted: T) {
        if self.wants.insert(room, wanted).is_none() {
            self.order.push_back(room);
        }
    }

    /// Adds a room before all others.
    pub(super) fn put_first(&mut self, room: ChannelId, wanted: T) {
        self.leave(room);
        self.wants.insert(room, wanted);
        self.order.push_front(room);
    }

    /// Returns whether it is the room's turn, or no waiting room can go now. A room that already waits must wait for
    /// its turn, because only then it asks for everything that it needs.
    pub(super) fn passes(&mut self, room: ChannelId, can_go: impl Fn(T) -> bool) -> bool {
        let has_turn = self.turn.take_if(|turn| *turn == room).is_some();
        let passes = has_turn || self.first(can_go).is_none();
        if passes {
            self.leave(room);
        }
        passes
    }

    /// Removes and returns the first room that can go now, because it is its turn.
    pub(super) fn next(&mut self, can_go: impl Fn(T) -> bool) -> Option<ChannelId> {
        self.turn = self.first(can_go);
        if let Some(room) = self.turn {
            self.leave(room);
        }
        self.turn
    }

    /// Returns the first room that can go now.
    pub(super) fn first(&self, can_go: impl Fn(T) -> bool) -> Option<ChannelId> {
        let wants = |room: &&ChannelId| self.wants.get(room).is_some_and(|wanted| can_go(*wanted));
        self.order.iter().find(wants).copied()
    }

    fn leave(&mut self, room: ChannelId) {
        if self.wants.remove(&room).is_some() {
            let at = self.order.iter().position(|known| *known == room);
            at.and_then(|at| self.order.remove(at));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns all rooms, oldest first.
    pub(super) fn into_rooms(self) -> VecDeque<ChannelId> {
        self.order
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.order.len(), self.wants.len());
        self.order.len()
    }
}
