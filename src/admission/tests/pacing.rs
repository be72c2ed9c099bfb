//! Paced posts reserve a place and claim it at its time.

use proptest::prelude::*;

use super::*;

#[test]
fn nothing_is_paced_and_nothing_allocated_without_a_pace() {
    let mut admission = admission(Pacing::off());
    for id in 0..10_000 {
        assert_eq!(admission.admit(at(0), &post(id % 7, id)), Verdict::Go);
        assert!(admission.report(at(0), &post(id % 7, id), Report::Answered).is_empty());
    }
    assert_eq!(admission.places.capacity(), 0);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_reserved_place_is_claimed_by_asking_again_at_its_time() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.admit(at(0), &post(1, 1)), Verdict::Go);
    let second = wait(at(1_000));
    let third = wait(at(2_000));
    assert_eq!(admission.admit(at(0), &post(1, 2)), second);
    assert_eq!(admission.admit(at(0), &post(1, 3)), third);
    assert_eq!(admission.admit(at(400), &post(1, 2)), second, "an early ask changes nothing");
    assert_eq!(admission.admit(at(1_000), &post(1, 2)), Verdict::Go);
    assert_eq!(admission.admit(at(2_000), &post(1, 3)), Verdict::Go);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_place_that_is_not_claimed_counts_as_used() {
    let mut admission = admission(only_by_channel(1, SECOND * 10));
    assert_eq!(admission.admit(at(0), &post(1, 1)), Verdict::Go);
    let place = wait(at(10_000));
    assert_eq!(admission.admit(at(0), &post(1, 2)), place);
    let next = wait(at(20_000));
    assert_eq!(admission.admit(at(11_001), &post(1, 2)), next, "more than a second late");
}

#[test]
fn a_post_that_leaves_late_counts_from_when_it_left() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.admit(at(0), &post(1, 1)), Verdict::Go);
    let place = wait(at(1_000));
    assert_eq!(admission.admit(at(0), &post(1, 2)), place);
    assert_eq!(admission.admit(at(1_600), &post(1, 2)), Verdict::Go);
    let next = wait(at(2_600));
    assert_eq!(admission.admit(at(1_600), &post(1, 3)), next);
}

#[test]
fn a_withdrawn_post_gives_its_place_to_the_next() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.admit(at(0), &post(1, 1)), Verdict::Go);
    let place = wait(at(1_000));
    assert_eq!(admission.admit(at(0), &post(1, 2)), place);
    assert!(admission.withdraw(at(10), ChannelId::new(1), ActionId(2)).is_empty());
    assert_eq!(admission.admit(at(10), &post(1, 3)), place);
}

#[test]
fn a_trigger_counts_in_its_agents_window_too() {
    let agent = Some(Pace { burst: 1, window: SECOND * 60 });
    let mut admission = admission(Pacing { agent, ..Pacing::off() });
    let trigger = |id, agent| Claim { agent: Some(AgentKey::new(agent)), ..post(1, id) };
    assert_eq!(admission.admit(at(0), &trigger(1, 7)), Verdict::Go);
    let place = wait(at(60_000));
    assert_eq!(admission.admit(at(0), &trigger(2, 7)), place);
    assert_eq!(admission.admit(at(0), &trigger(3, 8)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &post(1, 4)), Verdict::Go, "no trigger");
}

#[test]
fn a_post_waits_no_longer_because_the_clock_was_set_back() {
    let mut admission = admission(only_by_channel(1, SECOND));
    assert_eq!(admission.admit(at(5_000_000), &post(1, 1)), Verdict::Go);
    let place = wait(at(5_001_000));
    assert_eq!(admission.admit(at(5_000_000), &post(1, 2)), place);
    assert_eq!(admission.admit(at(0), &post(1, 2)), Verdict::Go);
    assert_eq!(admission.len(), 0);
}

#[test]
fn windows_and_lapsed_places_do_not_pile_up() {
    let mut admission = admission(only_by_channel(1, SECOND));
    for room in 0..20_000 {
        let now = at(room * 10);
        assert_eq!(admission.admit(now, &post(room, 1)), Verdict::Go);
        assert!(matches!(admission.admit(now, &post(room, 2)), Verdict::Wait { .. }));
    }
    assert!(admission.places.len() < 8_192, "{} are kept", admission.places.len());
    assert!(admission.places.windows() < 8_192, "{} are kept", admission.places.windows());
}

/// Asks, claims and withdraws at random; every place is claimed at its time. Returns what went out.
fn sent(pacing: Pacing, seed: u64) -> Vec<(Timestamp, u64, Option<u64>)> {
    let mut admission = admission(pacing);
    let (mut chance, mut now, mut sent) = (Chance(seed), at(0), Vec::new());
    let mut waiting: Vec<(Timestamp, Claim)> = Vec::new();
    for id in 0..200 {
        let next = now + Duration::from_millis(chance.below(300));
        waiting.sort_unstable_by_key(|(at, claim)| (*at, claim.id));
        while waiting.first().is_some_and(|(at, _)| *at <= next) {
            let (at, claim) = waiting.remove(0);
            assert_eq!(admission.admit(at, &claim), Verdict::Go, "a place is kept");
            sent.push((at, claim.room.get(), claim.agent.map(|agent| u64::from(agent.get()))));
        }
        now = next;
        if !waiting.is_empty() && chance.below(5) == 0 {
            let index = usize::try_from(chance.below(waiting.len() as u64)).unwrap();
            let (_, claim) = waiting.remove(index);
            assert!(admission.withdraw(now, claim.room, claim.id).is_empty());
        }
        let agent = Some(chance.below(3)).filter(|agent| *agent > 0);
        let key = agent.map(|agent| AgentKey::new(u32::try_from(agent).unwrap()));
        let claim = Claim { agent: key, ..post(chance.below(5), id) };
        match admission.admit(now, &claim) {
            Verdict::Go => sent.push((now, claim.room.get(), agent)),
            Verdict::Wait { until } => waiting.push((until.unwrap(), claim)),
        }
    }
    for (_, claim) in &waiting {
        let _ = admission.withdraw(now, claim.room, claim.id);
    }
    assert_eq!(admission.len(), 0, "what was withdrawn is forgotten");
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
