//! What the simulation of the room (`src/room/simulation.rs`) once found, each as a story of its own. The
//! seeds there may lead to something else when what a world draws is changed.

use std::time::Duration;

use dirigent::hooks::RunId;
use dirigent::snapshot::PhaseKind;
use dirigent::{ChannelId, Clock, Permit};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{HOUR, MILLI, MINUTE, SECOND, is_heard, runs};

/// A room in which "a" has two parts to say, once. Nothing has been said.
fn two_parts() -> Stage {
    let long = ["1", "2"].map(|part| part.repeat(2_000)).concat();
    let mut stage = Setup::new().hosted("a", [long.into()]).hosted("b", []).stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    stage
}

fn whole() -> [String; 3] {
    ["Hello".to_owned(), "1".repeat(2_000), "2".repeat(2_000)]
}

#[test]
fn the_event_of_a_part_that_was_answered_for_is_not_taken_for_the_next_part() {
    for late in [MILLI * 50, MILLI * 500, MILLI * 950, SECOND * 3] {
        let mut stage = two_parts();
        // That the first part is posted is stored for a second before the next one leaves.
        stage.store().with_rate(StoreFault::TakesSoLong(SECOND), 1_000, 1);
        stage.say("Hello");
        stage.discord().next_push(PushFault::Delayed { by: late });
        stage.until_dormant();
        assert_eq!(stage.words(), whole(), "the event comes {late:?} late");
    }
}

#[test]
fn the_event_of_a_part_that_was_found_is_not_taken_for_the_next_part() {
    let mut found = 0;
    for late in 120..150 {
        let mut stage = two_parts();
        stage.discord().next_post(Fault::LostAnswer);
        // The event of what the person says, then that of the first part.
        stage.discord().next_push(PushFault::Delayed { by: Duration::ZERO });
        stage.discord().next_push(PushFault::Delayed { by: SECOND * late });
        stage.say("Hello");
        stage.advance(MILLI);
        // Until the nonce may be forgotten: then the part is looked for.
        stage.discord().begin_outage(Outage::refused());
        stage.advance(SECOND * 122);
        stage.store().with_rate(StoreFault::TakesSoLong(SECOND * 5), 1_000, 1);
        let reads = stage.discord().calls().of(Call::History);
        stage.discord().end_outages();
        stage.advance(SECOND * 12);
        found += stage.discord().calls().of(Call::History) - reads;
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(stage.words(), whole(), "the event comes {late} s late");
    }
    assert!(found > 0, "nothing was looked for");
}

/// The agent "a", which the library calls, asks at the gate itself, for a run of the host's.
fn asks(stage: &mut Stage, channel: ChannelId) -> Option<Permit> {
    let run = Some(RunId::new(7));
    stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), run).await }).ok()
}

#[test]
fn an_agent_that_is_called_and_asks_at_the_gate_itself_runs_once() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert!(!stage.agent("a").turns()[0].cancelled);
    let channel = stage.channel();
    let decision = asks(&mut stage, channel);
    stage.settle();
    assert!(decision.is_some(), "it is its turn");
    assert!(stage.agent("a").turns()[0].cancelled, "the call goes on beside the run");
}

#[test]
fn an_agent_that_waits_to_be_called_and_asks_at_the_gate_itself_is_not_called() {
    let mut stage = Setup::new()
        .rooms(2)
        .hosted("a", [Line::from("a1").taking(MINUTE)])
        .hosted("b", [])
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    stage.chat();
    let [first, second] = stage.rooms() else { panic!("there are two") };
    let (first, second) = (*first, *second);
    stage.say_in(first, "Hello");
    stage.advance(SECOND);
    stage.say_in(second, "Hello");
    stage.advance(SECOND);
    assert_eq!(runs(&stage), 1, "there is one place");
    let permit = asks(&mut stage, second);
    assert!(permit.is_some(), "it is its turn");
    stage.until("the place is free", |stage| !stage.words_in(first).is_empty());
    stage.advance(MINUTE * 2);
    let called = stage.agent("a").turns().into_iter().filter(|turn| turn.channel == Some(second));
    assert_eq!(called.count(), 0, "it is called although it runs");
}

#[test]
fn an_acknowledgement_that_is_not_owed_any_more_is_not_posted() {
    // The number of effects that are pending in the machine.
    const OWED_MAX: usize = 32;
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let before = stage.moderation(stage.channel()).len();
    stage.discord().begin_outage(Outage::refused().of(stage.moderator()));
    for _ in 0..OWED_MAX {
        stage.say("stop");
        stage.say("resume");
    }
    stage.say("stop");
    stage.advance(SECOND * 20);
    assert_eq!(stage.moderation(stage.channel()).len(), before);
    stage.discord().end_outages();
    stage.advance(MINUTE);
    let posted = stage.moderation(stage.channel()).len() - before;
    assert!((1..=OWED_MAX).contains(&posted), "{posted} acknowledgements");
}

#[test]
fn a_word_whose_event_was_lost_without_notice_is_read_with_the_next_gap() {
    for between in [None, Some("And another thing")] {
        // The room stays in memory: of a room that left it only the record says what was heard.
        let takes = |text: &str| Line::from(text).taking(MINUTE);
        let mut stage = Setup::new().hosted("a", [takes("a1")]).hosted("b", [takes("b1")]).stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        stage.discord().next_push(PushFault::Dropped);
        stage.say("A question");
        if let Some(between) = between {
            stage.say(between);
        }
        stage.advance(SECOND);
        stage.call(|d| async move { d.reconnected().await }).unwrap();
        stage.until_dormant();
        assert!(is_heard(&stage, "A question"), "{between:?}");
    }
}

/// Whether an agent runs for a word that is said now.
fn answers(stage: &mut Stage) -> bool {
    let before = runs(stage);
    stage.say("Is anybody there?");
    stage.advance(MINUTE);
    runs(stage) > before
}

#[test]
fn a_room_at_which_everything_expires_at_once_goes_on() {
    for (hosted, slept) in [true, false].into_iter().flat_map(|h| [(h, MINUTE * 20), (h, HOUR * 9)])
    {
        for moment in 0..24 {
            let lines = |name: &str| [Line::from(name).taking(MILLI * 900), Line::from(name)];
            let setup = if hosted {
                Setup::new().hosted("a", lines("a1")).hosted("b", lines("b1"))
            } else {
                Setup::new().hooked("a", lines("a1")).hooked("b", lines("b1"))
            };
            let mut stage = setup.stage();
            let slow = Fault::SlowRequest { by: MILLI * 300 };
            stage.chat();
            stage.discord().begin_outage(Outage::failing(slow));
            stage.store().with_rate(StoreFault::TakesSoLong(MILLI * 100), 1_000, 1);
            stage.say("Hello");
            stage.advance(MILLI * 250 * moment);
            stage.clock().jump_to(stage.clock().now() + slept);
            stage.settle();
            let place = format!("hosted {hosted}, slept {slept:?} {} ms into a turn", 250 * moment);
            stage.advance(MINUTE * 5);
            let phase = stage.status().unwrap().phase;
            assert_eq!(phase, PhaseKind::Dormant, "{place}");
            assert!(answers(&mut stage), "{place}: it sleeps for good");
            stage.advance(Duration::from_secs(300));
            assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "{place}");
        }
    }
}
