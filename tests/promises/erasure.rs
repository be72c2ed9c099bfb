//! Of a channel that is erased, or gone, nothing is kept, and nothing comes back.

use dirigent::{CallError, ChannelId, Mode};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{MINUTE, SECOND};

fn erase(stage: &mut Stage, channel: ChannelId) -> Result<bool, CallError> {
    stage.call(move |d| async move { d.channel(channel).erase().await })
}

fn is_kept(stage: &Stage) -> bool {
    stage.store().known().contains(&stage.channel())
}

/// B23
#[test]
fn an_erased_channel_is_as_if_it_had_never_been_given_a_mode() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let channel = stage.channel();
    assert!(erase(&mut stage, channel).unwrap());
    assert!(!is_kept(&stage));
    assert_eq!(stage.status(), None);
    assert!(
        stage.call(move |d| async move { d.channel(channel).history().await }).unwrap().is_empty()
    );
    assert!(!erase(&mut stage, channel).unwrap(), "there is nothing any more");
    stage.advance(MINUTE * 30);
    assert!(!is_kept(&stage), "nothing brings it back");
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await }).unwrap();
    stage.agent("a").then("a2");
    stage.say("Hello again");
    stage.until_dormant();
    assert!(stage.words().ends_with(&["Hello again".to_owned(), "a2".to_owned()]));
}

/// B23
#[test]
fn what_runs_in_an_erased_channel_is_cancelled_and_posts_nothing() {
    for act in [Line::from("a1").taking(SECOND * 30), Act::Hang.into()] {
        let mut stage = Setup::new().hosted("a", [act]).hosted("b", []).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        let channel = stage.channel();
        assert!(erase(&mut stage, channel).unwrap());
        assert!(stage.agent("a").turns()[0].cancelled);
        stage.advance(MINUTE * 30);
        assert_eq!(stage.words(), ["Hello"]);
        assert!(!is_kept(&stage));
        stage.crash();
        stage.restart();
        assert_eq!(stage.status(), None);
    }
}

/// B23
#[test]
fn a_channel_whose_store_is_late_has_no_mode_and_can_be_erased_again() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.advance(MINUTE);
    stage.store().next_commit(StoreFault::TakesSoLong(MINUTE));
    let channel = stage.channel();
    let erased = erase(&mut stage, channel);
    assert!(matches!(erased, Err(CallError::NotStored)), "{erased:?}");
    assert_eq!(stage.status().map(|status| status.mode), Some(Mode::None));
    stage.advance(MINUTE);
    assert!(erase(&mut stage, channel).unwrap());
    assert!(!is_kept(&stage));
}

/// B23
#[test]
fn of_a_thread_that_was_deleted_nothing_is_kept() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel_deleted(channel).await }).unwrap();
    assert!(!is_kept(&stage));
    assert_eq!(stage.status(), None);
}
