//! The routing model: it answers or delegates, others take its place, and it can be switched off.

use std::fmt::Write as _;

use dirigent::Clock as _;
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::model::{ChatAnswer, ModelErrorKind, ModelMessage, ModelToolCall};
use dirigent_delegate::{
    AgentKind, DelegationStatus, Image, Off, Router, Task, TaskOutcome, Thinking, UserRequest,
    delegate_fn,
};
use dirigent_testkit::{Log, ManualClock};
use serde_json::{Value, json};

use crate::fixture::{
    Line, MOLTBOT, OPENCODE, RESEARCH, SECOND, Script, ask, calls, enabled, in_time, instant,
    router, says, seconds_since, standard, texts,
};

const FAILURES: [ModelErrorKind; 8] = [
    ModelErrorKind::UnknownProvider,
    ModelErrorKind::Unreachable,
    ModelErrorKind::RateLimited,
    ModelErrorKind::Unavailable,
    ModelErrorKind::Refused,
    ModelErrorKind::TimedOut,
    ModelErrorKind::Unusable,
    ModelErrorKind::Other,
];

/// R285, R309, R315, R316
#[tokio::test]
async fn a_direct_answer_is_the_models_own() {
    let script = Script::new([says("Hello there!")]);
    let response = ask(&router(&script), "Hello!").await;
    assert_eq!(texts(&response), ["Hello there!"]);
    assert_eq!(response.meta.orchestrator_model, "fast/one");
    assert!(response.meta.delegated_agents.is_empty());
    let [result] = &response.agent_results[..] else { panic!("one result") };
    assert_eq!(
        (&*result.agent_name, &result.agent_type),
        ("Orchestrator", &AgentKind::Orchestrator)
    );
    assert_eq!(
        (result.status, result.model.as_deref()),
        (DelegationStatus::Success, Some("fast/one"))
    );
}

/// R285
#[tokio::test]
async fn text_beside_calls_is_kept_as_a_note_and_not_shown() {
    let mut answer = ChatAnswer::call(OPENCODE, json!({ "message": "A script" }));
    answer.text = "I let OpenCode do it.".to_owned();
    let response = ask(&router(&Script::new([Line::Answer(answer)])), "Write").await;
    assert_eq!(texts(&response), ["code: A script"]);
    assert_eq!(response.meta.note.as_deref(), Some("I let OpenCode do it."));
}

/// R286, R287
#[tokio::test]
async fn switched_off_the_message_goes_to_the_default_agent_unchanged() {
    let script = Script::default();
    // With several rounds a model would hear what the agent said.
    let builder = standard(Router::builder(script.clone()));
    let router = builder.limits(|limits| limits.rounds = 3).build().unwrap();
    assert!(!router.is_enabled(), "off unless it is switched on");
    let response = ask(&router, "Write a script --now").await;
    assert_eq!(texts(&response), ["own: Write a script --now"]);
    assert!(script.questions().is_empty() && response.meta.orchestrator_model.is_empty());

    script.add([says("Hello!")]);
    router.set_enabled(true);
    assert_eq!(texts(&ask(&router, "Hello").await), ["Hello!"], "from the next message on");
    router.set_enabled(false);
    assert_eq!(texts(&ask(&router, "Hello").await), ["own: Hello"]);
    assert_eq!(script.questions().len(), 1);

    let alone = Router::builder(script).research(instant("found")).build().unwrap();
    assert_eq!(alone.answer(UserRequest::new("session", "Hello")).await.unwrap_err(), Off);
}

/// R286
#[tokio::test]
async fn the_default_agent_is_asked_although_it_is_no_agent_to_delegate_to() {
    let config = OrchestratorConfig::new(|config| config.agents.embedded.enabled = false);
    let router = standard(Router::builder(Script::default()).config(config)).build().unwrap();
    assert_eq!(texts(&ask(&router, "Hello").await), ["own: Hello"]);
}

/// R287
#[tokio::test]
async fn a_change_holds_for_the_next_message_and_not_for_one_that_is_under_way() {
    let clock = ManualClock::new();
    let script = Script::new([calls(&[(RESEARCH, "1")]), says("Hello!")]);
    let waiting = clock.clone();
    let slow = delegate_fn(move |task: Task| {
        let clock = waiting.clone();
        async move {
            clock.sleep_until(clock.now() + SECOND).await;
            TaskOutcome::success(task.config().model.clone())
        }
    });
    let builder = Router::builder(script).config(enabled(|_| ())).clock(clock.clone());
    let router = builder.research(slow).embedded(instant("own")).build().unwrap();
    let first = ask(&router, "Search");
    let change = async {
        crate::fixture::settle().await;
        let other = enabled(|config| config.model = "other/two".to_owned());
        router.configure(other).unwrap();
        router.set_enabled(false);
    };
    let (response, ()) = in_time(&clock, async { tokio::join!(first, change) }).await;
    assert_eq!(texts(&response), ["fast/one"]);
    assert_eq!(texts(&ask(&router, "Hello").await), ["own: Hello"]);
    router.set_enabled(true);
    assert_eq!(ask(&router, "Hello").await.meta.orchestrator_model, "other/two");
    let wrong = enabled(|config| config.fallbacks = vec![String::new()]);
    let error = router.configure(wrong).unwrap_err();
    assert_eq!(error.field(), "orchestrator.fallbacks[0]");
    assert_eq!(router.config().model, "other/two", "what is wrong changes nothing");
}

