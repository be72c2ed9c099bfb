//! The life of a lease, moment by moment.

use std::time::Duration;

use dirigent::ports::{Standing, Timestamp};

use super::*;

const SHARDS: u16 = 8;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + millis)
}

fn held(shard: u16, epoch: u64) -> HeldShard {
    HeldShard { shard: Shard::new(shard), epoch: Epoch::new(epoch) }
}

/// One beat and its answer, `took` milliseconds later.
fn beat(
    leases: &mut Leases,
    now: u64,
    took: u64,
    answer: impl Fn(&LeaseHeartbeat) -> LeaseAnswer,
) -> LeaseHeartbeat {
    let beat = leases.next_heartbeat(at(now)).expect("a beat is due");
    let answer = answer(&beat);
    assert!(leases.answered(at(now + took), beat.number, &answer));
    beat
}

/// All that is held is renewed, and all that is wanted is taken, from the first shard on.
fn granted(members: u16) -> impl Fn(&LeaseHeartbeat) -> LeaseAnswer {
    move |beat| LeaseAnswer {
        renewed: beat.held.clone(),
        taken: (0..beat.take).map(|shard| held(shard, 1)).collect(),
        members,
        rank: 0,
        namesake: None,
        ahead: Vec::new(),
    }
}

/// Leases of a process that is alone and holds all shards since 0 ms.
fn alone() -> Leases {
    let mut leases = Leases::new(Terms::of(Duration::from_secs(10)), SHARDS);
    beat(&mut leases, 0, 0, granted(1));
    let taking = beat(&mut leases, 0, 400, granted(1));
    assert_eq!(taking.take, SHARDS);
    leases
}

fn standing(leases: &Leases, shard: u16, now: u64) -> Standing {
    leases.standing(Shard::new(shard), at(now))
}

#[test]
fn a_lease_is_trusted_from_the_start_of_the_attempt_and_quiet_at_its_end() {
    let leases = alone();
    for (now, expected) in [
        (400, Standing::Held),
        (6_999, Standing::Held),
        (7_000, Standing::Quiet),
        (8_999, Standing::Quiet),
        (9_000, Standing::Lapsed),
    ] {
        assert_eq!(standing(&leases, 3, now), expected, "{now}");
    }
}

#[test]
fn a_renewal_counts_from_its_own_start_and_names_what_is_held() {
    let mut leases = alone();
    let look = beat(&mut leases, 1_400, 0, granted(1));
    assert!(!look.renews, "it is renewed every 3 s");
    let renewal = beat(&mut leases, 3_000, 900, granted(1));
    assert!(
        renewal.renews
            && renewal.held == (0..SHARDS).map(|shard| held(shard, 1)).collect::<Vec<_>>()
    );
    assert_eq!(standing(&leases, 0, 9_999), Standing::Held);
    assert_eq!(standing(&leases, 0, 10_000), Standing::Quiet);
    assert_eq!(standing(&leases, 0, 12_000), Standing::Lapsed);
}

#[test]
fn a_lease_that_lapsed_and_was_not_taken_is_held_again_in_the_same_epoch() {
    let mut leases = alone();
    assert_eq!(standing(&leases, 0, 20_000), Standing::Lapsed);
    beat(&mut leases, 20_000, 0, granted(1));
    assert_eq!(standing(&leases, 0, 20_000), Standing::Held);
    assert_eq!(leases.epoch(Shard::new(0)), Some(Epoch::new(1)));
}

#[test]
fn what_is_not_renewed_is_lost_and_what_is_renewed_in_another_epoch_as_well() {
    let mut leases = alone();
    beat(&mut leases, 3_000, 0, |beat| LeaseAnswer {
        renewed: beat.held.iter().skip(2).copied().chain([held(1, 2)]).collect(),
        members: 1,
        ..LeaseAnswer::default()
    });
    assert_eq!(standing(&leases, 0, 3_000), Standing::Elsewhere);
    assert_eq!(standing(&leases, 1, 3_000), Standing::Elsewhere);
    assert_eq!(standing(&leases, 2, 3_000), Standing::Held);
}

#[test]
fn a_lost_answer_gives_nothing_and_an_answer_of_an_earlier_attempt_counts_for_nothing() {
    let mut leases = alone();
    let lost = leases.next_heartbeat(at(3_000)).unwrap();
    assert_eq!(leases.next_heartbeat(at(3_000)), None, "one attempt at a time");
    leases.failed(at(4_000), lost.number);
    assert_eq!(leases.next_deadline(at(4_000)), Some(at(5_000)));
    assert!(!leases.answered(at(4_500), lost.number, &granted(1)(&lost)));
    assert_eq!(standing(&leases, 0, 9_000), Standing::Lapsed, "it was not renewed");
    let again = leases.next_heartbeat(at(5_000)).unwrap();
    assert!(again.renews && !leases.answered(at(5_000), lost.number, &granted(1)(&lost)));
    assert!(leases.answered(at(5_000), again.number, &granted(1)(&again)));
    assert_eq!(standing(&leases, 0, 9_000), Standing::Held);
}

