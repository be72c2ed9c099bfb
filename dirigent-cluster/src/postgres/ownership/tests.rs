//! The driver's news while the held shards change.

use std::future::ready;

use dirigent_testkit::ManualClock;
use futures_util::FutureExt;

use super::*;

fn held(shard: u16, epoch: u64) -> HeldShard {
    HeldShard { shard: Shard::new(shard), epoch: Epoch::new(epoch) }
}

/// The channel of a shard.
fn channel(shard: Shard) -> ChannelId {
    ChannelId::new(100 + u64::from(shard.get()))
}

/// Leases of four shards, and the clock by which they are trusted. No other process exists.
fn desk() -> (LeaseDesk, ManualClock) {
    let clock = ManualClock::new();
    let desk = LeaseDesk::new(Terms::default(), 4, Arc::new(clock.clone()));
    beat(&desk, &[], &[]);
    (desk, clock)
}

/// A heartbeat at once, and the table's answer.
fn beat(desk: &LeaseDesk, renewed: &[HeldShard], taken: &[HeldShard]) {
    desk.look_now();
    let beat = desk.next_heartbeat().unwrap();
    let (renewed, taken) = (renewed.to_vec(), taken.to_vec());
    desk.answered(
        beat.number,
        &LeaseAnswer { renewed, taken, members: 1, ..LeaseAnswer::default() },
    );
}

/// The driver's news, if there is any. The function runs while the channels are read.
fn told(desk: &LeaseDesk, meanwhile: impl Fn()) -> Option<Vec<ChannelId>> {
    let read = |shards: Vec<Shard>| {
        meanwhile();
        ready(Ok(shards.into_iter().map(channel).collect()))
    };
    desk.changed(read).now_or_never()
}

fn standings(desk: &LeaseDesk) -> [Standing; 2] {
    [0, 1].map(|shard| desk.standing(Shard::new(shard)))
}

#[test]
fn what_is_taken_while_channels_are_read_is_told_next() {
    let (desk, _) = desk();
    beat(&desk, &[], &[held(0, 1)]);
    assert_eq!(standings(&desk), [Standing::Elsewhere; 2], "the driver was told of neither");
    let first = told(&desk, || beat(&desk, &[], &[held(1, 1)]));
    assert_eq!(first, Some(vec![channel(Shard::new(0))]));
    assert_eq!(standings(&desk), [Standing::Held, Standing::Elsewhere]);
    assert_eq!(told(&desk, || ()), Some(vec![channel(Shard::new(1))]));
    assert_eq!(standings(&desk), [Standing::Held; 2]);
    assert_eq!(told(&desk, || ()), None, "there is no more news");
}

/// Another process may have acted in between, whether this one has noticed or not.
#[test]
fn a_shard_that_is_lost_and_taken_again_is_told_again_and_not_acted_for_before() {
    let (desk, clock) = desk();
    let lose_and_take = |epoch| {
        clock.advance(Terms::default().renew_every);
        beat(&desk, &[], &[]);
        beat(&desk, &[], &[held(0, epoch)]);
    };
    let zero = Some(vec![channel(Shard::new(0))]);
    beat(&desk, &[], &[held(0, 1)]);
    // While the channels of the first term are read.
    assert_eq!(told(&desk, || lose_and_take(3)), zero);
    assert_eq!(standings(&desk), [Standing::Elsewhere; 2]);
    assert_eq!(told(&desk, || ()), zero);
    assert_eq!(standings(&desk), [Standing::Held, Standing::Elsewhere]);
    // After the driver was told of the second.
    lose_and_take(5);
    assert_eq!(standings(&desk), [Standing::Elsewhere; 2]);
    assert_eq!(told(&desk, || ()), zero);
    assert_eq!(standings(&desk), [Standing::Held, Standing::Elsewhere]);
    assert_eq!(told(&desk, || ()), None, "there is no more news");
}
