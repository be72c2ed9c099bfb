//! The driver carries out how messages flow: signals, deadlines, and what people say during a turn.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{
    Agent, AgentError, AgentId, AuthorKind, Cause, ChatKind, ChatMessage, CompletionPolicy,
    Consultation, Ending, FlowConfig, HumanInterrupt, HumanMarker, Identity, IdentityStore as _,
    Mentions, Orchestrator, PhaseKind, Profile, Reply, RunId, Signal, Turn,
};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn with_signal(setup: Setup) -> Setup {
    setup.settings(|settings| {
        settings.completion = CompletionPolicy::Signal(Signal::default());
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
    let history = stage.call(move |d| async move { d.history(channel).await }).unwrap();
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
fn hooked_turn(reported: Ending<'static>, posted: &[&str]) -> Stage {
    let setup = Setup::new().hooked("pm", []).hooked("dev", []).without_pump();
    let mut stage = with_signal(setup).stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.wake(channel, None).await.unwrap();
        let decision = d.may_speak(channel, &"pm".into(), Some(RunId::new(1))).await.unwrap();
        decision.into_guard().unwrap().end(reported).unwrap();
    });
    for text in posted {
        let author = stage.agent("pm").user();
        let message = ChatMessage {
            id: stage.discord().say(channel, author, *text),
            channel,
            author,
            author_kind: AuthorKind::Bot,
            kind: ChatKind::Default,
            content: (*text).into(),
            has_attachments: false,
            nonce: None,
        };
        stage.call(move |d| async move { d.message_created(message).await }).unwrap();
    }
    stage
}

/// R108, R249
#[test]
fn a_reply_is_recognised_with_the_signal_or_without_it() {
    let (plain, signed) = ("The spec.", "The spec. TURN_COMPLETE");
    for reported in [Ending::Text(signed), Ending::Spoke(plain), Ending::Spoke(signed)] {
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
            d.wake(channel, None).await.unwrap();
        });
        stage.until("pm has the floor", |stage| {
            stage.status().unwrap().speaker.is_some_and(|agent| agent.as_str() == "pm")
        });
        stage.call(move |d| async move {
            let decision = d.may_speak(channel, &"pm".into(), Some(run)).await.unwrap();
            decision.into_guard().unwrap().end(Ending::Spoke("| a | table |")).unwrap();
        });
        stage.discord().say(channel, pm, "a: table, as a list that is longer");
        stage.advance(SECOND * 4);
        let told = (turn >= 3).then_some(turn);
        let status = stage.status().unwrap();
        let expected: Vec<_> = told.map(|replies| ("pm".into(), replies)).into_iter().collect();
        assert_eq!(status.unrecognised, expected, "after {turn} turns");
        let why =
            stage.call(move |d| async move { d.explain(channel, &"pm".into()).await }).unwrap();
        assert_eq!(why.unrecognised, told);
        stage.call(move |d| async move { d.stop(channel).await.unwrap() });
        stage.call(move |d| async move { d.resume(channel).await.unwrap() });
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
        .settings(|settings| settings.human_marker = Some(HumanMarker::default()))
        .stage();
    stage.chat();
    stage.say("Paint it");
    stage.advance(SECOND * 120);
    assert_eq!(stage.words(), ["Paint it", "Red or blue? 👤"]);
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.explain(channel, &"b".into()).await }).unwrap();
    assert_eq!(why.reason, dirigent::Reason::AwaitingHuman);
    assert!(why.to_string().starts_with("b may not speak: an agent asked for a person"), "{why}");
    stage.say("Blue");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Paint it", "Red or blue? 👤", "Blue", "Blue it is", "b1"]);
}

