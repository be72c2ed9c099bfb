//! What a model calls during a turn.

use std::sync::{Arc, Mutex};

use dirigent::{Agent as _, ChannelId, ChatMessage, MessageId, Turn, UserId};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer, ScriptedCall};
use dirigent_llm::{ChatError, Tool, Toolbox};
use serde_json::{Value, json};

use crate::fixture::{Fixture, say, told, turn};

/// A die that remembers what it was called with.
#[derive(Clone, Default)]
struct Dice(Arc<Mutex<Vec<Value>>>);

impl Dice {
    fn rolled(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
}

#[dirigent::async_trait]
impl Toolbox for Dice {
    fn tools(&self) -> Vec<Tool> {
        let sides = json!({ "type": "object", "properties": { "sides": { "type": "integer" } } });
        vec![
            Tool::new("roll", "Rolls a die.").parameters(sides),
            Tool::new("tell", "Tells a long story."),
        ]
    }

    async fn call(&self, turn: &Turn, tool: &str, arguments: Value) -> Value {
        assert_eq!(turn.agent().as_str(), "poet");
        self.0.lock().unwrap().push(arguments);
        if tool == "tell" { json!("x".repeat(10_000)) } else { json!({ "rolled": 4 }) }
    }
}

async fn fixture(dice: &Dice) -> Fixture {
    let dice = dice.clone();
    Fixture::new().await.with(|agent| agent.tools(dice))
}

/// The messages of the last request after the first two.
fn round(fixture: &Fixture) -> Vec<Value> {
    let request = fixture.model.requests().pop().unwrap();
    request.body["messages"].as_array().unwrap().iter().skip(2).cloned().collect()
}

#[tokio::test]
async fn a_call_is_carried_out_and_its_answer_is_told() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    fixture.model.script([
        ScriptedAnswer::call("roll", &json!({ "sides": 6 })),
        ScriptedAnswer::text("A four."),
    ]);
    assert_eq!(fixture.speak().await, say("A four."));
    assert_eq!(dice.rolled(), [json!({ "sides": 6 })]);
    let declared = &fixture.model.requests()[0].body["tools"][0];
    assert_eq!(declared["type"], "function");
    assert_eq!(declared["function"]["name"], "roll");
    assert_eq!(declared["function"]["parameters"]["properties"]["sides"]["type"], "integer");
    let [called, answered] = round(&fixture).try_into().unwrap();
    assert_eq!((&called["role"], &called["content"]), (&json!("assistant"), &Value::Null));
    assert_eq!(called["tool_calls"][0]["id"], "call-1");
    assert_eq!(called["tool_calls"][0]["function"]["arguments"], "{\"sides\":6}");
    let expected = json!({ "role": "tool", "content": "{\"rolled\":4}", "tool_call_id": "call-1" });
    assert_eq!(answered, expected);
}

#[tokio::test]
async fn odd_calls_are_understood() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    let odd = |delta: Value| ScriptedAnswer {
        deltas: vec![delta],
        finish: Some("stop".to_owned()),
        ..ScriptedAnswer::default()
    };
    let calls = [
        odd(
            json!({ "tool_calls": [{ "function": { "name": "roll", "arguments": "{\"sides\":1}" } }] }),
        ),
        odd(json!({ "tool_calls": [{ "id": "", "name": "roll", "parameters": { "sides": 2 } }] })),
        odd(
            json!({ "tool_calls": [{ "index": 0, "id": null, "function": { "name": "roll", "input": { "sides": 3 } } }] }),
        ),
        odd(json!({ "function_call": { "name": "roll", "arguments": "{\"sides\":4}" } })),
    ];
    fixture.model.script(calls.into_iter().chain([ScriptedAnswer::text("Done.")]));
    assert_eq!(fixture.speak().await, say("Done."));
    assert_eq!(dice.rolled(), [1, 2, 3, 4].map(|sides| json!({ "sides": sides })));
    let called = round(&fixture);
    let ids: Vec<_> =
        called.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!(ids, ["call_0"; 4], "an id where there was none");
}