#[test]
fn when_a_process_comes_half_is_handed_over_after_a_while_and_not_before() {
    let mut leases = alone();
    beat(&mut leases, 1_400, 0, granted(2));
    assert_eq!(standing(&leases, 3, 1_400), Standing::Held);
    assert_eq!(standing(&leases, 4, 1_400), Standing::Quiet, "nothing new starts there");
    let before = beat(&mut leases, 6_399, 0, granted(2));
    assert!(before.release.is_empty());
    let handing = beat(&mut leases, 6_400, 0, granted(2));
    assert_eq!(handing.release, (4..SHARDS).map(|shard| held(shard, 1)).collect::<Vec<_>>());
    assert!(handing.held.iter().all(|held| held.shard.get() < 4) && handing.take == 0);
    assert_eq!(standing(&leases, 4, 6_400), Standing::Elsewhere);
}

#[test]
fn what_is_given_back_is_not_held_whatever_comes_of_the_attempt() {
    let mut leases = alone();
    leases.end();
    let last = leases.next_heartbeat(at(1_000)).unwrap();
    assert_eq!((last.release.len(), last.held.len(), last.is_member), (8, 0, false));
    assert_eq!(standing(&leases, 0, 1_000), Standing::Elsewhere);
    assert!(!leases.is_over());
    leases.failed(at(1_000), last.number);
    assert!(leases.is_over());
    assert_eq!(leases.next_heartbeat(at(9_000)), None);
}

#[test]
fn a_process_that_comes_and_goes_again_before_costs_nothing() {
    let mut leases = alone();
    beat(&mut leases, 1_400, 0, granted(2));
    assert_eq!(standing(&leases, 7, 1_400), Standing::Quiet);
    beat(&mut leases, 2_400, 0, granted(1));
    assert_eq!(standing(&leases, 7, 2_400), Standing::Held);
}

#[test]
fn a_process_that_resigns_starts_nothing_new_takes_nothing_and_is_no_member() {
    let mut leases = alone();
    leases.resign();
    assert_eq!(standing(&leases, 0, 1_000), Standing::Quiet);
    let beat = beat(&mut leases, 1_000, 0, granted(3));
    assert!(!beat.is_member && beat.take == 0 && beat.release.is_empty() && beat.held.len() == 8);
    assert!(!leases.is_over());
}

/// It hears its own call, too, and looks again. A call with each look would never end.
#[test]
fn a_process_that_leaves_calls_the_others_no_more_often_than_it_renews() {
    let mut leases = alone();
    leases.resign();
    let failed = leases.next_heartbeat(at(1_000)).unwrap();
    assert!(failed.is_news() && failed.renews);
    leases.failed(at(1_000), failed.number);
    assert!(beat(&mut leases, 2_000, 0, granted(2)).is_news(), "they may not have heard of it");
    for now in [2_000, 2_001, 4_999] {
        leases.look_now();
        assert!(!beat(&mut leases, now, 0, granted(2)).is_news(), "{now}");
    }
    leases.look_now();
    assert!(beat(&mut leases, 5_000, 0, granted(2)).is_news());
    leases.end();
    assert!(beat(&mut leases, 5_000, 0, granted(2)).is_news(), "it gives back what it holds");
}

#[test]
fn shares_differ_by_one_at_most_and_no_shard_is_left() {
    for members in 1..=20 {
        let shares = (0..members).map(|rank| {
            let mut leases = Leases::new(Terms::default(), SHARDS);
            let answer =
                move |_: &LeaseHeartbeat| LeaseAnswer { members, rank, ..LeaseAnswer::default() };
            let first = beat(&mut leases, 0, 0, answer);
            assert_eq!(first.take, 0, "nothing is taken before it is known who is there");
            leases.next_heartbeat(at(0)).map_or(0, |beat| beat.take)
        });
        let shares: Vec<_> = shares.collect();
        assert_eq!(shares.iter().sum::<u16>(), SHARDS, "{shares:?}");
        assert!(shares.iter().all(|share| share.abs_diff(SHARDS / members) <= 1), "{shares:?}");
    }
}

#[test]
fn what_is_abandoned_is_not_held_even_while_an_attempt_is_under_way() {
    let mut leases = alone();
    let renewal = leases.next_heartbeat(at(3_000)).unwrap();
    leases.abandon();
    assert_eq!(standing(&leases, 0, 3_000), Standing::Elsewhere);
    assert!(leases.is_over() && !leases.answered(at(3_000), renewal.number, &granted(1)(&renewal)));
    assert_eq!(leases.next_heartbeat(at(9_000)), None);
}

#[test]
fn a_call_makes_the_next_look_come_at_once() {
    let mut leases = alone();
    beat(&mut leases, 1_400, 0, granted(2));
    assert_eq!(leases.next_heartbeat(at(1_500)), None);
    leases.look_now();
    assert!(leases.next_heartbeat(at(1_500)).is_some());
}

