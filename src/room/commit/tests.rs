//! What is stored, repeated and told.

use std::ops::Range;

use dirigent_core::{Cause, PhaseKind, Transition, TurnId};

use super::news::WAITING_MAX;
use super::*;
use crate::values::error::ErrorKind;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn record(commit: &mut CommitState, numbers: Range<u64>) {
    let (from, to) = (PhaseKind::Dormant, PhaseKind::Granted);
    for number in numbers {
        commit.change();
        let (at, turn, cause) = (NOW, TurnId::new(number), Cause::HumanMessage);
        let transition = Transition { at, from, to, agent: None, turn, cause };
        commit.news.record(commit.newest(), transition);
    }
}

/// The store keeps as many transitions.
const HISTORY_MAX: usize = 3;

fn begin(commit: &mut CommitState, now: Timestamp) -> Option<CommitTerms> {
    let terms = commit.begin(now, HISTORY_MAX, &mut BufferPool::default())?;
    commit.sent(terms.durability, terms.buffers.share());
    Some(terms)
}

fn failure(kind: ErrorKind) -> Failure {
    Failure { kind, code: None, certainty: Certainty::NotDone, retry_after: None, began: NOW }
}

#[test]
fn of_the_history_the_oldest_goes_first_also_while_the_store_fails() {
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    let turns = |terms: &CommitTerms| -> Vec<u64> {
        terms.buffers.transitions.iter().map(|transition| transition.turn.get()).collect()
    };
    record(&mut commit, 0..5);
    let terms = begin(&mut commit, NOW).unwrap();
    assert_eq!(turns(&terms), [2, 3, 4]);
    commit.failed(NOW, &failure(ErrorKind::Store));
    record(&mut commit, 5..7);
    let terms = begin(&mut commit, NOW + WAIT_MAX).unwrap();
    assert_eq!(turns(&terms), [4, 5, 6]);
}

#[test]
fn what_listeners_were_told_makes_room_for_what_they_are_told_next() {
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    let tell = |commit: &mut CommitState, numbers: Range<u64>| {
        for number in numbers {
            let told = commit.next_news();
            let Some(Announcement::Transition(transition)) = told else {
                panic!("{number} is told, not {told:?}");
            };
            assert_eq!(transition.turn, TurnId::new(number));
        }
    };
    record(&mut commit, 0..200);
    begin(&mut commit, NOW).unwrap();
    record(&mut commit, 200..250);
    commit.committed(Revision::new(1));
    tell(&mut commit, 0..150);
    record(&mut commit, 250..300);
    tell(&mut commit, 150..200);
    assert!(commit.next_news().is_none(), "the others are not stored");
    begin(&mut commit, NOW).unwrap();
    commit.committed(Revision::new(2));
    tell(&mut commit, 200..300);
    assert!(!commit.has_news());
}

#[test]
fn while_the_store_fails_listeners_are_owed_the_newest_transitions_and_the_number_of_the_others() {
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    record(&mut commit, 0..1_000);
    assert!(commit.next_news().is_none(), "not stored");
    begin(&mut commit, NOW).unwrap();
    commit.committed(Revision::new(1));
    let kept = u64::try_from(WAITING_MAX).unwrap();
    let Some(Announcement::Missed(dropped)) = commit.next_news() else {
        panic!("the number of those that were dropped comes first");
    };
    assert_eq!(dropped, 1_000 - kept);
    let told = std::iter::from_fn(|| commit.next_news());
    let turn = |news| match news {
        Announcement::Transition(told) => Some(told.turn.get()),
        Announcement::Missed(_) => None,
    };
    let told: Vec<u64> = told.map(|news| turn(news).expect("told once")).collect();
    assert_eq!(told, (1_000 - kept..1_000).collect::<Vec<_>>());
}

