//! Agents that crash, stay silent and come back; and runs that are put off until their turn comes.

use std::time::Duration;

use dirigent::hooks::RunId;
use dirigent::operate::{Reason, Refusal};
use dirigent::ports::Identity;
use dirigent::settings::Heartbeat;
use dirigent::snapshot::PhaseKind;
use dirigent::{CallError, Denial, IdentityStore as _, Permit};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn three() -> Setup {
    Setup::new()
        .hosted("a", [Act::Hang.into()])
        .hosted("b", ["b1".into(), "b2".into()])
        .hosted("c", ["c1".into()])
        .config(|config| config.announce_offline = true)
}

fn why(stage: &mut Stage, agent: &'static str) -> Reason {
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.channel(channel).explain(&agent.into()).await });
    why.unwrap().reason
}

fn offline(stage: &mut Stage, agent: &'static str) {
    stage.call(move |d| async move { d.agent_offline(&agent.into()).await }).unwrap();
}

fn online(stage: &mut Stage, agent: &'static str) {
    stage.call(move |d| async move { d.agent_online(&agent.into()).await }).unwrap();
}

fn assign(stage: &mut Stage, agent: &'static str) -> Result<(), CallError> {
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).assign(&agent.into()).await })
}

/// R270
#[test]
fn the_notice_names_the_agent_as_people_know_it_and_as_text() {
    let mut stage = three().stage();
    let identity = Identity {
        discord_user_id: stage.agent("a").user(),
        agent_id: "a".into(),
        agent_name: "@here _Poet_".to_owned(),
    };
    let identities = stage.identities().clone();
    stage.call(move |dirigent| async move {
        identities.register(identity).await.unwrap();
        dirigent.identities_changed().await.unwrap();
    });
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    offline(&mut stage, "a");
    stage.until_dormant();
    assert_eq!(stage.moderation(stage.channel()), [r"⚠️ \@here \_Poet\_ disconnected"]);
}

/// R270, R273, R274
#[test]
fn a_crashed_speaker_is_announced_and_skipped_and_returns_when_assigned() {
    let mut stage = three().stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().speaker, Some("a".into()));
    offline(&mut stage, "a");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "b1", "c1", "b2"]);
    assert_eq!(stage.moderation(stage.channel()), ["⚠️ a disconnected"]);
    assert_eq!(why(&mut stage, "a"), Reason::Offline);
    assert!(stage.agent("a").turns()[0].cancelled);
    let early = assign(&mut stage, "a");
    assert!(matches!(early, Err(CallError::Refused(Refusal::AgentOffline))), "{early:?}");
    online(&mut stage, "a");
    assert_eq!(why(&mut stage, "a"), Reason::Unassigned);
    stage.say("Go on");
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns().len(), 1, "not before it is assigned");
    assign(&mut stage, "a").unwrap();
    stage.agent("a").then("a1");
    stage.say("Now?");
    stage.until_dormant();
    assert!(stage.words().contains(&"a1".to_owned()));
    let missed = &stage.agent("a").turns()[1].missed;
    assert_eq!(missed[0], "Hello", "the call in which it had that was cancelled");
}

/// Both fall silent with the word that they were given, as where a process is cut off from those in which its agents live: it is not lost.
#[test]
fn a_word_that_only_crashed_agents_had_is_given_again_when_one_is_back() {
    let setup = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", [Act::Hang.into()]);
    let mut stage = setup.config(|config| config.order.auto_requeue = true).stage();
    stage.chat();
    stage.say("Hello");
    for agent in ["a", "b"] {
        stage.advance(SECOND);
        assert_eq!(stage.status().unwrap().speaker, Some(agent.into()));
        offline(&mut stage, agent);
    }
    stage.until_dormant();
    stage.agent("a").then("a1");
    online(&mut stage, "a");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1"]);
    assert_eq!(stage.agent("a").turns()[1].missed, ["Hello"]);
}