/// The table may have answered before the event that the call is about.
#[test]
fn a_call_during_an_attempt_makes_another_look_come_as_soon_as_it_is_answered() {
    let mut leases = alone();
    let look = leases.next_heartbeat(at(1_400)).unwrap();
    leases.look_now();
    assert_eq!(leases.next_heartbeat(at(1_400)), None, "one attempt at a time");
    assert!(leases.answered(at(1_500), look.number, &granted(2)(&look)));
    beat(&mut leases, 1_500, 100, granted(2));
    assert_eq!(leases.next_heartbeat(at(1_600)), None, "one look more is enough");
}

/// As `granted`, and another process has the name.
fn named(members: u16, namesake: SameName) -> impl Fn(&LeaseHeartbeat) -> LeaseAnswer {
    move |beat| LeaseAnswer { namesake: Some(namesake), ..granted(members)(beat) }
}

#[test]
fn a_process_whose_name_an_earlier_one_has_gives_back_what_it_took_and_takes_nothing() {
    let mut leases = alone();
    beat(&mut leases, 1_400, 0, named(1, SameName::Earlier));
    assert_eq!(leases.namesake(), Some(SameName::Earlier));
    assert_eq!(standing(&leases, 0, 1_400), Standing::Quiet, "nothing new starts");
    let waiting = beat(&mut leases, 3_000, 0, named(1, SameName::Earlier));
    // Running work has its time, and is renewed until then.
    assert!(
        !waiting.is_member && waiting.take == 0 && waiting.renews && waiting.release.is_empty()
    );
    assert_eq!(beat(&mut leases, 6_400, 0, named(1, SameName::Earlier)).release.len(), 8);
    for now in [7_400, 60_000] {
        let waiting = beat(&mut leases, now, 0, named(1, SameName::Earlier));
        assert!(!waiting.is_member && waiting.take == 0);
        assert!(!waiting.is_news(), "the others need not look, however long it waits");
    }
}

#[test]
fn a_process_that_waited_for_its_name_is_a_member_at_once_when_the_other_one_is_gone() {
    for members in [0, 3] {
        let mut leases = Leases::new(Terms::default(), SHARDS);
        beat(&mut leases, 0, 0, named(4, SameName::Earlier));
        assert_eq!(leases.next_heartbeat(at(999)), None, "it looks as often as others");
        beat(&mut leases, 1_000, 0, granted(members));
        let joins = beat(&mut leases, 1_000, 0, granted(members + 1));
        assert!(joins.is_member);
        let took = joins.take + leases.next_heartbeat(at(1_000)).map_or(0, |beat| beat.take);
        assert!(took >= SHARDS / (members + 1), "{took} of {members}");
    }
}

#[test]
fn a_later_process_of_the_name_changes_nothing_and_one_that_leaves_asks_for_none() {
    let mut leases = alone();
    beat(&mut leases, 1_400, 0, named(1, SameName::Later));
    assert_eq!(leases.namesake(), Some(SameName::Later));
    assert_eq!(standing(&leases, 0, 1_400), Standing::Held);
    assert!(beat(&mut leases, 3_000, 0, granted(1)).is_member);
    assert_eq!(leases.namesake(), None);
    // Its successor is there already, and is a member before it is.
    leases.resign();
    beat(&mut leases, 3_000, 0, named(1, SameName::Earlier));
    assert_eq!(leases.namesake(), None);
    let leaving = beat(&mut leases, 8_500, 0, named(1, SameName::Earlier));
    assert!(leaving.renews && leaving.release.is_empty());
}

/// As `granted`, and this row of another process lasts for longer than it can.
fn ahead(version: i64) -> impl Fn(&LeaseHeartbeat) -> LeaseAnswer {
    let row = AheadRow { row: LeaseRow::Shard(Shard::new(9)), version };
    move |beat| LeaseAnswer { ahead: vec![row], ..granted(1)(beat) }
}

#[test]
fn a_row_from_before_the_clock_went_back_has_expired_when_it_stood_unchanged_for_ttl_and_margin() {
    let mut leases = alone();
    beat(&mut leases, 1_400, 600, ahead(7));
    assert_eq!(leases.ahead(), 1);
    for now in [3_000, 12_999] {
        let looks = beat(&mut leases, now, 0, ahead(7));
        assert_eq!((looks.ahead.len(), looks.expired.len()), (1, 0), "{now}");
    }
    // It was seen at 2,000 at the earliest.
    leases.look_now();
    let takes = leases.next_heartbeat(at(13_000)).unwrap();
    assert_eq!((takes.expired.len(), takes.expired), (1, takes.ahead.clone()));
    // A beat that fails forgets nothing.
    leases.failed(at(13_500), takes.number);
    assert_eq!(beat(&mut leases, 14_500, 0, ahead(8)).expired.len(), 1);
    // It was renewed, so it is another row; and what the table does not name is not watched.
    assert_eq!(beat(&mut leases, 25_499, 0, ahead(8)).expired.len(), 0);
    assert_eq!(beat(&mut leases, 26_499, 0, granted(1)).expired.len(), 1);
    assert_eq!(leases.ahead(), 0);
}
