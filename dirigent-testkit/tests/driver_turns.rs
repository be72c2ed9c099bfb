//! The driver carries turns out: triggers, confirmations, clean-up, and what it costs.
#![expect(clippy::unwrap_used, reason = "a test's helpers may fail as the test does")]

use std::time::Duration;

use dirigent::{PhaseKind, Reason, TriggerCleanup};
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_testkit::scripted_agent::Act;
use dirigent_testkit::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn quiet(stage: &Stage) {
    assert_eq!(stage.points().breaches(), [""; 0]);
}

#[test]
fn hosted_agents_speak_in_turn_and_then_fall_silent() {
    let mut stage = Setup::new()
        .hosted("a", ["a1".into(), "a2".into()])
        .hosted("b", ["b1".into()])
        .hosted("c", [])
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words().len(), 4);
    assert_eq!(stage.words()[..3], ["Hello", "a1", "b1"]);
    quiet(&stage);
}

#[test]
fn a_trigger_wakes_an_agent_of_the_host_and_goes_again() {
    let mut stage = Setup::new().hooked("a", ["a1".into()]).hooked("b", ["b1".into()]).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
    stage.advance(SECOND);
    assert_eq!(stage.moderation(stage.channel()), [""; 0], "R197: triggers are removed");
    quiet(&stage);
}

#[test]
fn a_hosted_turn_costs_one_post_and_a_triggered_one_two_requests() {
    let mut stage =
        Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()]).stage();
    stage.chat();
    let before = stage.discord().calls();
    stage.say("Hello");
    stage.until_dormant();
    let calls = stage.discord().calls().since(&before);
    assert_eq!(calls.of(Call::Post), 3);
    assert_eq!(calls.of(Call::History), 0, "no poll");
    let cycles = 3;
    assert_eq!(calls.of(Call::Members), cycles, "one member list a boundary");
    assert_eq!(calls.total(), 3 + cycles);
    let _ = (PhaseKind::Dormant, Reason::Dormant, TriggerCleanup::Never, Act::Pass, Fault::Gone);
    stage.status().unwrap();
    quiet(&stage);
}
