//! The runtime between two threads, and between the two steps of a call.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use async_trait::async_trait;
use dirigent_core::{Input, Mode, Reason};
use tokio::sync::oneshot::error::TryRecvError;

use super::*;
use crate::admission::{AccountKey, Claim, ClaimKind, Report, Wait};
use crate::memory::MemoryChannels;
use crate::runtime::cell::{Awaited, Epochs};
use crate::runtime::fixture::{Quiet, built, executor};
use crate::{Agent, AgentError, ChannelId, Denial, Dirigent, Reply, Turn};

/// A channel that keeps turns and has left memory, and its runtime.
async fn parked(dirigent: &Dirigent) -> (ChannelId, Arc<Runtime>) {
    let (channel, runtime) = (ChannelId::new(7), Arc::clone(&dirigent.runtime));
    dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
    until_parked(&runtime, channel).await;
    (channel, runtime)
}

/// A channel that keeps turns and is in memory; nothing of it is stored yet.
fn published(runtime: &Arc<Runtime>) -> RoomRef {
    let now = runtime.clock.now();
    let room = Room::new(ChannelId::new(7), runtime.rules.config(), 0, 0, now);
    runtime.publish_room(room, &runtime.rules.config(), Epochs::default(), |room, cx, now| {
        room.input(cx, now, &Input::SetMode(Mode::Chat), true).0.unwrap();
    })
}

async fn until_parked(runtime: &Arc<Runtime>, channel: ChannelId) {
    for _ in 0..10_000 {
        if runtime.rooms.awake(channel).is_none() {
            return;
        }
        runtime.clock.sleep_until(runtime.clock.now() + Duration::from_millis(1)).await;
    }
    panic!("the channel stays in memory");
}

#[tokio::test]
async fn the_driver_can_be_called_again_for_a_room_that_left_memory() {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let (channel, runtime) = (ChannelId::new(7), &dirigent.runtime);
    let room = Room::new(channel, runtime.rules.config(), 0, 0, runtime.clock.now());
    let cell = Arc::new(RoomCell::new(room, Epochs::default()));
    runtime.call_driver(&cell, &mut cell.lock());
    Loop::new(runtime, driver.ready).serve(&cell);
    assert!(!cell.lock().is_ready);
}

#[tokio::test]
async fn what_is_over_at_once_follows_at_once_up_to_a_bound() {
    for bound in [1, OVER_AT_ONCE] {
        let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
        let runtime = &dirigent.runtime;
        let room = published(runtime);
        let mut driver = Loop::new(runtime, driver.ready);
        // The mode is stored, and then the members are read.
        driver.look_at(room.again(), None, true, None);
        assert_eq!(driver.over.len(), 1, "the commit");
        driver.follow(bound, None);
        assert!(driver.over.is_empty() && room.lock().room.look().commit().stored().is_some());
        assert_eq!(driver.running.is_empty(), bound > 1, "at most {bound}");
    }
}

#[tokio::test]
async fn what_a_room_began_ends_in_it_although_its_channel_was_erased_and_made_anew_meanwhile() {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let runtime = &dirigent.runtime;
    let (channel, now) = (ChannelId::new(7), runtime.clock.now());
    let publish = || {
        let room = Room::new(channel, runtime.rules.config(), 0, 0, now);
        runtime.publish_room(room, &runtime.rules.config(), Epochs::default(), |room, cx, now| {
            room.input(cx, now, &Input::SetMode(Mode::Chat), true).0.unwrap();
            room.backfill();
        })
    };
    let room = publish();
    let mut driver = Loop::new(runtime, driver.ready);
    assert!(runtime.rooms.forget(channel));
    let anew = publish();
    driver.look_at(room.again(), None, true, None);
    assert_eq!(driver.over.len(), 2, "a commit and a read");
    assert!(driver.over.iter().all(|over| Arc::ptr_eq(&over.room, &room)));
    driver.over.clear();
    drop(room);
    assert!(runtime.rooms.awake(channel).is_some_and(|known| Arc::ptr_eq(&known, &anew)));
}

