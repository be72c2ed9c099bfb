//! Threads: what they take over from their parents, and what was said in them while the gateway was away (D19).

use std::time::Duration;

use dirigent::{ChannelId, MessageId, Mode};
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::memory_discord::{Call, Fault, Faults};
use dirigent_verify::stage::{Stage, StoreFault};

use super::gaps::{hosted, unheard};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// D19: threads stand alone, unless the host wants them to be as their parent.
#[test]
fn a_thread_inherits_its_parents_mode_if_the_host_wants_it() {
    for (wanted, parent, inherited) in [
        (false, Mode::Chat, None),
        (true, Mode::Chat, Some(Mode::Chat)),
        (true, Mode::Report, Some(Mode::Report)),
        (true, Mode::None, None),
    ] {
        let setup = hosted().settings(|settings| settings.inherit_parent_mode = wanted);
        let mut stage = setup.stage();
        let (channel, thread) = (stage.channel(), ChannelId::new(77));
        stage.call(move |d| async move { d.channel(channel).set_mode(parent).await }).unwrap();
        let unknown = ChannelId::new(78);
        stage.call(move |d| async move { d.thread_seen(unknown, thread).await }).unwrap();
        for _ in 0..2 {
            stage.call(move |d| async move { d.thread_seen(thread, channel).await }).unwrap();
            let mode = stage.status_of(thread).map(|status| status.mode);
            assert_eq!(mode, inherited, "{wanted} {parent}");
        }
        if inherited.is_some() {
            // Given once, it stands alone from then on.
            stage
                .call(move |d| async move { d.channel(thread).set_mode(Mode::None).await })
                .unwrap();
            stage.call(move |d| async move { d.thread_seen(thread, channel).await }).unwrap();
            assert_eq!(stage.status_of(thread).map(|status| status.mode), Some(Mode::None));
        }
    }
}

/// The second channel is a thread of the first, and nothing that is said in it is heard.
fn with_thread(wanted: bool, parent: Mode) -> (Stage, ChannelId) {
    let setup = hosted().rooms(2).settings(|settings| settings.inherit_parent_mode = wanted);
    let mut stage = setup.stage();
    let (channel, thread) = (stage.channel(), stage.rooms()[1]);
    stage.call(move |d| async move { d.channel(channel).set_mode(parent).await }).unwrap();
    (stage, thread)
}

/// The gateway is back, and tells what the thread's newest message is.
fn told_of(stage: &mut Stage, thread: ChannelId, newest: MessageId) {
    let parent = stage.channel();
    let told = stage
        .call(move |d| async move { d.newest_message_of_thread(thread, parent, newest).await });
    told.unwrap();
}

fn missed_in(stage: &Stage, channel: ChannelId) -> Vec<String> {
    let turns = stage.agents().flat_map(ScriptedAgent::turns);
    turns.filter(|turn| turn.channel == Some(channel)).flat_map(|turn| turn.missed).collect()
}

/// D19, F19: a thread that begins while the gateway, or the process, is away.
#[test]
fn a_thread_that_began_unheard_is_as_its_parent_and_what_was_said_in_it_is_heard() {
    for (wanted, parent, age, inherited) in [
        (true, Mode::Chat, MINUTE * 59, Some(Mode::Chat)),
        (true, Mode::Chat, MINUTE * 61, None),
        (true, Mode::Report, MINUTE, Some(Mode::Report)),
        (true, Mode::None, MINUTE, None),
        (false, Mode::Chat, MINUTE, None),
    ] {
        let (mut stage, thread) = with_thread(wanted, parent);
        unheard(&mut stage, thread, "Long ago");
        stage.advance(MINUTE * 120);
        unheard(&mut stage, thread, "Is anybody");
        let newest = unheard(&mut stage, thread, "there?");
        stage.advance(age);
        told_of(&mut stage, thread, newest);
        assert_eq!(
            stage.status_of(thread).map(|status| status.mode),
            inherited,
            "{parent} {age:?}"
        );
        stage.advance(MINUTE * 10);
        // Once, however often it is told.
        let said = stage.words_in(thread);
        told_of(&mut stage, thread, newest);
        stage.advance(MINUTE * 10);
        assert_eq!(stage.words_in(thread), said);
        let missed = missed_in(&stage, thread);
        let expected: &[&str] =
            if inherited == Some(Mode::Chat) { &["Is anybody", "there?"] } else { &[] };
        assert_eq!(missed.get(..expected.len()).unwrap(), expected, "{missed:?}");
        assert_eq!(missed.is_empty(), expected.is_empty());
    }
}

/// Else a neighbour would take it for heard.
#[test]
fn a_thread_that_began_unheard_has_its_mode_stored_when_the_call_returns() {
    let (mut stage, thread) = with_thread(true, Mode::Chat);
    let (channel, newest) = (stage.channel(), unheard(&mut stage, thread, "Is anybody there?"));
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 9));
    let told = stage
        .begin(move |d| async move { d.newest_message_of_thread(thread, channel, newest).await });
    stage.advance(SECOND * 8);
    assert!(told.take().is_none());
    stage.advance(SECOND);
    assert!(matches!(told.take(), Some(Ok(()))));
}

/// It has its mode when the call returns, and is read afterwards.
#[test]
fn what_was_said_in_a_thread_that_began_unheard_is_read_after_a_crash() {
    let (mut stage, thread) = with_thread(true, Mode::Chat);
    let newest = unheard(&mut stage, thread, "Is anybody there?");
    stage.discord().inject(|faults| {
        for _ in 0..8 {
            faults.next(Call::History, Fault::NotDelivered);
        }
    });
    told_of(&mut stage, thread, newest);
    stage.crash();
    stage.discord().inject(Faults::stop);
    stage.restart();
    stage.advance(MINUTE * 10);
    assert!(missed_in(&stage, thread).contains(&"Is anybody there?".to_owned()));
}
