//! Shuffled orders: fair, and the last who spoke is never first.

use std::collections::BTreeMap;

use crate::room::{A, B, C, D, Room, agents};
use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Config, Input, Mode};

/// A chat with a chosen seed of chance, awake, at the beginning of its first cycle.
fn seeded(seed: u64, count: usize) -> Room {
    with_config(Config::default(), seed, count)
}

fn with_config(config: Config, seed: u64, count: usize) -> Room {
    let mut room = Room::with(config, seed);
    room.present = agents(count);
    room.tell(Input::SetMode(Mode::Chat));
    room.members();
    room.human("hello");
    room
}

/// One cycle in which only `speaker` has something to say; gives the next cycle's order.
fn next_order(room: &mut Room, speaker: AgentKey) -> Vec<AgentKey> {
    while let Some(agent) = room.speaker() {
        if agent == speaker {
            room.speaks(agent);
        } else {
            room.passes(agent);
        }
    }
    room.members();
    room.order()
}

/// R067
#[test]
fn each_new_order_is_a_permutation() {
    let mut room = seeded(1, 7);
    for _ in 0..10 {
        room.human("go on");
        let speaker = room.speaker().unwrap();
        let mut order = next_order(&mut room, speaker);
        order.sort();
        assert_eq!(order, agents(7));
    }
}

/// R068, D30
#[test]
fn the_last_to_complete_a_turn_is_never_first() {
    for seed in 0..100 {
        let mut room = seeded(seed, 3);
        for _ in 0..4 {
            let last = *room.order().last().unwrap();
            let first = room.order()[0];
            assert_ne!(next_order(&mut room, first)[0], last, "a pass completes a turn too");
        }
    }
}

/// R068, D30
#[test]
fn who_was_skipped_did_not_complete() {
    // The last slot is skipped each time; the agent before it is the last completer.
    let mut first = BTreeMap::new();
    for seed in 0..200 {
        let mut room = seeded(seed, 3);
        room.speaks(A);
        room.passes(B);
        room.wait(crate::room::secs(90));
        assert_eq!(room.seat(C).turn, SeatTurn::Skipped);
        room.members();
        *first.entry(room.order()[0]).or_insert(0) += 1;
    }
    assert_eq!(first.get(&B), None, "B completed last");
    assert!(first[&C] > 50, "C did not complete and may be first: {first:?}");
}

/// R068, D31
#[test]
fn a_last_completer_that_is_gone_constrains_nobody() {
    let mut first = BTreeMap::new();
    for seed in 0..300 {
        let mut room = seeded(seed, 4);
        for agent in [A, B, C, D] {
            room.speaks(agent);
        }
        room.present = vec![A, B, C];
        room.members();
        *first.entry(room.order()[0]).or_insert(0) += 1;
    }
    assert!(agents(3).iter().all(|agent| first[agent] > 60), "{first:?}");
}

/// Chi-square of the observed orders against the uniform distribution over `expected` orders.
fn chi_square(counts: &BTreeMap<Vec<AgentKey>, u32>, expected: usize) -> f64 {
    let total: u32 = counts.values().sum();
    let mean = f64::from(total) / f64::from(u32::try_from(expected).unwrap());
    let seen: f64 = counts.values().map(|n| (f64::from(*n) - mean).powi(2) / mean).sum();
    let missing = u32::try_from(expected - counts.len()).unwrap();
    seen + f64::from(missing) * mean
}

fn orders_over_seeds(count: usize, seeds: u64) -> BTreeMap<Vec<AgentKey>, u32> {
    let mut counts = BTreeMap::new();
    for seed in 0..seeds {
        let mut room = seeded(seed, count);
        *counts.entry(next_order(&mut room, A)).or_insert(0) += 1;
    }
    counts
}

/// R069, R068, D32
#[test]
fn every_permitted_order_is_equally_likely_over_seeds() {
    // 99.99 % quantiles of chi-square with 3 and 17 degrees of freedom.
    for (count, permitted, limit) in [(3, 4, 21.11), (4, 18, 45.76)] {
        let counts = orders_over_seeds(count, 3_600);
        let last = agents(count)[count - 1];
        assert!(counts.keys().all(|order| order[0] != last), "{last} completed last");
        assert_eq!(counts.len(), permitted, "{count} agents");
        let statistic = chi_square(&counts, permitted);
        assert!(statistic < limit, "{count} agents: {statistic} with {counts:?}");
    }
}

/// R069, D32
#[test]
fn every_permitted_order_is_equally_likely_within_one_channel() {
    // Relative to the order before, so that the constraint is the same in every cycle.
    let config = || {
        let mut config = Config::default();
        config.ceilings.chat.turns = None;
        config.ceilings.chat.cycles = None;
        config
    };
    let mut room = with_config(config(), 11, 4);
    let mut counts: BTreeMap<Vec<AgentKey>, u32> = BTreeMap::new();
    for _ in 0..1_800 {
        let before = room.order();
        let after = next_order(&mut room, before[0]);
        let place = |agent: &AgentKey| before.iter().position(|other| other == agent).unwrap();
        let places = after.iter().map(|agent| AgentKey::new(u32::try_from(place(agent)).unwrap()));
        *counts.entry(places.collect()).or_insert(0) += 1;
    }
    let statistic = chi_square(&counts, 18);
    assert!(statistic < 45.76, "{statistic} with {counts:?}");
}

