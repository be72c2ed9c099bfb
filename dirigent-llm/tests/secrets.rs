//! Keys, addresses and words are in no log line, no error and no `Debug`.

use dirigent::{Agent as _, Reply};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_llm::{ChatAgent, ChatError, DirigentTools, Endpoint};
use dirigent_testkit::Log;
use serde_json::json;

use crate::fixture::turn;

const SECRETS: [&str; 5] =
    ["sk-secret", "Hello there", "hidden-word", "password", "hidden-thought"];

#[track_caller]
fn assert_clean(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is shown: {text}");
    }
}

#[tokio::test]
async fn no_secret_is_logged_or_told_by_an_error_whatever_goes_wrong() {
    let model = LoopbackLlm::start().await.unwrap();
    let url = model.url().replace("http://", "http://user:password@");
    let endpoint = Endpoint::new(url, "small").key("sk-secret").field("user", "hidden-word");
    let agent = ChatAgent::new(endpoint.clone())
        .persona("hidden-word")
        .tools(DirigentTools::new(dirigent::ports::GuildId::new(1)));
    let agent = agent.limits(|limits| {
        limits.retries = 1;
        limits.retry_wait = std::time::Duration::ZERO;
        limits.answer_bytes = 100;
    });
    assert_clean(&format!("{agent:?} {agent:#?} {endpoint:?}"));

    let echo = json!({ "error": { "message": "sk-secret Hello there", "code": "sk-secret", "type": "Hello there" } });
    let refusal = |status| ScriptedAnswer {
        status,
        body: Some(echo.to_string()),
        ..ScriptedAnswer::default()
    };
    let event = |data: &str| ScriptedAnswer {
        headers: vec![("content-type".into(), "text/event-stream".into())],
        body: Some(format!("data: {data}\n\n")),
        ..ScriptedAnswer::default()
    };
    let answers = [
        refusal(400),
        refusal(401),
        refusal(429),
        refusal(500),
        ScriptedAnswer {
            body: Some("<html>Hello there</html>".into()),
            ..ScriptedAnswer::default()
        },
        event("hidden-word"),
        event(&echo.to_string()),
        ScriptedAnswer { breaks_after: Some(2), ..ScriptedAnswer::text("hidden-word Hello there") },
        ScriptedAnswer { reasoning: "hidden-thought".into(), ..ScriptedAnswer::default() },
        ScriptedAnswer::text("hidden-word ".repeat(20)),
        ScriptedAnswer {
            calls: vec![],
            deltas: vec![
                json!({ "tool_calls": [{ "name": "hidden-word", "arguments": "hidden-word" }] }),
            ],
            ..ScriptedAnswer::default()
        },
    ];
    let log = Log::default();
    let listening = log.listen();
    for answer in answers {
        model.cycle([answer.clone()]);
        let Err(error) = agent.speak(turn()).await else { panic!("{answer:?} went well") };
        assert_clean(&format!("{error} {error:?} {error:#?}"));
        assert!(error.is::<ChatError>());
        let mut source = error.source();
        while let Some(cause) = source {
            assert_clean(&format!("{cause} {cause:?}"));
            source = cause.source();
        }
    }
    model.cycle([ScriptedAnswer::text("hidden-word")]);
    let reply = agent.speak(turn()).await.unwrap();
    assert_clean(&format!("{reply:?}"));
    assert_eq!(reply, Reply::from("hidden-word"));
    drop(listening);
    let lines = log.lines();
    assert!(lines.iter().any(|line| line.contains("a model gave no answer")), "{lines:?}");
    assert_clean(&lines.join("\n"));
}
