//! Paced posts reserve a place and claim it at its time.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A result that a room posts to another channel.
fn result(room: u64, target: u64) -> Claim {
    Claim { target: ChannelId::new(target), ..post(room) }
}

#[test]
fn nothing_is_paced_and_nothing_allocated_without_a_pace() {
    let mut admission = admission(Pacing::off());
    for id in 0..10_000 {
        let admitted = admission.admit(at(0), post(id % 7)).unwrap();
        admission.report(at(0), &admitted, Report::Answered);
    }
    assert_eq!(admission.places.capacity(), 0);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_reserved_place_is_claimed_by_asking_again_at_its_time() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.ask(at(0), post(1)), GO);
    assert_eq!(admission.ask(at(0), post(1)), wait(at(1_000)));
    assert_eq!(admission.ask(at(0), result(2, 1)), wait(at(2_000)));
    let early = admission.ask(at(400), again(post(1)));
    assert_eq!(early, wait(at(1_000)), "an early ask changes nothing");
    assert_eq!(admission.ask(at(1_000), again(post(1))), GO);
    assert_eq!(admission.ask(at(2_000), again(result(2, 1))), GO);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_place_that_is_not_claimed_counts_as_used() {
    let mut admission = admission(only_by_channel(1, SECOND * 10));
    assert_eq!(admission.ask(at(0), post(1)), GO);
    assert_eq!(admission.ask(at(0), post(1)), wait(at(10_000)));
    let late = admission.ask(at(11_001), again(post(1)));
    assert_eq!(late, wait(at(20_000)), "more than a second late");
}

#[test]
fn a_post_that_leaves_late_counts_from_when_it_left() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.ask(at(0), post(1)), GO);
    assert_eq!(admission.ask(at(0), post(1)), wait(at(1_000)));
    assert_eq!(admission.ask(at(1_600), again(post(1))), GO);
    assert_eq!(admission.ask(at(1_600), post(1)), wait(at(2_600)));
}

#[test]
fn a_room_that_says_something_else_first_gives_the_place_back() {
    let agent = Some(Pace { burst: 1, window: SECOND * 60 });
    let global = Some(Pace { burst: 1, window: SECOND });
    let mut admission = admission(Pacing { agent, global, ..Pacing::off() });
    let trigger = |agent| Claim { agent: Some(AgentKey::new(agent)), ..post(1) };
    assert_eq!(admission.ask(at(0), trigger(7)), GO);
    assert_eq!(admission.ask(at(0), trigger(7)), wait(at(60_000)));
    assert_eq!(admission.ask(at(10), trigger(8)), wait(at(1_000)), "its turn was taken away");
    assert_eq!(admission.ask(at(20), result(1, 7)), wait(at(2_000)), "in another channel");
    assert_eq!(admission.ask(at(30), post(1)), wait(at(1_000)), "the same once more");
    assert_eq!(admission.ask(at(1_600), post(1)), wait(at(3_000)), "it is new, and none is late");
    assert_eq!(admission.ask(at(2_000), again(result(1, 7))), GO);
    assert_eq!(admission.ask(at(3_000), again(post(1))), GO);
    assert_eq!(admission.ask(at(4_000), trigger(8)), GO, "its place is free again");
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_trigger_counts_in_its_agents_window_too() {
    let agent = Some(Pace { burst: 1, window: SECOND * 60 });
    let mut admission = admission(Pacing { agent, ..Pacing::off() });
    let trigger = |agent| Claim { agent: Some(AgentKey::new(agent)), ..post(1) };
    assert_eq!(admission.ask(at(0), trigger(7)), GO);
    assert_eq!(admission.ask(at(0), trigger(7)), wait(at(60_000)));
    assert_eq!(admission.ask(at(0), trigger(8)), GO);
    assert_eq!(admission.ask(at(0), post(1)), GO, "no trigger");
}

#[test]
fn a_post_waits_no_longer_because_the_clock_was_set_back() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.ask(at(5_000_000), post(1)), GO);
    assert_eq!(admission.ask(at(5_000_000), post(1)), wait(at(5_001_000)));
    assert_eq!(admission.ask(at(0), post(1)), GO);
    assert_eq!(admission.len(), 0);
}

