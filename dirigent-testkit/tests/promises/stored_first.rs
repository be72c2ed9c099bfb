//! Listeners and the history agree with the store, whatever the store does.

use dirigent::{Cause, Heard};
use dirigent_testkit::scripted_agent::Act;
use dirigent_testkit::stage::{Setup, StoreFault};

use super::kit::{MINUTE, SECOND};

fn stage() -> dirigent_testkit::stage::Stage {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.advance(SECOND);
    stage
}

#[test]
fn listeners_are_told_of_a_change_once_it_is_stored() {
    let mut stage = stage();
    let channel = stage.channel();
    let mut transitions = stage.dirigent().transitions();
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 5));
    let _stopped = stage.begin(move |d| async move { d.stop(channel).await });
    let mut is_told = || {
        let heard = std::iter::from_fn(|| transitions.try_next());
        heard
            .filter(
                |heard| matches!(heard, Heard::Event(event) if event.transition.cause == Cause::Stopped),
            )
            .count()
    };
    stage.advance(SECOND * 4);
    assert_eq!(is_told(), 0, "a crash now would leave no trace of it");
    stage.advance(SECOND * 2);
    assert_eq!(is_told(), 1);
}

#[test]
fn a_commit_that_fails_costs_the_history_nothing() {
    for fault in [StoreFault::Fails, StoreFault::FailsInDoubt] {
        let mut stage = stage();
        let channel = stage.channel();
        stage.store().next_commit(fault);
        stage.call(move |d| async move { d.stop(channel).await }).unwrap();
        stage.advance(MINUTE);
        let told = stage.call(move |d| async move { d.history(channel).await }).unwrap();
        let stopped = told.iter().filter(|event| event.transition.cause == Cause::Stopped);
        assert_eq!(stopped.count(), 1, "{fault:?}");
    }
}
