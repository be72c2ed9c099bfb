//! A shutdown gives what is under way its grace, and waits for nothing else.

use std::time::Duration;

use dirigent::Clock;
use dirigent::settings::Pace;
use dirigent_testkit::memory_discord::Outage;
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{Halt, MILLI, MINUTE, SECOND};

/// A room in which the second part of a reply waits for its pace, 10 s after the first.
fn paced_reply() -> Stage {
    let parts = ["1", "2"].map(|part| part.repeat(2_000)).concat();
    let mut stage = Setup::new()
        .hosted("a", [parts.into()])
        .hosted("b", [])
        .settings(|settings| {
            settings.limits.pacing.channel = Some(Pace { burst: 1, window: SECOND * 10 });
        })
        .stage();
    stage.agent("a").say_once();
    stage.chat();
    stage.say("Hello");
    stage.advance(MILLI);
    assert_eq!(stage.words().len(), 2, "the second part does not wait");
    stage
}

#[test]
fn a_commit_that_waits_for_its_next_attempt_is_made_before_the_driver_ends() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    let channel = stage.channel();
    let before = stage.store().commits().len();
    stage.store().next_commit(StoreFault::Fails);
    let held = stage.begin(move |d| async move { d.channel(channel).hold().await });
    stage.settle();
    assert_eq!(stage.store().commits().len(), before, "the commit does not wait");
    let ended = stage.begin(|d| async move { d.shutdown(MINUTE).await });
    stage.advance(SECOND);
    assert_eq!(stage.store().commits().len(), before + 1);
    assert!(held.take().is_some_and(|held| held.is_ok()));
    assert!(ended.take().is_some(), "there is nothing left to wait for");
}

#[test]
fn a_reply_that_waits_for_its_pace_is_posted_before_the_driver_ends() {
    let mut stage = paced_reply();
    let ended = stage.begin(|d| async move { d.shutdown(MINUTE).await });
    stage.advance(SECOND * 20);
    assert_eq!(stage.words().len(), 3);
    assert!(ended.take().is_some(), "there is nothing left to wait for");
}

#[test]
fn a_reply_that_waits_for_a_person_keeps_no_driver_from_its_end() {
    let mut stage = paced_reply();
    Halt::Hold.act(&mut stage);
    let ended = stage.begin(|d| async move { d.shutdown(MINUTE).await });
    stage.advance(MILLI);
    assert!(ended.take().is_some());
    assert_eq!(stage.words().len(), 2);
}

#[test]
fn a_driver_that_waits_for_the_chat_at_its_start_ends_at_once() {
    let mut stage = Setup::new().hosted("a", []).stage();
    stage.crash();
    stage.discord().begin_outage(Outage::refused());
    stage.restart();
    let began = stage.clock().now();
    let ended = stage.begin(|d| async move { d.shutdown(Duration::ZERO).await });
    stage.settle();
    assert!(ended.take().is_some());
    assert!(matches!(stage.take_end(), Some(Ok(()))));
    assert_eq!(stage.clock().now(), began);
}
