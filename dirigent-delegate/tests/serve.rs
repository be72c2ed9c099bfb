//! opencode as a server: by a server of the tests' own, which answers as opencode does.

mod fake;

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock as _, SystemClock};
use dirigent_delegate::config::{OpencodeMode, OrchestratorConfig};
use dirigent_delegate::{
    Delegate as _, DelegationStatus, Image, OpenCode, PermissionReply, Router, RouterEventKind,
    Task, Thinking, UserRequest,
};
use dirigent_testkit::ManualClock;
use fake::FakeServer;
use serde_json::json;

use crate::examples::program;
use crate::fixture::{OPENCODE, RESEARCH, Script, calls, enabled, instant};

fn serving() -> OrchestratorConfig {
    OrchestratorConfig::new(|config| config.agents.opencode.mode = OpencodeMode::Serve)
}

fn task(message: &str) -> Task {
    Task::new(message).with_request(UserRequest::new("channel-7", message)).with_config(serving())
}

fn agent(server: &FakeServer) -> OpenCode {
    OpenCode::new().at(server.url(), "hidden-word")
}

#[tokio::test]
async fn a_task_is_a_prompt_in_the_session_of_its_channel() {
    let server = FakeServer::start().await;
    let agent = agent(&server);
    let outcome = agent.run(task("List files").with_model("local/maker/smol")).await;
    assert_eq!(
        (outcome.status, &*outcome.output),
        (DelegationStatus::Success, "answer 1: List files")
    );
    assert_eq!(outcome.model.as_deref(), Some("local/smol"));
    assert_eq!(json!(outcome.token_usage), json!({ "input": 7, "output": 3 }));
    let again = agent.run(task("And now?")).await;
    assert_eq!(again.output, "answer 2: And now?");
    let other = task("Elsewhere").with_request(UserRequest::new("channel-8", "Elsewhere"));
    assert_eq!(agent.run(other).await.output, "answer 1: Elsewhere", "another session");
    assert_eq!(server.sessions(), 2);
    let prompt = server.prompts().remove(0);
    assert_eq!(prompt["model"], json!({ "providerID": "local", "modelID": "maker/smol" }));
    assert_eq!(server.passwords(), ["opencode:hidden-word"]);
}

/// DG1
#[tokio::test]
async fn what_the_server_answers_keeps_its_white_space_and_loses_escapes() {
    let server = FakeServer::start().await;
    let outcome = agent(&server).run(task("all:\n\t\u{1b}[32mcc\u{1b}[0m\r\nok")).await;
    assert_eq!(outcome.output, "answer 1: all:\n\tcc\r\nok");
}

/// R319
#[tokio::test]
async fn images_and_the_thinking_level_are_in_the_prompt() {
    let server = FakeServer::start().await;
    let mut request = UserRequest::new("channel-7", "Like this");
    (request.images, request.thinking) =
        (vec![Image::new("image/png", "AAAA")], Some(Thinking::High));
    agent(&server).run(task("Like this").with_request(request)).await;
    let expected = json!({
        "parts": [
            { "type": "text", "text": "Like this" },
            { "type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA" },
        ],
        "variant": "high",
    });
    assert_eq!(server.prompts(), [expected]);
}

#[tokio::test]
async fn progress_is_what_the_model_has_said_so_far() {
    let server = FakeServer::start().await;
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let task =
        task("List files").on_progress(move |text| telling.lock().unwrap().push(text.to_owned()));
    agent(&server).run(task).await;
    assert_eq!(*told.lock().unwrap(), ["ans", "answer"], "nothing else, and nothing twice");
}

#[tokio::test]
async fn permissions_are_answered_by_the_hosts_policy_and_questions_are_rejected() {
    for (reply, expected) in [
        (None, "reject"),
        (Some(PermissionReply::Once), "once"),
        (Some(PermissionReply::Always), "always"),
    ] {
        let server = FakeServer::start().await;
        server.change(|state| state.asks = true);
        let agent = match reply {
            None => agent(&server),
            Some(reply) => agent(&server).permissions(move |wanted| {
                assert_eq!(
                    (&*wanted.permission, &wanted.patterns[..]),
                    ("edit", &["a.py".to_owned()][..])
                );
                assert!(!format!("{wanted:?}").contains("a.py"));
                reply
            }),
        };
        let outcome = agent.run(task("Change a.py")).await;
        assert_eq!(outcome.status, DelegationStatus::Success, "{outcome:?}");
        let mut replies = server.replies();
        replies.sort();
        assert_eq!(
            replies,
            [
                "permission per_child: ".to_owned() + expected,
                format!("permission per_own: {expected}"),
                "question que_own: reject".to_owned()
            ]
        );
    }
}

