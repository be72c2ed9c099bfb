//! Models at a scripted endpoint: as the routing model, and as an agent.

use std::time::Duration;

use dirigent::Clock as _;
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::llm::{ModelDelegate, Providers};
use dirigent_delegate::{Image, Response, Router, RouterBuilder, Thinking, UserRequest};
use dirigent_llm::Endpoint;
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer, ScriptedCall};
use dirigent_testkit::ManualClock;
use serde_json::{Value, json};

use crate::fixture::{OPENCODE, RESEARCH, ask, enabled, instant, texts};

/// Two providers, each a scripted endpoint.
struct Market {
    one: LoopbackLlm,
    two: LoopbackLlm,
    clock: ManualClock,
}

impl Market {
    async fn new() -> Self {
        let (one, two) = (LoopbackLlm::start().await.unwrap(), LoopbackLlm::start().await.unwrap());
        Self { one, two, clock: ManualClock::new() }
    }

    fn providers(&self) -> Providers {
        let endpoint = |model: &LoopbackLlm| Endpoint::new(model.url(), "").key("sk-hidden");
        Providers::new()
            .provider("fast", endpoint(&self.one))
            .provider("b", endpoint(&self.two))
            .clock(self.clock.clone())
    }

    fn builder(&self) -> RouterBuilder {
        let config = enabled(|config| config.fallbacks = vec!["b/maker/two".to_owned()]);
        let builder = Router::builder(self.providers()).config(config).clock(self.clock.clone());
        builder.open_code(instant("code")).research(instant("found"))
    }

    async fn ask(&self, message: &str) -> Response {
        ask(&self.builder().build().unwrap(), message).await
    }
}

fn called(tool: &str, message: &str) -> ScriptedAnswer {
    ScriptedAnswer::call(tool, &json!({ "message": message }))
}

/// R285, R292
#[tokio::test]
async fn a_model_at_an_endpoint_answers_or_delegates() {
    let market = Market::new().await;
    market.one.script([ScriptedAnswer::text("Hello there!"), called(RESEARCH, "Tokyo")]);
    assert_eq!(texts(&market.ask("Hello!").await), ["Hello there!"]);
    let response = market.ask("What's the weather in Tokyo?").await;
    assert_eq!(texts(&response), ["found: Tokyo"]);
    let request = market.one.requests().remove(0);
    assert_eq!(request.body["model"], "one");
    assert!(request.said_by("system")[0].starts_with("You are Moltbot's Orchestrator."));
    assert_eq!(request.said_by("user"), ["Hello!"]);
    let tools: Vec<&Value> = request.body["tools"].as_array().unwrap().iter().collect();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, [OPENCODE, RESEARCH]);
    assert_eq!(tools[0]["function"]["parameters"]["required"], json!(["message"]));
    assert!(request.body.get("reasoning_effort").is_none());
}

/// R292, R315
#[tokio::test]
async fn an_endpoint_that_fails_in_any_way_is_followed_by_the_next() {
    let down = |status| ScriptedAnswer::refusal(status);
    let failures = [
        down(429),
        down(500),
        down(503),
        down(401),
        down(404),
        ScriptedAnswer { body: Some("<html>".to_owned()), ..ScriptedAnswer::default() },
        ScriptedAnswer { breaks_after: Some(2), ..ScriptedAnswer::text("One two three") },
        ScriptedAnswer { reasoning: "Hm.".to_owned(), ..ScriptedAnswer::default() },
        ScriptedAnswer::text(""),
    ];
    let market = Market::new().await;
    for failure in failures {
        let shown = format!("{failure:?}");
        market.one.script([failure]);
        market.two.script([called(OPENCODE, "A script")]);
        let response = market.ask("Write").await;
        assert_eq!(texts(&response), ["code: A script"], "{shown}");
        assert_eq!(response.meta.orchestrator_model, "b/maker/two");
    }
    assert_eq!(
        market.two.requests()[0].body["model"],
        "maker/two",
        "after the first slash it is the model's name"
    );
}

