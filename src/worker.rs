//! The one worker of a room: stores the state, then does what it asks for, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use dirigent_core::Effect;

use crate::commit::store;
use crate::held::Held;
use crate::life::Stage;
use crate::orchestrator::Question;
use crate::room::{Room, Work};
use crate::shared::Shared;

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

async fn perform(shared: &Arc<Shared>, room: &Arc<Room>, item: Work) {
    match item {
        Work::Effect(effect) => perform_effect(shared, room, effect).await,
        Work::Call { agent, turn, run, attempt } => {
            shared.call(room, agent, turn, run, attempt).await;
        }
        Work::Post { in_doubt } => shared.post_outgoing(room, in_doubt).await,
        Work::TakeUpReply { stored } => shared.take_up_reply(room, stored).await,
        Work::Letter(kind) => shared.send_letter(room, kind).await,
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
        Effect::Inject { agent, turn, message } => {
            shared.hand_over(room, Held { agent, turn, first: message, last: message }).await;
        }
        Effect::Deliver { agent, turn, first, last } => {
            shared.hand_over(room, Held { agent, turn, first, last }).await;
        }
        Effect::Consult { ticket, agent, turn, first, last } => {
            shared.consult(room, Question { ticket, agent, turn, first, last }).await;
        }
        Effect::CancelRun { agent, run, turn } => Shared::cancel_call(room, agent, run, turn),
    }
}
