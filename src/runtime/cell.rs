//! A room with its lock, and with the handles of waiters and runs, which are not values.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use dirigent_core::{AgentKey, RunId, Timestamp, TurnId};
use tokio::sync::oneshot;

use super::texts::TextShare;
use crate::ChannelId;
use crate::ports::turn_link::TurnLink;
use crate::record::outbox::OutboxKind;
use crate::room::Room;
use crate::room::action::{Action, ActionId, Started};
use crate::room::commit::Stamp;
use crate::values::deferral_key::DeferralKey;
use crate::values::sync::locked;

/// The number of reported ends of runs that a channel remembers.
const ENDS_MAX: usize = 32;

#[derive(Debug)]
pub(crate) struct RoomCell {
    pub(crate) id: ChannelId,
    state: Mutex<CellState>,
}

#[derive(Debug)]
pub(crate) struct CellState {
    pub(crate) room: Room,
    pub(crate) epochs: Epochs,
    /// Callers that wait for something that the room does not have yet.
    waiters: Vec<(Awaited, oneshot::Sender<()>)>,
    /// Calls of agents and of the orchestrator that have not returned, with the driver's end of each.
    called: Vec<(ActionId, Arc<TurnLink>)>,
    pub(crate) deferrals: Vec<(DeferralKey, oneshot::Sender<TurnId>)>,
    /// The newest reported ends of runs, oldest first, so that a repeated end counts once.
    ended: VecDeque<(AgentKey, RunId)>,
    pub(super) texts: Option<TextShare>,
    /// The deadline that the timers know.
    pub(crate) due: Option<Timestamp>,
    /// `true` if the driver is already called.
    pub(crate) is_ready: bool,
    /// The time since when listeners know that the channel is in its phase. `None` before they know of one.
    pub(super) phase_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Epochs {
    /// The newest gap that was opened in it.
    pub(crate) gap: u32,
    /// The newest change of online agents that it knows. 0 means none of this process.
    pub(crate) presence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The state of this stamp is stored.
    Stored(Stamp),
    /// The first attempt at a discussion's guide or result was made.
    FirstAttempt(OutboxKind),
    /// The missed messages are read.
    NoGap,
    /// The requested member list has come, or will not come soon.
    Members,
}

impl RoomCell {
    pub(crate) fn new(room: Room, epochs: Epochs) -> Self {
        let state = CellState {
            room,
            epochs,
            waiters: Vec::new(),
            called: Vec::new(),
            deferrals: Vec::new(),
            ended: VecDeque::new(),
            texts: None,
            due: None,
            is_ready: false,
            phase_since: None,
        };
        Self { id: state.room.id(), state: Mutex::new(state) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, CellState> {
        locked(&self.state)
    }

    /// Returns a receiver that resolves once the condition is true. It is dropped if another process takes the channel
    /// over.
    pub(crate) fn wait_for(&self, awaited: Awaited) -> oneshot::Receiver<()> {
        self.lock().wait_for(awaited)
    }
}

impl CellState {
    /// Waits like [`RoomCell::wait_for`], in a cell that is already locked.
    pub(crate) fn wait_for(&mut self, awaited: Awaited) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.waiters.push((awaited, tell));
        // The condition may already be true.
        self.release_waiters();
        told
    }

    /// Notifies the waiters that got what they waited for, and drops those that have gone. Waiters that could only wait
    /// forever are dropped, too.
    pub(crate) fn release_waiters(&mut self) {
        let room = &self.room;
        let is_met = |awaited: Awaited| match awaited {
            Awaited::Stored(stamp) => room.look().commit().is_committed(stamp),
            Awaited::FirstAttempt(kind) => room.look().is_attempted(kind),
            Awaited::NoGap => !room.look().has_gap(),
            Awaited::Members => !room.look().reads_members(),
        };
        // Nothing more is stored here, so these would wait for ever. Dropping them tells their callers.
        if room.look().commit().is_taken_over() {
            self.waiters.retain(|(awaited, _)| is_met(*awaited));
        }
        let mut at = 0;
        while let Some((awaited, tell)) = self.waiters.get(at) {
            if is_met(*awaited) || tell.is_closed() {
                let (_, tell) = self.waiters.swap_remove(at);
                // The caller may have gone.
                let _ = tell.send(());
            } else {
                at += 1;
            }
        }
    }

    /// Remembers that a host reported the end of this run, and that it was recorded.
    pub(crate) fn remember_end(&mut self, agent: AgentKey, run: RunId) {
        if self.ended.len() >= ENDS_MAX {
            self.ended.pop_front();
        }
        self.ended.push_back((agent, run));
    }

    /// Returns whether a host recently reported the end of this run, and it was recorded.
    pub(crate) fn remembers_end(&self, agent: AgentKey, run: RunId) -> bool {
        self.ended.contains(&(agent, run))
    }

    /// Gives a call its link before others can lock the room.
    pub(super) fn prepare(&mut self, started: &Started) {
        if matches!(started.action, Action::Call(_) | Action::Consult(_)) {
            let waits = matches!(&started.action, Action::Call(request) if request.paused);
            // There is rarely more than one, because a cancelled call has a short grace.
            self.called.reserve_exact(1);
            self.called.push((started.id, Arc::new(TurnLink::new(waits))));
        }
    }

    pub(super) fn link(&self, id: ActionId) -> Option<&Arc<TurnLink>> {
        self.called.iter().find(|(called, _)| *called == id).map(|(_, link)| link)
    }

    /// Records the end of an action. If it was a call, it has returned.
    pub(super) fn returned(&mut self, id: ActionId) {
        if let Some(at) = self.called.iter().position(|(called, _)| *called == id) {
            self.called.swap_remove(at);
        }
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        let look = self.room.look();
        // The record does not contain that a result was given up, so a room that is loaded again would show it as
        // ready, and try again.
        let is_shown = look.given_up() > 0;
        look.is_at_rest() && !is_shown && !self.is_ready && self.waiters.is_empty()
    }
}