/// R258, R260, R261
#[test]
fn a_turn_that_takes_too_long_is_announced_in_the_configured_words() {
    for (json, notices) in [
        ("{}", vec!["⏱️ slow turn timed out, moving to next agent"]),
        (r#"{"turnBehavior":{"timeoutMessage":"{agent}!"},"other":1}"#, vec!["slow!"]),
        (r#"{"turnBehavior":{"announceTimeouts":false}}"#, vec![]),
    ] {
        let flow: FlowConfig = serde_json::from_str(json).unwrap();
        let (config, settings) = flow.rules().unwrap();
        let mut stage = Setup::new()
            .hosted("slow", [Act::Hang.into()])
            .hosted("dev", ["d1 TURN_COMPLETE".into()])
            .config(|known| *known = config)
            .settings(|known| {
                let pacing = known.pacing;
                *known = settings;
                known.pacing = pacing;
            })
            .stage();
        stage.chat();
        let began = dirigent::Clock::now(stage.clock());
        stage.say("Build it");
        stage.until("dev spoke", |stage| stage.words().len() == 2);
        assert_eq!(dirigent::Clock::now(stage.clock()).since(began), SECOND * 60);
        stage.until_dormant();
        stage.advance(SECOND);
        assert_eq!(stage.moderation(stage.channel()), notices, "{json}");
        assert!(stage.agent("slow").turns()[0].cancelled);
    }
}

/// R260
#[test]
fn the_notice_names_the_agent_as_people_know_it_and_as_text() {
    let names = [
        ("Poet", "Poet"),
        ("", "slow"),
        ("@everyone [x](https://evil.example)", r"\@everyone \[x\](https\://evil.example)"),
        ("*Po*\n# et\u{E0041}", r"\*Po\* \# et"),
    ];
    for (name, shown) in names {
        let mut stage = Setup::new()
            .hosted("slow", [Act::Hang.into()])
            .hosted("dev", ["d1".into()])
            .config(|config| {
                config.turn_deadline = Some(SECOND * 60);
                config.announce_timeouts = true;
            })
            .stage();
        call_agent(&mut stage, "slow", name);
        stage.chat();
        stage.say("Build it");
        stage.until("dev spoke", |stage| stage.words().len() == 2);
        let notice = format!("⏱️ {shown} turn timed out, moving to next agent");
        assert_eq!(stage.moderation(stage.channel()), [notice]);
        let posts = stage.discord().take_posts();
        let of_moderator = posts.iter().filter(|post| post.author == stage.moderator());
        assert!(of_moderator.map(|post| post.mentions).eq([Mentions::Nobody]));
    }
}

/// R260
#[test]
fn an_agents_id_of_a_hosts_choice_is_text_in_a_notice() {
    let id = "<@&7> **x**";
    let mut stage = Setup::new()
        .hosted(id, [Act::Hang.into()])
        .hosted("dev", ["d1".into()])
        .config(|config| {
            config.turn_deadline = Some(SECOND * 60);
            config.announce_timeouts = true;
        })
        .stage();
    call_agent(&mut stage, id, " ");
    stage.chat();
    stage.say("Build it");
    stage.until("dev spoke", |stage| stage.words().len() == 2);
    let notice = r"⏱️ \<\@&7\> \*\*x\*\* turn timed out, moving to next agent";
    assert_eq!(stage.moderation(stage.channel()), [notice]);
}

/// Gives an agent this name for people.
fn call_agent(stage: &mut Stage, agent: &str, name: &str) {
    let identity = Identity {
        discord_user_id: stage.agent(agent).user(),
        agent_id: agent.into(),
        agent_name: name.to_owned(),
    };
    let identities = stage.identities().clone();
    stage.call(move |dirigent| async move {
        identities.register(identity).await.unwrap();
        dirigent.identities_changed().await.unwrap();
    });
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
    assert_eq!(never.rules().unwrap_err().field, "turn_deadline");
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
        .config(|config| config.turn_deadline = Some(SECOND * 10))
        .stage();
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    let slow = Slow { late: Arc::clone(&late), clock: stage.clock().clone() };
    stage.dirigent().host("a", slow, account);
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello", "b1", "b2"], "nothing is posted out of turn");
    stage.say("Again");
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "b1", "b2", "Again", "at last"], "once, in its own turn");
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

/// Answers what it is asked with an echo, after a while.
#[derive(Clone)]
struct Echo {
    asked: Arc<Mutex<Vec<Vec<String>>>>,
    takes: Duration,
    clock: Arc<Mutex<Option<dirigent_testkit::ManualClock>>>,
    answer: fn(&str) -> Result<Reply, AgentError>,
}

impl Echo {
    fn new(takes: Duration, answer: fn(&str) -> Result<Reply, AgentError>) -> Self {
        Self { asked: Arc::default(), takes, clock: Arc::default(), answer }
    }

    fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Orchestrator for Echo {
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
        use dirigent::Clock as _;
        let words: Vec<_> = asked.messages.iter().map(|m| m.content.to_string()).collect();
        self.asked.lock().unwrap().push(words.clone());
        let clock = self.clock.lock().unwrap().clone().unwrap();
        clock.sleep_until(clock.now() + self.takes).await;
        (self.answer)(&words.join(" + "))
    }
}

fn interrupted(echo: &Echo) -> Stage {
    let stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", ["b1".into()])
        .config(|config| {
            config.human_interrupt = HumanInterrupt::Interrupt;
            config.turn_deadline = Some(SECOND * 30);
        })
        .orchestrator(echo.clone())
        .stage();
    *echo.clock.lock().unwrap() = Some(stage.clock().clone());
    let mut stage = stage;
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 2);
    stage
}

