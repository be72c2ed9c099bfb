//! The driver's loop.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::time::Duration;

use dirigent_core::Timestamp;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, TryFutureExt};
use tokio::sync::mpsc;

use super::Runtime;
use super::cell::RoomCell;
use super::host_code::{Panicked, answered};
use super::perform::{not_called, report_of};
use super::request::{Asked, Finished, Request, Spare};
use super::room_table::RoomRef;
use super::run_error::RunError;
use super::startup::in_time;
use crate::admission::{Admission, Limits, Next};
use crate::ports::ownership::Standing;
use crate::room::Room;
use crate::room::action::{Action, ActionId, ConsultAnswer, Outcome, Started};
use crate::room::commit::buffers::BufferPool;
use crate::room::context::Context;
use crate::room::doorway::Doorway;
use crate::values::call_error::DriverEnd;
use crate::values::stage::DriverStage;
use crate::{ChannelId, UserId};

/// The longest sleep of the driver, so that it notices a clock that was set.
const SLEEP_MAX: Duration = Duration::from_secs(30);

/// Carries decisions out: it stores, posts, calls agents, and keeps the time. You run it once.
#[derive(Debug)]
#[must_use = "nothing happens until the driver runs"]
pub struct Driver {
    runtime: Arc<Runtime>,
    pub(super) ready: mpsc::UnboundedReceiver<Arc<RoomCell>>,
    /// It also acts if the driver is dropped before it ran, because no call may wait for it.
    end: EndOnDrop,
}

impl Driver {
    pub(crate) fn new(
        runtime: Arc<Runtime>,
        ready: mpsc::UnboundedReceiver<Arc<RoomCell>>,
    ) -> Self {
        let end = EndOnDrop(Arc::clone(&runtime));
        Self { runtime, ready, end }
    }

    /// Runs until [`Dirigent::shutdown`](crate::Dirigent::shutdown). It reads the stores, then reads what it missed,
    /// and then works.
    ///
    /// A store on disk stays locked until every clone of it is gone, including those of the driver and the handles. If
    /// you want to open it again in the same process, first drop these, or close the store.
    ///
    /// # Errors
    ///
    /// Fails if it cannot start, because the chat refuses the account, or a store cannot be read.
    ///
    /// Fails with [`RunError::Panicked`] if it cannot go on, because its clock, its ownership or the library itself
    /// panicked. Every later call says so.
    ///
    /// Fails with [`RunError::GivesWay`] if it was shut down while it granted no turns in a channel, because another
    /// process with the same tokens speaks there. If your `main` returns the error, the exit code shows it.
    ///
    /// # Panics in your code
    ///
    /// If an agent panics, only its turn is over. If your chat, store, registry, waker or orchestrator panics, it
    /// counts as a request without an answer. The log says so at error level, and the channel goes on as after any
    /// other failed request. A recorder that panics has missed an input.
    ///
    /// For this your program must unwind. It does, unless its profile has `panic = "abort"`. In that case a panic ends
    /// the process, and the next process goes on from the store.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, the effect is that of the end of the process. The next driver on the same stores goes on
    /// from what was stored.
    pub async fn run(self) -> Result<(), RunError> {
        let Self { runtime, ready, end } = self;
        // Dropped last, so that callers who wait for the end learn the reason.
        let _end = end;
        // After a panic only the parts that other tasks share are used again: rooms, whose records are whole.
        let lived = AssertUnwindSafe(runtime.live(ready)).catch_unwind().await;
        lived.unwrap_or_else(|payload| {
            let Panicked(said) = Panicked::from_payload(&*payload);
            tracing::error!(panic = %said, "the driver panicked and cannot go on: no channel is served any more");
            runtime.life.end_by(DriverEnd::Panicked(Arc::clone(&said)));
            Err(RunError::Panicked(said))
        })
    }
}

impl Runtime {
    async fn live(
        self: &Arc<Self>,
        ready: mpsc::UnboundedReceiver<Arc<RoomCell>>,
    ) -> Result<(), RunError> {
        self.life.reach(DriverStage::Starting);
        // A shutdown during a start that waits for a chat ends it at once.
        tokio::select! {
            biased;
            () = self.life.until(DriverStage::Stopping) => return Ok(()),
            started = self.start() => started.inspect_err(|error| {
                self.life.end_by(DriverEnd::NotStarted(error.to_string().into()));
            })?,
        }
        self.life.reach(DriverStage::Running);
        Loop::new(self, ready).run().await;
        self.twins.any_that_gives_way().map_or(Ok(()), |channel| Err(RunError::GivesWay(channel)))
    }

