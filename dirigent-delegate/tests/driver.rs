//! The router inside Dirigent: as its orchestrator, as an agent, and agents of the one as agents of the other.

use std::sync::Arc;

use dirigent::hooks::TurnId;
use dirigent::host::{Consultation, Orchestrator as _};
use dirigent::operate::EventOrLag;
use dirigent::ports::AuthorKind;
use dirigent::{
    Agent, AgentError, ChannelId, ChatMessage, Config, Dirigent, MessageId, Mode, Reply, Turn,
    UserId, agent_fn,
};
use dirigent_delegate::model::ModelErrorKind;
use dirigent_delegate::{
    AgentDelegate, Delegate as _, DelegateAgent, DelegationStatus, Router, RouterAgent,
    RouterOrchestrator, Task, TaskOutcome, delegate_fn, show_progress,
};

use dirigent_testkit::{ManualClock, MemoryDiscord};

use crate::fixture::{
    Line, OPENCODE, RESEARCH, SECOND, Script, calls, enabled, instant, router, says, settle,
    standard,
};

const CHANNEL: ChannelId = ChannelId::new(9);

fn said(id: u64, kind: AuthorKind, text: &str) -> Arc<ChatMessage> {
    let message = ChatMessage::new(MessageId::new(id), CHANNEL, UserId::new(3), text);
    Arc::new(ChatMessage { author_name: Some("Ann".into()), author_kind: kind, ..message })
}

fn consultation(texts: &[&str]) -> Consultation {
    let messages = (1..).zip(texts).map(|(id, text)| said(id, AuthorKind::Human, text)).collect();
    Consultation::new(CHANNEL, "poet".into(), TurnId::new(1), messages)
}

fn turn(messages: Vec<Arc<ChatMessage>>) -> Turn {
    Turn::new(CHANNEL, "front".into(), TurnId::new(1)).with_missed(messages)
}

fn one(text: &str) -> Vec<Arc<ChatMessage>> {
    vec![said(1, AuthorKind::Human, text)]
}

/// R285, R287
#[tokio::test]
async fn as_the_orchestrator_it_answers_people_and_when_off_leaves_them_to_the_agent() {
    let script = Script::new([calls(&[(RESEARCH, "Tokyo")]), says("Hello!")]);
    let router = router(&script);
    let orchestrator = RouterOrchestrator::new(router.clone());
    let reply = orchestrator.answer(consultation(&["Weather?"])).await.unwrap();
    assert_eq!(reply, Reply::from("found: Tokyo"));
    orchestrator.answer(consultation(&["One.", "Two."])).await.unwrap();
    let asked = script.questions();
    assert_eq!(asked[0].1.user_message(), "Weather?");
    assert_eq!(asked[1].1.user_message(), "Ann: One.\nAnn: Two.");
    router.set_enabled(false);
    assert!(orchestrator.answer(consultation(&["Weather?"])).await.is_err());
    assert_eq!(script.questions().len(), 2);
}

#[tokio::test]
async fn as_the_orchestrator_it_leaves_people_to_the_agent_when_all_failed() {
    let script = Script::new([
        Line::Fail(ModelErrorKind::Unavailable),
        calls(&[("delegate_to_nothing", "x")]),
    ]);
    let builder =
        Router::builder(script).config(enabled(|config| config.agents.embedded.enabled = false));
    let orchestrator = RouterOrchestrator::new(standard(builder).build().unwrap());
    for _ in 0..2 {
        assert!(orchestrator.answer(consultation(&["Hello"])).await.is_err());
    }
}

