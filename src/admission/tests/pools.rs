//! Pools are first in, first out.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

fn call(room: u64, id: u64) -> Claim {
    claim(room, id, ClaimKind::Call)
}

const FULL: Verdict = WAIT;

#[test]
fn a_freed_place_is_kept_for_the_action_that_waited_longest() {
    let mut admission = admission(Pacing::off());
    assert_eq!(admission.admit(at(0), &call(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call(2, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call(3, 1)), FULL);
    assert_eq!(admission.admit(at(0), &call(4, 1)), FULL);
    assert_eq!(admission.report(at(9), &call(1, 1), Report::Answered), [try_again(&call(3, 1))]);
    assert_eq!(admission.admit(at(9), &call(5, 1)), FULL, "a later ask does not overtake");
    assert_eq!(admission.admit(at(9), &call(4, 1)), FULL);
    assert_eq!(admission.admit(at(9), &call(3, 1)), Verdict::Go);
    assert!(admission.report(at(9), &call(1, 1), Report::Answered).is_empty(), "freed once");
}

#[test]
fn calls_and_consultations_have_a_pool_each() {
    let mut admission = admission(Pacing::off());
    assert_eq!(admission.admit(at(0), &call(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call(2, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call(3, 1)), FULL);
    assert_eq!(admission.admit(at(0), &claim(1, 2, ClaimKind::Consult)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &claim(2, 2, ClaimKind::Consult)), FULL);
}

#[test]
fn an_action_that_is_withdrawn_when_its_turn_comes_passes_its_place_on() {
    let mut admission = admission(Pacing::off());
    for room in 1..=4 {
        let _ = admission.admit(at(0), &call(room, 1));
    }
    assert_eq!(admission.report(at(9), &call(1, 1), Report::Answered), [try_again(&call(3, 1))]);
    assert_eq!(admission.withdraw(at(9), ChannelId::new(3), ActionId(1)), [try_again(&call(4, 1))]);
    assert_eq!(admission.admit(at(9), &call(4, 1)), Verdict::Go);
}

#[test]
fn a_place_whose_room_does_not_ask_goes_to_the_next_after_ten_seconds() {
    let mut admission = admission(Pacing::off());
    for room in 1..=4 {
        let _ = admission.admit(at(0), &call(room, 1));
    }
    assert_eq!(admission.report(at(9), &call(1, 1), Report::Answered), [try_again(&call(3, 1))]);
    assert_eq!(admission.next_deadline(), Some(at(10_009)));
    assert!(admission.due(at(10_008)).is_empty());
    assert_eq!(admission.due(at(10_009)), [try_again(&call(4, 1))]);
    assert_eq!(admission.admit(at(10_009), &call(3, 1)), FULL);
    assert_eq!(admission.admit(at(10_009), &call(4, 1)), Verdict::Go);
}

proptest! {
    #[test]
    fn a_pool_serves_in_the_order_of_the_first_asks_and_forgets_all(seed: u64) {
        let mut admission = admission(Pacing::off());
        let mut chance = Chance(seed);
        let (mut running, mut called, mut line) = (Vec::new(), Vec::new(), VecDeque::new());
        let mut wakeups = Vec::new();
        for id in 0..400 {
            let claims = call(chance.below(6), id);
            let pick = |chance: &mut Chance, list: &[Claim]| {
                usize::try_from(chance.below(list.len() as u64)).unwrap()
            };
            match chance.below(5) {
                0 | 1 => match admission.admit(at(id), &claims) {
                    Verdict::Go => {
                        prop_assert!(line.is_empty());
                        running.push(claims);
                    }
                    Verdict::Wait { .. } => line.push_back(claims),
                },
                2 if !running.is_empty() => {
                    let over: Claim = running.swap_remove(pick(&mut chance, &running));
                    wakeups = admission.report(at(id), &over, Report::Answered);
                }
                3 if !line.is_empty() => {
                    let place = pick(&mut chance, line.make_contiguous());
                    let gone = line.remove(place).unwrap();
                    prop_assert!(admission.withdraw(at(id), gone.room, gone.id).is_empty());
                }
                4 if !called.is_empty() && chance.below(3) == 0 => {
                    let gone: Claim = called.swap_remove(pick(&mut chance, &called));
                    wakeups = admission.withdraw(at(id), gone.room, gone.id);
                }
                _ if !called.is_empty() => {
                    let next: Claim = called.swap_remove(pick(&mut chance, &called));
                    prop_assert_eq!(admission.admit(at(id), &next), Verdict::Go);
                    running.push(next);
                }
                _ => {}
            }
            for wakeup in wakeups.drain(..) {
                let first = line.pop_front().unwrap();
                prop_assert_eq!(wakeup, try_again(&first));
                called.push(first);
            }
            prop_assert!(running.len() + called.len() <= 2);
            prop_assert!(line.is_empty() || running.len() + called.len() == 2, "no place is idle");
            prop_assert_eq!(admission.len(), running.len() + called.len() + line.len());
        }
        // Those in the line go first: a freed place is kept for the first of them.
        for gone in line.into_iter().chain(called) {
            let _ = admission.withdraw(at(400), gone.room, gone.id);
        }
        for over in running {
            let _ = admission.report(at(400), &over, Report::Answered);
        }
        prop_assert_eq!(admission.len(), 0);
        prop_assert_eq!(admission.next_deadline(), None);
    }
}
