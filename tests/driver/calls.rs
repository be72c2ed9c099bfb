//! What a host may rely on when it calls the library.

use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::{CreatedChannel, EventOrLag, Opening, Reason};
use dirigent::ports::Identity;
use dirigent::replay::Recording;
use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::store::Durability;
use dirigent::{CallError, Config, Denial, IdentityStore, Mode};
use dirigent_testkit::memory_discord::{Faults, PushFault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

pub(super) fn hosted() -> Setup {
    Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()])
}

pub(super) fn slow() -> Setup {
    Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 5)])
        .hosted("b", [Line::from("b1").taking(SECOND * 5)])
}

/// A room in which agent "a" of the host was just granted the floor.
fn granted() -> Stage {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage
}

fn speaker(stage: &mut Stage) -> Option<String> {
    stage.status().unwrap().speaker.map(|agent| agent.as_str().to_owned())
}

/// R001
#[test]
fn concurrent_first_calls_of_a_channel_make_it_once() {
    let mut stage = hosted().stage();
    let channel = stage.channel();
    let calls: Vec<_> = (0..8)
        .map(|_| stage.begin(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await }))
        .collect();
    stage.settle();
    assert!(calls.iter().all(|call| call.take().unwrap().is_ok()));
    let commits = stage.store().commits();
    assert_eq!(commits.iter().filter(|c| c.durability == Durability::Fact).count(), 1);
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
}

/// R001: a host that is started twice hands every event over twice.
#[test]
fn what_is_handed_over_twice_has_one_effect() {
    let talk = |faults: Faults| {
        let mut stage = hosted().faults(faults).stage();
        stage.chat();
        for word in ["Hello", "Go on", "stop", "resume", "Again"] {
            stage.say(word);
            stage.advance(SECOND * 60);
        }
        let runs: usize = stage.agents().map(|agent| agent.turns().len()).sum();
        (stage.words(), stage.moderation(stage.channel()), runs)
    };
    let once = talk(Faults::new(7));
    assert_eq!(talk(Faults::new(7).with_push_rate(PushFault::Duplicated, 1_000)), once);
    assert!(once.0.len() > 6, "{once:?}");
}

/// R002, R168, F23
#[test]
fn turns_are_kept_with_nothing_but_a_chat_and_a_registry() {
    // The stage's chat has no guild administration, no relay and no scanned files.
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words().len(), 4);
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.channel(channel).hold().await.unwrap();
        d.channel(channel).resume().await.unwrap();
        d.channel(channel).mute(&"b".into()).await.unwrap();
        d.channel(channel).unmute(&"b".into()).await.unwrap();
        d.channel(channel).stop().await.unwrap();
        d.channel(channel).resume().await.unwrap();
        d.channel(channel).finish().await.unwrap();
        d.channel(channel).resume().await.unwrap();
        d.channel(channel).wake(None).await.unwrap();
        assert_eq!(d.channel(channel).status().await.unwrap().unwrap().mode, Mode::Chat);
        assert!(!d.channel(channel).history().await.unwrap().is_empty());
        d.channel(channel).archive().await.unwrap();
        assert_eq!(d.channel(channel).explain(&"a".into()).await.unwrap().reason, Reason::Archived);
        assert!(d.channel(channel).erase().await.unwrap());
    });
}

/// R087
#[test]
fn a_denial_names_its_reason_and_the_model_that_stays_silent() {
    let mut stage = granted();
    let channel = stage.channel();
    let run = Some(RunId::new(1));
    let denied =
        stage.call(move |d| async move { d.channel(channel).may_speak(&"b".into(), run).await });
    let Err(Denial::Denied { reason, no_reply_model, .. }) = denied else {
        panic!("b may speak out of turn");
    };
    assert!(matches!(reason, Reason::NotYourTurn { .. }), "{reason:?}");
    assert_eq!(no_reply_model, "dirigent/no-reply");
}

/// R089
#[test]
fn the_anchor_is_the_newest_message_when_the_speaker_is_first_allowed() {
    let mut stage = Setup::new().hooked("a", [Act::Hang.into()]).hooked("b", []).stage();
    stage.chat();
    stage.say("Hello");
    let newest = stage.say("And another thing");
    let mut stage_two = granted();
    let channel = stage_two.channel();
    let human = stage_two.person();
    let said = stage_two.discord().say(channel, human, "Hello");
    let message = stage_two.discord().message(channel, said).unwrap();
    let permit = stage_two.call(move |d| async move {
        d.message_created(message).await.unwrap();
        d.channel(channel).may_speak(&"a".into(), Some(RunId::new(1))).await.unwrap()
    });
    assert_eq!(permit.anchor(), Some(said));
    assert!(newest.get() > 0);
}

