//! A room stands in a line once, and is polled when its turn comes.

use super::*;

fn call(room: u64) -> Claim {
    claim(room, ClaimKind::Call)
}

#[test]
fn a_room_that_wants_nothing_any_more_when_its_turn_comes_lets_the_next_one_go() {
    let mut admission = admission(Pacing::off());
    let running = [1, 2].map(|room| admission.admit(at(0), call(room)).unwrap());
    for room in 3..=5 {
        assert_eq!(admission.ask(at(0), call(room)), LINE);
    }
    admission.report(at(9), &running[0], Report::Answered);
    assert_eq!(admission.next_for_pool(at(9)), Some(3));
    assert_eq!(admission.next_for_pool(at(9)), Some(4), "the other did not ask");
    assert_eq!(admission.ask(at(9), call(3)), LINE, "its turn is over");
    assert_eq!(admission.ask(at(9), call(4)), GO);
    assert_eq!(admission.next(at(9)), None);
    admission.report(at(10), &running[1], Report::Answered);
    assert_eq!(admission.next_for_pool(at(10)), Some(5));
    assert_eq!(admission.next_for_pool(at(10)), Some(3), "it stands behind those that waited");
}

#[test]
fn a_line_moves_by_turns_alone_and_its_first_room_waits_for_its_own() {
    let mut admission = admission(Pacing::off());
    let running = [1, 2].map(|room| admission.admit(at(0), call(room)).unwrap());
    assert_eq!(admission.ask(at(0), call(3)), LINE);
    admission.report(at(9), &running[0], Report::Answered);
    assert_eq!(admission.next_deadline(), Some(Timestamp::default()), "it is a room's turn");
    assert_eq!(admission.ask(at(9), call(3)), LINE);
    assert_eq!(admission.ask(at(9), call(4)), LINE);
    assert_eq!(admission.next_for_pool(at(9)), Some(3));
    assert_eq!(admission.ask(at(9), call(3)), GO);
    assert_eq!((admission.next(at(9)), admission.next_deadline()), (None, None));
}

#[test]
fn a_turn_in_one_line_is_none_in_another() {
    let mut admission = admission(Pacing::off());
    let running = [1, 2].map(|room| admission.admit(at(0), call(room)).unwrap());
    let consults = admission.admit(at(0), claim(1, ClaimKind::Consult)).unwrap();
    for room in 3..=4 {
        assert_eq!(admission.ask(at(0), call(room)), LINE);
    }
    assert_eq!(admission.ask(at(0), claim(4, ClaimKind::Consult)), LINE);
    assert_eq!(admission.ask(at(0), claim(3, ClaimKind::Consult)), LINE);
    admission.report(at(9), &running[0], Report::Answered);
    admission.report(at(9), &consults, Report::Answered);
    assert_eq!(admission.next_for_pool(at(9)), Some(3), "a call");
    assert_eq!(admission.ask(at(9), claim(3, ClaimKind::Consult)), LINE);
    assert_eq!(admission.ask(at(9), call(3)), GO);
    assert_eq!(admission.next_for_pool(at(9)), Some(4), "a consultation");
    assert_eq!(admission.ask(at(9), claim(4, ClaimKind::Consult)), GO);
}

#[test]
fn a_room_that_waits_with_several_requests_stands_in_the_line_once() {
    let mut admission = admission(Pacing::off());
    let first = admission.admit(at(0), post(99)).unwrap();
    admission.report(at(0), &first, REFUSED);
    for claim in [post(1), read(1), read(1), post(2)] {
        assert_eq!(admission.ask(at(0), claim), LINE);
    }
    assert_eq!(admission.len(), 2);
    assert_eq!(admission.next_for_chat(at(1_000)), Some(1));
    let probe = admission.admit(at(1_000), post(1)).unwrap();
    assert_eq!(admission.ask(at(1_000), read(1)), LINE, "one at a time");
    admission.report(at(1_000), &probe, HUNG);
    assert_eq!(admission.next_for_chat(at(3_000)), Some(2), "each room in its turn");
}
