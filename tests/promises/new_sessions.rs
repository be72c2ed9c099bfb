//! What was missed before a new session of the gateway is told or read, whatever becomes of that session.

use dirigent::Clock;
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MINUTE, SECOND, is_heard};

/// Whether a channel at rest is still in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    InMemory,
    Parked,
}

/// A channel at rest that has heard something, and is looked at by no backfill.
fn at_rest(kept: Kept) -> Stage {
    let slow = Line::from("a2").taking(MINUTE * 5);
    let mut stage = Setup::new()
        .hosted("a", ["a1".into(), Act::Pass.into(), slow])
        .hosted("b", [])
        .settings(|settings| settings.time_limits.backfill = None)
        .stage();
    stage.chat();
    stage.say("Good morning");
    stage.until_dormant();
    stage.advance(if kept == Kept::InMemory { MINUTE } else { MINUTE * 20 });
    stage
}

/// The gateway is lost, and something is said.
fn miss(stage: &mut Stage, word: &str) {
    stage.cut_gateway(true);
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(SECOND * 2);
    stage.say(word);
}

/// A new session begins, and its connection is lost before anything was read.
fn lose_again(stage: &mut Stage) {
    stage.dirigent().session_began(0);
    stage.advance(SECOND * 5);
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(SECOND * 40);
}

/// A read that is due after a new session does not mean that the gateway stands.
#[test]
fn a_channel_that_is_read_after_the_gateway_was_lost_again_wakes_when_it_is_back() {
    for kept in [Kept::InMemory, Kept::Parked] {
        let mut stage = at_rest(kept);
        miss(&mut stage, "Hello");
        lose_again(&mut stage);
        assert!(!is_heard(&stage, "Hello"), "{kept:?}: a stop would not be heard");
        assert!(stage.status().unwrap().chat_away_since.is_some(), "{kept:?}");
        stage.cut_gateway(false);
        stage.dirigent().resumed(0);
        stage.advance(SECOND * 5);
        assert!(is_heard(&stage, "Hello"), "{kept:?}");
    }
}

/// What was missed in both losses is read.
#[test]
fn a_stop_word_is_heard_after_the_gateway_was_lost_twice() {
    for kept in [Kept::InMemory, Kept::Parked] {
        let mut stage = at_rest(kept);
        miss(&mut stage, "Hello");
        lose_again(&mut stage);
        stage.say("stop");
        stage.cut_gateway(false);
        stage.dirigent().session_began(0);
        stage.advance(SECOND * 40);
        assert!(stage.status().unwrap().rest.is_some(), "{kept:?}");
    }
}

/// A session that is resumed tells again what was said in it, and nothing of before.
#[test]
fn what_was_missed_before_a_new_session_is_read_although_a_connection_is_resumed_meanwhile() {
    for kept in [Kept::InMemory, Kept::Parked] {
        for connection in [0, 1] {
            let mut stage = at_rest(kept);
            miss(&mut stage, "Hello");
            stage.cut_gateway(false);
            stage.dirigent().session_began(0);
            stage.advance(SECOND * 5);
            stage.dirigent().disconnected(connection, |_| true);
            stage.advance(SECOND * 3);
            stage.dirigent().resumed(connection);
            stage.advance(MINUTE);
            assert!(is_heard(&stage, "Hello"), "{kept:?}, connection {connection}");
        }
    }
}

/// A new session says nothing about another connection that is still lost.
#[test]
fn what_was_missed_before_a_new_session_is_read_although_another_connection_is_lost() {
    let mut stage = at_rest(Kept::InMemory);
    miss(&mut stage, "Hello");
    stage.dirigent().disconnected(1, |_| true);
    stage.dirigent().session_began(0);
    stage.advance(SECOND * 2);
    stage.cut_gateway(false);
    stage.dirigent().resumed(1);
    stage.advance(MINUTE);
    assert!(is_heard(&stage, "Hello"));
}

/// A message that is told first takes the place of the newest message: none will be told.
#[test]
fn what_was_missed_before_a_new_session_is_read_although_something_is_said_first() {
    for kept in [Kept::InMemory, Kept::Parked] {
        for word in ["Hello", "stop"] {
            let mut stage = at_rest(kept);
            miss(&mut stage, word);
            stage.cut_gateway(false);
            stage.dirigent().session_began(0);
            stage.advance(SECOND * 5);
            stage.say("More");
            stage.advance(MINUTE);
            let rests = stage.status().unwrap().rest.is_some();
            assert!(is_heard(&stage, word) || rests, "{kept:?}: {word}");
        }
    }
}

/// The earliest wait counts for all channels, by the clock as it is.
#[test]
fn after_a_step_back_of_the_clock_a_new_session_is_waited_for_half_a_minute() {
    let mut stage = Setup::new()
        .hosted("a", ["a1".into()])
        .hosted("b", [])
        .rooms(2)
        .settings(|settings| settings.time_limits.backfill = None)
        .stage();
    stage.chat();
    let (first, second) = (stage.rooms()[0], stage.rooms()[1]);
    for room in [first, second] {
        stage.say_in(room, "Good morning");
        stage.advance(MINUTE * 20);
    }
    stage.cut_gateway(true);
    stage.dirigent().disconnected(0, move |channel| channel == first);
    stage.dirigent().disconnected(1, move |channel| channel == second);
    stage.dirigent().session_began(0);
    stage.advance(SECOND);
    stage.clock().jump_to(stage.clock().now().saturating_sub(HOUR));
    stage.advance(SECOND);
    stage.say_in(second, "Hello");
    stage.cut_gateway(false);
    stage.dirigent().session_began(1);
    stage.advance(MINUTE);
    assert!(is_heard(&stage, "Hello"));
}
