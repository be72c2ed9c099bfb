//! A channel whose record the store refuses for good.

use dirigent::operate::EventOrLag;
use dirigent::{CallError, Clock, Mode};
use dirigent_testkit::Log;
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{HOUR, MINUTE, SECOND};

/// A channel in which a person has spoken, and whose record is refused from now on.
fn refused() -> Stage {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.until_dormant();
    stage.store().with_rate(StoreFault::Refuses, 1_000, 1);
    stage.say("Hello");
    stage.advance(SECOND);
    stage
}

/// B11
#[test]
fn a_record_that_is_refused_for_good_is_tried_a_few_times_a_day_and_reported_once() {
    let log = Log::default();
    let mut stage = log.during(refused);
    let before = stage.store().attempts();
    log.during(|| stage.advance(HOUR * 24));
    let attempts = stage.store().attempts() - before;
    assert!((10..=40).contains(&attempts), "{attempts} attempts");
    let lines = log.lines();
    let reported = lines.iter().filter(|line| line.contains("refuses the channel's record"));
    assert_eq!(reported.count(), 1, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("the store")).count(), 1, "{lines:?}");
}

/// B11
#[test]
fn status_and_explanation_say_that_a_record_is_refused_until_it_is_taken() {
    let mut stage = refused();
    let since = stage.status().unwrap().record_refused_since.expect("the status says so");
    stage.advance(MINUTE * 10);
    assert_eq!(stage.status().unwrap().record_refused_since, Some(since));
    let channel = stage.channel();
    let why =
        stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await }).unwrap();
    assert!(why.to_string().contains("refused the channel's record for 11 minutes"), "{why}");
    stage.store().stop_faults();
    stage.advance(HOUR);
    assert_eq!(stage.status().unwrap().record_refused_since, None);
}

/// B11
#[test]
fn a_command_has_a_refused_record_tried_at_once() {
    let mut stage = refused();
    // The next attempt is an hour away, and ten minutes once the record has changed.
    stage.advance(HOUR * 5);
    let channel = stage.channel();
    let refused = stage.call(move |d| async move { d.channel(channel).stop().await });
    assert!(matches!(refused, Err(CallError::NotStored)), "{refused:?}");
    // It ends a run that waits to be stored, which changes the record again.
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap_err();
    stage.say("Hello again");
    stage.advance(SECOND);
    let before = stage.store().attempts();
    drop(stage.call(move |d| async move { d.channel(channel).stop().await }));
    assert!(stage.store().attempts() > before, "it was tried");
    stage.store().stop_faults();
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Report).await }).unwrap();
    assert_eq!(stage.status().unwrap().record_refused_since, None);
}

/// B11
#[test]
fn listeners_are_told_how_many_changes_a_store_that_takes_nothing_cost_them() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.until_dormant();
    stage.advance(SECOND);
    stage.store().with_rate(StoreFault::Refuses, 1_000, 1);
    let (channel, mut transitions) = (stage.channel(), stage.dirigent().events());
    for number in 0..400 {
        let mode = if number % 2 == 0 { Mode::Report } else { Mode::Chat };
        drop(stage.begin(move |d| async move { d.channel(channel).set_mode(mode).await }));
        stage.advance(SECOND);
    }
    assert!(transitions.try_next().is_none(), "nothing of it is stored");
    stage.store().stop_faults();
    stage.advance(HOUR);
    let heard: Vec<EventOrLag> = std::iter::from_fn(|| transitions.try_next()).collect();
    assert!(matches!(heard.first(), Some(EventOrLag::Lagged(1..))), "{:?}", heard.first());
    let later = heard.iter().filter(|heard| matches!(heard, EventOrLag::Lagged(_)));
    assert_eq!(later.count(), 1, "only once");
    assert!(heard.len() > 256, "the newest are told");
}

/// B11
#[test]
fn a_driver_that_ends_tries_a_refused_record_once_more_and_does_not_wait_for_the_next_time() {
    for is_taken in [false, true] {
        let mut stage = refused();
        stage.advance(HOUR * 5);
        let (before, attempts) = (stage.clock().now(), stage.store().attempts());
        if is_taken {
            stage.store().stop_faults();
        }
        stage.call(|d| async move { d.shutdown(HOUR).await });
        assert!(stage.clock().now().since(before) < MINUTE, "an hour was waited for");
        let more = stage.store().attempts() - attempts;
        assert!(if is_taken { more >= 1 } else { more == 1 }, "{more} attempts");
    }
}