/// R288, R291
#[tokio::test]
async fn the_routing_models_setting_changes_no_agents_model() {
    let model_of = |task: &Task| TaskOutcome::success(task.model().unwrap_or("the host's default"));
    for routing in ["fast/one", "other/two"] {
        let script = Script::new([calls(&[(OPENCODE, "a"), (RESEARCH, "b"), (MOLTBOT, "c")])]);
        let config = enabled(|config| {
            config.model = routing.to_owned();
            config.agents.opencode.model = Some("anthropic/claude-sonnet-4".to_owned());
        });
        let agent = || delegate_fn(move |task: Task| async move { model_of(&task) });
        let builder = Router::builder(script).config(config);
        let router =
            builder.open_code(agent()).research(agent()).embedded(agent()).build().unwrap();
        let response = ask(&router, "All").await;
        let said: Vec<&str> = response.agent_results.iter().map(|result| &*result.output).collect();
        assert_eq!(said, ["anthropic/claude-sonnet-4", "the host's default", "the host's default"]);
        assert_eq!(response.agent_results[0].model.as_deref(), Some("anthropic/claude-sonnet-4"));
    }
}

/// R292, R315
#[tokio::test]
async fn models_that_fail_are_followed_by_the_next_in_order() {
    for failure in FAILURES {
        let script = Script::new([Line::Fail(failure), Line::Fail(failure), says("Here.")]);
        let config = enabled(|config| {
            config.fallbacks = ["b/two", "c/three", "d/four"].map(Into::into).into();
        });
        let router = standard(Router::builder(script.clone()).config(config)).build().unwrap();
        let response = ask(&router, "Hello").await;
        assert_eq!(script.models(), ["fast/one", "b/two", "c/three"], "{failure}");
        assert_eq!(
            (&*response.meta.orchestrator_model, texts(&response)),
            ("c/three", vec!["Here."])
        );
        script.add([says("Again.")]);
        assert_eq!(
            ask(&router, "Hello").await.meta.orchestrator_model,
            "fast/one",
            "from the first again"
        );
    }
}

/// R292
#[tokio::test]
async fn an_empty_answer_and_a_panic_are_failures_as_well() {
    let script = Script::new([Line::Panic, says(" \n"), says("Here.")]);
    let config = enabled(|config| config.fallbacks = ["b/two", "c/three"].map(Into::into).into());
    let router = standard(Router::builder(script).config(config)).build().unwrap();
    assert_eq!(ask(&router, "Hello").await.meta.orchestrator_model, "c/three");
}

/// R292
#[tokio::test]
async fn a_model_that_hangs_is_left_for_the_next_after_its_time() {
    let clock = ManualClock::new();
    let began = clock.now();
    let script = Script::new([Line::Hang, says("Here.")]);
    let config = enabled(|config| config.fallbacks = vec!["b/two".to_owned()]);
    let builder = Router::builder(script).config(config).clock(clock.clone());
    let router = standard(builder).limits(|limits| limits.model = SECOND * 7).build().unwrap();
    let response = in_time(&clock, ask(&router, "Hello")).await;
    assert_eq!((&*response.meta.orchestrator_model, seconds_since(&clock, began)), ("b/two", 7));
    assert_eq!(response.meta.wall_ms, 7_000);
}

/// R293
#[tokio::test]
async fn when_all_models_fail_the_embedded_agent_has_the_message() {
    let script = Script::default();
    let config = enabled(|config| config.fallbacks = vec!["b/two".to_owned()]);
    let router = standard(Router::builder(script.clone()).config(config)).build().unwrap();
    let response = ask(&router, "Hello").await;
    assert_eq!(script.models(), ["fast/one", "b/two"]);
    assert_eq!(texts(&response), ["own: Hello"]);
    assert_eq!(json!(response.meta.delegated_agents), json!(["embedded"]));
    assert_eq!(response.meta.orchestrator_model, "");
}