    async fn start(&self) -> Result<(), RunError> {
        self.load_registry().await?;
        let known = async { self.store.channels().await };
        let known = in_time(self, known).await.map_err(RunError::Channels)?;
        self.rooms.know(known);
        let known = self.rooms.known();
        self.tell_what_there_is(known.len());
        // Another process reads its own channels.
        let held = |channel: &ChannelId| self.standing(*channel) != Standing::Elsewhere;
        self.catch_up.call(known.into_iter().filter(held));
        Ok(())
    }

    /// Logs in one line what the bot was started with, because an operator of a silent bot looks there first.
    fn tell_what_there_is(&self, channels: usize) {
        let (directory, hosted) = (self.registry.directory(), self.registry.hosts().len());
        let agents = directory.accounts().len();
        let moderator = directory.moderator().map_or(0, UserId::get);
        tracing::info!(agents, hosted, moderator, channels, store = self.store.name(), "started");
        // Such a bot is silent, and nothing else says why.
        if agents < 2 {
            tracing::warn!(
                agents,
                "fewer than two agents are registered: no turns are kept. Host another one, or register it"
            );
        }
        if channels == 0 {
            tracing::info!(
                "no channel has turns yet: give it some with /set-channel-mode, or with Channel::set_mode"
            );
        }
    }
}

/// Follows which channels belong to this process, and which changes other processes make in the registry, beside the
/// loop.
async fn follow(runtime: &Arc<Runtime>) {
    tokio::join!(runtime.follow_ownership(), runtime.follow_registry());
}

/// The time after the start after which the log warns that the host has reported no event. A gateway first says that it
/// is connected.
const TOLD_WITHIN: Duration = Duration::from_secs(8);

/// The most ready things that are handled between two looks at the clock.
const READY_AT_ONCE: u32 = 16;

/// The number of rounds after which other tasks of the thread run. If agents, chat and store answer at once, something
/// is always ready, and a host on one thread could not stop the driver.
const ROUNDS_AT_ONCE: u32 = 32;

/// The most actions that may follow from one another at once before other rooms have their turn.
const OVER_AT_ONCE: u32 = 32;

type Done = (ActionId, Outcome);

struct Loop<'p> {
    runtime: &'p Arc<Runtime>,
    ready: mpsc::UnboundedReceiver<Arc<RoomCell>>,
    admission: Admission,
    running: FuturesUnordered<BoxFuture<'p, Finished>>,
    /// The memory of a request that was over at once, for the next request.
    spare: Option<Spare<'p>>,
    /// The actions that a room has offered, and that still have to start.
    started: Vec<Started>,
    /// The actions that were over as soon as they had begun. Their rooms do not know it yet.
    over: Vec<Finished>,
    buffers: BufferPool,
    /// The time when the driver checks whether the host has reported any event.
    deaf_at: Option<Timestamp>,
}

impl<'p> Loop<'p> {
    fn new(runtime: &'p Arc<Runtime>, ready: mpsc::UnboundedReceiver<Arc<RoomCell>>) -> Self {
        let settings = &runtime.settings;
        let admission = Admission::new(Limits {
            pacing: settings.limits.pacing,
            calls_max: settings.limits.calls_max,
            agent_calls_max: settings.limits.agent_calls_max,
            consults_max: settings.limits.calls_max,
        });
        Self {
            runtime,
            ready,
            admission,
            running: FuturesUnordered::new(),
            spare: None,
            started: Vec::new(),
            over: Vec::new(),
            buffers: BufferPool::default(),
            deaf_at: Some(runtime.clock.now() + TOLD_WITHIN),
        }
    }

    async fn run(mut self) {
        let runtime = self.runtime;
        let mut backfill = pin!(runtime.keep_up_to_date());
        let mut backfills = true;
        let mut following = pin!(follow(runtime));
        let mut follows = true;
        let mut last = runtime.clock.now();
        let mut rounds = 0;
        loop {
            rounds = (rounds + 1) % ROUNDS_AT_ONCE;
            if rounds == 0 {
                tokio::task::yield_now().await;
            }
            // Before the rooms, because their next messages would need the memory.
            if runtime.texts.is_spent() {
                self.make_room_for_texts();
            }
            let now = runtime.clock.now();
            self.look_whether_told(now);
            self.keep_time(now, last);
            last = now;
            let stage = runtime.life.stage();
            let is_stopping = stage >= DriverStage::Stopping;
            // A commit that waits for its retry, or a part of a reply that may go, is finished within the grace.
            if stage >= DriverStage::Ending || (is_stopping && !backfills && self.is_done()) {
                break;
            }
            let deadline = self.next_deadline(now);
            tokio::select! {
                biased;
                Some(cell) = self.ready.recv() => self.serve(&cell),
                Some(finished) = self.running.next() => self.finish(finished),
                () = &mut backfill, if backfills => backfills = false,
                () = &mut following, if follows => follows = false,
                () = runtime.timers.woken() => {}
                () = runtime.sleep_until(deadline) => {}
                () = runtime.life.until(DriverStage::Stopping), if !is_stopping => {}
                () = runtime.life.until(DriverStage::Ending), if is_stopping => break,
            }
            // Ready things need no look at the clock and at the deadlines in between.
            let mut taken = 0;
            while taken < READY_AT_ONCE && self.take_ready() {
                taken += 1;
            }
        }
    }