/// R292
#[tokio::test]
async fn an_endpoint_that_hangs_is_left_after_its_time() {
    let market = Market::new().await;
    market.one.script([ScriptedAnswer { is_mute: true, ..ScriptedAnswer::default() }]);
    market.two.script([ScriptedAnswer::text("Here.")]);
    let (response, ()) = tokio::join!(market.ask("Hello"), async {
        market.one.requested(1).await;
        market.clock.advance(Duration::from_secs(60));
        market.one.given_up(1).await;
    });
    assert_eq!(
        (texts(&response), &*response.meta.orchestrator_model),
        (vec!["Here."], "b/maker/two")
    );
}

/// R292
#[tokio::test]
async fn an_unknown_provider_is_a_failure_of_its_model() {
    let market = Market::new().await;
    for unknown in ["nowhere/one", "one", "fast/", "/one"] {
        market.two.script([ScriptedAnswer::text("Here.")]);
        let config = enabled(|config| {
            config.model = unknown.to_owned();
            config.fallbacks = vec!["b/two".to_owned()];
        });
        let response = ask(&market.builder().config(config).build().unwrap(), "Hello").await;
        assert_eq!(response.meta.orchestrator_model, "b/two", "{unknown}");
    }
    assert!(market.one.requests().is_empty());
}

/// DG7
#[tokio::test]
async fn an_unknown_provider_is_found_when_the_router_is_built_or_configured() {
    let market = Market::new().await;
    let config = |model: &str, embedded: Option<&str>, enabled: bool| {
        OrchestratorConfig::new(|config| {
            (config.enabled, config.model) = (enabled, model.to_owned());
            config.fallbacks = vec!["elsewhere/two".to_owned()];
            config.agents.embedded.model = embedded.map(str::to_owned);
        })
    };
    let agent = |model: &str| ModelDelegate::new(market.providers(), model);
    let error = |config, usual: &str| {
        let builder = market.builder().config(config).embedded(agent(usual));
        builder.build().err().map(|error| error.to_string())
    };
    let unknown = |model: &str, provider: &str| {
        format!(
            "the model {model} needs the provider {provider}, which is not known (known: b, fast)"
        )
    };
    let both =
        [unknown("nowhere/one", "nowhere"), unknown("elsewhere/two", "elsewhere")].join("; ");
    assert_eq!(
        error(config("nowhere/one", None, true), "b/x"),
        Some(format!("orchestrator.model: {both}")),
        "no model can be asked"
    );
    assert_eq!(error(config("nowhere/one", None, false), "b/x"), None, "none is asked");
    assert_eq!(error(config("fast/one", None, true), "b/x"), None, "one is enough");
    let no_name = error(config("fast/one", Some("usual"), true), "b/x").unwrap();
    let expected =
        "orchestrator.agents.embedded.model: the model usual is not named as provider/model";
    assert!(no_name.starts_with(expected), "{no_name}");
    for enabled in [true, false] {
        let expected = format!("orchestrator.agents.embedded.model: {}", unknown("no/x", "no"));
        assert_eq!(error(config("fast/one", None, enabled), "no/x"), Some(expected));
    }
    let router = market.builder().build().unwrap();
    let error = router.configure(config("nowhere/one", None, true)).unwrap_err();
    assert_eq!(error.field(), "orchestrator.model");
    assert_eq!(router.config().model, "fast/one", "the one before stays");
}

/// R297
#[tokio::test]
async fn malformed_calls_are_errors_of_their_own() {
    let market = Market::new().await;
    let call = |id: &str, name: &str, arguments: &str| ScriptedCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    market.one.script([ScriptedAnswer {
        calls: vec![
            call("1", OPENCODE, "{\"message\": \"br"),
            call("2", "delegate_to_nothing", "{}"),
            call("3", RESEARCH, "{\"message\": \"Tokyo\"}"),
            call("", RESEARCH, "\"{\\\"query\\\": \\\"Kyoto\\\"}\""),
        ],
        ..ScriptedAnswer::default()
    }]);
    let shown = [
        "**OpenCode Error:**\nThe arguments of the call are no JSON object.",
        "**delegate_to_nothing Error:**\nThere is no agent with this tool.",
        "**Research:**\nfound: Tokyo",
        "**Research:**\nfound: Kyoto",
    ];
    assert_eq!(texts(&market.ask("Go").await), shown);
}