/// R266, R267
#[test]
fn an_orchestrator_answers_in_the_agents_place_and_the_turn_goes_on_with_what_remained() {
    let echo = Echo::new(SECOND * 25, |asked| Ok(format!("About {asked}: yes.").into()));
    let mut stage = interrupted(&echo);
    let asked = stage.say("Is it Friday?");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Waiting);
    stage.advance(SECOND * 24);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Waiting);
    stage.advance(SECOND);
    // The agent was ready meanwhile, and its reply was held back until the turn went on.
    assert_eq!(stage.words()[..3], ["Hello", "Is it Friday?", "a1"]);
    assert_eq!(stage.moderation(stage.channel()), ["About Is it Friday?: yes."]);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "Is it Friday?", "a1", "b1"]);
    let posts = stage.discord().take_posts();
    let moderator = stage.moderator();
    let answer: Vec<_> = posts.iter().filter(|post| post.author == moderator).collect();
    assert_eq!(answer.len(), 1);
    assert_eq!(answer[0].reply_to, Some(asked));
    assert_eq!(answer[0].mentions, Mentions::Nobody);
    // Everybody sees what was asked, and what was answered.
    let missed = &stage.agent("b").turns()[0].missed;
    let seen = ["Hello", "Is it Friday?", "About Is it Friday?: yes.", "a1"];
    assert_eq!(missed, &seen);
}

/// R268
#[test]
fn where_nobody_answers_the_agent_is_handed_what_was_said() {
    let failing = Echo::new(SECOND, |_| Err("no".into()));
    let late = Echo::new(SECOND * 31, |_| Ok("too late".into()));
    let panics = Echo::new(SECOND, |_| panic!("by script"));
    for echo in [failing, late, panics] {
        let mut stage = interrupted(&echo);
        stage.say("Is it Friday?");
        stage.until_dormant();
        stage.advance(SECOND * 120);
        assert_eq!(stage.words(), ["Hello", "Is it Friday?", "a1", "b1"]);
        assert_eq!(stage.moderation(stage.channel()), [""; 0]);
        // The slowest of them took so long that the agent had answered when it was handed over.
        let first = &stage.agent("a").turns()[0];
        let heard = if echo.takes > SECOND * 20 { &[][..] } else { &["Is it Friday?".to_owned()] };
        assert_eq!(first.injected, heard);
        let next = &stage.agent("b").turns()[0];
        assert!(next.missed.contains(&"Is it Friday?".to_owned()), "{next:?}");
    }
}

/// R268
#[test]
fn without_an_orchestrator_the_agent_is_handed_it_at_once() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", [])
        .config(|config| config.human_interrupt = HumanInterrupt::Interrupt)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.say("Is it Friday?");
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Running);
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, ["Is it Friday?"]);
}

/// R266
#[test]
fn what_people_say_while_they_are_answered_is_asked_about_next() {
    let echo = Echo::new(SECOND * 3, |asked| Ok(asked.to_owned().into()));
    let mut stage = interrupted(&echo);
    stage.say("one");
    stage.advance(SECOND);
    stage.say("two");
    stage.say("three");
    stage.until_dormant();
    assert_eq!(echo.asked(), [vec!["one"], vec!["two", "three"]]);
    assert_eq!(stage.moderation(stage.channel()), ["one", "two + three"]);
}

/// R266
#[test]
fn a_stop_drops_the_question_and_nothing_is_answered_any_more() {
    let echo = Echo::new(SECOND * 10, |_| Ok("too late".into()));
    let mut stage = interrupted(&echo);
    stage.say("Is it Friday?");
    let channel = stage.channel();
    stage.call(move |d| async move { d.stop(channel).await }).unwrap();
    stage.advance(SECOND * 60);
    assert_eq!(stage.moderation(channel), [""; 0]);
    stage.call(move |d| async move { d.resume(channel).await }).unwrap();
    stage.until_dormant();
    let turns = stage.agent("a").turns();
    assert!(turns[1].missed.contains(&"Is it Friday?".to_owned()), "{turns:?}");
}

/// An agent that looks at its turn again and again.
struct Watcher {
    seen: Arc<Mutex<Vec<&'static str>>>,
}

/// R266, R267
#[test]
fn a_hosted_agent_learns_that_it_is_slow_and_that_its_turn_rests() {
    let echo = Echo::new(SECOND * 2, |_| Ok(Reply::Pass));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut stage = Setup::new()
        .hosted("a", [])
        .hosted("b", [])
        .orchestrator(echo.clone())
        .config(|config| {
            config.human_interrupt = HumanInterrupt::Interrupt;
            config.slow_after = Some(SECOND * 5);
        })
        .stage();
    *echo.clock.lock().unwrap() = Some(stage.clock().clone());
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    stage.dirigent().host(
        "a",
        Patient(Watcher { seen: Arc::clone(&seen) }, stage.clock().clone()),
        account,
    );
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 4);
    assert_eq!(*seen.lock().unwrap(), ["runs"]);
    stage.advance(SECOND);
    assert_eq!(*seen.lock().unwrap(), ["runs", "is slow"]);
    stage.say("Well?");
    stage.advance(SECOND);
    assert_eq!(*seen.lock().unwrap(), ["runs", "is slow", "rests"]);
    stage.advance(SECOND * 2);
    assert_eq!(seen.lock().unwrap()[..4], ["runs", "is slow", "rests", "goes on"]);
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "Well?", "done"]);
}