#[test]
fn a_refused_record_is_tried_less_and_less_often_sooner_if_it_changed_and_at_once_after_a_command()
{
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    commit.change();
    let mut now = NOW;
    let minute = Duration::from_secs(60);
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
        begin(&mut commit, now).unwrap();
        commit.failed(now, &failure(ErrorKind::Invalid));
        assert_eq!(commit.next_at(), Some(now + minute * minutes));
        now = now + minute * minutes;
    }
    commit.change();
    assert!(begin(&mut commit, now).is_some());
    commit.change();
    commit.failed(now, &failure(ErrorKind::Invalid));
    assert_eq!(commit.next_at(), Some(now + minute * 10), "it has changed since");
    now = now + minute * 10;
    assert_eq!(commit.refused.since(), Some(NOW));
    begin(&mut commit, now).unwrap();
    commit.failed(now, &failure(ErrorKind::Invalid));
    assert!(begin(&mut commit, now).is_none());
    commit.change_for_good();
    commit.change();
    begin(&mut commit, now).unwrap();
    commit.committed(Revision::new(1));
    assert_eq!(commit.refused.since(), None);
}

#[test]
fn only_by_an_operators_act_a_commit_takes_the_place_of_a_damaged_record() {
    let terms = |damaged: Option<Option<Revision>>| {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        if let Some(sound) = damaged {
            commit.replace_damaged(sound);
        }
        commit.change();
        begin(&mut commit, NOW).map(|terms| (terms.expected, terms.replaces_damaged)).unwrap()
    };
    assert_eq!(terms(None), (Revision::default(), false), "a new channel");
    assert_eq!(terms(Some(None)), (Revision::default(), true));
    let sound = Revision::new(4);
    assert_eq!(terms(Some(Some(sound))), (sound, false), "the store takes it for a sound one");
}

#[test]
fn a_change_of_a_refused_record_moves_no_other_wait() {
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    commit.change();
    begin(&mut commit, NOW).unwrap();
    commit.failed(NOW, &failure(ErrorKind::Invalid));
    let now = NOW + Duration::from_secs(60);
    begin(&mut commit, now).unwrap();
    commit.failed(now, &failure(ErrorKind::Store));
    commit.change();
    assert_eq!(commit.next_at(), Some(now + WAIT), "not at once, and not when the refusal says");

    let now = now + WAIT;
    begin(&mut commit, now).unwrap();
    commit.failed(now, &Failure { certainty: Certainty::Unknown, ..failure(ErrorKind::Store) });
    let now = now + WAIT_MAX;
    begin(&mut commit, now).unwrap();
    commit.conflict();
    commit.change();
    assert!(commit.begin_read_back(now), "whose record it is, is found out at once");
}

#[test]
fn a_driver_that_ends_waits_for_no_record_that_is_refused() {
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    commit.change();
    begin(&mut commit, NOW).unwrap();
    commit.failed(NOW, &failure(ErrorKind::Invalid));
    assert!(commit.is_given_up());
    commit.retry_now();
    assert!(!commit.is_given_up());
    begin(&mut commit, NOW).unwrap();
    assert!(!commit.is_given_up());
    commit.failed(NOW, &failure(ErrorKind::Store));
    assert!(!commit.is_given_up(), "a failure that passes is waited for");
}

#[test]
fn what_led_to_a_record_that_is_refused_is_no_part_of_the_history() {
    let mut commit = CommitState::new(Revision::default(), 0, 7);
    record(&mut commit, 0..1);
    begin(&mut commit, NOW).unwrap();
    commit.failed(NOW, &failure(ErrorKind::Invalid));
    record(&mut commit, 1..2);
    commit.retry_now();
    let terms = begin(&mut commit, NOW).unwrap();
    let turns = terms.buffers.transitions.iter().map(|transition| transition.turn.get());
    assert!(turns.eq([1]), "it may be what was refused");
}

#[test]
fn after_a_conflict_only_a_record_that_may_be_the_attempt_in_doubt_is_this_process_own() {
    let owns = |process: u64, count: u64| {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        commit.change();
        begin(&mut commit, NOW).unwrap();
        commit.committed(Revision::new(1));
        commit.change();
        begin(&mut commit, NOW).unwrap();
        let in_doubt = Failure { certainty: Certainty::Unknown, ..failure(ErrorKind::Store) };
        commit.failed(NOW, &in_doubt);
        begin(&mut commit, NOW + WAIT).unwrap();
        commit.conflict();
        assert!(commit.begin_read_back(NOW + WAIT));
        commit.read_back(Some((Revision::new(2), Some(Writer { process, count }))));
        !commit.is_taken_over()
    };
    assert!(owns(7, 2) && owns(7, 3), "the attempt, and the one after it");
    assert!(!owns(7, 1), "an older one of this process, put back from a copy");
    assert!(!owns(8, 2));
}