/// R286, R287
#[tokio::test]
async fn as_an_agent_it_answers_people_and_when_off_is_the_agent_behind_it() {
    let script = Script::new([says("Hello!")]);
    let router = router(&script);
    let usual =
        agent_fn(
            |turn: Turn| async move { Ok(Reply::from(format!("usual: {}", turn.missed().len()))) },
        );
    let agent = RouterAgent::new(router.clone(), usual);
    assert_eq!(agent.speak(turn(one("Hello"))).await.unwrap(), Reply::from("Hello!"));
    let bots = vec![said(1, AuthorKind::Bot, "Hello")];
    assert_eq!(
        agent.speak(turn(bots)).await.unwrap(),
        Reply::Pass,
        "no two routers keep each other busy"
    );
    assert_eq!(agent.speak(turn(Vec::new())).await.unwrap(), Reply::Pass);
    router.set_enabled(false);
    let mixed = vec![said(1, AuthorKind::Bot, "Hello"), said(2, AuthorKind::Human, "Hello")];
    assert_eq!(agent.speak(turn(mixed)).await.unwrap(), Reply::from("usual: 2"));
    assert_eq!(script.questions().len(), 1);
}

/// DG4
#[tokio::test]
async fn as_the_orchestrator_it_shows_what_a_late_agent_wrote() {
    let late = |output: &'static str| {
        let agent = delegate_fn(move |_: Task| async move { TaskOutcome::timeout(output, "late") });
        let script = Script::new([calls(&[(RESEARCH, "go")])]);
        let router = Router::builder(script).config(enabled(|_| ())).research(agent);
        RouterOrchestrator::new(router.build().unwrap())
    };
    let shown = late("half").answer(consultation(&["Go"])).await.unwrap();
    assert_eq!(shown, Reply::from("**Research Error:**\nlate\n*Written until then:*\nhalf"));
    assert!(late(" ").answer(consultation(&["Go"])).await.is_err());
}

/// DG3: a turn of the agent that stands before a router is no answer of that router's, and one that it is asked for is an error.
#[tokio::test]
async fn a_router_that_delegates_to_itself_as_an_agent_gets_an_error() {
    let cell = Arc::new(std::sync::OnceLock::<Router>::new());
    let own = Arc::clone(&cell);
    let front = agent_fn(move |turn: Turn| {
        let router = own.get().unwrap().clone();
        let behind = agent_fn(|_: Turn| async { Ok(Reply::Pass) });
        async move { RouterAgent::new(router, behind).speak(turn).await }
    });
    let script = Script::new([calls(&[(RESEARCH, "go")]), says("Hello!")]);
    let builder = Router::builder(script).config(enabled(|_| ()));
    let router = builder.research(AgentDelegate::new("front", front)).build().unwrap();
    cell.set(router.clone()).unwrap();
    let behind = agent_fn(|_: Turn| async { Ok(Reply::Pass) });
    let agent = RouterAgent::new(router, behind);
    let refused = "**Research Error:**\nThe router was asked by one of its own agents.";
    assert_eq!(agent.speak(turn(one("Go"))).await.unwrap(), Reply::from(refused));
    assert_eq!(agent.speak(turn(one("Hello"))).await.unwrap(), Reply::from("Hello!"));
}

/// DG5: the picture of the specification, a router alone before a person, inside Dirigent.
#[tokio::test]
async fn alone_in_a_chat_a_router_answers_each_person_once() {
    for is_on in [true, false] {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [moderator, front] = [(); 2].map(|()| discord.add_bot());
        let person = discord.add_human();
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "front", &[moderator, front]);
        let script =
            Script::new([calls(&[(RESEARCH, "Tokyo")]), says("Hello!"), says("Too much.")]);
        let behind = agent_fn(|_: Turn| async { Ok(Reply::Pass) });
        let agent = RouterAgent::new(router(&script), behind);
        let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
            .clock(clock.clone())
            .config(Config::default().with(|config| config.order.single_agent = is_on))
            .host("front", agent, discord.account(front))
            .build()
            .unwrap();
        let driving = tokio::spawn(driver.run());
        dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        let pumping = tokio::spawn(discord.events().pump(dirigent.clone()));
        for question in ["Weather?", "Hello"] {
            discord.say(channel, person, question);
            clock.run_for(SECOND * 300).await;
        }
        let messages = discord.messages(channel);
        let said: Vec<&str> = messages.iter().map(|message| &*message.content).collect();
        if is_on {
            assert_eq!(said, ["Weather?", "found: Tokyo", "Hello", "Hello!"]);
        } else {
            assert_eq!(said, ["Weather?", "Hello"], "too few agents for turns");
            let why = dirigent.channel(channel).explain(&"front".into()).await.unwrap().to_string();
            assert!(why.contains("order.single_agent"), "{why}");
        }
        driving.abort();
        pumping.abort();
    }
}