/// What it had with an earlier call is not given again.
#[test]
fn an_agent_that_goes_offline_before_it_is_called_is_given_only_what_it_has_not_had() {
    let setup = Setup::new().rooms(2).hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
    let mut stage = setup
        .settings(|settings| settings.limits.calls_max = 1)
        .config(|config| config.order.auto_requeue = true)
        .stage();
    stage.chat();
    let (room, other) = (stage.rooms()[0], stage.rooms()[1]);
    stage.say_in(room, "Hello");
    stage.until_dormant();
    // The only place is taken: the next turn is granted, and its agent is not called yet.
    stage.agent("b").then(Act::Hang);
    stage.call(move |d| async move { d.channel(other).wake(Some(&"b".into())).await }).unwrap();
    stage.call(move |d| async move { d.channel(room).wake(Some(&"a".into())).await }).unwrap();
    stage.say_in(room, "Go on");
    stage.advance(SECOND);
    assert_eq!(stage.status_of(room).unwrap().speaker, Some("a".into()));
    let before = stage.agent("a").turns().len();
    offline(&mut stage, "a");
    online(&mut stage, "a");
    stage.call(move |d| async move { d.channel(other).stop().await }).unwrap();
    stage.until_dormant();
    let turns = stage.agent("a").turns();
    let had: Vec<_> = turns[before..].iter().flat_map(|turn| turn.missed.clone()).collect();
    assert_eq!(had, ["Go on"], "{turns:?}");
}

