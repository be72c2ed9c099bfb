//! The driver carries out how messages flow: signals, settings that are refused, and late answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::{RunId, RunReport, Signal};
use dirigent::operate::Cause;
use dirigent::ports::AuthorKind;
use dirigent::settings::profiles::{FlowConfig, Profile};
use dirigent::settings::{CompletionPolicy, HumanMarker};
use dirigent::{Agent, AgentError, AgentId, ChatMessage, Reply, Turn};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn with_signal(setup: Setup) -> Setup {
    setup.settings(|settings| {
        settings.reading.completion = CompletionPolicy::Signal(Signal::default());
    })
}

fn round(setup: Setup) -> Stage {
    let mut stage = setup.stage();
    stage.chat();
    stage.say("Build it");
    stage.until_dormant();
    stage.advance(SECOND);
    assert_eq!(stage.points().breaches(), [""; 0]);
    stage
}

/// R249, R253, R257, R277
#[test]
fn a_signal_ends_the_turn_and_is_not_posted() {
    let pm = ["The spec. TURN_COMPLETE".into(), "Approved!\n\nTURN_COMPLETE ".into()];
    let dev = ["The code.\nTURN_COMPLETE".into()];
    let stage = round(with_signal(Setup::new().hosted("pm", pm).hosted("dev", dev)));
    assert_eq!(stage.words(), ["Build it", "The spec.", "The code.", "Approved!"]);
}

/// The causes of all that changed in the stage's channel so far.
fn causes(stage: &mut Stage) -> Vec<Cause> {
    let channel = stage.channel();
    let history = stage.call(move |d| async move { d.channel(channel).history().await }).unwrap();
    history.iter().map(|event| event.transition.cause).collect()
}

/// R108, R249: seed 4, section 6.
#[test]
fn a_host_that_posts_the_signal_with_the_text_is_recognised_at_once() {
    let pm = ["The spec. TURN_COMPLETE".into(), "Approved!\n\nTURN_COMPLETE".into()];
    let dev = ["The code.\nTURN_COMPLETE".into()];
    let mut stage = round(with_signal(Setup::new().hooked("pm", pm).hooked("dev", dev)));
    let posted = ["The spec. TURN_COMPLETE", "The code.\nTURN_COMPLETE"];
    assert_eq!(stage.words()[1..3], posted);
    let causes = causes(&mut stage);
    assert_eq!(causes.iter().filter(|cause| **cause == Cause::TailMatched).count(), 3);
    assert!(!causes.contains(&Cause::QuietAfterMessage), "{causes:?}");
}

/// What an agent that takes part by its host's hooks reports, and what the host posts.
fn hooked_turn(reported: RunReport<'static>, posted: &[&str]) -> Stage {
    let setup = Setup::new().hooked("pm", []).hooked("dev", []).without_pump();
    let mut stage = with_signal(setup).stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.channel(channel).wake(None).await.unwrap();
        let permit = d.channel(channel).may_speak(&"pm".into(), Some(RunId::new(1))).await.unwrap();
        permit.end(reported).unwrap();
    });
    for text in posted {
        let author = stage.agent("pm").user();
        let message = ChatMessage {
            author_kind: AuthorKind::Bot,
            ..ChatMessage::new(stage.discord().say(channel, author, *text), channel, author, *text)
        };
        stage.call(move |d| async move { d.message_created(message).await }).unwrap();
    }
    stage
}

/// R108, R249
#[test]
fn a_reply_is_recognised_with_the_signal_or_without_it() {
    let (plain, signed) = ("The spec.", "The spec. TURN_COMPLETE");
    for reported in [RunReport::Text(signed), RunReport::Spoke(plain), RunReport::Spoke(signed)] {
        for posted in [&[plain][..], &[signed], &["The spec.", "TURN_COMPLETE"]] {
            let mut stage = hooked_turn(reported, posted);
            let status = stage.status().unwrap();
            let speaker = status.speaker.as_ref().map(AgentId::as_str);
            assert_eq!(speaker, Some("dev"), "{reported:?}, {posted:?}");
            assert_eq!(causes(&mut stage).last(), Some(&Cause::NextInList), "no veto: {posted:?}");
            assert_eq!(status.turns_since_human, 2, "the signal is no message of its own");
        }
    }
}

/// The host reports one text and posts another.
#[test]
fn replies_that_are_never_recognised_are_told_in_status_and_explanation() {
    let mut stage = Setup::new().hooked("pm", []).hooked("dev", []).without_pump().stage();
    stage.chat();
    let (channel, pm) = (stage.channel(), stage.agent("pm").user());
    for turn in 1..=4_u32 {
        let run = RunId::new(turn.into());
        stage.call(move |d| async move {
            d.channel(channel).wake(None).await.unwrap();
        });
        stage.until("pm has the floor", |stage| {
            stage.status().unwrap().speaker.is_some_and(|agent| agent.as_str() == "pm")
        });
        stage.call(move |d| async move {
            let permit = d.channel(channel).may_speak(&"pm".into(), Some(run)).await.unwrap();
            permit.end(RunReport::Spoke("| a | table |")).unwrap();
        });
        stage.discord().say(channel, pm, "a: table, as a list that is longer");
        stage.advance(SECOND * 4);
        let told = (turn >= 3).then_some(turn);
        let status = stage.status().unwrap();
        let expected: Vec<_> = told.map(|replies| ("pm".into(), replies)).into_iter().collect();
        assert_eq!(status.unrecognised, expected, "after {turn} turns");
        let why = stage
            .call(move |d| async move { d.channel(channel).explain(&"pm".into()).await })
            .unwrap();
        assert_eq!(why.unrecognised, told);
        stage.call(move |d| async move { d.channel(channel).stop().await.unwrap() });
        stage.call(move |d| async move { d.channel(channel).resume().await.unwrap() });
    }
}

