//! P20, P21: a machine that slept, and a clock that steps back.
//!
//! `ManualClock::jump_to` changes the time of day while timers keep what remains of them, which is what
//! the system's timers do.

use std::time::Duration;

use dirigent::Clock;
use dirigent::operate::Reason;
use dirigent::settings::{Heartbeat, LostRuns};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{HOUR, MINUTE, SECOND, begin_run, open_discussion, stop};

/// How late a deadline may be noticed after a jump of the clock.
const NOTICED: Duration = Duration::from_secs(31);

fn sleeps(stage: &mut Stage, for_long: Duration) {
    stage.clock().jump_to(stage.clock().now() + for_long);
    stage.settle();
}

fn steps_back(stage: &mut Stage, by: Duration) {
    stage.clock().jump_to(stage.clock().now().saturating_sub(by));
    stage.settle();
}

/// A room in which the hosted agent "a" has run for a second, and never ends, and "b" has "b1" to say.
fn running(deadline: Duration) -> Stage {
    let mut stage = Setup::new()
        .hosted("a", [Act::Hang.into()])
        .hosted("b", ["b1".into()])
        .config(move |config| config.deadlines.run = Some(deadline))
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage
}

/// P20
#[test]
fn a_post_in_doubt_is_not_repeated_when_the_machine_slept_in_the_midst_of_the_repetition() {
    for slept in [MINUTE * 3, MINUTE * 6, HOUR * 7] {
        for wait in [SECOND / 10, SECOND, SECOND * 3] {
            let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
            stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
            let _ = stage.discord().clone().with_nonce_window(MINUTE * 2);
            stage.chat();
            stage.discord().next_post(Fault::LostAnswer);
            stage.discord().next_post(Fault::SlowRequest { by: SECOND * 4 });
            // The event of the person's word comes, that of the post does not: it would settle the doubt.
            stage.discord().next_push(PushFault::Delayed { by: Duration::ZERO });
            stage.discord().next_push(PushFault::Dropped);
            stage.say("Hello");
            stage.advance(wait);
            sleeps(&mut stage, slept);
            stage.until_dormant();
            stage.advance(MINUTE * 10);
            assert_eq!(stage.words(), ["Hello", "a1"], "slept {slept:?} after {wait:?}");
        }
    }
}

/// P20
#[test]
fn a_deadline_that_passed_while_the_machine_slept_is_noticed_within_half_a_minute() {
    let mut stage = running(MINUTE * 10);
    sleeps(&mut stage, HOUR);
    stage.advance(NOTICED);
    assert_eq!(stage.words(), ["Hello", "b1"], "ten minutes were over long ago");
}

/// P21
#[test]
fn a_clock_that_steps_back_does_not_lengthen_a_quiet_rooms_wait() {
    // A step that is shorter than what `NOTICED` allows would go unseen.
    for step in [MINUTE, HOUR, HOUR * 24] {
        let mut stage = running(SECOND * 14);
        steps_back(&mut stage, step);
        stage.advance(SECOND * 14 + NOTICED);
        assert_eq!(stage.words(), ["Hello", "b1"], "a step of {step:?}");
    }
}

/// P21
#[test]
fn a_clock_that_steps_back_does_not_lengthen_the_wait_for_a_start_a_reply_or_a_repetition() {
    let start = Setup::new().hooked("a", []).hooked("b", []).without_pump().config(|config| {
        config.deadlines.start = Some(SECOND * 14);
        config.deadlines.retriggers = 0;
    });
    let reply = Setup::new().hooked("a", ["a1".into()]).hooked("b", []).post_delay(MINUTE * 5);
    let repetition = Setup::new().hosted("a", ["a1".into()]).hosted("b", []);
    for (name, setup) in [("start", start), ("reply", reply), ("repetition", repetition)] {
        let mut stage = setup.stage();
        stage.chat();
        if name == "repetition" {
            stage.discord().next_post(Fault::RateLimited { retry_after: SECOND * 14 });
        }
        let channel = stage.channel();
        stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
        stage.advance(SECOND);
        let before = stage.status().unwrap();
        assert_eq!(before.speaker, Some("a".into()), "{name}");
        steps_back(&mut stage, HOUR);
        // None of these waits may last longer than 15 s.
        stage.advance(SECOND * 15 + NOTICED);
        let after = stage.status().unwrap();
        assert_ne!(after.speaker, before.speaker, "{name}: {after:?}");
    }
}

/// P21
#[test]
fn a_clock_that_steps_back_and_a_word_after_it_move_on_a_room_that_waits() {
    let mut stage = running(SECOND * 14);
    steps_back(&mut stage, HOUR);
    stage.say("Well?");
    stage.advance(SECOND * 14 + NOTICED);
    assert!(stage.words().contains(&"b1".to_owned()));
}

#[test]
fn a_clock_that_steps_back_does_not_lengthen_the_wait_of_a_reply_for_a_chat_that_is_away() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.discord().begin_outage(Outage::refused());
    stage.say("Hello");
    stage.advance(SECOND * 20);
    assert_eq!(stage.status().unwrap().waiting_reply, Some("a".into()));
    steps_back(&mut stage, HOUR * 5);
    stage.advance(HOUR + NOTICED);
    assert_eq!(stage.status().unwrap().waiting_reply, None, "an hour is over");
}