/// R273, R274
#[test]
fn it_is_announced_only_if_configured_and_requeued_at_once_if_configured() {
    let mut stage = three()
        .config(|config| {
            config.announce_offline = false;
            config.order.auto_requeue = true;
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    offline(&mut stage, "a");
    stage.until_dormant();
    assert_eq!(stage.moderation(stage.channel()), [""; 0]);
    online(&mut stage, "a");
    stage.agent("a").then("a1");
    stage.say("Now?");
    stage.until_dormant();
    assert!(stage.words().contains(&"a1".to_owned()));
}

/// R275
#[test]
fn with_everybody_offline_nobody_is_active_and_the_first_one_assigned_answers() {
    let mut stage = three().stage();
    stage.chat();
    for agent in ["a", "b", "c"] {
        offline(&mut stage, agent);
    }
    stage.say("Is anybody there?");
    stage.advance(SECOND * 120);
    let status = stage.status().unwrap();
    assert_eq!((status.phase, status.speaker), (PhaseKind::Dormant, None));
    online(&mut stage, "b");
    assert_eq!(stage.words(), ["Is anybody there?"]);
    assign(&mut stage, "b").unwrap();
    stage.until_dormant();
    assert_eq!(stage.words(), ["Is anybody there?", "b1"]);
    assert_eq!(stage.agent("b").turns()[0].missed, ["Is anybody there?"]);
}

/// R270, R274: one word about an agent reaches every channel, also those that are not in memory.
#[test]
fn an_agent_is_offline_in_all_channels_also_in_those_that_were_left_alone() {
    let mut stage = Setup::new()
        .rooms(3)
        .hosted("a", ["a1".into(), "a2".into(), "a3".into()])
        .hosted("b", ["b1".into()])
        .stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    stage.say_in(rooms[0], "Hello");
    stage.advance(SECOND * 1_200);
    // By now no channel is in memory.
    offline(&mut stage, "a");
    stage.say_in(rooms[1], "Hello");
    stage.advance(SECOND * 30);
    assert_eq!(stage.words_in(rooms[1]), ["Hello", "b1"]);
    online(&mut stage, "a");
    stage.say_in(rooms[2], "Hello");
    stage.advance(SECOND * 30);
    assert_eq!(stage.words_in(rooms[2]), ["Hello", "b1"], "it crashed since: it must be assigned");
    let room = rooms[2];
    stage.call(move |d| async move { d.channel(room).assign(&"a".into()).await }).unwrap();
    stage.advance(SECOND * 1_200);
    stage.say_in(room, "Again");
    stage.advance(SECOND * 30);
    assert!(stage.words_in(room).contains(&"a1".to_owned()), "and stays so when it was left alone");
    // A restart forgets what was said of agents, and keeps what channels know.
    stage.crash();
    stage.restart();
    stage.say_in(rooms[1], "And here?");
    stage.advance(SECOND * 30);
    assert!(!stage.words_in(rooms[1]).iter().any(|text| text.starts_with('a')));
}

fn beat(stage: &mut Stage, agent: &'static str) {
    stage.call(move |d| async move { d.heartbeat(&agent.into()).await }).unwrap();
}

/// R270
#[test]
fn an_agent_whose_heartbeats_stay_away_is_offline_until_the_next_one() {
    let mut stage =
        three().settings(|settings| settings.hooks.heartbeat = Some(Heartbeat::default())).stage();
    stage.chat();
    beat(&mut stage, "a");
    stage.advance(SECOND * 60);
    beat(&mut stage, "a");
    stage.advance(SECOND * 89);
    assert_eq!(why(&mut stage, "a"), Reason::Dormant);
    stage.advance(SECOND);
    assert_eq!(why(&mut stage, "a"), Reason::Offline, "three were missing");
    assert_eq!(why(&mut stage, "b"), Reason::Dormant, "it never gave any: it is not watched");
    stage.advance(SECOND * 600);
    beat(&mut stage, "a");
    assert_eq!(why(&mut stage, "a"), Reason::Unassigned);
    assign(&mut stage, "a").unwrap();
    assert_eq!(why(&mut stage, "a"), Reason::Dormant);
}

#[test]
fn whoever_asks_to_speak_or_ends_a_run_lives() {
    let mut stage =
        three().settings(|settings| settings.hooks.heartbeat = Some(Heartbeat::default())).stage();
    stage.chat();
    let channel = stage.channel();
    beat(&mut stage, "b");
    for _ in 0..4 {
        stage.advance(SECOND * 60);
        let asked = stage
            .call(move |d| async move { d.channel(channel).may_speak(&"b".into(), None).await });
        drop(asked);
        stage.advance(SECOND * 60);
        let told = stage.call(move |d| async move {
            d.channel(channel).turn_ended(&"b".into(), None, dirigent::hooks::RunReport::Pass).await
        });
        assert!(matches!(told, Err(CallError::Refused(Refusal::StaleRun))), "{told:?}");
    }
    assert_eq!(why(&mut stage, "b"), Reason::Dormant);
}

/// R270
#[test]
fn the_silence_of_one_agent_is_not_broken_by_the_heartbeats_of_another() {
    let mut stage =
        three().settings(|settings| settings.hooks.heartbeat = Some(Heartbeat::default())).stage();
    stage.chat();
    beat(&mut stage, "a");
    beat(&mut stage, "c");
    for _ in 0..3 {
        stage.advance(SECOND * 29);
        beat(&mut stage, "b");
    }
    stage.advance(SECOND * 2);
    assert_eq!(why(&mut stage, "a"), Reason::Dormant);
    stage.advance(SECOND);
    assert_eq!(why(&mut stage, "a"), Reason::Offline, "90 s after its own last heartbeat");
    assert_eq!(why(&mut stage, "c"), Reason::Offline, "both that were silent");
    assert_eq!(why(&mut stage, "b"), Reason::Dormant, "3 s after its own");
    stage.advance(SECOND * 86);
    assert_eq!(why(&mut stage, "b"), Reason::Dormant);
    stage.advance(SECOND);
    assert_eq!(why(&mut stage, "b"), Reason::Offline);
}

/// R270, R274
#[test]
fn a_heartbeat_brings_back_an_agent_that_was_marked_offline_before_a_restart() {
    for watches in [true, false] {
        let mut stage = Setup::new()
            .rooms(2)
            .hosted("a", [])
            .hosted("b", [])
            .settings(|settings| settings.hooks.heartbeat = watches.then(Heartbeat::default))
            .stage();
        stage.chat();
        let away = |stage: &mut Stage, agent: &'static str| {
            let rooms = stage.rooms().to_vec();
            let reasons = rooms.into_iter().map(|room| {
                let why = stage
                    .call(move |d| async move { d.channel(room).explain(&agent.into()).await });
                why.unwrap().reason
            });
            reasons.collect::<Vec<_>>().contains(&Reason::Offline)
        };
        offline(&mut stage, "a");
        offline(&mut stage, "b");
        assert!(away(&mut stage, "a"), "the rooms are read, and store the mark");
        stage.advance(SECOND);
        stage.crash();
        stage.restart();
        assert!(away(&mut stage, "a"), "rooms keep the mark");
        beat(&mut stage, "a");
        assert!(!away(&mut stage, "a"), "also in a room that was read only afterwards");
        assert!(away(&mut stage, "b"), "it gave no sign of life");
        assert_eq!(why(&mut stage, "a"), Reason::Unassigned);
        assign(&mut stage, "a").unwrap();
        assert_eq!(why(&mut stage, "a"), Reason::Dormant);
        // Further heartbeats have nothing to bring back.
        stage.advance(SECOND);
        beat(&mut stage, "a");
        assert_eq!(why(&mut stage, "a"), Reason::Dormant);
    }
}

#[test]
fn heartbeats_say_nothing_where_nobody_watches() {
    let mut stage = three().stage();
    stage.chat();
    beat(&mut stage, "a");
    stage.advance(SECOND * 100_000);
    assert_eq!(why(&mut stage, "a"), Reason::Dormant);
}

/// D3
#[test]
fn a_hosted_agent_that_fails_again_and_again_stays_online() {
    let mut stage = Setup::new()
        .hosted("a", [Act::Panic.into(), Act::Fail.into(), Act::Panic.into(), "a1".into()])
        .hosted("b", (0..9).map(|number| Line::from(format!("b{number}"))))
        .config(|config| config.order.skip_last_speaker = false)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    assert!(stage.words().contains(&"a1".to_owned()), "{:?}", stage.words());
}

fn hooked() -> Stage {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 10)])
        .hooked("b", ["b1".into()])
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage
}

