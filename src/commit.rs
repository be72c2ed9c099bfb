//! Storing what a room is, for certain and only over what this process has stored itself.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{MessageId, Rest, RunId, Snapshot, Timestamp, Transition, TurnId};

use crate::room::Room;
use crate::shared::Shared;
use crate::{Certainty, ChannelRecord, Commit, CommitError, Durability, LetterKind, Revision};

/// The wait after a failed commit; doubles up to [`STORE_WAIT_MAX`].
const STORE_WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts at the store.
const STORE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How many attempts at the store are remembered whose answer was lost.
const DOUBTS_MAX: usize = 64;

/// The state as it is to be stored; `None` when it is stored already. It counts as stored from here
/// on, so that what changes while it is on its way is stored after it.
fn take_commit(room: &Room) -> Option<Commit> {
    let mut state = room.lock();
    if !state.is_dirty() {
        return None;
    }
    let active = state.active.as_ref();
    let mut record = ChannelRecord {
        discussion: state.discussion.clone(),
        letters: active.map_or_else(Vec::new, |a| a.outbox.letters().cloned().collect()),
        outgoing: active.and_then(|active| active.outgoing.clone()),
        held: active.and_then(|active| active.held),
        ..ChannelRecord::blank()
    };
    state.channel.snapshot_into(&mut record.snapshot);
    let durability = std::mem::replace(&mut state.durability, Durability::Turn);
    state.stored_machine = Some(state.channel.revision());
    let transitions = std::mem::take(&mut state.transitions);
    Some(Commit { channel: room.id, expected: state.stored, record, durability, transitions })
}

/// Stores until it is stored: nothing is done before. A store that stays out of order stops this
/// room, visibly, and not the others. `false` when another process has taken the channel over.
pub(crate) async fn store(shared: &Shared, room: &Room) -> bool {
    let mut wait = STORE_WAIT;
    // What was sent and perhaps stored, although nobody said so.
    let mut in_doubt = VecDeque::new();
    while let Some(commit) = take_commit(room) {
        let Commit { expected, durability, .. } = commit;
        let sent = Sent::of(&commit.record);
        let transitions = commit.transitions.clone();
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
                not_stored(room, durability, Vec::new());
                in_doubt.clear();
            }
            Ok(Err(CommitError::Conflict { found })) => return taken_over(room, found),
            Ok(Err(CommitError::Store(error))) | Err(error) => {
                tracing::warn!(channel = %room.id, %error, "the store failed; trying again");
                not_stored(room, durability, transitions);
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
    /// Which letters wait, and how far they are.
    letters: Vec<(LetterKind, Timestamp, Option<MessageId>)>,
}

impl Sent {
    fn of(record: &ChannelRecord) -> Self {
        let Snapshot { now, revision, turn, next_ticket, rng, newest, rest, .. } = record.snapshot;
        let outgoing = record.outgoing.as_ref().map(|reply| (reply.run, reply.newest_posted()));
        let letters = record.letters.iter().map(|l| (l.kind, l.at, l.behind())).collect();
        Self { now, changes: revision, turn, next_ticket, rng, newest, rest, outgoing, letters }
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
fn not_stored(room: &Room, durability: Durability, mut transitions: Vec<Transition>) {
    let mut state = room.lock();
    state.stored_machine = None;
    transitions.append(&mut state.transitions);
    state.transitions = transitions;
    if durability == Durability::Fact {
        state.durability = durability;
    }
}