#[tokio::test]
async fn a_delegate_takes_turns_as_a_hosted_agent() {
    let delegate = delegate_fn(|task: Task| async move {
        match task.message() {
            "nothing" => TaskOutcome::partial("", "said nothing"),
            "fail" => TaskOutcome::error("no disk"),
            "late" => TaskOutcome::timeout("\n", "too slow"),
            "late with half" => TaskOutcome::timeout("\u{1b}[1mhalf\u{1b}[0m", "too slow"),
            text => TaskOutcome::success(format!("{} {text}", task.session_id())),
        }
    });
    let agent = DelegateAgent::new(delegate);
    let speak = async |text: &str| agent.speak(turn(one(text))).await;
    assert_eq!(speak("List files").await.unwrap(), Reply::from("9 List files"));
    assert_eq!(speak("nothing").await.unwrap(), Reply::Pass);
    assert_eq!(speak("fail").await.unwrap_err().to_string(), "no disk");
    assert_eq!(speak("late").await.unwrap_err().to_string(), "too slow");
    let half = Reply::from("half\n*Partial: too slow*");
    assert_eq!(speak("late with half").await.unwrap(), half, "its work is not lost");
    assert_eq!(agent.speak(turn(Vec::new())).await.unwrap(), Reply::Pass);
}

/// R318
#[tokio::test]
async fn a_hosted_agent_can_be_delegated_to() {
    let agent = agent_fn(|turn: Turn| async move {
        match &*turn.missed()[0].content {
            "nothing" => Ok(Reply::Pass),
            "fail" => Err(AgentError::from("no model")),
            text => Ok(Reply::from(format!("{}: {text}", turn.agent()))),
        }
    });
    let delegate = AgentDelegate::new("poet", agent);
    let rhyme = delegate.run(Task::new("Rhyme")).await;
    assert_eq!((rhyme.status, &*rhyme.output), (DelegationStatus::Success, "poet: Rhyme"));
    assert_eq!(delegate.run(Task::new("nothing")).await.status, DelegationStatus::Partial);
    let failed = delegate.run(Task::new("fail")).await;
    assert_eq!(failed.error_message.as_deref(), Some("no model"));
}

#[tokio::test]
async fn progress_is_heard_among_dirigents_events() {
    let coder = delegate_fn(|task: Task| async move {
        task.progress("half");
        TaskOutcome::success("all")
    });
    let script = Script::new([calls(&[(OPENCODE, "go")])]);
    let builder =
        Router::builder(script).config(enabled(|_| ())).open_code(coder).research(instant("found"));
    let router = builder.build().unwrap();
    let discord = MemoryDiscord::new(Arc::new(dirigent::SystemClock::new()));
    let (dirigent, _driver) = Dirigent::builder(discord.account(UserId::new(1))).build().unwrap();
    let mut heard = dirigent.events();
    let showing = tokio::spawn(show_progress(router.events(), dirigent));
    RouterOrchestrator::new(router).answer(consultation(&["Write"])).await.unwrap();
    settle().await;
    let mut told = Vec::new();
    while let Some(EventOrLag::Progress(progress)) = heard.try_next() {
        assert_eq!((progress.channel, &*progress.worker), (CHANNEL, "opencode"));
        assert!(!format!("{progress:?}").contains("half"));
        told.push(progress.so_far.to_string());
    }
    assert_eq!(told, ["works", "half", "ended: success"]);
    showing.abort();
}