#[test]
fn a_dropped_permit_ends_the_run() {
    let mut stage = granted();
    let channel = stage.channel();
    let permit = stage.call(move |d| async move {
        d.channel(channel).may_speak(&"a".into(), None).await.unwrap()
    });
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    drop(permit);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

#[test]
fn a_gate_call_delivered_twice_gives_one_permit_that_holds_the_run() {
    for run in [None, Some(RunId::new(1))] {
        let mut stage = granted();
        let channel = stage.channel();
        let ask = move |d: dirigent::Dirigent| async move {
            d.channel(channel).may_speak(&"a".into(), run).await.unwrap()
        };
        let (first, second) = (stage.call(ask), stage.call(ask));
        assert_eq!((first.was_running(), second.was_running()), (false, true), "{run:?}");
        drop(second);
        assert_eq!(stage.status().unwrap().phase, PhaseKind::Running, "the first still holds it");
        drop(first);
        assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
    }
}

#[test]
fn a_run_that_was_replaced_leaves_its_floor_to_the_newer_ones_permit() {
    let mut stage = granted();
    let channel = stage.channel();
    let ask = move |d: dirigent::Dirigent, run| async move {
        d.channel(channel).may_speak(&"a".into(), Some(RunId::new(run))).await.unwrap()
    };
    let older = stage.call(move |d| ask(d, 1));
    let newer = stage.call(move |d| ask(d, 2));
    assert_eq!((older.was_running(), newer.was_running()), (false, true), "N17");
    drop(older);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    drop(newer);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

#[test]
fn a_call_that_is_given_up_while_it_waits_ends_the_run() {
    let mut stage = granted();
    let channel = stage.channel();
    stage.store().next_commit(dirigent_verify::stage::StoreFault::TakesSoLong(SECOND * 20));
    let asked =
        stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await });
    assert!(asked.is_err(), "the store did not answer in ten seconds");
    stage.advance(SECOND * 20);
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}

#[test]
fn a_stop_cancels_the_hosted_run() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    assert!(stage.agent("a").turns()[0].cancelled);
    assert_eq!(stage.status().unwrap().rest, Some(Pause::Stopped));
}

#[test]
fn a_deadline_and_a_change_of_mode_cancel_the_hosted_run() {
    let mut stage = Setup::new()
        .hosted("a", [Act::Hang.into()])
        .hosted("b", [Act::Hang.into()])
        .config(|config| config.deadlines.run = Some(SECOND * 30))
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 31);
    assert!(stage.agent("a").turns()[0].cancelled, "its time was up");
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Report).await }).unwrap();
    assert!(stage.agent("b").turns()[0].cancelled, "the mode changed");
}

#[test]
fn a_persons_message_reaches_the_agent_that_is_running() {
    let mut stage = slow().stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("One more thing");
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, ["One more thing"]);
}

/// F18
#[test]
fn two_tasks_that_tell_of_one_channel_cannot_interleave() {
    let mut stage = granted();
    let channel = stage.channel();
    let asks: Vec<_> = (0..6)
        .map(|n| {
            let agent = if n % 2 == 0 { "a" } else { "b" };
            stage.begin(move |d| async move {
                let permit =
                    d.channel(channel).may_speak(&agent.into(), Some(RunId::new(n + 1))).await;
                permit.ok().map(|permit| permit.end(RunReport::Pass))
            })
        })
        .collect();
    stage.settle();
    let granted: Vec<_> = asks.iter().filter_map(|ask| ask.take().flatten()).collect();
    assert!(granted.iter().filter(|ended| ended.is_ok()).count() <= 2, "one run each");
}

#[test]
fn a_recording_replays_to_the_same_transitions() {
    let recording = Recording::default();
    let mut stage = hosted().recorder(recording.clone()).stage();
    stage.chat();
    let mut transitions = stage.dirigent().events();
    let before = recording.channel(stage.channel()).unwrap().replay().unwrap().len();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 1_000);
    let mut heard = Vec::new();
    while let Some(EventOrLag::Transition(event)) = transitions.try_next() {
        heard.push(event.transition);
    }
    let replayed = recording.channel(stage.channel()).unwrap().replay().unwrap();
    assert!(heard.len() > 8);
    assert_eq!(replayed[before..], heard);
}

