//! What an operator does, and what people said before: of a stop and a resume the newest one acts, in
//! whatever order the library hears of them.

use std::time::Duration;

use dirigent::operate::Refusal;
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{Halt, MINUTE, SECOND, is_heard, resume, runs, stop};

/// A room whose agents talk for half an hour, each turn of 20 s. "Hello" was said half a minute ago.
fn talking() -> Stage {
    let lines = |name: &str| {
        let line = |n| Line::from(format!("{name}{n}")).taking(SECOND * 20);
        (0..50).map(line).collect::<Vec<_>>()
    };
    let mut stage = Setup::new().hosted("a", lines("a")).hosted("b", lines("b")).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 30);
    stage
}

/// Kills the process, lets the person say this while it is down, and starts it again. The history takes
/// this long to be read; the host gives the channel its mode, as at each start.
fn starts_anew(stage: &mut Stage, word: &str, history: Duration) {
    stage.crash();
    stage.discord().say(stage.channel(), stage.person(), word);
    stage.clock().advance(MINUTE);
    let slow = Outage::failing(Fault::SlowAnswer { by: history }).only(Call::History);
    stage.discord().begin_outage(slow);
    stage.restart();
    stage.chat();
    stage.advance(MINUTE * 2);
}

fn rests(stage: &mut Stage) -> bool {
    stage.status().unwrap().rest.is_some()
}

#[test]
fn a_host_that_gives_a_channel_its_mode_at_each_start_misses_no_word() {
    for history in [Duration::ZERO, SECOND * 2] {
        let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
        stage.chat();
        starts_anew(&mut stage, "A question", history);
        assert!(is_heard(&stage, "A question"), "{history:?}");
    }
}

#[test]
fn a_host_that_gives_a_channel_its_mode_at_each_start_misses_no_stop_word() {
    for history in [Duration::ZERO, SECOND * 2] {
        let mut stage = talking();
        starts_anew(&mut stage, "stop", history);
        assert!(rests(&mut stage), "{history:?}: agents talk on");
    }
}

#[test]
fn a_command_that_is_refused_undoes_no_stop_word_that_was_not_heard() {
    let mut stage = talking();
    stage.cut_gateway(true);
    stage.say("stop");
    stage.advance(SECOND);
    let channel = stage.channel();
    let refused = stage.call(move |d| async move { d.channel(channel).resume().await });
    assert!(matches!(refused, Err(dirigent::CallError::Refused(Refusal::NotPaused))));
    stage.cut_gateway(false);
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.advance(SECOND * 10);
    assert!(rests(&mut stage), "agents talk on");
}

#[test]
fn of_two_words_that_are_told_in_the_wrong_order_the_newer_one_acts() {
    let late = PushFault::Delayed { by: SECOND * 7 };
    let mut stage = talking();
    stage.discord().next_push(late);
    stage.say("stop");
    stage.advance(SECOND);
    stage.say("resume");
    stage.advance(SECOND * 10);
    assert!(!rests(&mut stage), "it was resumed");
    stage.say("stop");
    stage.discord().next_push(late);
    stage.say("resume");
    stage.advance(SECOND);
    stage.say("stop");
    stage.advance(SECOND * 10);
    assert!(rests(&mut stage), "agents talk on");
}

#[test]
fn a_resume_word_that_is_told_late_does_not_undo_an_operators_newer_stop() {
    for halt in [Halt::Stop, Halt::Hold, Halt::Finish] {
        let mut stage = talking();
        stage.discord().next_push(PushFault::Delayed { by: SECOND * 20 });
        stage.say("resume");
        stage.advance(SECOND * 10);
        halt.act(&mut stage);
        stage.advance(MINUTE);
        assert!(rests(&mut stage), "{halt:?}: agents talk on");
        stage.say("resume");
        assert!(!rests(&mut stage), "{halt:?}: this one is newer");
    }
}

#[test]
fn a_resume_word_that_is_read_after_a_restart_does_not_undo_an_operators_newer_stop() {
    for halt in [Halt::Stop, Halt::Hold, Halt::Finish] {
        let mut stage = talking();
        stage.cut_gateway(true);
        stage.say("resume");
        stage.advance(SECOND * 10);
        halt.act(&mut stage);
        stage.crash();
        stage.cut_gateway(false);
        stage.restart();
        stage.advance(MINUTE);
        assert!(rests(&mut stage), "{halt:?}: agents talk on");
        stage.say("resume");
        assert!(!rests(&mut stage), "{halt:?}: this one is newer");
    }
}

/// Agents that answer nobody.
fn deaf(setup: Setup) -> Stage {
    use dirigent_testkit::scripted_agent::Act;
    setup.hosted("a", [Act::Deaf.into()]).hosted("b", [Act::Pass.into()]).stage()
}

#[test]
fn a_word_that_a_stopped_run_did_not_take_is_handed_over_after_the_resume() {
    let mut stage = deaf(Setup::new());
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("And hurry");
    stage.advance(SECOND);
    stop(&mut stage);
    stage.advance(SECOND);
    resume(&mut stage);
    stage.advance(MINUTE);
    assert!(is_heard(&stage, "And hurry"));
}

#[test]
fn a_word_that_a_run_did_not_take_before_its_time_was_over_is_handed_to_the_same_agent_again() {
    let mut stage = deaf(Setup::new().config(|config| config.run_deadline = Some(SECOND * 30)));
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).mute(&"b".into()).await }).unwrap();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("And hurry");
    stage.advance(MINUTE * 2);
    assert!(is_heard(&stage, "And hurry"));
}

/// P11
#[test]
fn a_webhook_is_no_person() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    let (channel, hook) = (stage.channel(), stage.discord().add_webhook());
    for word in ["Hello", "stop"] {
        stage.discord().say(channel, hook, word);
        stage.advance(SECOND);
        assert_eq!(runs(&stage), 0, "{word} calls an agent");
        assert_eq!(stage.status().unwrap().rest, None, "{word} stops the channel");
    }
}
