use dirigent_core::AgentKey;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const MODERATOR: Account = Account::Moderator;
const AGENT: Account = Account::Agent(AgentKey::new(1));

fn at(seconds: u32) -> Timestamp {
    Timestamp::from_millis(1_000_000) + SECOND * seconds
}

/// Requests of the moderator fail, once a second.
fn failing_for(seconds: u32) -> ChatHealth {
    let mut health = ChatHealth::default();
    (0..=seconds).for_each(|s| health.failed(MODERATOR, at(s), ErrorKind::NoAnswer));
    health
}

#[test]
fn a_chat_is_away_five_seconds_after_the_first_failure_however_many_follow() {
    let mut health = failing_for(4);
    assert_eq!((health.due(at(4)), health.moments().min()), (None, Some(at(5))));
    assert_eq!((health.due(at(5)), health.due(at(6))), (Some(true), None));
    assert_eq!(health.failing(), Some((at(0), ErrorKind::NoAnswer)));
}

#[test]
fn an_answer_to_another_account_says_nothing() {
    let mut health = failing_for(5);
    assert_eq!(health.due(at(5)), Some(true));
    assert!(!health.answered(AGENT, true));
    assert!(health.is_told && health.failing().is_some());
    assert!(health.answered(MODERATOR, false) && health.failing().is_none());
    assert_eq!(health.due(at(5)), Some(false), "the machine learns that the chat is back");
    assert!(!health.answered(MODERATOR, false));
}

#[test]
fn an_answer_before_the_machine_was_told_of_an_outage_is_not_told_either() {
    let mut health = failing_for(4);
    assert!(health.answered(MODERATOR, false));
    assert_eq!(health.due(at(60)), None);
}

#[test]
fn a_chat_that_is_away_is_probed_every_ten_seconds_with_the_account_that_failed() {
    let mut health = failing_for(0);
    assert_eq!(health.due(at(5)), Some(true));
    assert_eq!((health.probe(at(9)), health.moments().min()), (None, Some(at(10))));
    assert_eq!(health.probe(at(10)), Some(MODERATOR));
    health.probed(at(10));
    assert_eq!((health.probe(at(19)), health.probe(at(20))), (None, Some(MODERATOR)));
}

#[test]
fn a_chat_that_was_away_in_an_earlier_process_is_probed_at_once_and_its_return_is_told() {
    let mut health = ChatHealth::restored(at(0), at(100));
    assert_eq!(health.due(at(100)), None, "the machine knows");
    assert_eq!(health.probe(at(100)), Some(MODERATOR));
    assert!(health.answered(MODERATOR, false));
    assert_eq!(health.due(at(100)), Some(false));
}

#[test]
fn the_chat_is_away_while_any_of_requests_gateway_and_store_is() {
    let mut health = failing_for(0);
    health.lost_gateway(at(2));
    health.store_failed(at(4));
    assert_eq!((health.due(at(4)), health.due(at(5))), (None, Some(true)));
    assert!(health.answered(MODERATOR, false));
    assert_eq!(health.due(at(6)), None, "the gateway is lost");
    assert_eq!(health.hears(), Some(at(2)));
    assert_eq!(health.due(at(6)), None, "the store takes nothing");
    health.stored();
    assert_eq!(health.due(at(6)), Some(false));
}

#[test]
fn while_the_gateway_is_lost_the_history_is_looked_at_every_fifteen_seconds() {
    let mut health = ChatHealth::default();
    assert!(!health.looks(at(0)));
    health.lost_gateway(at(0));
    assert_eq!((health.moments().min(), health.looks(at(4))), (Some(at(5)), false));
    assert_eq!((health.due(at(5)), health.looks(at(5))), (Some(true), true));
    assert_eq!(
        (health.looks(at(19)), health.moments().min(), health.looks(at(20))),
        (false, Some(at(20)), true)
    );
    assert_eq!(health.hears(), Some(at(0)));
    assert!(!health.looks(at(60)));
}

#[test]
fn a_long_rate_limit_is_an_outage_with_an_end_and_needs_no_probe() {
    let mut health = ChatHealth::default();
    health.limited(MODERATOR, at(0), at(5));
    assert!(health.failing().is_none(), "it is short");
    health.limited(MODERATOR, at(0), at(60));
    assert_eq!(health.due(at(0)), Some(true));
    assert_eq!((health.probe(at(30)), health.moments().min()), (None, Some(at(60))));
    assert_eq!(health.due(at(60)), Some(false));
}

/// WY12
#[test]
fn a_chat_that_falls_silent_after_a_rate_limit_is_silent_since_then() {
    let mut health = ChatHealth::default();
    health.limited(MODERATOR, at(0), at(60));
    assert_eq!((health.due(at(0)), health.silent_since()), (Some(true), None));
    assert_eq!(health.limited_until(), Some(at(60)));
    health.failed(MODERATOR, at(50), ErrorKind::NoAnswer);
    assert_eq!((health.due(at(50)), health.silent_since()), (None, Some(at(50))));
    assert_eq!(health.limited_until(), None);
}

#[test]
fn a_read_that_is_answered_does_not_end_a_limit_on_posts() {
    let mut health = ChatHealth::default();
    health.limited(MODERATOR, at(0), at(60));
    assert_eq!(health.due(at(0)), Some(true));
    assert!(!health.answered(MODERATOR, false));
    assert_eq!(health.due(at(1)), None, "it goes on");
    assert!(health.answered(MODERATOR, true), "something was posted");
    assert_eq!(health.due(at(1)), Some(false));
}

#[test]
fn a_new_session_is_followed_by_the_newest_message_within_half_a_minute() {
    let mut health = ChatHealth::default();
    health.lost_gateway(at(0));
    assert_eq!(health.due(at(5)), Some(true));
    assert!(health.looks(at(15)));
    health.await_newest(at(20), true);
    assert_eq!((health.misses_newest(at(49)), health.misses_newest(at(50))), (false, true));
    assert!(health.stands());
}

#[test]
fn what_was_missed_before_a_new_session_is_waited_for_until_it_is_told_or_read() {
    let mut health = ChatHealth::default();
    health.lost_gateway(at(0));
    health.await_newest(at(20), true);
    health.lost_gateway(at(30));
    assert!(!health.stands(), "it was lost again");
    health.await_newest(at(40), false);
    assert!(!health.stands(), "another connection is lost");
    assert_eq!(health.hears(), Some(at(0)));
    assert!(health.misses_newest(at(50)), "the first wait counts");
    health.newest_told();
    assert!(!health.misses_newest(at(80)));
}