/// R070
#[test]
fn the_same_seed_and_inputs_give_the_same_orders() {
    let orders = |seed| {
        let mut room = seeded(seed, 6);
        let cycle = |_| {
            let first = room.order()[0];
            next_order(&mut room, first)
        };
        (0..5).map(cycle).collect::<Vec<_>>()
    };
    for seed in 0..10 {
        assert_eq!(orders(seed), orders(seed));
    }
    assert_ne!(orders(1), orders(2));
}

/// R071, D33, D34
#[test]
fn the_first_cycle_keeps_the_order_of_the_list() {
    for seed in 0..50 {
        assert_eq!(seeded(seed, 6).order(), agents(6));
    }
}

/// R071, D33
#[test]
fn the_first_cycle_is_shuffled_where_that_is_asked_for() {
    let mut config = Config::default();
    config.order.shuffle_first = true;
    let orders = (0..50).map(|seed| with_config(config.clone(), seed, 6).order());
    assert!(orders.filter(|order| *order != agents(6)).count() > 40);
    let pair = with_config(config, 3, 2);
    assert_eq!(pair.order(), [A, B], "two keep their order");
}

/// R137
#[test]
fn newcomers_are_shuffled_in_and_the_longer_list_starts_a_whole_cycle() {
    let mut places = BTreeMap::new();
    for seed in 0..200 {
        let mut room = seeded(seed, 3);
        room.speaks(A);
        room.speaks(B);
        room.joins(D);
        assert_eq!(room.speaks(C).asks(), ["fetch members"]);
        room.members();
        let order = room.order();
        assert_ne!(order[0], C);
        *places.entry(order.iter().position(|agent| *agent == D).unwrap()).or_insert(0) += 1;
        assert_eq!(room.turns(), [SeatTurn::Ahead; 4]);
        assert_eq!(room.speaker(), Some(order[0]));
        for agent in order {
            room.passes(agent);
        }
        assert!(room.fetch.is_some(), "all four had their turn");
    }
    assert!((0..4).all(|place| places[&place] > 20), "{places:?}");
}

/// R069, D31
#[test]
fn of_two_allowed_firsts_each_is_first_half_of_the_time() {
    // Who is first is uniform among all but the last completer.
    let counts = orders_over_seeds(3, 2_000);
    let b_first: u32 = counts.iter().filter(|(order, _)| order[0] == B).map(|(_, n)| n).sum();
    assert!((850..1_150).contains(&b_first), "{b_first} of 2000");
}

/// R068, D31
#[test]
fn nobody_speaks_twice_in_a_row_past_the_muted() {
    for seed in 0..50 {
        let mut room = Room::with(Config::default(), seed);
        room.present = agents(4);
        room.tell(Input::SetMode(Mode::Chat));
        room.members();
        room.tell(Input::Mute(C));
        room.human("hello");
        room.passes(A);
        room.speaks(B);
        room.passes(D);
        // D completed last. Muted C may come first, but D must not be the first who can speak.
        room.members();
        assert_ne!(room.speaker(), Some(D), "seed {seed}: {:?}", room.order());
        assert_ne!(room.order().first(), Some(&D), "seed {seed}");
    }
}

/// R068, R082, D31
#[test]
fn nobody_speaks_twice_in_a_row_past_those_who_left() {
    for seed in 0..50 {
        let mut room = Room::with(Config::default(), seed);
        room.present = agents(4);
        room.tell(Input::SetMode(Mode::Chat));
        room.members();
        room.human("hello");
        room.speaks(A);
        room.passes(B);
        room.leaves(C);
        room.passes(D);
        // The list cannot be read: the old one is used, with its marks.
        room.members_fail();
        assert_ne!(room.speaker(), Some(D), "seed {seed}: {:?}", room.order());
    }
}

/// R068, D31
#[test]
fn the_only_one_who_can_speak_speaks_again_in_any_order() {
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let mut room = Room::with(Config::default(), seed);
        room.present = agents(3);
        room.tell(Input::SetMode(Mode::Chat));
        room.members();
        room.tell(Input::Mute(A));
        room.tell(Input::Mute(C));
        room.human("hello");
        room.talks(B, "a reply");
        room.says(B, "a reply");
        room.human("go on");
        room.members();
        assert_eq!(room.speaker(), Some(B), "seed {seed}");
        orders.insert(room.order());
    }
    // B is never first in the list, and every other order comes up.
    assert_eq!(orders.len(), 4, "{orders:?}");
}

/// R070, D32
#[test]
fn a_seed_deals_the_same_orders_for_ever() {
    let mut room = seeded(7, 5);
    let mut orders = Vec::new();
    for _ in 0..4 {
        let first = room.order()[0];
        let order = next_order(&mut room, first);
        orders.push(order.into_iter().map(crate::room::name).collect::<String>());
    }
    assert_eq!(orders, ["DEABC", "ACBED", "CBEDA", "BCADE"]);
}
