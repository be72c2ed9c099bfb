//! A word stays in mind until an agent was told of it: a turn that is given for it is not enough.

use std::time::Duration;

use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{
    HOUR, Halt, MILLI, MINUTE, SECOND, is_heard, open_discussion, resume, runs, stop,
};

/// A chat of the agents "a" and "b", which the library calls, or wakes with a trigger.
fn chat(hosted: bool) -> Stage {
    let setup = Setup::new();
    let mut stage = if hosted {
        setup.hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage()
    } else {
        setup.hooked("a", ["a1".into()]).hooked("b", ["b1".into()]).stage()
    };
    stage.chat();
    stage.advance(SECOND);
    stage
}

/// Stops the channel, resumes it, and lets it go on.
fn stop_and_resume(stage: &mut Stage) {
    stop(stage);
    stage.advance(SECOND * 5);
    resume(stage);
    stage.advance(MINUTE * 5);
}

/// Every commit and every request takes 100 ms.
fn everything_takes_time(stage: &mut Stage) {
    stage.store().with_rate(StoreFault::TakesSoLong(MILLI * 100), 1_000, 1);
    stage.discord().begin_outage(Outage::failing(Fault::SlowRequest { by: MILLI * 100 }));
}

/// Moments at which a channel is stopped, 25 ms apart.
fn moments() -> impl Iterator<Item = Duration> {
    (0..60).map(|at| MILLI * 25 * at)
}

/// On hold the turn is given, and no agent is told.
#[test]
fn a_word_that_woke_a_channel_on_hold_is_answered_after_a_stop_and_a_resume() {
    for hosted in [true, false] {
        let mut stage = chat(hosted);
        Halt::Hold.act(&mut stage);
        stage.say("Hello");
        stage.advance(SECOND * 5);
        assert_eq!(runs(&stage), 0);
        stop_and_resume(&mut stage);
        assert!(runs(&stage) > 0, "hosted {hosted}: no agent ran");
    }
}

/// On hold all agents are muted for a while.
#[test]
fn a_word_that_woke_a_channel_on_hold_is_answered_although_its_agents_were_muted() {
    let mut stage = chat(true);
    let channel = stage.channel();
    Halt::Hold.act(&mut stage);
    stage.say("Hello");
    stage.advance(SECOND * 5);
    for name in ["a", "b"] {
        stage.call(move |d| async move { d.channel(channel).mute(&name.into()).await }).unwrap();
    }
    stage.advance(SECOND);
    for name in ["a", "b"] {
        stage.call(move |d| async move { d.channel(channel).unmute(&name.into()).await }).unwrap();
    }
    resume(&mut stage);
    stage.advance(HOUR);
    assert!(is_heard(&stage, "Hello"));
}

/// The trigger waits for a rate limit.
#[test]
fn a_word_whose_trigger_has_not_left_is_answered_after_a_stop_and_a_resume() {
    let mut stage = chat(false);
    let limited = Fault::RateLimited { retry_after: SECOND * 8 };
    let moderator = stage.moderator();
    stage.discord().inject(|faults| faults.next_by(moderator, Call::Post, limited));
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(runs(&stage), 0);
    stop_and_resume(&mut stage);
    assert!(runs(&stage) > 0, "no agent ran");
}

/// The run is permitted, and its call waits until another channel's is over.
#[test]
fn a_word_whose_call_waits_for_a_place_is_answered_after_a_stop_and_a_resume() {
    let mut stage = Setup::new()
        .rooms(2)
        .hosted("a", [Line::from("a1").taking(MINUTE)])
        .hosted("b", [])
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    stage.chat();
    let other = stage.rooms()[1];
    stage.say_in(other, "Hello there");
    stage.advance(SECOND);
    stage.say("Hello");
    stage.advance(SECOND);
    assert!(!is_heard(&stage, "Hello"));
    stop_and_resume(&mut stage);
    assert!(is_heard(&stage, "Hello"));
}

/// The agents are called by the library.
#[test]
fn a_word_is_answered_whenever_the_channel_is_stopped_and_resumed() {
    let unanswered = moments().filter(|at| {
        let mut stage = chat(true);
        everything_takes_time(&mut stage);
        stage.say("Hello");
        stage.advance(*at);
        stop_and_resume(&mut stage);
        !is_heard(&stage, "Hello")
    });
    assert_eq!(unanswered.collect::<Vec<_>>(), [], "stopped after so long");
}

/// The agents wait for a trigger message. One that was told of its turn before the stop is denied, and has heard.
#[test]
fn a_word_is_answered_whenever_a_channel_with_triggers_is_stopped_and_resumed() {
    let unanswered = moments().filter(|at| {
        let mut stage = chat(false);
        everything_takes_time(&mut stage);
        stage.say("Hello");
        stage.advance(*at);
        let is_told = !stage.moderation(stage.channel()).is_empty();
        stop_and_resume(&mut stage);
        runs(&stage) == 0 && !is_told
    });
    assert_eq!(unanswered.collect::<Vec<_>>(), [], "stopped after so long");
}

/// So is what a discussion is about.
#[test]
fn a_discussion_begins_whenever_it_is_stopped_and_resumed() {
    let never_begun = moments().filter(|at| {
        let mut stage =
            Setup::new().rooms(2).hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
        everything_takes_time(&mut stage);
        open_discussion(&mut stage, "Which plan?", &["a", "b"]);
        stage.advance(*at);
        stop_and_resume(&mut stage);
        runs(&stage) == 0
    });
    assert_eq!(never_begun.collect::<Vec<_>>(), [], "stopped after so long");
}

/// The guide's wake gives a turn, and no agent is told.
#[test]
fn a_discussion_whose_guide_arrived_on_hold_begins_after_a_stop_and_a_resume() {
    let mut stage =
        Setup::new().rooms(2).hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    stage.discord().next_post(Fault::RateLimited { retry_after: SECOND * 3 });
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    Halt::Hold.act(&mut stage);
    stage.advance(MINUTE);
    assert_eq!(runs(&stage), 0);
    stop_and_resume(&mut stage);
    assert_eq!(stage.words(), ["a1", "b1"]);
}

/// What a run was given that the process took with it is for the next run, of the same agent where no other
/// may speak.
#[test]
fn a_word_is_answered_after_a_kill_although_only_one_agent_may_speak() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(MINUTE)])
        .hosted("b", ["b1".into()])
        .stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).mute(&"b".into()).await }).unwrap();
    stage.say("Hello");
    stage.advance(SECOND * 5);
    assert_eq!(runs(&stage), 1);
    stage.crash();
    stage.restart();
    stage.advance(HOUR);
    assert!(stage.words().len() > 1, "no answer: {:?}", stage.words());
}
