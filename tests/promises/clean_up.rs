//! P7: clean-up never delays a grant, and cancellation is immediate.

use dirigent::Clock;
use dirigent::settings::TriggerCleanup;
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{HOUR, MINUTE, SECOND, runs};

fn deletions_hang(stage: &Stage) {
    stage.discord().begin_outage(Outage::hanging().only(Call::Delete));
}

/// P7, R113
#[test]
fn a_deletion_that_hangs_does_not_delay_the_next_trigger() {
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND)])
        .hooked("b", [Line::from("b1").taking(SECOND)])
        .stage();
    stage.chat();
    deletions_hang(&stage);
    stage.say("Hello");
    stage.until("a spoke", |stage| stage.words().contains(&"a1".to_owned()));
    let spoke = stage.clock().now();
    stage.until("b was triggered", |stage| !stage.agent("b").turns().is_empty());
    let took = stage.clock().now().since(spoke);
    assert!(took <= SECOND, "the trigger came after {took:?}");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}

/// P7
#[test]
fn at_most_two_deletions_are_under_way_at_once() {
    let lines = |name: &'static str| (0..4).map(move |turn| Line::from(format!("{name}{turn}")));
    let mut stage = Setup::new()
        .hooked("a", lines("a"))
        .hooked("b", lines("b"))
        .config(|config| config.trigger_cleanup = TriggerCleanup::Immediate)
        .stage();
    stage.chat();
    deletions_hang(&stage);
    stage.say("Hello");
    stage.until("five agents were triggered", |stage| runs(stage) >= 5);
    let took = stage.clock().now().since(dirigent_testkit::ManualClock::START);
    assert!(took < SECOND * 10, "a deletion was given up and made again");
    assert_eq!(stage.discord().calls().of(Call::Delete), 2);
}

/// P7
#[test]
fn a_trigger_is_deleted_once_it_is_stored_that_it_is_to_be() {
    let mut stage = Setup::new()
        .hooked("a", [Act::Hang.into()])
        .hooked("b", [])
        .config(|config| config.trigger_cleanup = TriggerCleanup::Immediate)
        .stage();
    stage.chat();
    stage.store().with_rate(StoreFault::TakesSoLong(SECOND * 4), 1_000, 1);
    stage.say("Hello");
    stage.until("the trigger stands there", |stage| !stage.moderation(stage.channel()).is_empty());
    stage.advance(SECOND * 3);
    assert_eq!(stage.discord().calls().of(Call::Delete), 0);
    stage.advance(SECOND * 6);
    assert_eq!(stage.discord().calls().of(Call::Delete), 1);
}

/// P7
#[test]
fn a_deletion_that_hangs_does_not_delay_a_call_or_a_reply() {
    let mut stage = Setup::new()
        .hooked("a", ["a1".into()])
        .hosted("b", [Line::from("b1").taking(SECOND)])
        .stage();
    stage.chat();
    deletions_hang(&stage);
    stage.say("Hello");
    stage.until("b spoke", |stage| stage.words().contains(&"b1".to_owned()));
    let took = stage.clock().now().since(dirigent_testkit::ManualClock::START);
    assert!(took <= SECOND * 3, "the reply came after {took:?}");
}

/// P7
#[test]
fn slow_polls_and_member_lists_do_not_delay_a_grant() {
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND)])
        .hooked("b", [Line::from("b1").taking(SECOND)])
        .post_delay(SECOND * 3)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND / 2);
    let hanging = Outage::hanging().only(Call::History).only(Call::Members);
    stage.discord().begin_outage(hanging);
    stage.until("a spoke", |stage| stage.words().contains(&"a1".to_owned()));
    let spoke = stage.clock().now();
    stage.until("b was triggered", |stage| !stage.agent("b").turns().is_empty());
    assert!(stage.clock().now().since(spoke) <= SECOND);
}

/// A room in which the hosted agent "b" runs without an end, while the deletion of the trigger of "a", due
/// 5 s after it, hangs.
fn running_beside_a_deletion() -> Stage {
    let mut stage = Setup::new()
        .hooked("a", ["a1".into()])
        .hosted("b", [Act::Hang.into()])
        .config(|config| config.trigger_cleanup = TriggerCleanup::After(SECOND * 5))
        .stage();
    stage.chat();
    stage.say("Hello");
    deletions_hang(&stage);
    stage.advance(SECOND * 6);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    assert_eq!(stage.agent("b").turns().len(), 1);
    assert_eq!(stage.discord().calls().of(Call::Delete), 1, "no deletion is under way");
    stage
}

/// P7
#[test]
fn a_stop_cancels_a_run_at_once_while_a_deletion_hangs() {
    let mut stage = running_beside_a_deletion();
    let channel = stage.channel();
    let before = stage.clock().now();
    let _stopped = stage.begin(move |d| async move { d.channel(channel).stop().await });
    stage.settle();
    assert!(stage.agent("b").turns()[0].cancelled, "its model still runs");
    assert_eq!(stage.clock().now(), before);
}

/// P7
#[test]
fn a_stop_cancels_a_run_at_once_while_a_commit_hangs() {
    for fault in [StoreFault::Hangs, StoreFault::TakesSoLong(SECOND * 9), StoreFault::Fails] {
        let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        let channel = stage.channel();
        stage.store().next_commit(fault);
        let _stopped = stage.begin(move |d| async move { d.channel(channel).stop().await });
        stage.settle();
        assert!(stage.agent("a").turns()[0].cancelled, "{fault:?}: its model still runs");
    }
}

/// P7
#[test]
fn a_persons_word_reaches_the_agent_that_runs_while_a_deletion_hangs() {
    let mut stage = running_beside_a_deletion();
    stage.say("One more thing");
    stage.say("stop");
    stage.settle();
    assert_eq!(stage.agent("b").turns()[0].injected, ["One more thing"]);
    stage.advance(MINUTE);
    assert_eq!(stage.words(), ["Hello", "a1", "One more thing", "stop"]);
}

#[test]
fn a_deletion_that_fails_is_given_up_after_an_hour() {
    let mut stage = Setup::new()
        .hooked("a", [Act::Pass.into()])
        .hooked("b", [Act::Pass.into()])
        .config(|config| config.trigger_cleanup = TriggerCleanup::Immediate)
        .stage();
    stage.chat();
    let fails = Outage::failing(Fault::ServerErrorNotApplied).only(Call::Delete);
    stage.discord().begin_outage(fails);
    stage.say("Hello");
    stage.advance(MINUTE * 50);
    let before = stage.discord().calls().of(Call::Delete);
    stage.advance(MINUTE * 5);
    let tried = stage.discord().calls().of(Call::Delete);
    assert!(tried > before, "it is tried for an hour");
    stage.advance(MINUTE * 10);
    let after = stage.discord().calls().of(Call::Delete);
    stage.advance(HOUR * 2);
    assert_eq!(stage.discord().calls().of(Call::Delete), after);
}