/// A call with a signature, after reasoning, as Gemini and thinking models send it.
fn signed_call() -> ScriptedAnswer {
    let function = json!({ "name": "roll", "arguments": "{}", "signature": "in-function" });
    let signature = json!({ "google": { "thought_signature": "c2ln" } });
    let call = json!({ "index": 0, "id": "a", "type": "function", "function": function, "extra_content": signature });
    ScriptedAnswer {
        reasoning: "hidden thoughts".to_owned(),
        deltas: vec![json!({ "tool_calls": [call] })],
        finish: Some("tool_calls".to_owned()),
        ..ScriptedAnswer::default()
    }
}

/// LM3: without it the next request is refused, by Gemini and by thinking models.
#[tokio::test]
async fn what_came_with_a_call_goes_back_with_it() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    fixture.model.script([signed_call(), ScriptedAnswer::text("A four.")]);
    assert_eq!(fixture.speak().await, say("A four."));
    let called = &round(&fixture)[0];
    assert_eq!(called["reasoning_content"], "hidden thoughts");
    let call = &called["tool_calls"][0];
    assert_eq!(call["extra_content"]["google"]["thought_signature"], "c2ln");
    assert_eq!(call["function"]["signature"], "in-function");
    assert_eq!((&call["index"], &call["type"]), (&Value::Null, &json!("function")));
}

/// LM3: reasoning is told to none but the model whose it is.
#[tokio::test]
async fn what_came_with_a_call_is_told_to_no_other_endpoint() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    let other = LoopbackLlm::start().await.unwrap();
    other.script([ScriptedAnswer::text("A four.")]);
    let second = crate::fixture::endpoint(&other);
    let fixture = fixture.with(|agent| agent.fall_back_on(second));
    fixture.model.script([signed_call(), ScriptedAnswer::refusal(401)]);
    assert_eq!(fixture.speak().await, say("A four."));
    let told = other.requests()[0].body.to_string();
    assert!(told.contains("tool_calls"), "{told}");
    for kept in ["hidden thoughts", "c2ln", "in-function"] {
        assert!(!told.contains(kept), "{told}");
    }
}

/// LM3: Groq and Mistral send reasoning and refuse to be sent it.
#[tokio::test]
async fn an_endpoint_that_refuses_its_own_reasoning_is_asked_without_it_from_then_on() {
    for status in [400, 422] {
        let dice = Dice::default();
        let fixture = fixture(&dice).await;
        fixture.model.script([
            signed_call(),
            ScriptedAnswer::refusal(status),
            ScriptedAnswer::text("A four."),
            signed_call(),
            ScriptedAnswer::text("Another."),
        ]);
        assert_eq!(fixture.speak().await, say("A four."));
        assert_eq!(fixture.speak().await, say("Another."), "it is remembered");
        let has_it: Vec<bool> = fixture
            .model
            .requests()
            .iter()
            .map(|request| request.body.to_string().contains("hidden thoughts"))
            .collect();
        assert_eq!(has_it, [false, true, false, false, false]);
        // Without it the refusal has another reason.
        fixture.model.script([signed_call(), ScriptedAnswer::refusal(status)]);
        let refused = ChatError::Refused { status, code: Some("refused".into()) };
        assert_eq!(fixture.speak().await, Err(refused));
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_to_the_model() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    let call = |name: &str, arguments: &str| ScriptedCall {
        id: format!("{name}-1"),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = vec![call("fly", "{}"), call("roll", "{\"sides\": "), call("tell", "{}")];
    fixture.model.script([
        ScriptedAnswer { calls, ..ScriptedAnswer::default() },
        ScriptedAnswer::text("Done."),
    ]);
    assert_eq!(fixture.speak().await, say("Done."));
    let [called, fly, roll, tell] = round(&fixture).try_into().unwrap();
    assert_eq!(
        called["tool_calls"][1]["function"]["arguments"], "{}",
        "no broken JSON is sent back"
    );
    let answer = |message: &Value| -> Value {
        serde_json::from_str(message["content"].as_str().unwrap()).unwrap()
    };
    assert_eq!(answer(&fly)["error"], "unknown-tool");
    assert_eq!(answer(&fly)["tools"], json!(["roll", "tell"]));
    assert_eq!(answer(&roll)["error"], "bad-arguments");
    let told = tell["content"].as_str().unwrap();
    assert!(told.len() < 8_100 && told.ends_with("is left out.)"), "{} letters", told.len());
}

#[tokio::test]
async fn rounds_are_bounded_and_in_the_last_the_model_is_told_to_answer() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await.with(|agent| agent.limits(|limits| limits.tool_rounds = 2));
    fixture.model.cycle([ScriptedAnswer::call("roll", &json!({}))]);
    assert_eq!(fixture.speak().await, Err(ChatError::ToolRounds { rounds: 2 }));
    assert_eq!(dice.rolled().len(), 2);
    let choices: Vec<Value> = fixture
        .model
        .requests()
        .iter()
        .map(|request| request.body["tool_choice"].clone())
        .collect();
    assert_eq!(choices, [Value::Null, Value::Null, json!("none")]);
    fixture.model.cycle([ScriptedAnswer::text("A four.")]);
    assert_eq!(fixture.speak().await, say("A four."));
    fixture.model.cycle([ScriptedAnswer {
        text: "I roll.".to_owned(),
        ..ScriptedAnswer::call("roll", &json!({}))
    }]);
    assert_eq!(fixture.speak().await, say("I roll."), "what it says at last is its answer");
}

#[tokio::test]
async fn words_beside_a_call_are_told_to_the_model_and_not_posted() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    let both =
        ScriptedAnswer { text: "I roll.".to_owned(), ..ScriptedAnswer::call("roll", &json!({})) };
    fixture.model.script([both, ScriptedAnswer::text("A four.")]);
    assert_eq!(fixture.speak().await, say("A four."));
    assert_eq!(round(&fixture)[0]["content"], "I roll.");
}