#[tokio::test]
async fn without_events_the_server_is_asked_from_time_to_time() {
    let (server, clock) = (FakeServer::start().await, ManualClock::new());
    server.change(|state| (state.has_events, state.asks) = (false, true));
    let agent = agent(&server).clock(clock.clone());
    let passing = async {
        let real = SystemClock::new();
        loop {
            real.sleep_until(real.now() + Duration::from_millis(20)).await;
            clock.advance(Duration::from_secs(1));
        }
    };
    let outcome = tokio::select! {
        outcome = agent.run(task("List files")) => outcome,
        () = passing => unreachable!("time passes for ever"),
    };
    assert_eq!(
        (outcome.status, &*outcome.output),
        (DelegationStatus::Success, "answer 1: List files")
    );
    assert_eq!(server.replies().len(), 3);
}

/// R306, R312
#[tokio::test]
async fn a_task_that_is_late_is_aborted_with_what_was_said() {
    let server = FakeServer::start().await;
    server.change(|state| state.hangs = true);
    let deadline = SystemClock::new().now() + Duration::from_millis(300);
    let outcome = agent(&server).run(task("List files").with_deadline(deadline)).await;
    assert_eq!((outcome.status, &*outcome.output), (DelegationStatus::Timeout, "answer"));
    let expected = "opencode did not end in time, and was told to stop.";
    assert_eq!(outcome.error_message.as_deref(), Some(expected));
    assert_eq!(server.aborted(), 1);
}

#[tokio::test]
async fn a_task_that_is_dropped_is_aborted() {
    let server = FakeServer::start().await;
    server.change(|state| state.hangs = true);
    let agent = agent(&server);
    tokio::select! {
        outcome = agent.run(task("List files")) => panic!("it ended: {outcome:?}"),
        () = server.until(|state| state.prompts.len() == 1) => {}
    }
    server.until(|state| state.aborted == 1).await;
}

/// DG3: the second prompt of a session waits for the first one without a place.
#[tokio::test]
async fn what_waits_for_its_session_leaves_the_place_to_others() {
    let server = FakeServer::start().await;
    server.change(|state| state.hangs = true);
    let script = Script::new([
        calls(&[(OPENCODE, "a"), (OPENCODE, "b")]),
        calls(&[(OPENCODE, "c")]),
        calls(&[(RESEARCH, "d")]),
    ]);
    let config = enabled(|config| {
        config.max_parallel_agents = 3.try_into().unwrap();
        config.agents.opencode.mode = OpencodeMode::Serve;
    });
    let builder = Router::builder(script).config(config).open_code(agent(&server));
    let router = builder.research(instant("found")).build().unwrap();
    let mut events = router.events();
    let ask = |session: &str| router.answer(UserRequest::new(session, "Go"));
    let heard = async {
        let mut heard = Vec::new();
        while heard.len() < 3 {
            let event = events.next().await.unwrap();
            match event.kind {
                RouterEventKind::Started { .. } => heard.push((event.session_id, "has a place")),
                RouterEventKind::Waiting { .. } => heard.push((event.session_id, "waits")),
                _ => {}
            }
        }
        heard
    };
    let (one, two) = (ask("one"), ask("two"));
    tokio::select! {
        // The session that is polled first takes the script's line with two calls.
        biased;
        _ = one => panic!("the server hangs"),
        _ = two => panic!("the server hangs"),
        mut heard = heard => {
            heard.sort();
            let expected = [("one", "has a place"), ("one", "waits"), ("two", "has a place")];
            let heard: Vec<_> = heard.iter().map(|(who, what)| (&**who, *what)).collect();
            assert_eq!(heard, expected, "another session has its own");
            assert_eq!(ask("three").await.unwrap().text(), "found: d");
        }
    }
}

#[tokio::test]
async fn a_session_that_the_server_has_forgotten_is_made_anew() {
    let server = FakeServer::start().await;
    let agent = agent(&server);
    agent.run(task("One")).await;
    server.change(|state| state.sessions.clear());
    assert_eq!(agent.run(task("Two")).await.output, "answer 1: Two");
}

