//! The windows never hold more than the burst, and a place is found as it always was.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

#[test]
fn no_window_ever_holds_more_than_the_burst() {
    let pace = Pace { burst: 5, window: Duration::from_secs(5) };
    let pacing = Pacing { channel: Some(pace), ..Pacing::off() };
    let mut pacer = Windows::new(pacing);
    let mut sent = Vec::new();
    for i in 0..100_u64 {
        let now = Timestamp::from_millis(i * 130);
        sent.push(pacer.reserve(now, ChannelId::new(1), None));
    }
    for window in sent.windows(6) {
        assert!(window[5].since(window[0]) >= pace.window, "{window:?}");
    }
}

#[test]
fn what_is_reserved_far_ahead_leaves_room_for_now() {
    let second = Duration::from_secs(1);
    let pacing = Pacing {
        channel: Some(Pace { burst: 1, window: second * 30 }),
        agent: None,
        global: Some(Pace { burst: 3, window: second }),
    };
    let mut pacer = Windows::new(pacing);
    let now = Timestamp::from_millis(1_000_000);
    for channel in 1..=3 {
        assert_eq!(pacer.reserve(now, ChannelId::new(channel), None), now);
    }
    let now = now + second * 5;
    for channel in 1..=3 {
        assert!(pacer.reserve(now, ChannelId::new(channel), None) > now + second * 20);
    }
    assert_eq!(pacer.reserve(now, ChannelId::new(9), None), now, "no post is under way now");
}

#[test]
fn no_window_is_overfull_however_reservations_mix() {
    let second = Duration::from_secs(1);
    let by_channel = Pace { burst: 2, window: second * 7 };
    let global = Pace { burst: 5, window: second };
    let pacing = Pacing { channel: Some(by_channel), agent: None, global: Some(global) };
    let mut pacer = Windows::new(pacing);
    let (mut now, mut chance) = (Timestamp::from_millis(1_000_000), 7_u64);
    let mut sent: Vec<(Timestamp, u64)> = Vec::new();
    for _ in 0..2_000 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        now = now + Duration::from_millis((chance >> 33) % 400);
        let channel = (chance >> 50) % 12;
        let at = pacer.reserve(now, ChannelId::new(channel), None);
        assert!(at >= now);
        sent.push((at, channel));
    }
    sent.sort_unstable();
    for window in sent.windows(6) {
        assert!(window[5].0.since(window[0].0) >= global.window, "{window:?}");
    }
    for channel in 0..12 {
        let own: Vec<_> = sent.iter().filter(|(_, of)| *of == channel).collect();
        for window in own.windows(3) {
            assert!(window[2].0.since(window[0].0) >= by_channel.window, "{window:?}");
        }
    }
}

/// How it was found before: every moment at which a place becomes free is tried.
fn scanned(window: &Window, from: Timestamp, pace: Pace) -> Timestamp {
    if fits(window, from, pace) {
        return from;
    }
    // A place becomes free only when an earlier post leaves the window.
    let freed = window.reserved.iter().map(|at| *at + pace.window);
    let mut later = freed.filter(|at| *at > from);
    later.find(|at| fits(window, *at, pace)).unwrap_or(from)
}

/// Whether no stretch of the window's length holds more than the burst, with a post at this
/// moment.
fn fits(window: &Window, at: Timestamp, pace: Pace) -> bool {
    let burst = pace.burst.max(1);
    let before = window.reserved.partition_point(|known| *known <= at);
    let after = window.reserved.len() - before;
    // With one more there are `burst + 1` in a row: `before` of them earlier, the rest later.
    let in_a_row = burst.saturating_sub(after)..=burst.min(before);
    in_a_row.into_iter().all(|earlier| {
        let first = before.checked_sub(earlier).filter(|_| earlier > 0);
        let last = (before + burst - earlier).checked_sub(1).filter(|_| earlier < burst);
        let moment = |place: Option<usize>| place.and_then(|at| window.reserved.get(at)).copied();
        let (first, last) = (moment(first).unwrap_or(at), moment(last).unwrap_or(at));
        first + pace.window <= last
    })
}

proptest! {
    /// One pass over the places finds the same moment as trying all of them.
    #[test]
    fn a_place_is_found_as_by_trying_every_moment(
        mut places in prop::collection::vec(0..60_u64, 0..40),
        burst in 0..6_usize,
        window in 0..12_u64,
        from in 0..70_u64,
    ) {
        places.sort_unstable();
        let reserved = places.into_iter().map(Timestamp::from_millis).collect();
        let window_of_places = Window { reserved };
        let pace = Pace { burst, window: Duration::from_millis(window) };
        let from = Timestamp::from_millis(from);
        prop_assert_eq!(
            window_of_places.earliest(from, pace),
            scanned(&window_of_places, from, pace)
        );
    }
}
