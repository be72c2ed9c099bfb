//! The one worker of a room: stores the state, then does what it asks for, in order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{Effect, MessageId, Rest, RunId, Snapshot, Timestamp, TurnId};

use crate::room::{Room, Work};
use crate::shared::{Shared, Stage};
use crate::{Certainty, ChannelRecord, Commit, CommitError, Durability, Revision};

/// The wait after a failed commit; doubles up to [`STORE_WAIT_MAX`].
const STORE_WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts at the store.
const STORE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How many attempts at the store are remembered whose answer was lost.
const DOUBTS_MAX: usize = 64;

/// Works until there is nothing left to do for the room.
pub(crate) async fn work_for(shared: Arc<Shared>, room: Arc<Room>) {
    let mut work = VecDeque::new();
    while take_work(&room, &mut work) {
        if !store_and_tell(&shared, &room).await {
            return shared.abandon(&room);
        }
        while let Some(item) = work.pop_front() {
            if !perform_and_tell(&shared, &room, item).await {
                return shared.abandon(&room);
            }
        }
    }
    shared.park(&room, 0);
}

/// Stores the state, then tells those who wait for that. `false` when another process has taken
/// the channel over.
async fn store_and_tell(shared: &Shared, room: &Room) -> bool {
    let waiting = std::mem::take(&mut room.lock().tells);
    let stored = store(shared, room).await;
    if stored {
        for tell in waiting {
            // Whoever waited may have gone.
            let _ = tell.send(());
        }
    }
    stored
}

/// Performs one piece of work. Who waits for the store meanwhile does not wait for the work too.
async fn perform_and_tell(shared: &Arc<Shared>, room: &Arc<Room>, item: Work) -> bool {
    let working = perform(shared, room, item);
    tokio::pin!(working);
    loop {
        tokio::select! {
            biased;
            () = &mut working => return true,
            () = room.told.notified() => {
                if !store_and_tell(shared, room).await {
                    return false;
                }
            }
        }
    }
}

/// Takes what is to be done; ends the worker when there is nothing. The state that is stored next
/// is this one or a later one, which holds all that led to this work.
fn take_work(room: &Room, work: &mut VecDeque<Work>) -> bool {
    let mut state = room.lock();
    state.busy = state.has_work();
    std::mem::swap(work, &mut state.work);
    state.busy
}

/// The state as it is to be stored; `None` when it is stored already. It counts as stored from here
/// on, so that what changes while it is on its way is stored after it.
fn take_commit(room: &Room) -> Option<Commit> {
    let mut state = room.lock();
    if !state.is_dirty() {
        return None;
    }
    let mut record = ChannelRecord { callback: state.callback, ..ChannelRecord::blank() };
    state.channel.snapshot_into(&mut record.snapshot);
    record.outgoing = state.active.as_ref().and_then(|active| active.outgoing.clone());
    let durability = std::mem::replace(&mut state.durability, Durability::Turn);
    state.stored_machine = Some(state.channel.revision());
    Some(Commit { channel: room.id, expected: state.stored, record, durability })
}

/// Stores until it is stored: nothing is done before. A store that stays out of order stops this
/// room, visibly, and not the others. `false` when another process has taken the channel over.
async fn store(shared: &Shared, room: &Room) -> bool {
    let mut wait = STORE_WAIT;
    // What was sent and perhaps stored, although nobody said so.
    let mut in_doubt = VecDeque::new();
    while let Some(commit) = take_commit(room) {
        let Commit { expected, durability, .. } = commit;
        let sent = Sent::of(&commit.record);
        let attempt = shared.store.commit(commit);
        match shared.within(shared.settings.work_deadline, attempt).await {
            Ok(Ok(revision)) => {
                room.lock().stored = revision;
                return true;
            }
            // The answer to our own attempt may be what was lost: then go on from what it stored.
            Ok(Err(CommitError::Conflict { found })) if !in_doubt.is_empty() => {
                if !is_ours(shared, room, expected, &in_doubt).await {
                    return taken_over(room, found);
                }
                room.lock().stored = found;
                not_stored(room, durability);
                in_doubt.clear();
            }
            Ok(Err(CommitError::Conflict { found })) => return taken_over(room, found),
            Ok(Err(CommitError::Store(error))) | Err(error) => {
                tracing::warn!(channel = %room.id, %error, "the store failed; trying again");
                not_stored(room, durability);
                if error.certainty() == Certainty::Unknown && !in_doubt.contains(&sent) {
                    in_doubt.push_back(sent);
                    in_doubt.drain(..in_doubt.len().saturating_sub(DOUBTS_MAX));
                }
                shared.clock.sleep_until(shared.clock.now() + wait).await;
                wait = STORE_WAIT_MAX.min(wait * 2);
            }
        }
    }
    true
}

