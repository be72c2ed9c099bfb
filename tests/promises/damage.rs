//! P9, P10: a channel whose record cannot be used denies every agent, and says why, until an operator
//! decides. A newer version's record is never touched.

use dirigent::operate::{CreatedChannel, Reason, Refusal};
use dirigent::replay::Recording;
use dirigent::snapshot::PhaseKind;
use dirigent::store::{Barred, ChannelStore, Commit, Durability, Revision, Writer};
use dirigent::{CallError, Denial, Mode};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MINUTE, SECOND, stop};

const BARS: [(Barred, Reason, &str); 2] = [
    (Barred::Damaged, Reason::RecordDamaged, "damaged"),
    (Barred::OtherVersion, Reason::RecordOfOtherVersion, "another version"),
];

/// A channel that was stopped, whose process has ended.
fn stopped(recording: &Recording) -> Stage {
    let mut stage = Setup::new()
        .hooked("a", ["a1".into()])
        .hosted("b", ["b1".into()])
        .recorder(recording.clone())
        .stage();
    stage.chat();
    stop(&mut stage);
    stage.crash();
    stage
}

/// The same, started again with a record that cannot be used.
fn barred(how: Barred) -> Stage {
    let mut stage = stopped(&Recording::default());
    stage.store().bar(stage.channel(), how);
    stage.restart();
    stage
}

/// Everybody is denied for this reason.
#[track_caller]
fn all_denied(stage: &mut Stage, why: Reason) {
    let channel = stage.channel();
    for name in ["a", "b", "nobody"] {
        let asks = |d: dirigent::Dirigent, defers| async move {
            let agent = name.into();
            if defers {
                d.channel(channel).may_speak_or_defer(&agent, None).await
            } else {
                d.channel(channel).may_speak(&agent, None).await
            }
        };
        for defers in [false, true] {
            let denial = stage.call(move |d| asks(d, defers)).unwrap_err();
            let is_denied = matches!(&denial, Denial::Denied { reason, .. } if *reason == why);
            assert!(is_denied, "{name}: {denial:?}");
        }
    }
}

/// P9, P10
#[test]
fn every_agent_is_denied_where_the_record_cannot_be_used() {
    for (how, reason, _) in BARS {
        let mut stage = barred(how);
        all_denied(&mut stage, reason);
        stage.advance(MINUTE);
        all_denied(&mut stage, reason);
    }
}

/// P9, P10
#[test]
fn an_explanation_names_the_record_and_what_would_end_it() {
    for (how, reason, words) in BARS {
        let mut stage = barred(how);
        let channel = stage.channel();
        let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
        let why = why.unwrap();
        assert_eq!(why.reason, reason);
        assert!(why.to_string().contains(words), "{why}");
        let status = stage.call(move |d| async move { d.channel(channel).status().await });
        assert!(matches!(status, Err(CallError::Barred(found)) if found == how), "{status:?}");
    }
}

/// P9, P10
#[test]
fn a_barred_channel_stays_listed_and_barred_over_restarts() {
    for (how, reason, _) in BARS {
        let mut stage = barred(how);
        for _ in 0..3 {
            assert_eq!(stage.dirigent().channels(), [stage.channel()], "{how:?}");
            all_denied(&mut stage, reason);
            assert_eq!(stage.dirigent().channels(), [stage.channel()], "{how:?}");
            stage.crash();
            stage.restart();
        }
    }
}

/// P9, P10
#[test]
fn no_message_reaches_a_barred_channel() {
    for (how, reason, _) in BARS {
        let recording = Recording::default();
        let mut stage = stopped(&recording);
        let (channel, commits) = (stage.channel(), stage.store().commits().len());
        let inputs = |recording: &Recording| {
            recording.channel(channel).map_or(0, |recorded| recorded.inputs.len())
        };
        let before = inputs(&recording);
        stage.store().bar(channel, how);
        stage.restart();
        for word in ["Hello", "resume", "stop"] {
            stage.say(word);
            stage.advance(SECOND * 10);
        }
        stage.call(|d| async move { d.reconnected().await }).unwrap();
        stage.advance(MINUTE);
        assert_eq!(inputs(&recording), before, "{how:?}: a machine was told");
        assert_eq!(stage.store().commits().len(), commits, "{how:?}: something was stored");
        assert_eq!(stage.words(), ["Hello", "resume", "stop"], "{how:?}: an agent spoke");
        all_denied(&mut stage, reason);
    }
}

/// P9
#[test]
fn an_operator_who_gives_a_damaged_channel_a_mode_begins_it_anew() {
    let mut stage = barred(Barred::Damaged);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await }).unwrap();
    let status = stage.status().unwrap();
    assert_eq!((status.mode, status.rest), (Mode::Chat, None));
    stage.say("Hello");
    stage.until_dormant();
    assert_eq!(stage.words().len(), 3, "both agents spoke");
    stage.crash();
    stage.restart();
    let status = stage.status().unwrap();
    assert_eq!((status.mode, status.phase), (Mode::Chat, PhaseKind::Dormant), "it was stored");
}

