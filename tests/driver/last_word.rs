//! Who is asked: not the agent that spoke last while nothing is new, and first whom a person mentions.

use std::time::Duration;

use dirigent::operate::{Cause, EventOrLag, Reason};
use dirigent::settings::LostRuns;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn calls(stage: &Stage, agent: &str) -> usize {
    stage.agent(agent).turns().len()
}

/// N6
#[test]
fn a_hosted_agent_is_not_called_to_read_its_own_last_words() {
    let mut stage =
        Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()]).stage();
    stage.chat();
    let mut events = stage.dirigent().events();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert_eq!((calls(&stage, "a"), calls(&stage, "b")), (2, 3), "a is not asked after a2");
    let mut passed_unasked = 0;
    while let Some(heard) = events.try_next() {
        let EventOrLag::Transition(event) = heard else { continue };
        passed_unasked += usize::from(event.transition.cause == Cause::NothingNew);
    }
    assert_eq!(passed_unasked, 1, "and that is told");
    stage.say("And now?");
    stage.until_dormant();
    assert_eq!(calls(&stage, "a"), 3, "a person's word is new");
}

/// N6
#[test]
fn agents_of_the_host_are_asked_as_ever() {
    let mut stage =
        Setup::new().hooked("a", ["a1".into(), "a2".into()]).hooked("b", ["b1".into()]).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert_eq!((calls(&stage, "a"), calls(&stage, "b")), (3, 3));
}

/// N6
#[test]
fn why_the_last_speaker_is_not_asked_is_said_over_a_restart_too() {
    let mut stage = Setup::new()
        .hosted("a", ["a1".into()])
        .hosted("b", [Line::from("b1").taking(SECOND * 20)])
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Rerun)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 2);
    for restarts in 0..2 {
        if restarts == 1 {
            stage.crash();
            stage.restart();
            stage.advance(SECOND);
        }
        let channel = stage.channel();
        let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
        let why = why.unwrap();
        assert_eq!(why.reason, Reason::NothingNew, "{restarts} {:?}", stage.words());
        assert_eq!(
            why.to_string().split(" The channel").next(),
            Some("a may not speak: it spoke last, and nothing was said since."),
        );
        assert!(why.to_string().ends_with("when another agent or a person has said something."));
    }
}

/// N13
#[test]
fn whom_a_person_mentions_answers_first_and_everybody_else_follows_once() {
    let mut stage = Setup::new()
        .hosted("historian", ["history".into()])
        .hosted("poet", ["poetry".into()])
        .hosted("sceptic", ["doubt".into()])
        .stage();
    stage.chat();
    let sceptic = stage.agent("sceptic").user();
    stage.say(&format!("<@{sceptic}> what do you think?"));
    stage.until_dormant();
    assert_eq!(stage.words()[1..], ["doubt", "history", "poetry"]);
    assert_eq!(stage.agent("historian").turns()[0].missed.len(), 2, "the question and the answer");
}
