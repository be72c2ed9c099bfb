//! Pools are first in, first out.

use proptest::prelude::*;

use super::*;

fn call(room: u64) -> Claim {
    claim(room, ClaimKind::Call)
}

#[test]
fn a_freed_place_is_for_the_room_that_waited_longest() {
    let mut admission = admission(Pacing::off());
    let running = admission.admit(at(0), call(1)).unwrap();
    assert_eq!(admission.ask(at(0), call(2)), GO);
    assert_eq!(admission.ask(at(0), call(3)), LINE);
    assert_eq!(admission.ask(at(0), call(4)), LINE);
    assert_eq!(admission.next(at(9)), None, "nothing is free");
    admission.report(at(9), &running, Report::Answered);
    assert_eq!(admission.ask(at(9), call(5)), LINE, "a later ask does not overtake");
    assert_eq!(admission.next_for_pool(at(9)), Some(3));
    assert_eq!(admission.ask(at(9), call(4)), LINE);
    assert_eq!(admission.ask(at(9), call(3)), GO);
    assert_eq!(admission.next(at(9)), None, "freed once");
}

#[test]
fn calls_and_consultations_have_a_pool_each() {
    let mut admission = admission(Pacing::off());
    assert_eq!(admission.ask(at(0), call(1)), GO);
    assert_eq!(admission.ask(at(0), call(2)), GO);
    assert_eq!(admission.ask(at(0), call(3)), LINE);
    let consult = admission.admit(at(0), claim(1, ClaimKind::Consult)).unwrap();
    assert_eq!(admission.ask(at(0), claim(2, ClaimKind::Consult)), LINE);
    admission.report(at(0), &consult, Report::Answered);
    assert_eq!(admission.next_for_pool(at(0)), Some(2), "its own pool's place");
}

fn one_call_each() -> Admission {
    let (pacing, agent_calls_max) = (Pacing::off(), Some(1));
    Admission::new(Limits { pacing, calls_max: 2, agent_calls_max, consults_max: 1 })
}

#[test]
fn an_agent_is_called_so_often_at_once_and_others_do_not_wait_for_that() {
    let mut admission = one_call_each();
    let first = admission.admit(at(0), by_agent(1, call(1))).unwrap();
    assert_eq!(admission.ask(at(0), by_agent(1, call(2))), LINE);
    assert_eq!(admission.ask(at(0), by_agent(1, call(3))), LINE);
    let other = admission.admit(at(0), by_agent(2, call(4))).unwrap();
    admission.report(at(9), &first, Report::Answered);
    assert_eq!(admission.ask(at(9), by_agent(1, call(3))), LINE, "a later ask does not overtake");
    assert_eq!(admission.next_for_pool(at(9)), Some(2));
    let second = admission.admit(at(9), by_agent(1, call(2))).unwrap();
    admission.report(at(9), &second, Report::Answered);
    assert_eq!(admission.next_for_pool(at(9)), Some(3));
    assert_eq!(admission.next(at(9)), None, "it wants nothing any more");
    admission.report(at(9), &other, Report::Answered);
    assert_eq!(admission.len(), 0);
}

#[test]
fn a_room_that_waits_for_another_agent_by_now_keeps_its_place() {
    let mut admission = one_call_each();
    let first = admission.admit(at(0), by_agent(1, call(1))).unwrap();
    let second = admission.admit(at(0), by_agent(2, call(2))).unwrap();
    assert_eq!(admission.ask(at(0), by_agent(1, call(3))), LINE);
    assert_eq!(admission.ask(at(0), by_agent(2, call(4))), LINE);
    assert_eq!(
        admission.ask(at(0), by_agent(2, call(3))),
        LINE,
        "another agent has its turn there"
    );
    admission.report(at(1), &first, Report::Answered);
    assert_eq!(admission.next(at(1)), None, "the other agent's place is taken");
    admission.report(at(1), &second, Report::Answered);
    assert_eq!(admission.next_for_pool(at(1)), Some(3));
    assert_eq!(admission.ask(at(1), by_agent(2, call(3))), GO);
    assert_eq!(admission.next(at(1)), None);
    assert_eq!(admission.ask(at(1), by_agent(1, call(4))), GO, "it stands in no line any more");
    assert_eq!(admission.len(), 2);
}

/// What a pool should do, slow and obvious.
#[derive(Default)]
struct Model {
    max: usize,
    each_max: Option<usize>,
    running: Vec<Admitted>,
    line: Vec<(ChannelId, AccountKey)>,
}

impl Model {
    fn has_place(&self, account: AccountKey) -> bool {
        let of_account = self.running.iter().filter(|it| it.claim.account == account).count();
        self.running.len() < self.max && self.each_max.is_none_or(|max| of_account < max)
    }

    fn first(&self) -> Option<usize> {
        self.line.iter().position(|(_, account)| self.has_place(*account))
    }
}

proptest! {
    #[test]
    fn a_pool_serves_in_the_order_of_the_first_asks_and_forgets_all(
        seed: u64,
        max in 1..4_usize,
        each_max in prop::option::of(1..3_usize),
    ) {
        let pacing = Pacing::off();
        let limits = Limits { pacing, calls_max: max, agent_calls_max: each_max, consults_max: 1 };
        let (mut admission, mut chance) = (Admission::new(limits), Chance(seed));
        let mut model = Model { max, each_max, ..Model::default() };
        for id in 0..400 {
            if chance.below(2) == 0 && !model.running.is_empty() {
                let over = model.running.swap_remove(chance.place(model.running.len()));
                admission.report(at(id), &over, Report::Answered);
            } else {
                let claim = by_agent(u32::try_from(chance.below(3)).unwrap(), call(chance.below(8)));
                let may_go = model.has_place(claim.account) && model.first().is_none();
                let answer = admission.admit(at(id), claim);
                prop_assert_eq!(answer.is_ok(), may_go);
                let known = model.line.iter().position(|(room, _)| *room == claim.room);
                match (answer, known) {
                    (Ok(admitted), known) => {
                        model.running.push(admitted);
                        known.map(|known| model.line.remove(known));
                    }
                    (Err(_), Some(known)) => model.line[known].1 = claim.account,
                    (Err(_), None) => model.line.push((claim.room, claim.account)),
                }
            }
            // Now and then the driver has something else to do first.
            let mut goes_on = chance.below(3) > 0;
            while let Some(first) = model.first().filter(|_| goes_on) {
                let (room, account) = model.line.remove(first);
                prop_assert_eq!(admission.next_for_pool(at(id)), Some(room.get()));
                if chance.below(3) > 0 {
                    let claim = Claim::new(room, account, ClaimKind::Call);
                    model.running.push(admission.admit(at(id), claim).unwrap());
                    goes_on = chance.below(3) > 0;
                }
            }
            if model.first().is_none() {
                prop_assert_eq!(admission.next(at(id)), None);
            }
            prop_assert_eq!(admission.len(), model.running.len() + model.line.len());
        }
        for over in model.running {
            admission.report(at(400), &over, Report::Answered);
        }
        // Nobody wants anything any more.
        while admission.next(at(400)).is_some() {}
        prop_assert_eq!((admission.len(), admission.next_deadline()), (0, None));
    }
}