    /// Warns once if the host has reported no event. No message wakes an agent then, and nothing else would say why.
    /// Even in a chat without activity the host reports that it is connected.
    fn look_whether_told(&mut self, now: Timestamp) {
        if self.runtime.sight.is_told() {
            self.deaf_at = None;
        }
        if self.deaf_at.is_none_or(|at| now < at) {
            return;
        }
        self.deaf_at = None;
        tracing::warn!(
            "nothing was told since the start: no person's message wakes an agent until you hand on what the gateway hears, to a \
             Feed of dirigent-discord or to Dirigent::message_created"
        );
    }

    /// Drops the messages of the channels that were idle for the longest time, until there is room again.
    fn make_room_for_texts(&self) {
        let mut rooms: Vec<_> = self.runtime.rooms.all_awake();
        rooms.sort_by_cached_key(|room| room.lock().room.look().newest());
        for room in rooms {
            if self.runtime.texts.is_low() {
                break;
            }
            let mut state = room.lock();
            if state.room.look().text_bytes() > 0 {
                if let Some(inbox) = state.room.inbox() {
                    inbox.give_way();
                }
                let state = &mut *state;
                self.runtime.texts.note(&mut state.texts, &state.room);
                tracing::debug!(channel = %room.id, "memory is short: what is still to be handed to agents is read again");
            }
        }
    }

    /// Returns whether a driver that stops has no work left: no action is in progress, and no commit and no reply waits
    /// for its next attempt.
    fn is_done(&self) -> bool {
        let is_idle = self.running.is_empty() && self.ready.is_empty();
        is_idle
            && !self
                .runtime
                .rooms
                .all_awake()
                .iter()
                .any(|room| room.lock().room.look().is_finishing())
    }

    /// Fires the deadlines of all rooms, and moves the lines.
    fn keep_time(&mut self, now: Timestamp, last: Timestamp) {
        self.tick(now);
        if now < last {
            // The clock was set back. The rest of every wait stays the same.
            self.step_back(last);
            self.runtime.presence.lock().move_back(now, last.since(now));
            self.runtime.leaving.move_back(last.since(now));
            self.runtime.twins.move_back(last.since(now));
        }
        self.runtime.miss_heartbeats(now);
        self.move_lines(now);
    }

    /// Polls the rooms at the head of the lines, one after the other. If a room has no request there, the next one has
    /// its turn at once.
    fn move_lines(&mut self, now: Timestamp) {
        // Bounded, because each of them may let the next one through.
        for _ in 0..READY_AT_ONCE {
            let Some(Next { room, is_for_chat }) = self.admission.next(now) else {
                return;
            };
            if let Some(room) = self.runtime.rooms.awake(room) {
                if is_for_chat {
                    // Its own back-off must not keep the account's one probe waiting.
                    room.lock().room.retry_now();
                }
                self.look_at(room, None, true, Some(now));
                self.follow(OVER_AT_ONCE, None);
            }
        }
    }

    fn tick(&self, now: Timestamp) {
        self.runtime.leaving.tick(now);
        // One flag, because this is asked in each round and a second process is rare.
        if self.runtime.twins.is_any() {
            self.go_on_alone(now);
        }
        for channel in self.runtime.timers.overdue(now) {
            self.tick_room(channel);
        }
    }

    /// Grants turns again in channels that another process has not posted in for long.
    #[cold]
    fn go_on_alone(&self, now: Timestamp) {
        for channel in self.runtime.twins.tick(now) {
            tracing::info!(%channel, "the other process has posted nothing for ten minutes: turns are granted here again");
            self.tick_room(channel);
        }
    }

    fn tick_room(&self, channel: ChannelId) {
        // If it has left memory, its deadline has gone, too.
        if let Some(room) = self.runtime.rooms.awake(channel) {
            self.runtime.update(&room, Room::tick);
        }
    }