/// R293
#[tokio::test]
async fn when_all_models_fail_and_the_embedded_agent_is_off_there_is_one_error() {
    let off = enabled(|config| config.agents.embedded.enabled = false);
    let switched_off = standard(Router::builder(Script::default()).config(off)).build().unwrap();
    let builder = Router::builder(Script::default()).config(enabled(|_| ()));
    let not_there = builder.research(instant("found")).build().unwrap();
    for router in [switched_off, not_there] {
        let response = ask(&router, "Hello").await;
        let expected = "**Orchestrator Error:**\nNo routing model gave an answer (fast/one: the model failed).";
        assert_eq!(texts(&response), [expected]);
        assert!(response.payloads[0].is_error && response.meta.delegated_agents.is_empty());
    }
}

/// R297, R317
#[tokio::test]
async fn calls_that_cannot_be_carried_out_are_errors_and_the_others_go_on() {
    let call =
        |id: &str, tool: &str, arguments: Option<Value>| ModelToolCall::new(id, tool, arguments);
    let message = || Some(json!({ "message": "go" }));
    let script = Script::new([Line::Answer(ChatAnswer::calls([
        call("1", "delegate_to_nothing", message()),
        call("2", RESEARCH, message()),
        call("3", OPENCODE, None),
        call("4", OPENCODE, Some(json!({}))),
        call("5", OPENCODE, Some(json!({ "message": 7 }))),
        call("6", OPENCODE, Some(json!(["go"]))),
        call("7", OPENCODE, Some(json!({ "task": "go on" }))),
        call("8", MOLTBOT, message()),
    ]))]);
    let config = enabled(|config| config.agents.research.enabled = false);
    let router = standard(Router::builder(script).config(config)).build().unwrap();
    let response = ask(&router, "All").await;
    let shown = [
        ("**delegate_to_nothing Error:**\nThere is no agent with this tool.", true),
        ("**Research Error:**\nThis agent is switched off.", true),
        ("**OpenCode Error:**\nThe arguments of the call are no JSON object.", true),
        ("**OpenCode Error:**\nThe call has no message for the agent.", true),
        ("**OpenCode Error:**\nThe call has no message for the agent.", true),
        ("**OpenCode Error:**\nThe arguments of the call are no JSON object.", true),
        ("**OpenCode:**\ncode: go on", false),
        ("**Moltbot:**\nown: go", false),
    ];
    let payloads: Vec<(&str, bool)> =
        response.payloads.iter().map(|payload| (&*payload.text, payload.is_error)).collect();
    assert_eq!(payloads, shown);
}

/// R297, DG6
#[tokio::test]
async fn a_call_alone_that_cannot_be_carried_out_is_an_error() {
    let response = ask(&router(&Script::new([calls(&[("rm -rf", "/")])])), "Go").await;
    assert_eq!(texts(&response), ["**rm -rf Error:**\nThere is no agent with this tool."]);
    let coloured = "\u{1b}[31mrm\u{1b}[0m";
    let response = ask(&router(&Script::new([calls(&[(coloured, "/")])])), "Go").await;
    assert_eq!(texts(&response), ["**rm Error:**\nThere is no agent with this tool."]);
    let long = "x".repeat(5_000);
    let response = ask(&router(&Script::new([calls(&[(&long, "go")])])), "Go").await;
    assert!(response.payloads[0].text.len() < 200);
}

#[tokio::test]
async fn the_same_message_is_delegated_to_an_agent_twice_at_most() {
    let line = calls(&[
        (OPENCODE, "go"),
        (OPENCODE, " go\n"),
        (OPENCODE, "go"),
        (RESEARCH, "go"),
        (OPENCODE, "on"),
    ]);
    let response = ask(&router(&Script::new([line])), "Go").await;
    let statuses: Vec<DelegationStatus> =
        response.agent_results.iter().map(|result| result.status).collect();
    assert_eq!(
        statuses,
        [
            DelegationStatus::Success,
            DelegationStatus::Success,
            DelegationStatus::Error,
            DelegationStatus::Success,
            DelegationStatus::Success
        ]
    );
}