/// R319
#[tokio::test]
async fn images_and_the_thinking_level_are_in_the_models_request() {
    let market = Market::new().await;
    market.one.script([ScriptedAnswer::text("A cat.")]);
    let mut request = UserRequest::new("session", "What is this?");
    (request.images, request.thinking) =
        (vec![Image::new("image/png", "AAAA")], Some(Thinking::High));
    market.builder().build().unwrap().answer(request).await.unwrap();
    let body = market.one.requests().remove(0).body;
    assert_eq!(body["reasoning_effort"], "high");
    let parts = json!([
        { "type": "text", "text": "What is this?" },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
    ]);
    assert_eq!(body["messages"][1]["content"], parts);
}

/// R288, R291, R293, R319
#[tokio::test]
async fn the_embedded_agent_is_a_model_too_by_default_the_hosts() {
    let market = Market::new().await;
    let embedded = ModelDelegate::new(market.providers(), "b/usual").persona("You are brief.");
    for (configured, expected) in [(None, "usual"), (Some("b/other"), "other")] {
        market.one.script([called("delegate_to_moltbot", "Remind me")]);
        market.two.script([ScriptedAnswer::text(" Done. ")]);
        let config = enabled(|config| config.agents.embedded.model = configured.map(str::to_owned));
        let router = market.builder().config(config).embedded(embedded.clone()).build().unwrap();
        let mut request = UserRequest::new("session", "Remind me");
        (request.images, request.thinking) =
            (vec![Image::new("image/png", "AAAA")], Some(Thinking::Low));
        let response = router.answer(request).await.unwrap();
        assert_eq!(texts(&response), ["Done."]);
        let asked = market.two.requests().pop().unwrap();
        assert_eq!(
            (&asked.body["model"], &asked.body["reasoning_effort"]),
            (&expected.into(), &"low".into())
        );
        assert_eq!(asked.said_by("system"), ["You are brief."]);
        assert!(asked.body["messages"][1]["content"][1]["image_url"]["url"].is_string());
        let result = &response.agent_results[0];
        assert_eq!(result.model, Some(format!("b/{expected}")));
        assert_eq!(json!(result.token_usage), json!({ "input": 10, "output": 5 }));
    }
    market.one.script([ScriptedAnswer::refusal(500)]);
    market.two.script([ScriptedAnswer::refusal(500), ScriptedAnswer::text("Instead.")]);
    let router = market.builder().embedded(embedded.clone()).build().unwrap();
    assert_eq!(texts(&ask(&router, "Hello").await), ["Instead."], "all routing models failed");
    market.one.script([called("delegate_to_moltbot", "Remind me")]);
    market.two.script([ScriptedAnswer::refusal(429)]);
    let failed = ask(&router, "Hello").await;
    let expected = "**Moltbot Error:**\nThe model b/usual gave no answer: the provider's rate limit is reached.";
    assert_eq!(texts(&failed), [expected]);
}

#[tokio::test]
async fn further_rounds_tell_the_model_what_each_call_came_to() {
    let market = Market::new().await;
    market.one.script([called(RESEARCH, "Tokyo"), ScriptedAnswer::text("It rains.")]);
    let router = market.builder().limits(|limits| limits.rounds = 2).build().unwrap();
    let response = ask(&router, "Weather?").await;
    assert_eq!(texts(&response), ["**Research:**\nfound: Tokyo", "**Orchestrator:**\nIt rains."]);
    let second = market.one.requests().pop().unwrap().body;
    let messages = second["messages"].as_array().unwrap();
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{\"message\":\"Tokyo\"}");
    let told = json!({ "role": "tool", "tool_call_id": messages[2]["tool_calls"][0]["id"], "content": "found: Tokyo" });
    assert_eq!(messages[3], told);
    assert_eq!(market.clock.now(), ManualClock::new().now());
}

#[test]
fn no_key_and_no_persona_is_shown() {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", "").key("sk-hidden");
    let providers = Providers::new().provider("fast", endpoint);
    let agent = ModelDelegate::new(providers.clone(), "fast/one").persona("sk-hidden");
    assert!(!format!("{providers:?} {agent:?}").contains("sk-hidden"));
}
