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

/// A call of this agent.
fn call_of(agent: u32, room: u64) -> Claim {
    Claim { account: AccountKey::Agent(AgentKey::new(agent)), ..call(room, 1) }
}

fn one_call_each() -> Admission {
    let (pacing, attempt_timeout) = (Pacing::off(), SECOND * 10);
    let limits =
        Limits { pacing, calls_max: 2, agent_calls_max: Some(1), consults_max: 1, attempt_timeout };
    Admission::new(limits)
}

#[test]
fn an_agent_is_called_so_often_at_once_and_others_do_not_wait_for_that() {
    let mut admission = one_call_each();
    assert_eq!(admission.admit(at(0), &call_of(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call_of(1, 2)), FULL);
    assert_eq!(admission.admit(at(0), &call_of(1, 3)), FULL);
    assert_eq!(admission.admit(at(0), &call_of(2, 4)), Verdict::Go);
    let over = admission.report(at(9), &call_of(1, 1), Report::Answered);
    assert_eq!(over, [try_again(&call_of(1, 2))]);
    assert_eq!(admission.admit(at(9), &call_of(1, 3)), FULL, "a later ask does not overtake");
    assert_eq!(admission.admit(at(9), &call_of(1, 2)), Verdict::Go);
    assert!(admission.withdraw(at(9), ChannelId::new(3), ActionId(1)).is_empty());
    assert!(admission.report(at(9), &call_of(1, 2), Report::Answered).is_empty());
    assert!(admission.report(at(9), &call_of(2, 4), Report::Answered).is_empty());
    assert_eq!(admission.len(), 0);
}

#[test]
fn an_agents_place_is_free_again_where_the_call_waits_for_one_of_all_and_is_withdrawn() {
    let mut admission = one_call_each();
    assert_eq!(admission.admit(at(0), &call_of(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call_of(2, 2)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call_of(3, 3)), FULL, "of all");
    assert_eq!(admission.admit(at(0), &call_of(3, 4)), FULL, "of its own");
    let gone = admission.withdraw(at(1), ChannelId::new(3), ActionId(1));
    assert_eq!(gone, [try_again(&call_of(3, 4))]);
    assert_eq!(admission.admit(at(1), &call_of(3, 4)), FULL, "of all");
    assert!(admission.withdraw(at(1), ChannelId::new(1), ActionId(1)).is_empty(), "it runs");
    assert_eq!(admission.admit(at(1), &call_of(1, 5)), FULL, "so its place is taken");
}

#[test]
fn a_room_that_went_away_keeps_no_agents_place() {
    let mut admission = one_call_each();
    assert_eq!(admission.admit(at(0), &call_of(1, 1)), Verdict::Go);
    assert_eq!(admission.admit(at(0), &call_of(2, 2)), Verdict::Go);
    for room in 3..=4 {
        assert_eq!(admission.admit(at(0), &call_of(3, room)), FULL);
    }
    // Its turn comes, and it never asks: the agent's next call comes up as soon as another room wants the place of all.
    assert_eq!(admission.admit(at(0), &call_of(5, 5)), FULL);
    let freed = admission.report(at(9), &call_of(1, 1), Report::Answered);
    assert_eq!(freed, [try_again(&call_of(3, 3))]);
    assert_eq!(admission.due(at(10_009)), [try_again(&call_of(5, 5)), try_again(&call_of(3, 4))]);
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