#[tokio::test]
async fn the_driver_wakes_when_a_line_moves_and_passes_over_rooms_that_left_memory() {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let runtime = &dirigent.runtime;
    let room = published(runtime);
    let mut driver = Loop::new(runtime, driver.ready);
    let now = runtime.clock.now();
    driver.deaf_at = None;
    let gone = Claim::new(ChannelId::new(9), AccountKey::Moderator, ClaimKind::Read);
    let refused = driver.admission.admit(now, gone).unwrap();
    driver.admission.report(now, &refused, Report::Away { refused: true });
    assert_eq!(driver.admission.admit(now, gone), Err(Wait::Line));
    driver.look_at(room.again(), None, true, None);
    driver.follow(OVER_AT_ONCE, None);
    assert!(driver.running.is_empty(), "the members are not read");
    let probe_at = driver.admission.next_deadline().unwrap();
    assert_eq!(driver.next_deadline(now), Some(probe_at));
    driver.move_lines(probe_at);
    assert!(driver.admission.admit(probe_at, gone).is_ok(), "the room has asked, and was answered");
}

/// Answers at once, so often; then never again.
struct Tireless(Arc<AtomicUsize>);

const ANSWERS_MAX: usize = 20_000;

#[async_trait]
impl Agent for Tireless {
    async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
        if self.0.fetch_add(1, Ordering::SeqCst) >= ANSWERS_MAX {
            std::future::pending::<()>().await;
        }
        Ok("yes".into())
    }
}

#[tokio::test]
async fn agents_that_answer_at_once_are_stopped_by_a_host_on_the_same_thread() {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let answers = Arc::<AtomicUsize>::default();
    for agent in ["a", "b"] {
        dirigent.host(agent, Tireless(Arc::clone(&answers)), Quiet::default());
    }
    let _running = tokio::spawn(driver.run());
    let channel = ChannelId::new(7);
    dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
    dirigent.channel(channel).wake(None).await.unwrap();
    tokio::task::yield_now().await;
    dirigent.channel(channel).stop().await.unwrap();
    let answered = answers.load(Ordering::SeqCst);
    assert!((1..ANSWERS_MAX).contains(&answered), "{answered}");
}

#[tokio::test]
async fn a_time_that_was_read_before_another_thread_told_the_room_a_later_one_is_read_again() {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let runtime = &dirigent.runtime;
    let (room, now) = (published(runtime), runtime.clock.now());
    let mut driver = Loop::new(runtime, driver.ready);
    let read = now.saturating_sub(Duration::from_secs(60));
    driver.look_at(room.again(), None, true, Some(read));
    assert!(
        room.lock().room.look().time() > read,
        "nothing is taken for a clock that was set back"
    );
}

#[tokio::test]
async fn a_channel_that_leaves_memory_while_a_gap_is_told_opens_it_when_it_is_read_again() {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let _running = tokio::spawn(driver.run());
    let (channel, runtime) = parked(&dirigent).await;
    let room = runtime.room(channel).await.unwrap().unwrap();
    assert!(!room.lock().room.look().has_gap());
    // As `reconnected` does; before it goes through the channels in memory, this one leaves.
    runtime.gap_epoch.fetch_add(1, Ordering::AcqRel);
    drop(room);
    assert!(runtime.rooms.awake(channel).is_none());
    let room = runtime.room(channel).await.unwrap().unwrap();
    assert!(room.lock().room.look().has_gap());
}

