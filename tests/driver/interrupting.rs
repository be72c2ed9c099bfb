//! A person writes during a turn, and the agents are handed it: at once, or queued until the next turn.

use std::time::Duration;

use dirigent::settings::HumanInterrupt;
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

/// R246, R263
#[test]
fn by_default_a_persons_message_is_injected_into_the_running_turn() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 5)])
        .hosted("b", ["b1".into()])
        // Nothing is remembered: it must be read again.
        .settings(|settings| settings.limits.texts_bytes_max = 0)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.say("And hurry");
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, ["And hurry"]);
    assert!(stage.agent("b").turns().iter().all(|turn| turn.injected.is_empty()), "to nobody else");
    assert_eq!(stage.words(), ["Hello", "And hurry", "a1", "b1"]);
}

/// R264, D6
#[test]
fn queued_messages_are_handed_over_all_and_in_order_however_many() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 30)])
        .hosted("b", ["b1".into()])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.limits.missed_max = 100)
        .stage();
    stage.chat();
    stage.say("Hello");
    let said: Vec<_> = (0..260).map(|number| format!("more {number}")).collect();
    for words in &said {
        stage.say(words);
    }
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, [""; 0], "not during the turn");
    for agent in stage.agents() {
        let missed = agent.turns().into_iter().flat_map(|turn| turn.missed);
        let heard: Vec<_> = missed.filter(|text| text.starts_with("more")).collect();
        assert_eq!(heard, said);
    }
    assert!(stage.agents().flat_map(ScriptedAgent::turns).all(|turn| turn.missed.len() <= 100));
}

/// R192, R264, R265
#[test]
fn queued_messages_reach_a_direct_waker_too() {
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND * 30)])
        .hooked("b", ["b1".into()])
        .direct()
        .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.limits.missed_max = 2)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..5 {
        stage.say(&format!("more {number}"));
    }
    stage.until_dormant();
    let calls = stage.wake_calls();
    let to_b = calls.iter().filter(|call| call.agent.as_str() == "b");
    let missed: Vec<_> = to_b.map(|call| &call.missed).collect();
    assert!(missed.iter().all(|missed| missed.len() <= 2));
    let heard = missed.into_iter().flatten().map(|message| &*message.content);
    let heard: Vec<_> = heard.filter(|words| words.starts_with("more")).collect();
    assert_eq!(heard, ["more 0", "more 1", "more 2", "more 3", "more 4"]);
}

/// R192
#[test]
fn of_what_others_than_people_said_a_direct_waker_brings_the_newest_only() {
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND * 30)])
        .hooked("b", ["b1".into()])
        .direct()
        .settings(|settings| settings.limits.missed_max = 3)
        .stage();
    let bot = stage.discord().add_bot();
    assert!(stage.discord().join(stage.channel(), bot));
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..20 {
        stage.discord().say(stage.channel(), bot, format!("feed {number}"));
    }
    stage.until_dormant();
    let calls = stage.wake_calls();
    let to_b = calls.iter().find(|call| call.agent.as_str() == "b").unwrap();
    let heard: Vec<_> = to_b.missed.iter().map(|message| &*message.content).collect();
    assert_eq!(heard, ["Hello", "feed 19", "a1"]);
    assert_eq!((to_b.left_out, to_b.others_left_out), (0, 19));
}

/// R265, R279
#[test]
fn a_restart_between_the_grant_and_the_call_loses_no_queued_message() {
    let whole = {
        let mut stage = queued_story(None);
        stage.until_dormant();
        stage.points().passed()
    };
    for point in 1..=whole {
        let mut stage = queued_story(Some(point));
        stage.until_dormant();
        let heard: Vec<_> = stage.agents().flat_map(ScriptedAgent::turns).collect();
        for number in 0..12 {
            let words = format!("more {number}");
            let is_heard = heard
                .iter()
                .any(|turn| turn.missed.contains(&words) || turn.injected.contains(&words));
            assert!(
                is_heard,
                "killed at {point} ({:?}): {words} was lost; {heard:?}",
                stage.points().deaths()
            );
        }
    }
}

fn queued_story(strike: Option<u64>) -> Stage {
    let points = dirigent_verify::stage::Points::default();
    points.crash_at(strike);
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 30)])
        .hosted("b", ["b1".into(), "b2".into()])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.limits.missed_max = 3)
        .stage_with(points);
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..12 {
        stage.say(&format!("more {number}"));
    }
    stage
}