/// What tells a record from another process's: two that agree in all this, to the millisecond and to
/// the next random number, were made by the same inputs.
#[derive(PartialEq, Eq)]
struct Sent {
    now: Timestamp,
    changes: u64,
    turn: TurnId,
    next_ticket: u64,
    rng: u64,
    newest: Option<MessageId>,
    rest: Option<Rest>,
    /// The run whose reply is being posted, and up to which message.
    outgoing: Option<(RunId, Option<MessageId>)>,
}

impl Sent {
    fn of(record: &ChannelRecord) -> Self {
        let Snapshot { now, revision, turn, next_ticket, rng, newest, rest, .. } = record.snapshot;
        let outgoing = record.outgoing.as_ref().map(|reply| (reply.run, reply.newest_posted()));
        Self { now, changes: revision, turn, next_ticket, rng, newest, rest, outgoing }
    }
}

fn taken_over(room: &Room, found: Revision) -> bool {
    tracing::error!(channel = %room.id, found = found.get(), "another process has taken the channel over");
    false
}

/// Whether what is stored now is what we sent; reads until the store can tell.
async fn is_ours(shared: &Shared, room: &Room, expected: Revision, sent: &VecDeque<Sent>) -> bool {
    let mut wait = STORE_WAIT;
    loop {
        let read = shared.store.load(room.id);
        match shared.within(shared.settings.work_deadline, read).await.and_then(|read| read) {
            Ok(stored) => {
                return stored.is_some_and(|stored| {
                    stored.revision == expected.next() && sent.contains(&Sent::of(&stored.record))
                });
            }
            Err(error) => {
                tracing::warn!(channel = %room.id, %error, "the store failed; trying again");
                shared.clock.sleep_until(shared.clock.now() + wait).await;
                wait = STORE_WAIT_MAX.min(wait * 2);
            }
        }
    }
}

/// The state that was taken is to be taken again, to survive as much.
fn not_stored(room: &Room, durability: Durability) {
    let mut state = room.lock();
    state.stored_machine = None;
    if durability == Durability::Fact {
        state.durability = durability;
    }
}

async fn perform(shared: &Arc<Shared>, room: &Arc<Room>, item: Work) {
    match item {
        Work::Effect(effect) => perform_effect(shared, room, effect).await,
        Work::Call { agent, turn, run, attempt } => shared.call(room, agent, turn, run, attempt),
        Work::Post { in_doubt } => shared.post_outgoing(room, in_doubt).await,
        Work::TakeUpReply { stored } => shared.take_up_reply(room, stored).await,
    }
}

async fn perform_effect(shared: &Arc<Shared>, room: &Arc<Room>, effect: Effect) {
    if matches!(effect, Effect::Trigger { .. }) && shared.life.stage() >= Stage::Stopping {
        // It stays owed: the next process gives the turn.
        return;
    }
    let is_wanted = room.lock().channel.wants(&effect);
    if let (Some(ticket), false) = (effect.ticket(), is_wanted) {
        return shared.settle(room, ticket, dirigent_core::Settlement::Dropped);
    }
    match effect {
        Effect::Transition(transition) => shared.publish(room, transition),
        Effect::FetchMembers { ticket } => shared.fetch_members(room, ticket).await,
        Effect::Trigger { ticket, agent, turn, attempt } => {
            shared.trigger(room, ticket, agent, turn, attempt).await;
        }
        Effect::Delete { ticket, message } => shared.delete_trigger(room, ticket, message).await,
        Effect::Poll { ticket, after } => shared.poll(room, ticket, after).await,
        Effect::Notice { ticket, notice } => shared.post_notice(room, ticket, notice).await,
        Effect::Reminder { ticket, initiator, place } => {
            shared.remind(room, ticket, initiator, place).await;
        }
        Effect::Inject { agent, message, .. } => Shared::inject(room, agent, message),
        Effect::CancelRun { agent, run, turn } => Shared::cancel_call(room, agent, run, turn),
    }
}