/// R250
#[test]
fn a_reply_of_nothing_but_the_signal_posts_nothing_and_is_silence() {
    let pm = ["TURN_COMPLETE".into(), "NO_REPLY TURN_COMPLETE".into()];
    let stage = round(with_signal(Setup::new().hosted("pm", pm).hosted("dev", [])));
    assert_eq!(stage.words(), ["Build it"]);
    assert_eq!(stage.agent("pm").turns().len(), 1, "one round, and everybody passed");
}

/// R251, R252
#[test]
fn without_the_signal_the_agent_keeps_the_floor_and_is_asked_to_go_on() {
    let pm = ["TURN_COMPLETE is not at the end".into(), "Now it is. TURN_COMPLETE".into()];
    let stage = round(with_signal(Setup::new().hosted("pm", pm).hosted("dev", ["d".into()])));
    // "d" has no signal either: it is asked to go on, and then has nothing to say.
    let said = ["Build it", "TURN_COMPLETE is not at the end", "Now it is.", "d"];
    assert_eq!(stage.words(), said);
    let turns: Vec<_> = stage.agent("pm").turns().iter().map(|turn| turn.turn).collect();
    assert_eq!(turns[0], turns[1], "the same turn");
}

/// F07
#[test]
fn the_mark_for_a_person_makes_everybody_wait() {
    let mut stage = Setup::new()
        .hosted("a", ["Red or blue? 👤".into(), "Blue it is".into()])
        .hosted("b", ["b1".into()])
        .settings(|settings| settings.reading.human_marker = Some(HumanMarker::default()))
        .stage();
    stage.chat();
    stage.say("Paint it");
    stage.advance(SECOND * 120);
    assert_eq!(stage.words(), ["Paint it", "Red or blue? 👤"]);
    let channel = stage.channel();
    let why =
        stage.call(move |d| async move { d.channel(channel).explain(&"b".into()).await }).unwrap();
    assert_eq!(why.reason, dirigent::operate::Reason::AwaitingHuman);
    assert!(why.to_string().starts_with("b may not speak: an agent asked for a person"), "{why}");
    stage.say("Blue");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Paint it", "Red or blue? 👤", "Blue", "Blue it is", "b1"]);
}

/// R261
#[test]
fn a_configuration_that_cannot_be_obeyed_or_understood_is_refused() {
    for bad in [
        r#"{"turnBehavior":{"timeoutSecond":5}}"#,
        r#"{"turnBehavior":{"timeoutSeconds":-1}}"#,
        r#"{"turnBehavior":{"humanInterrupt":"shout"}}"#,
        r#"{"turnBehavior":7}"#,
    ] {
        assert!(serde_json::from_str::<FlowConfig>(bad).is_err(), "{bad}");
    }
    let never: FlowConfig =
        serde_json::from_str(r#"{"turnBehavior":{"timeoutSeconds":0}}"#).unwrap();
    assert_eq!(never.rules().unwrap_err().field, "deadlines.turn");
    let whole = serde_json::to_value(FlowConfig::default()).unwrap();
    assert_eq!(whole["turnBehavior"]["timeoutSeconds"], 60);
    for name in ["dirigent", "seed_literal", "message_flow"] {
        let profile: Profile = serde_json::from_value(name.into()).unwrap();
        assert!(profile.rules().0.validate().is_ok(), "{name}");
    }
}

/// D4, R262
#[test]
fn a_late_answer_advances_nothing_and_comes_back_to_its_agent() {
    let late = Arc::new(Mutex::new(Vec::new()));
    let mut stage = Setup::new()
        .hosted("a", [])
        .hosted("b", ["b1".into(), "b2".into()])
        .config(|config| config.deadlines.turn = Some(SECOND * 10))
        .stage();
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    let slow = Slow { late: Arc::clone(&late), clock: stage.clock().clone() };
    stage.dirigent().host("a", slow, account);
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello", "b1"], "nothing is posted out of turn");
    stage.say("Again");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "b1", "Again", "at last", "b2"], "once, in its own turn");
    let given: Vec<_> = late.lock().unwrap().iter().flatten().cloned().collect();
    assert_eq!(given, ["at last"], "given once");
}

/// Takes twenty seconds for its first answer, whether it is cancelled or not.
struct Slow {
    late: Arc<Mutex<Vec<Option<String>>>>,
    clock: dirigent_testkit::ManualClock,
}

#[async_trait::async_trait]
impl Agent for Slow {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        use dirigent::Clock as _;
        let late = turn.late_answer().map(str::to_owned);
        let calls = {
            let mut known = self.late.lock().unwrap();
            known.push(late.clone());
            known.len()
        };
        match (late, calls) {
            (Some(late), _) => Ok(Reply::Say(late)),
            (None, 1) => {
                self.clock.sleep_until(self.clock.now() + SECOND * 20).await;
                assert!(turn.is_cancelled());
                Ok("at last".into())
            }
            (None, _) => Ok(Reply::Pass),
        }
    }
}
