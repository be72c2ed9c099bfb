//! P15: an option keeps the runs of agents that live in other processes over a restart.
//!
//! The stage ends such a run together with the process, so here the run is the test's own.

use dirigent::hooks::{RunId, RunReport};
use dirigent::settings::LostRuns;
use dirigent::snapshot::PhaseKind;
use dirigent::{ChatMessage, Clock};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MINUTE, SECOND, allowed, begin_run, begin_run_as};

/// A room in which the agent "a", in a process of its own, has begun the run 1.
fn running() -> Stage {
    let mut stage = room();
    begin_run(&mut stage);
    stage
}

/// A room of two agents in processes of their own, whose runs are kept.
fn room() -> Stage {
    let mut stage = Setup::new()
        .hooked("a", [])
        .hooked("b", [])
        .without_pump()
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Keep)
        .config(|config| config.deadlines.run = Some(MINUTE * 5))
        .stage();
    stage.chat();
    stage
}

fn restarts(stage: &mut Stage) {
    stage.advance(MINUTE);
    stage.crash();
    stage.clock().advance(SECOND * 10);
    stage.restart();
    stage.advance(SECOND * 10);
}

/// P15
#[test]
fn a_run_in_another_process_keeps_the_floor_over_a_restart() {
    let mut stage = running();
    let deadline = stage.status().unwrap().deadline;
    restarts(&mut stage);
    let status = stage.status().unwrap();
    assert_eq!((status.phase, status.speaker), (PhaseKind::Running, Some("a".into())));
    assert_eq!(status.deadline, deadline, "what remained of its time remains");
    let channel = stage.channel();
    assert_eq!(allowed(&mut stage, channel), ["a".into()], "one voice");
}

/// P15: half of all ids that are random, or made of a name, have their highest bit.
#[test]
fn a_run_is_kept_whatever_its_id() {
    for run in [RunId::new(u64::MAX), RunId::new(0xdead_beef_0000_0001), RunId::from_text("run-b")]
    {
        let mut stage = room();
        begin_run_as(&mut stage, run);
        restarts(&mut stage);
        let status = stage.status().unwrap();
        let expected = (PhaseKind::Running, Some("a".into()));
        assert_eq!((status.phase, status.speaker), expected, "{run:?}");
    }
}

/// P15
#[test]
fn the_end_of_a_run_that_outlived_a_restart_counts() {
    let mut stage = running();
    restarts(&mut stage);
    let (channel, a) = (stage.channel(), stage.agent("a").user());
    let said = stage.discord().say(channel, a, "a1");
    let said: ChatMessage = stage.discord().message(channel, said).unwrap();
    stage.call(move |d| async move {
        let run = Some(RunId::new(1));
        d.channel(channel).turn_ended(&"a".into(), run, RunReport::Text("a1")).await.unwrap();
        d.message_created(said).await.unwrap();
    });
    assert_eq!(stage.status().unwrap().speaker, Some("b".into()));
}

/// P15
#[test]
fn a_run_that_outlived_a_restart_ends_at_its_deadline() {
    let mut stage = running();
    let began = stage.clock().now();
    restarts(&mut stage);
    stage.until("the next has the floor", |stage| {
        stage.status().unwrap().speaker == Some("b".into())
    });
    let took = stage.clock().now().since(began);
    assert!(took >= MINUTE * 5 && took <= MINUTE * 5 + SECOND * 31, "{took:?}");
}

/// P15
#[test]
fn a_run_of_an_agent_that_the_library_calls_is_lost_all_the_same() {
    let mut stage = Setup::new()
        .hosted("a", [dirigent_testkit::scripted_agent::Act::Hang.into()])
        .hosted("b", ["b1".into()])
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Keep)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.crash();
    stage.restart();
    stage.advance(SECOND * 30);
    assert_eq!(stage.words(), ["Hello", "b1"]);
}