#[test]
fn a_slow_listener_is_told_how_much_it_missed() {
    let mut stage = hosted().stage();
    stage.chat();
    let channel = stage.channel();
    let mut transitions = stage.dirigent().events();
    // 1,024 are kept for it.
    for _ in 0..600 {
        stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
        stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    }
    assert!(matches!(transitions.try_next(), Some(EventOrLag::Lagged(missed)) if missed > 4));
    assert!(matches!(transitions.try_next(), Some(EventOrLag::Transition(_))));
}

#[test]
fn an_idle_room_leaves_memory_and_comes_back() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 700);
    let before = stage.store().loads();
    stage.agent("b").then("b2");
    stage.say("Hello again");
    stage.until_dormant();
    assert!(stage.store().loads() > before, "it was read from the store");
    assert_eq!(stage.words()[4..], ["Hello again", "b2"]);
    let turns = stage.agent("b").turns();
    assert_eq!(turns.last().unwrap().missed, ["Hello again"], "what it was not handed yet");
}

#[test]
fn an_agent_added_later_takes_part_and_one_removed_does_not() {
    let mut stage = hosted().hosted("c", ["c1".into()]).stage();
    stage.chat();
    let identities = stage.identities().clone();
    stage.call(move |d| async move {
        identities.remove("c".into()).await.unwrap();
        d.identities_changed().await.unwrap();
    });
    stage.say("Hello");
    stage.until_dormant();
    assert!(!stage.words().contains(&"c1".to_owned()));
    let c = stage.agent("c");
    let again = Identity {
        discord_user_id: c.user(),
        agent_id: c.name().clone(),
        agent_name: "C".to_owned(),
    };
    stage.identities().add(again).unwrap();
    stage.call(|d| async move { d.identities_changed().await }).unwrap();
    stage.advance(SECOND * 100);
    stage.say("Hello again");
    stage.until_dormant();
    assert!(stage.words().contains(&"c1".to_owned()));
}

#[test]
fn an_agent_that_is_removed_while_it_runs_loses_the_floor() {
    let mut stage = Setup::new()
        .hooked("a", [Act::Hang.into()])
        .hooked("b", ["b1".into()])
        .hooked("c", ["c1".into()])
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(speaker(&mut stage).as_deref(), Some("a"));
    let identities = stage.identities().clone();
    stage.call(move |d| async move {
        identities.remove("a".into()).await.unwrap();
        d.identities_changed().await.unwrap();
    });
    stage.advance(SECOND * 5);
    assert_eq!(stage.words(), ["Hello", "b1", "c1"]);
}

#[test]
fn other_rules_hold_from_now_on() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    let mut config = Config::default();
    config.deadlines.run = Some(SECOND * 7);
    stage.call(move |d| async move { d.reconfigure(config).await }).unwrap();
    stage.say("Hello");
    stage.advance(SECOND * 8);
    assert!(stage.agent("a").turns()[0].cancelled);
}

#[test]
fn a_discussion_is_created_once() {
    let mut stage = hosted().stage();
    let channel = stage.channel();
    let made = CreatedChannel {
        mode: Mode::Discussion,
        members: vec!["a".into(), "b".into()],
        opening: Some(Opening { initiator: "a".into(), terms: None }),
    };
    let again = made.clone();
    stage.call(move |d| async move { d.channel(channel).register(made).await }).unwrap();
    let twice = stage.call(move |d| async move { d.channel(channel).register(again).await });
    assert!(matches!(twice, Err(CallError::Refused(_))));
    let stranger = stage
        .call(move |d| async move { d.channel(channel).conclude(&"nobody".into(), None).await });
    assert!(matches!(stranger, Err(CallError::UnknownAgent(_))));
}

/// R093, D40
#[test]
fn a_permit_of_an_earlier_turn_does_not_end_a_later_one() {
    let mut stage = granted();
    let channel = stage.channel();
    let ask = move |d: dirigent::Dirigent| async move {
        d.channel(channel).may_speak(&"a".into(), None).await.ok()
    };
    let first = stage.call(ask).unwrap();
    stage.advance(SECOND * 601);
    stage.advance(SECOND * 200);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "nobody answered");
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    let second = stage.call(ask).unwrap();
    drop(first);
    stage.settle();
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    second.end(RunReport::Pass).unwrap();
    stage.settle();
    assert_eq!(speaker(&mut stage).as_deref(), Some("b"));
}