fn ask_or_defer(stage: &mut Stage, run: u64) -> Result<Permit, Denial> {
    let channel = stage.channel();
    let run = Some(RunId::new(run));
    stage
        .call(move |d| async move { d.channel(channel).may_speak_or_defer(&"b".into(), run).await })
}

/// R193
#[test]
fn a_run_that_was_put_off_is_called_back_when_its_turn_comes_and_no_trigger_is_posted() {
    let mut stage = hooked();
    let Err(Denial::Deferred { reason, speaker, deferral }) = ask_or_defer(&mut stage, 70) else {
        panic!("a has the floor");
    };
    assert!(matches!(reason, Reason::NotYourTurn { .. }));
    assert_eq!(speaker, Some("a".into()));
    let called = stage.begin(|_| async move { deferral.turn().await });
    stage.advance(SECOND * 8);
    assert_eq!(called.take(), None, "not yet");
    stage.advance(SECOND * 2);
    assert!(called.take().flatten().is_some());
    let moderator = stage.moderator();
    let posts = stage.discord().take_posts();
    assert!(posts.iter().all(|post| post.author != moderator), "no noise");
    let decision = ask_or_defer(&mut stage, 70);
    let permit = decision.expect("the same run may ask again");
    permit.end(dirigent::hooks::RunReport::Pass).unwrap();
}

/// R193
#[test]
fn whoever_drops_the_deferral_is_woken_as_ever() {
    let mut stage = hooked();
    drop(ask_or_defer(&mut stage, 70));
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"], "by a trigger message");
}

/// R193
#[test]
fn a_direct_waker_is_given_the_key_of_what_was_put_off() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 10)])
        .hooked("b", ["b1".into()])
        .direct()
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    let Err(Denial::Deferred { deferral, .. }) = ask_or_defer(&mut stage, 70) else {
        panic!("a has the floor");
    };
    let key = deferral.key();
    drop(deferral);
    stage.until_dormant();
    assert_eq!(stage.wake_calls()[0].deferral, Some(key));
    assert_eq!(stage.wake_calls()[0].missed.len(), 2, "and what it missed");
    assert!(stage.wake_calls().iter().skip(1).all(|call| call.deferral.is_none()), "once");
}