#[test]
fn windows_and_lapsed_places_do_not_pile_up() {
    let mut admission = admission(only_by_channel(1, SECOND));
    for room in 0..20_000 {
        let now = at(room * 10);
        assert_eq!(admission.ask(now, post(room)), GO);
        assert!(admission.ask(now, post(room)).is_err());
    }
    assert!(admission.places.len() < 8_192, "{} are kept", admission.places.len());
    assert!(admission.places.windows() < 8_192, "{} are kept", admission.places.windows());
}

/// Five rooms ask, ask for something else, and want nothing any more, at random; every place that is still wanted is
/// claimed at its time. Returns what went out.
fn sent(pacing: Pacing, seed: u64) -> Vec<(Timestamp, u64, Option<u64>)> {
    let mut admission = admission(pacing);
    let (mut chance, mut now, mut sent) = (Chance(seed), at(0), Vec::new());
    let mut waiting: BTreeMap<u64, (Timestamp, Claim)> = BTreeMap::new();
    let told = |at: Timestamp, claim: Claim| {
        (at, claim.room.get(), claim.agent.map(|agent| u64::from(agent.get())))
    };
    for _ in 0..200 {
        let next = now + Duration::from_millis(chance.below(300));
        while let Some((at, claim)) = waiting.values().copied().min_by_key(|it| it.0) {
            if at > next {
                break;
            }
            waiting.remove(&claim.room.get());
            assert_eq!(admission.ask(at, again(claim)), GO, "a place is kept");
            sent.push(told(at, claim));
        }
        now = next;
        let room = chance.below(5);
        if chance.below(5) == 0 {
            waiting.remove(&room);
            continue;
        }
        let agent = Some(chance.below(3)).filter(|agent| *agent > 0);
        let agent = agent.map(|agent| AgentKey::new(u32::try_from(agent).unwrap()));
        let claim = Claim { agent, ..post(room) };
        waiting.remove(&room);
        match admission.ask(now, claim) {
            Ok(()) => sent.push(told(now, claim)),
            Err(Wait::Until(until)) => {
                waiting.insert(room, (until, claim));
            }
            Err(Wait::Line) => panic!("a pace has no line"),
        }
    }
    assert!(admission.len() <= 5, "one place for each room");
    sent
}

fn assert_paced(mut times: Vec<Timestamp>, pace: Option<Pace>) {
    let Some(Pace { burst, window }) = pace else { return };
    times.sort_unstable();
    for row in times.windows(burst + 1) {
        assert!(row[burst].since(row[0]) >= window, "{row:?}");
    }
}

proptest! {
    #[test]
    fn no_window_holds_more_than_its_burst(
        seed: u64,
        channel in prop::option::of((1..4_usize, 1..5_000_u64)),
        agent in prop::option::of((1..4_usize, 1..9_000_u64)),
        global in prop::option::of((1..6_usize, 1..2_000_u64)),
    ) {
        let pace = |(burst, millis)| Pace { burst, window: Duration::from_millis(millis) };
        let (channel, agent, global) = (channel.map(pace), agent.map(pace), global.map(pace));
        let sent = sent(Pacing { channel, agent, global }, seed);
        assert_paced(sent.iter().map(|post| post.0).collect(), global);
        for room in 0..5 {
            let of_room = || sent.iter().filter(move |post| post.1 == room);
            assert_paced(of_room().map(|post| post.0).collect(), channel);
            for key in 1..3 {
                let of_agent = of_room().filter(|post| post.2 == Some(key));
                assert_paced(of_agent.map(|post| post.0).collect(), agent);
            }
        }
    }
}