#[tokio::test]
async fn a_failure_after_a_round_repeats_the_request_and_not_the_call() {
    let dice = Dice::default();
    let fixture = fixture(&dice).await;
    fixture.model.script([
        ScriptedAnswer::call("roll", &json!({})),
        ScriptedAnswer { breaks_after: Some(2), ..ScriptedAnswer::text("A four, and") },
        ScriptedAnswer::text("A four."),
    ]);
    assert_eq!(fixture.speak_in_time().await, say("A four."));
    assert_eq!(dice.rolled().len(), 1);
}

#[tokio::test]
async fn of_two_tools_with_one_name_the_first_is_offered_and_called() {
    let (first, second) = (Dice::default(), Dice::default());
    let fixture = fixture(&first).await;
    let other = second.clone();
    let fixture = fixture.with(|agent| agent.tools(other));
    fixture
        .model
        .script([ScriptedAnswer::call("roll", &json!({})), ScriptedAnswer::text("A four.")]);
    assert_eq!(fixture.speak().await, say("A four."));
    assert_eq!((first.rolled().len(), second.rolled().len()), (1, 0));
    assert_eq!(fixture.model.requests()[0].body["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn tools_count_towards_the_prompts_tokens() {
    let words = |fixture: &Fixture| fixture.last_told("system").join("").len();
    let dice = Dice::default();
    let plain = Fixture::new().await;
    plain.model.cycle([ScriptedAnswer::text("Hi.")]);
    plain.speak().await.unwrap();
    // Room for the briefing and the first two of these, but not for the tools as well.
    let tokens = words(&plain) / 4 + 200;
    let turn = || {
        let long = "word ".repeat(80);
        let message = |id| {
            let (channel, author) = (ChannelId::new(9), UserId::new(3));
            Arc::new(ChatMessage::new(MessageId::new(id), channel, author, &*long))
        };
        turn().with_history((1..=2).map(message).collect())
    };
    for (with_tools, expected) in [(false, 2), (true, 1)] {
        let fixture = if with_tools { fixture(&dice).await } else { Fixture::new().await };
        let fixture =
            fixture.with(|agent| agent.limits(|limits| limits.prompt_tokens = tokens + 30));
        fixture.model.script([ScriptedAnswer::text("Hi.")]);
        told(fixture.agent.speak(turn()).await).unwrap();
        let said = fixture.last_told("user").join("\n");
        let messages = said.matches("word ").count() / 79;
        assert_eq!(messages, expected, "{said}");
    }
}