#[tokio::test]
async fn a_channel_that_comes_into_memory_while_a_gap_is_told_opens_it_when_it_is_brought_up_to_date()
 {
    let discord = Arc::<Quiet>::default();
    let (dirigent, driver) = built(Arc::clone(&discord), &MemoryChannels::default());
    let _running = tokio::spawn(driver.run());
    let (channel, runtime) = parked(&dirigent).await;
    let room = runtime.room(channel).await.unwrap().unwrap();
    // `reconnected` went through the channels in memory before this one was there.
    runtime.gap_epoch.fetch_add(1, Ordering::AcqRel);
    let reads = discord.reads.load(Ordering::SeqCst);
    runtime.bring_up_to_date(vec![channel], Runtime::tell_gap).await;
    // A channel in memory reads when the driver looks at it.
    let read = room.wait_for(Awaited::NoGap);
    read.await.unwrap();
    assert_eq!(discord.reads.load(Ordering::SeqCst), reads + 1);
    assert!(!room.lock().room.look().has_gap());
    runtime.bring_up_to_date(vec![channel], Runtime::tell_gap).await;
    assert_eq!(discord.reads.load(Ordering::SeqCst), reads + 1, "once");
}

#[tokio::test]
async fn a_channel_that_leaves_memory_while_an_agent_goes_offline_hears_of_it_when_it_is_read_again()
 {
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let _running = tokio::spawn(driver.run());
    let (channel, runtime) = parked(&dirigent).await;
    let agent = dirigent.key(&"a".into()).unwrap();
    let room = runtime.room(channel).await.unwrap().unwrap();
    assert_ne!(room.lock().room.look().machine().explain(agent), Reason::Offline);
    // As `agent_offline` does; before it goes through the channels in memory, this one leaves.
    runtime.presence.lock().offline(agent);
    drop(room);
    assert!(runtime.rooms.awake(channel).is_none());
    let room = runtime.room(channel).await.unwrap().unwrap();
    assert_eq!(room.lock().room.look().machine().explain(agent), Reason::Offline);
}

/// Looks at the room again and again, until a run waits for its turn; returns whether it was ever seen to
/// wait without a sender to be told by.
fn watch(cell: &RoomCell, has_begun: &AtomicBool) -> bool {
    let mut was_torn = false;
    loop {
        let state = cell.lock();
        // A dormant channel has no deadline but that of a run that waits.
        let (waits, is_told) =
            (state.room.look().next_deadline().is_some(), !state.deferrals.is_empty());
        was_torn |= waits && !is_told;
        if is_told {
            return was_torn;
        }
        drop(state);
        has_begun.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_run_that_is_put_off_is_never_known_to_the_room_without_a_sender_to_be_told_by() {
    const CHANNELS: u64 = 300;
    let executor = executor(1);
    let (dirigent, driver) = built(Arc::default(), &MemoryChannels::default());
    let running = executor.spawn(driver.run());
    let (agent, mut torn) = ("b".into(), 0);
    for channel in (1..=CHANNELS).map(ChannelId::new) {
        let runtime = &dirigent.runtime;
        let room = executor.block_on(async {
            dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
            until_parked(runtime, channel).await;
            runtime.room(channel).await.unwrap().unwrap()
        });
        let has_begun = AtomicBool::new(false);
        torn += thread::scope(|scope| {
            let watching = scope.spawn(|| watch(&room, &has_begun));
            while !has_begun.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
            let asked = dirigent.channel(channel).may_speak_or_defer(&agent, None);
            let denial = executor.block_on(asked).unwrap_err();
            assert!(matches!(denial, Denial::Deferred { .. }), "{denial:?}");
            u64::from(watching.join().unwrap())
        });
    }
    assert_eq!(torn, 0);
    executor.block_on(dirigent.shutdown(Duration::ZERO));
    executor.block_on(running).unwrap().unwrap();
}

#[tokio::test]
async fn who_waits_for_a_room_that_was_taken_over_is_told_at_once_that_it_is_in_vain() {
    let (dirigent, _driver) = built(Arc::default(), &MemoryChannels::default());
    let runtime = &dirigent.runtime;
    let room = published(runtime);
    let mut state = room.lock();
    let newest = state.room.look().commit().newest();
    let mut stored = state.wait_for(Awaited::Stored(newest));
    assert_eq!(stored.try_recv(), Err(TryRecvError::Empty));
    state.room.abandon(Timestamp::from_millis(0));
    state.release_waiters();
    assert_eq!(stored.try_recv(), Err(TryRecvError::Closed));
}
