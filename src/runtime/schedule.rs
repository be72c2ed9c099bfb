//! Decides when a room is looked at next: at once by the driver, or at its next deadline.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::cell::{CellState, RoomCell};
use super::texts::TextBudget;
use super::timers::Timers;

/// Calls the driver for rooms that may have an action to offer, and keeps the deadlines of the others.
pub(crate) struct Schedule {
    timers: Arc<Timers>,
    /// Rooms that may have an action to offer.
    ready: mpsc::UnboundedSender<Arc<RoomCell>>,
    texts: Arc<TextBudget>,
}

impl Schedule {
    pub(super) const fn new(
        timers: Arc<Timers>,
        ready: mpsc::UnboundedSender<Arc<RoomCell>>,
        texts: Arc<TextBudget>,
    ) -> Self {
        Self { timers, ready, texts }
    }

    /// An event has changed the room: its deadline moves, those who waited are told, and the driver is called where
    /// the room may have something to do.
    pub(super) fn after_event(&self, cell: &Arc<RoomCell>, state: &mut CellState) {
        self.texts.note(&mut state.texts, &state.room);
        // The driver makes room where the texts of all channels take too much.
        if state.room.look().may_act() || self.texts.is_spent() {
            // It moves the deadline once it has looked at the room.
            self.call_driver(cell, state);
            state.release_waiters();
        } else {
            self.after_look(cell, state);
        }
    }

    /// The same, where the driver has just looked at the room.
    pub(super) fn after_look(&self, cell: &Arc<RoomCell>, state: &mut CellState) {
        let is_ours = !state.room.look().commit().is_taken_over();
        let due = if is_ours { state.room.look().next_deadline() } else { None };
        if due != state.due {
            self.timers.set(cell.id, state.due, due);
            state.due = due;
        }
        state.release_waiters();
    }

    /// The driver is to look at the room.
    pub(super) fn call_driver(&self, cell: &Arc<RoomCell>, state: &mut CellState) {
        if !state.is_ready {
            state.is_ready = true;
            // The receiver is gone only when the driver is: then nothing is done any more.
            let _ = self.ready.send(Arc::clone(cell));
        }
    }
}