/// Looks every half second, so that a hand-driven clock is not stopped by one that looks all the time.
struct Patient(Watcher, dirigent_testkit::ManualClock);

#[async_trait::async_trait]
impl Agent for Patient {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        use dirigent::Clock as _;
        let note = |what| self.0.seen.lock().unwrap().push(what);
        turn.resumed().await;
        note("runs");
        turn.slow().await;
        note("is slow");
        while !turn.is_paused() {
            self.1.sleep_until(self.1.now() + SECOND / 2).await;
        }
        note("rests");
        turn.resumed().await;
        note("goes on");
        Ok("done".into())
    }
}

/// R246, R263
#[test]
fn by_default_a_persons_message_is_injected_into_the_running_turn() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 5)])
        .hosted("b", ["b1".into()])
        // Nothing is remembered: it must be read again.
        .settings(|settings| settings.missed_max = 0)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.say("And hurry");
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, ["And hurry"]);
    assert!(stage.agent("b").turns().iter().all(|turn| turn.injected.is_empty()), "to nobody else");
    assert_eq!(stage.words(), ["Hello", "And hurry", "a1", "b1"]);
}

/// R264, D6
#[test]
fn queued_messages_are_handed_over_all_and_in_order_however_many() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 30)])
        .hosted("b", ["b1".into()])
        .config(|config| config.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.missed_max = 10)
        .stage();
    stage.chat();
    stage.say("Hello");
    let said: Vec<_> = (0..260).map(|number| format!("more {number}")).collect();
    for words in &said {
        stage.say(words);
    }
    stage.until_dormant();
    assert_eq!(stage.agent("a").turns()[0].injected, [""; 0], "not during the turn");
    let missed = &stage.agent("b").turns()[0].missed;
    let heard: Vec<_> = missed.iter().filter(|text| text.starts_with("more")).collect();
    assert_eq!(heard, said.iter().collect::<Vec<_>>());
}

/// R192, R264, R265
#[test]
fn queued_messages_reach_a_direct_waker_too() {
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND * 30)])
        .hooked("b", ["b1".into()])
        .direct()
        .config(|config| config.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.missed_max = 2)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..5 {
        stage.say(&format!("more {number}"));
    }
    stage.until_dormant();
    let calls = stage.wake_calls();
    let to_b = calls.iter().find(|call| call.agent.as_str() == "b").unwrap();
    let heard: Vec<_> = to_b.missed.iter().map(|message| &*message.content).collect();
    assert_eq!(heard, ["more 0", "more 1", "more 2", "more 3", "more 4", "a1"]);
}

/// R192
#[test]
fn of_what_others_than_people_said_a_direct_waker_brings_the_newest_only() {
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND * 30)])
        .hooked("b", ["b1".into()])
        .direct()
        .settings(|settings| settings.missed_max = 3)
        .stage();
    let bot = stage.discord().add_bot();
    assert!(stage.discord().join(stage.channel(), bot));
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..20 {
        stage.discord().say(stage.channel(), bot, format!("feed {number}"));
    }
    stage.until_dormant();
    let calls = stage.wake_calls();
    let to_b = calls.iter().find(|call| call.agent.as_str() == "b").unwrap();
    let heard: Vec<_> = to_b.missed.iter().map(|message| &*message.content).collect();
    assert_eq!(heard, ["feed 18", "feed 19", "a1"]);
}

/// R265, R279
#[test]
fn a_restart_between_the_grant_and_the_call_loses_no_queued_message() {
    let whole = {
        let mut stage = queued_story(None);
        stage.until_dormant();
        stage.points().passed()
    };
    for point in 1..=whole {
        let mut stage = queued_story(Some(point));
        stage.until_dormant();
        let heard: Vec<_> =
            stage.agents().flat_map(dirigent_testkit::ScriptedAgent::turns).collect();
        for number in 0..12 {
            let words = format!("more {number}");
            let is_heard = heard
                .iter()
                .any(|turn| turn.missed.contains(&words) || turn.injected.contains(&words));
            assert!(
                is_heard,
                "killed at {point} ({:?}): {words} was lost; {heard:?}",
                stage.points().deaths()
            );
        }
    }
}

fn queued_story(strike: Option<u64>) -> Stage {
    let points = dirigent_verify::stage::Points::default();
    points.strike_at(strike);
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 30)])
        .hosted("b", ["b1".into(), "b2".into()])
        .config(|config| config.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.missed_max = 3)
        .stage_with(points);
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..12 {
        stage.say(&format!("more {number}"));
    }
    stage
}
