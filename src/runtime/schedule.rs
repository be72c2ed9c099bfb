//! Decides when a room is looked at next: at once by the driver, or at its next deadline.

use std::sync::Arc;

use super::Runtime;
use super::cell::{CellState, RoomCell};

impl Runtime {
    /// Handles a change of the room: moves its deadline, notifies waiters, and calls the driver if the room may have an
    /// action.
    pub(super) fn after_event(&self, cell: &Arc<RoomCell>, state: &mut CellState) {
        self.texts.note(&mut state.texts, &state.room);
        // The driver drops texts if those of all channels take too much memory.
        if state.room.look().may_act() || self.texts.is_spent() {
            // The driver moves the deadline after it has looked at the room.
            self.call_driver(cell, state);
            state.release_waiters();
        } else {
            self.after_look(cell, state);
        }
    }

    /// Like `after_event`, for a room that the driver has just looked at.
    pub(super) fn after_look(&self, cell: &Arc<RoomCell>, state: &mut CellState) {
        // A room that was taken over has nothing to wait for, and its deadline would wake the driver for ever.
        let is_ours = !state.room.look().commit().is_taken_over();
        let due = if is_ours { state.room.look().next_deadline() } else { None };
        // Most events leave the deadline as it is, and the queue's lock is that of all channels.
        if due != state.due {
            self.timers.set(cell.id, state.due, due);
            state.due = due;
        }
        state.release_waiters();
    }

    pub(super) fn call_driver(&self, cell: &Arc<RoomCell>, state: &mut CellState) {
        if !state.is_ready {
            state.is_ready = true;
            // The receiver is gone only after the driver, and then nothing is done any more.
            let _ = self.ready.send(Arc::clone(cell));
        }
    }
}
