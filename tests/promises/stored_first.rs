//! Listeners and the history agree with the store, whatever the store does.

use dirigent::operate::{Cause, EventOrLag};
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, StoreFault};

use super::kit::{MINUTE, SECOND, open_discussion};

fn stage() -> dirigent_verify::stage::Stage {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.advance(SECOND);
    stage
}

#[test]
fn listeners_are_told_of_a_change_once_it_is_stored() {
    let mut stage = stage();
    let channel = stage.channel();
    let mut transitions = stage.dirigent().events();
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 5));
    let _stopped = stage.begin(move |d| async move { d.channel(channel).stop().await });
    let mut is_told = || {
        let heard = std::iter::from_fn(|| transitions.try_next());
        heard
            .filter(
                |heard| matches!(heard, EventOrLag::Transition(event) if event.transition.cause == Cause::Stopped),
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
        stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
        stage.advance(MINUTE);
        let told = stage.call(move |d| async move { d.channel(channel).history().await }).unwrap();
        let stopped = told.iter().filter(|event| event.transition.cause == Cause::Stopped);
        assert_eq!(stopped.count(), 1, "{fault:?}");
    }
}

#[test]
fn a_result_is_posted_once_it_is_stored_that_this_is_tried() {
    let mut stage = Setup::new().rooms(2).hosted("a", []).hosted("b", []).stage();
    open_discussion(&mut stage, "Which plan?", &["a", "b"]);
    stage.until_dormant();
    stage.advance(SECOND);
    let (channel, callback) = (stage.rooms()[0], stage.rooms()[1]);
    stage.store().with_rate(StoreFault::TakesSoLong(SECOND * 4), 1_000, 1);
    let before = stage.store().commits().len();
    let _archived = stage.begin(move |d| async move { d.channel(channel).archive().await });
    stage.advance(SECOND);
    // The next commit begins with this before the result is tried.
    let _left = stage.begin(|d| async move { d.agent_offline(&"b".into()).await });
    stage.advance(SECOND * 9);
    assert_eq!(stage.moderation(callback).len(), 0, "a crash now would post it again");
    assert_eq!(stage.store().commits().len() - before, 2, "it has not begun in between");
    stage.advance(SECOND * 4);
    assert_eq!(stage.moderation(callback).len(), 1);
}