    /// Lets each room live up to the time before the clock was set back, so that the rest of its waits stays the same.
    fn step_back(&self, last: Timestamp) {
        for room in self.runtime.rooms.all_awake() {
            self.runtime.update_cell(&room, Some(last), |state, cx, at| {
                if state.room.look().time() <= at {
                    state.room.tick(cx, at);
                }
            });
            self.runtime.update(&room, Room::tick);
        }
    }

    fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let runtime = &self.runtime;
        let due = [
            runtime.timers.earliest(),
            runtime.presence.next_silence(),
            runtime.leaving.earliest(),
            self.admission.next_deadline(),
            self.deaf_at,
        ];
        let mut due = due.into_iter().flatten().min();
        if runtime.twins.is_any() {
            due = due.into_iter().chain(runtime.twins.earliest()).min();
        }
        due.map(|due| due.min(now + SLEEP_MAX))
    }

    /// Handles one thing that is already ready. Returns whether there was one.
    fn take_ready(&mut self) -> bool {
        if let Ok(cell) = self.ready.try_recv() {
            self.serve(&cell);
            return true;
        }
        // Everything else is polled again, with a waker, before the driver waits.
        let finished = self.running.next().now_or_never().flatten();
        finished.map(|finished| self.finish(finished)).is_some()
    }

    fn serve(&mut self, cell: &Arc<RoomCell>) {
        // A channel that was erased and made anew has another cell, which calls for itself.
        let pin = self.runtime.rooms.awake(cell.id).filter(|pin| Arc::ptr_eq(&**pin, cell));
        let Some(pin) = pin else {
            // It has left memory. A task that still has the cell may call again.
            cell.lock().is_ready = false;
            return;
        };
        let now = self.look_at(pin, None, true, None);
        self.follow(OVER_AT_ONCE, Some(now));
    }

    fn finish(&mut self, finished: Finished) {
        self.over.push(finished);
        self.follow(OVER_AT_ONCE, None);
    }

    /// Reports the outcomes of finished actions to their rooms, and starts what follows. If requests are answered at
    /// once, this goes up to the call of the next agent.
    fn follow(&mut self, mut most: u32, mut now: Option<Timestamp>) {
        while let Some(Finished { room, id, outcome }) = self.over.pop() {
            most = most.saturating_sub(1);
            now = Some(self.look_at(room, Some((id, outcome)), most > 0, now));
        }
    }

    /// Begins an action. With `tries`, a request is polled once before anything else happens.
    fn start(&mut self, room: RoomRef, started: Started, began: Timestamp, tries: bool) {
        let Started { id, action, time_out, not_after } = started;
        let (runtime, spare) = (self.runtime, &mut self.spare);
        let asked = match action {
            Action::Call(request) => {
                // The link exists since the room decided, because a cancellation may come before the call begins.
                let link = room.lock().link(id).cloned().unwrap_or_default();
                return self.running.push(Box::pin(async move {
                    let (of, channel) = ((request.agent, request.turn, request.run), room.id);
                    // The process may have stood still since the room asked for it. Another process may have the
                    // channel by now, and two agents would speak.
                    let outcome = if runtime.owned(channel).acts() {
                        let returned = |failed| runtime.call_ended(channel, of, failed);
                        let shared = Arc::clone(&link);
                        let call = runtime.call_agent(&room, (request, began), shared, returned);
                        // The end of a call drops values of the host, and its code may panic there.
                        let called = answered("the end of an agent's call", call).await;
                        called.unwrap_or_else(|_| not_called(&link))
                    } else {
                        not_called(&link)
                    };
                    Finished { room, id, outcome }
                }));
            }
            Action::Consult(request) => {
                let link = room.lock().link(id).cloned().unwrap_or_default();
                return self.running.push(Box::pin(async move {
                    let consult = runtime.ask_orchestrator(room.id, *request, &link);
                    let consulted = answered("the end of a consultation", consult).await;
                    let outcome = consulted.unwrap_or(Outcome::Consulted(ConsultAnswer::Failed));
                    Finished { room, id, outcome }
                }));
            }
            Action::WakeRoom { room: callback, first } => {
                let waking = runtime.wake_callback(callback, first);
                Asked::other("a callback room", spare, waking.map_ok(|()| Outcome::RoomWoken))
            }
            request @ (Action::Commit(_)
            | Action::ReadBack
            | Action::Post { .. }
            | Action::Wake(_)
            | Action::Delete { .. }
            | Action::Members
            | Action::History { .. }) => runtime.perform(room.id, request, spare),
        };
        let clock = runtime.clock.as_ref();
        let limits = super::request::Limits { began, time_out, not_after };
        let trouble = &runtime.store_trouble;
        let request = Request { room, id, limits, clock, trouble, asked, time_out: None };
        self.start_request(request, tries);
    }

    fn start_request(&mut self, mut request: Request<'p>, tries: bool) {
        // With a fast store and chat most requests are over at once, and then need no memory of their own.
        if tries {
            // A request that waits is polled again, with a waker.
            let mut context = task::Context::from_waker(Waker::noop());
            if let Poll::Ready(outcome) = request.poll(&mut context) {
                let Request { room, id, asked, .. } = request;
                self.over.push(Finished { room, id, outcome });
                if let Asked::Other { asked, .. } = asked {
                    self.spare = Some(asked);
                }
                return;
            }
        }
        self.running.push(Box::pin(request.wait()));
    }

    /// Starts every action that the room offers, after it learned the outcome of an earlier one. Returns the time at
    /// that moment. `read` is a time that was read since the driver last waited.
    fn look_at(
        &mut self,
        pin: RoomRef,
        done: Option<Done>,
        tries: bool,
        read: Option<Timestamp>,
    ) -> Timestamp {
        let (now, is_taken_over) = self.next_actions(&pin, done, read);
        // Pinned outside the room's lock, because that is taken after the table's. The last action has `pin`.
        let last = self.started.pop();
        // The order is the room's: a signal or a post that was decided first starts first.
        while !self.started.is_empty() {
            let action = self.started.remove(0);
            self.start(pin.again(), action, now, tries);
        }
        if is_taken_over {
            let is_released = self.runtime.rooms.release_taken_over(&pin);
            // With an ownership this is expected, and is logged where the channel goes.
            if is_released && self.runtime.ownership.is_none() {
                tracing::error!(channel = %pin.id, "another process has taken the channel over");
            }
        }
        let cell = Arc::clone(&pin);
        if let Some(action) = last {
            self.start(pin, action, now, tries);
        }
        // Otherwise the room is looked at again at once.
        if self.over.is_empty() {
            self.runtime.after_look(&cell, &mut cell.lock());
        }
        now
    }

    /// Collects every action that the room offers now, under one lock of the room. Returns the time, and whether
    /// another process has the channel.
    fn next_actions(
        &mut self,
        cell: &Arc<RoomCell>,
        done: Option<Done>,
        read: Option<Timestamp>,
    ) -> (Timestamp, bool) {
        let Self { runtime, admission, buffers, started, .. } = self;
        runtime.with_context(|cx| {
            let mut state = cell.lock();
            state.is_ready = false;
            // Another thread may have given the room a later time.
            let read = read.filter(|read| *read >= state.room.look().time());
            let now = read.unwrap_or_else(|| runtime.clock.now());
            let is_done = done.is_some();
            let standing = runtime.standing(cell.id);
            // The usual case copies no context, because a hosted turn has a ceiling of instructions.
            let restrained = (standing != Standing::Held)
                .then(|| Context { stage: runtime.stage_for(standing), ..*cx });
            let cx = restrained.as_ref().unwrap_or(cx);
            if let Some((id, outcome)) = done {
                if matches!(outcome, Outcome::Members(_)) {
                    // Before the list gives an agent a turn, so that an agent that may not write gets none.
                    runtime.look_at_rights(&mut state, cx, now);
                }
                let report = report_of(&outcome, now);
                if let Some(admitted) = state.room.done(cx, now, id, outcome) {
                    admission.report(now, &admitted, report);
                }
                state.returned(id);
                runtime.perform_signals(&mut state, cx, now);
            }
            let is_done = is_done || standing == Standing::Elsewhere;
            if standing == Standing::Elsewhere {
                // No commit may report this, for example if nothing is left to store.
                state.room.abandon(now);
            }
            let mut door = Doorway { admission, buffers, started };
            loop {
                while state.room.next_action(cx, now, &mut door) {
                    if let Some(started) = door.started.last() {
                        state.prepare(started);
                    }
                }
                // A signal may let a lane go on, for example when a deferred run learns of its turn.
                if !runtime.perform_signals(&mut state, cx, now) {
                    break;
                }
            }
            (now, is_done && state.room.look().commit().is_taken_over())
        })
    }
}

/// Releases callers that wait for the driver, however it ends.
#[derive(Debug)]
struct EndOnDrop(Arc<Runtime>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // A driver that is dropped before it ran, or in the middle, must not leave its callers waiting.
        if self.0.life.stage() < DriverStage::Stopping {
            self.0.life.end_by(DriverEnd::Dropped);
        }
        self.0.life.reach(DriverStage::Ended);
    }
}

impl fmt::Debug for Loop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loop").field("running", &self.running.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