/// R319
#[tokio::test]
async fn images_sessions_time_and_thinking_reach_the_model_and_the_agents() {
    let clock = ManualClock::new();
    let script = Script::new([calls(&[(OPENCODE, "Like this")])]);
    let began = clock.now();
    let agent = delegate_fn(move |task: Task| async move {
        let request = task.request();
        let left = task.deadline().since(began).as_secs();
        let images: Vec<&str> = task.images().iter().map(|image| &*image.data).collect();
        let key = request.session_key.as_deref();
        TaskOutcome::success(format!(
            "{} {key:?} {images:?} {left} {:?} {}",
            task.session_id(),
            task.thinking(),
            request.user_message
        ))
    });
    let builder = Router::builder(script.clone()).config(enabled(|_| ())).clock(clock);
    let router = builder.open_code(agent).build().unwrap();
    let mut request = UserRequest::new("channel-7", "Build this");
    request.images = vec![Image::new("image/png", "AAAA")];
    (request.session_key, request.thinking) = (Some("key".to_owned()), Some(Thinking::High));
    request.timeout = Some(SECOND * 30);
    let response = router.answer(request.clone()).await.unwrap();
    assert_eq!(texts(&response), [r#"channel-7 Some("key") ["AAAA"] 30 Some(High) Build this"#]);
    let (_, question) = script.questions().remove(0);
    assert_eq!(question.thinking, Some(Thinking::High));
    let ModelMessage::User { text, images } = &question.messages[1] else {
        panic!("the person's message")
    };
    assert_eq!((&**text, &**images), ("Build this", &*request.images));
}

/// R285
#[tokio::test]
async fn with_more_rounds_every_call_is_answered_before_the_model_is_asked_again() {
    let bad = ModelToolCall::new("c9", OPENCODE, None);
    let mut first = ChatAnswer::call(RESEARCH, json!({ "message": "React" }));
    first.calls.push(bad);
    first.calls.push(ModelToolCall::new(
        "c8",
        "delegate_to_nothing",
        Some(json!({ "message": "x" })),
    ));
    let script =
        Script::new([Line::Answer(first), calls(&[(OPENCODE, "A form")]), says("Both are done.")]);
    let builder = Router::builder(script.clone()).config(enabled(|_| ()));
    let router = standard(builder).limits(|limits| limits.rounds = 3).build().unwrap();
    let response = ask(&router, "Go").await;
    let last = texts(&response).pop().unwrap().to_owned();
    assert_eq!(last, "**Orchestrator:**\nBoth are done.");
    assert_eq!(response.payloads.len(), 5, "what agents brought is shown, too");
    assert_eq!(json!(response.meta.delegated_agents), json!(["research", "opencode", "opencode"]));
    let (_, question) = script.questions().pop().unwrap();
    let (mut called, mut answered) = (Vec::new(), Vec::new());
    for message in &question.messages {
        match message {
            ModelMessage::Assistant { calls, .. } => {
                called.extend(calls.iter().map(|call| call.id.clone()));
            }
            ModelMessage::Tool { call, .. } => answered.push(call.clone()),
            _ => {}
        }
    }
    assert_eq!(called, ["call", "c9", "c8", "c0"]);
    assert_eq!(answered, called);
}

#[tokio::test]
async fn a_model_that_fails_in_a_later_round_takes_nothing_away() {
    let script = Script::new([calls(&[(RESEARCH, "React")])]);
    let builder = Router::builder(script).config(enabled(|_| ()));
    let router = standard(builder).limits(|limits| limits.rounds = 3).build().unwrap();
    assert_eq!(texts(&ask(&router, "Go").await), ["found: React"]);
}

#[tokio::test]
async fn rounds_end_although_the_model_calls_without_end() {
    let script = Script::new((0..9).map(|at| calls(&[(RESEARCH, &format!("{at}"))])));
    let builder = Router::builder(script.clone()).config(enabled(|_| ()));
    let router = standard(builder).limits(|limits| limits.rounds = 3).build().unwrap();
    assert_eq!(ask(&router, "Go").await.payloads.len(), 3);
    assert_eq!(script.questions().len(), 3);
}

#[tokio::test]
async fn no_word_of_a_message_is_logged_or_shown_by_debug() {
    let log = Log::default();
    let script =
        Script::new([calls(&[(OPENCODE, "hidden-word")]), Line::Fail(ModelErrorKind::Refused)]);
    let router = router(&script);
    let mut events = router.events();
    let mut request = UserRequest::new("session", "hidden-word");
    request.images = vec![Image::new("image/png", "hidden-word")];
    let listening = log.listen();
    let response = router.answer(request.clone()).await.unwrap();
    let failed = router.answer(request.clone()).await.unwrap();
    drop(listening);
    let mut shown =
        format!("{request:?} {router:?} {response:?} {failed:?} {:?}", script.questions());
    while let Some(event) = events.try_next() {
        write!(shown, "{event:?} {event}").unwrap();
    }
    let (task, outcome) = (Task::new("hidden-word"), TaskOutcome::success("hidden-word"));
    write!(shown, "{task:?} {outcome:?}").unwrap();
    let logged = log.lines().join("\n");
    shown.push_str(&logged);
    assert!(!shown.contains("hidden-word"), "{shown}");
    assert!(logged.contains("fast/one"), "the failure is logged with the model's name");
}