#[test]
fn a_clock_that_steps_back_does_not_hide_that_an_agent_fell_silent() {
    let heartbeat = Heartbeat { period: SECOND * 30, misses: 2 };
    let mut stage = Setup::new()
        .hosted("a", [])
        .hosted("b", [])
        .settings(|settings| settings.hooks.heartbeat = Some(heartbeat))
        .stage();
    stage.chat();
    for name in ["a", "b"] {
        stage.call(move |d| async move { d.heartbeat(&name.into()).await }).unwrap();
    }
    steps_back(&mut stage, HOUR * 5);
    stage.call(|d| async move { d.heartbeat(&"b".into()).await }).unwrap();
    let channel = stage.channel();
    let is_offline = |stage: &mut Stage, name: &'static str| {
        let why =
            stage.call(move |d| async move { d.channel(channel).explain(&name.into()).await });
        why.unwrap().reason == Reason::Offline
    };
    stage.advance(NOTICED);
    assert!(!is_offline(&mut stage, "b"), "it gave a sign after the step");
    stage.advance(MINUTE);
    assert!(is_offline(&mut stage, "a"));
}

/// P21
#[test]
fn a_clock_that_steps_back_does_not_lengthen_the_wait_of_a_store_that_failed() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    stage.say("Hello");
    stage.advance(MINUTE);
    stage.store().stop_faults();
    steps_back(&mut stage, HOUR);
    stage.advance(SECOND * 10 + NOTICED);
    assert_eq!(stage.words(), ["Hello", "a1"]);
}

/// P21
#[test]
fn a_clock_that_steps_back_does_not_lengthen_the_wait_for_what_was_missed() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.advance(SECOND);
    stage.discord().begin_outage(Outage::hanging().only(Call::History));
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(stage.words(), ["Hello"], "a stop that was missed acts first");
    steps_back(&mut stage, HOUR);
    stage.advance(SECOND * 5 + NOTICED);
    assert_eq!(stage.words(), ["Hello", "a1"]);
}

/// P21
#[test]
fn a_clock_that_steps_back_does_not_lengthen_the_grace_of_a_cancelled_call() {
    let mut stage = Setup::new()
        .hosted("a", [Act::Deaf.into()])
        .hosted("b", ["b1".into()])
        .rooms(2)
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stop(&mut stage);
    let other = stage.rooms()[1];
    stage.call(move |d| async move { d.channel(other).wake(Some(&"b".into())).await }).unwrap();
    stage.advance(SECOND);
    assert!(stage.words_in(other).is_empty(), "there is one place");
    steps_back(&mut stage, HOUR);
    stage.advance(SECOND * 10 + NOTICED);
    assert_eq!(stage.words_in(other), ["b1"]);
}

/// P21
#[test]
fn a_clock_that_steps_back_does_not_lengthen_the_wait_for_a_run_that_was_kept() {
    let mut stage = Setup::new()
        .hooked("a", [])
        .hooked("b", [])
        .without_pump()
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Keep)
        .config(|config| config.deadlines.run = None)
        .stage();
    stage.chat();
    begin_run(&mut stage);
    stage.crash();
    stage.restart();
    stage.advance(MINUTE);
    steps_back(&mut stage, HOUR);
    stage.advance(MINUTE * 10 + NOTICED);
    assert_ne!(stage.status().unwrap().speaker, Some("a".into()));
}

/// The answer to the post that has just arrived was lost. The chat is away for two and a half minutes, in which it forgets the
/// nonce, and the clock steps back by 50 s of them.
fn away_while_the_clock_steps_back(stage: &mut Stage) {
    stage.discord().begin_outage(Outage::refused());
    stage.advance(MINUTE);
    steps_back(stage, SECOND * 50);
    stage.advance(SECOND * 90);
    let _ = stage.discord().clone().with_nonce_window(SECOND);
    stage.discord().end_outages();
    stage.advance(MINUTE * 10);
}

/// WD14
#[test]
fn a_clock_that_steps_back_makes_no_nonce_of_a_reply_young_again() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    stage.discord().next_post(Fault::LostAnswer);
    // The event of the person's word comes, that of the post does not: it would settle the doubt.
    stage.discord().next_push(PushFault::Delayed { by: Duration::ZERO });
    stage.discord().next_push(PushFault::Dropped);
    stage.say("Hello");
    stage.until("the reply is there", |stage| stage.words().len() == 2);
    away_while_the_clock_steps_back(&mut stage);
    assert_eq!(stage.words(), ["Hello", "a1"]);
}

/// WD14
#[test]
fn a_clock_that_steps_back_makes_no_nonce_of_a_guide_young_again() {
    let mut stage = Setup::new().rooms(2).hosted("a", []).hosted("b", []).stage();
    stage.discord().next_post(Fault::LostAnswer);
    stage.discord().next_push(PushFault::Dropped);
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    let guides = |stage: &Stage| {
        let said = stage.moderation(stage.channel());
        said.into_iter().filter(|text| text.contains("Which plan?")).count()
    };
    stage.until("the guide is there", |stage| guides(stage) == 1);
    away_while_the_clock_steps_back(&mut stage);
    assert_eq!(guides(&stage), 1);
}