/// R193
#[test]
fn a_deferral_is_replaced_by_the_next_and_dropped_when_the_channel_forgets() {
    let mut stage = Setup::new().hosted("a", []).hooked("b", []).stage();
    stage.chat();
    let first = ask_or_defer(&mut stage, 1);
    let Err(Denial::Deferred { deferral: first, .. }) = first else { panic!("{first:?}") };
    let first_key = first.key();
    let first = stage.begin(|_| async move { first.turn().await });
    let second = ask_or_defer(&mut stage, 2);
    let Err(Denial::Deferred { deferral: second, .. }) = second else { panic!("{second:?}") };
    assert_eq!(second.key(), first_key, "one wait, one key");
    let second = stage.begin(|_| async move { second.turn().await });
    stage.settle();
    assert_eq!(first.take(), Some(None));
    stage.advance(SECOND * 3_600);
    assert_eq!(second.take(), Some(None));
}

/// R193
#[test]
fn what_never_changes_is_denied_and_not_put_off() {
    let mut stage = Setup::new().hosted("a", []).hooked("b", []).stage();
    assert!(ask_or_defer(&mut stage, 1).is_ok(), "unmanaged");
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    assert!(matches!(
        ask_or_defer(&mut stage, 1),
        Err(Denial::Denied { reason: Reason::Archived, .. })
    ));
}

/// Both agents are away, a person asks, and the room leaves memory.
fn asked_while_all_are_away(heartbeat: bool) -> Stage {
    let mut stage = Setup::new()
        .hosted("a", ["a1".into()])
        .hosted("b", ["b1".into()])
        .config(|config| config.order.auto_requeue = true)
        .settings(move |settings| settings.hooks.heartbeat = heartbeat.then(Heartbeat::default))
        .stage();
    stage.chat();
    for agent in ["a", "b"] {
        offline(&mut stage, agent);
    }
    stage.say("Is anybody there?");
    stage.advance(SECOND * 900);
    assert_eq!(stage.words(), ["Is anybody there?"]);
    stage
}

/// WD4: a person who asked while every agent was away is answered when the first one is back, not after the next look at
/// the history: here there is none.
#[test]
fn who_comes_back_is_asked_at_once_also_in_a_channel_that_left_memory() {
    let mut stage = asked_while_all_are_away(false);
    let loads = stage.store().loads();
    online(&mut stage, "b");
    stage.settle();
    assert!(stage.store().loads() > loads, "it was not in memory");
    assert_eq!(stage.words(), ["Is anybody there?", "b1"]);
}

/// WD4: as above, by a heartbeat.
#[test]
fn who_is_alive_again_is_asked_at_once_also_in_a_channel_that_left_memory() {
    let mut stage = asked_while_all_are_away(true);
    stage.call(move |d| async move { d.heartbeat(&"a".into()).await }).unwrap();
    stage.settle();
    assert_eq!(stage.words(), ["Is anybody there?", "a1"]);
}

/// WD4: as above, when the process was restarted meanwhile.
#[test]
fn who_comes_back_after_a_restart_is_asked_at_once_also_in_a_channel_that_left_memory() {
    let mut stage = asked_while_all_are_away(false);
    stage.crash();
    stage.restart();
    stage.advance(SECOND * 900);
    online(&mut stage, "b");
    stage.settle();
    assert_eq!(stage.words(), ["Is anybody there?", "b1"]);
}

/// WD4: a channel in which nobody waits is not read for it.
#[test]
fn who_comes_back_costs_a_channel_nothing_in_which_nobody_waits() {
    let mut stage = Setup::new()
        .hosted("a", ["a1".into()])
        .hosted("b", [])
        .config(|config| config.order.auto_requeue = true)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 900);
    offline(&mut stage, "b");
    let loads = stage.store().loads();
    online(&mut stage, "b");
    stage.advance(SECOND * 60);
    assert_eq!(stage.store().loads(), loads);
}