#[tokio::test]
async fn what_goes_wrong_is_a_result() {
    let server = FakeServer::start().await;
    let wrong = OpenCode::new().at(server.url(), "wrong").run(task("Go")).await;
    assert_eq!(wrong.error_message.as_deref(), Some("opencode's server refuses the password."));
    server.change(|state| state.error = Some("no credit".to_owned()));
    let failed = agent(&server).run(task("Go")).await;
    assert_eq!(
        (failed.status, failed.error_message.as_deref()),
        (DelegationStatus::Error, Some("no credit"))
    );
    server.change(|state| (state.error, state.is_silent) = (None, true));
    assert_eq!(agent(&server).run(task("Go")).await.status, DelegationStatus::Partial);
    for address in ["nowhere", "https://127.0.0.1:1", "http://127.0.0.1:1"] {
        let outcome = OpenCode::new().at(address, "x").run(task("Go")).await;
        assert_eq!(outcome.status, DelegationStatus::Error, "{address}");
        assert!(outcome.error_message.unwrap().starts_with("opencode's "));
    }
    let shown = format!("{:?}", agent(&server));
    assert!(!shown.contains("hidden-word"), "{shown}");
}

#[tokio::test]
async fn a_server_that_never_answers_its_first_request_is_asked_anew() {
    let server = FakeServer::start().await;
    server.change(|state| (state.deaf_to, state.takes_any_password) = (1, true));
    let config = OrchestratorConfig::new(|config| {
        config.agents.opencode.mode = OpencodeMode::Serve;
        config.agents.opencode.binary = program("delegate_child").display().to_string();
    });
    let agent = OpenCode::new().env("DELEGATE_LISTENS", server.url());
    let outcome = agent.run(task("List files").with_config(config)).await;
    assert_eq!(outcome.error_message, None);
    assert_eq!(
        (outcome.status, &*outcome.output),
        (DelegationStatus::Success, "answer 1: List files")
    );
}

/// R308
#[tokio::test]
async fn the_hosts_server_is_used_and_without_one_a_server_is_started() {
    let server = FakeServer::start().await;
    server.change(|state| state.takes_any_password = true);
    let with = |binary: String| {
        let config = OrchestratorConfig::new(|config| {
            config.agents.opencode.mode = OpencodeMode::Serve;
            config.agents.opencode.binary = binary;
        });
        task("List files").with_config(config)
    };
    let no_program = || with("/no/such/opencode".to_owned());
    let hosts = OpenCode::new().at(server.url(), "of the host").run(no_program()).await;
    assert_eq!((hosts.status, &*hosts.output), (DelegationStatus::Success, "answer 1: List files"));
    let program = || with(program("delegate_child").display().to_string());
    let agent = || OpenCode::new().env("DELEGATE_LISTENS", server.url());
    let started = agent().run(program()).await;
    assert_eq!(
        (started.status, &*started.output),
        (DelegationStatus::Success, "answer 1: List files")
    );
    let passwords = server.passwords();
    assert!(passwords.contains(&"opencode:of the host".to_owned()), "{passwords:?}");
    assert!(passwords.len() > 1, "the started server has a password of its own: {passwords:?}");
    assert_eq!(
        agent().run(no_program()).await.status,
        DelegationStatus::Error,
        "neither can be had"
    );
}

/// R308
#[tokio::test]
async fn a_server_that_cannot_be_started_or_does_not_listen_is_an_error() {
    let with = |binary: &str, message: &str| {
        let config = OrchestratorConfig::new(|config| {
            config.agents.opencode.mode = OpencodeMode::Serve;
            config.agents.opencode.binary = binary.to_owned();
            config.agents.opencode.timeout_ms = NonZeroU64::new(1_000).unwrap();
        });
        Task::new(message).with_config(config)
    };
    let missing = OpenCode::new().run(with("/no/such/opencode", "Go")).await;
    let expected = "The program /no/such/opencode cannot be started: ";
    assert!(missing.error_message.unwrap().starts_with(expected));
    let other = program("delegate_echo");
    let deaf = OpenCode::new().run(with(other.to_str().unwrap(), "Go")).await;
    let message = deaf.error_message.unwrap();
    let expected = "opencode's server ended before it listened (exit status: 0). It complained:\n";
    assert!(deaf.status == DelegationStatus::Error && message.starts_with(expected), "{message}");
    assert!(message.contains("--hostname"), "what it wrote, because it complained about nothing");
}

/// DG7
#[tokio::test]
async fn what_a_server_complains_about_that_does_not_listen_is_told() {
    let config = OrchestratorConfig::new(|config| {
        config.agents.opencode.mode = OpencodeMode::Serve;
        config.agents.opencode.binary = program("delegate_child").display().to_string();
    });
    let go = || Task::new("Go").with_config(config.clone());
    let failed =
        OpenCode::new().env("DELEGATE_FAILS", "\u{1b}[31mport in use\u{1b}[0m").run(go()).await;
    let expected =
        "opencode's server ended before it listened (exit status: 4). It complained:\nport in use";
    assert_eq!(failed.error_message.as_deref(), Some(expected));
}