/// P9
#[test]
fn no_other_act_ends_the_bar_of_a_damaged_channel() {
    let mut stage = barred(Barred::Damaged);
    let channel = stage.channel();
    let resumed = stage.call(move |d| async move { d.channel(channel).resume().await });
    assert!(matches!(resumed, Err(CallError::Barred(Barred::Damaged))), "{resumed:?}");
    let woken = stage.call(move |d| async move { d.channel(channel).wake(None).await });
    assert!(matches!(woken, Err(CallError::Barred(Barred::Damaged))), "{woken:?}");
    all_denied(&mut stage, Reason::RecordDamaged);
}

/// P9
#[test]
fn a_refused_act_of_an_operator_leaves_a_damaged_channel_barred() {
    let mut stage = barred(Barred::Damaged);
    let channel = stage.channel();
    let locked = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Work).await });
    assert!(matches!(locked, Err(CallError::Refused(Refusal::CreationOnly))), "{locked:?}");
    all_denied(&mut stage, Reason::RecordDamaged);
    let made = CreatedChannel { mode: Mode::Discussion, ..CreatedChannel::default() };
    let refused = stage.call(move |d| async move { d.channel(channel).register(made).await });
    assert!(matches!(refused, Err(CallError::Refused(Refusal::InitiatorMismatch))), "{refused:?}");
    all_denied(&mut stage, Reason::RecordDamaged);
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await }).unwrap();
    assert_eq!(stage.status().unwrap().mode, Mode::Chat);
}

fn stored(stage: &Stage) -> Option<Revision> {
    stage.store().stored(stage.channel()).map(|stored| stored.revision)
}

/// P10
#[test]
fn no_operator_replaces_a_newer_versions_record() {
    let mut stage = barred(Barred::OtherVersion);
    let (channel, before) = (stage.channel(), stored(&stage));
    let given = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    assert!(matches!(given, Err(CallError::Barred(Barred::OtherVersion))), "{given:?}");
    let made = CreatedChannel { mode: Mode::Chat, ..CreatedChannel::default() };
    let made = stage.call(move |d| async move { d.channel(channel).register(made).await });
    assert!(matches!(made, Err(CallError::Barred(Barred::OtherVersion))), "{made:?}");
    all_denied(&mut stage, Reason::RecordOfOtherVersion);
    assert_eq!(stored(&stage), before, "it was not touched");
    // The newer version takes it up where it was.
    stage.crash();
    stage.store().unbar(channel);
    stage.restart();
    assert!(stage.status().unwrap().rest.is_some(), "still stopped");
}

/// P9, P10
#[test]
fn a_record_that_is_damaged_while_the_channel_is_in_memory_bars_it_with_the_next_commit() {
    for (how, reason, _) in BARS {
        let mut stage = Setup::new().hooked("a", []).hooked("b", []).stage();
        stage.chat();
        let channel = stage.channel();
        stage.store().bar(channel, how);
        let held = stage.call(move |d| async move { d.channel(channel).hold().await });
        assert!(held.is_err(), "{how:?}: it was not stored");
        all_denied(&mut stage, reason);
        stage.say("Hello");
        stage.advance(MINUTE);
        all_denied(&mut stage, reason);
    }
}

/// A record that the store takes for sound, and that the turn machine cannot be restored from.
fn contradictory(version: Option<u16>) -> Stage {
    let mut stage = stopped(&Recording::default());
    let (channel, store) = (stage.channel(), stage.store().clone());
    let mut stored = store.stored(channel).unwrap();
    match version {
        Some(version) => stored.record.snapshot.version = version,
        None => stored.record.snapshot.state.roster.list.slots.extend_from_within(..),
    }
    stored.record.writer = Some(Writer { process: 1, count: 1 });
    let commit = Commit {
        channel,
        expected: stored.revision,
        record: stored.record.into(),
        durability: Durability::Turn,
        transitions: std::sync::Arc::default(),
        replaces_damaged: false,
    };
    stage.restart();
    stage.call(move |_| async move { store.commit(commit).await }).unwrap();
    stage.crash();
    stage.restart();
    stage
}

/// P9
#[test]
fn a_record_that_contradicts_itself_bars_its_channel_until_an_operator_gives_it_a_mode() {
    let mut stage = contradictory(None);
    let channel = stage.channel();
    all_denied(&mut stage, Reason::RecordDamaged);
    let refused = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Work).await });
    assert!(refused.is_err());
    all_denied(&mut stage, Reason::RecordDamaged);
    stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await }).unwrap();
    stage.crash();
    stage.restart();
    let status = stage.status().unwrap();
    assert_eq!((status.mode, status.rest), (Mode::Chat, None));
}

/// P10
#[test]
fn a_snapshot_of_a_newer_version_bars_its_channel_and_is_not_replaced() {
    let mut stage = contradictory(Some(dirigent::snapshot::Snapshot::VERSION + 1));
    let (channel, before) = (stage.channel(), stored(&stage));
    all_denied(&mut stage, Reason::RecordOfOtherVersion);
    let given = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    assert!(matches!(given, Err(CallError::Barred(Barred::OtherVersion))), "{given:?}");
    assert_eq!(stored(&stage), before, "it was not touched");
}
