//! A model that is asked outside any turn.

use std::sync::{Arc, Mutex};

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_llm::{
    Chat, ChatError, Endpoint, Image, ModelMessage, Price, Question, Thinking, Tool,
};
use serde_json::json;

fn chat(model: &LoopbackLlm) -> Chat {
    Chat::new(Endpoint::new(model.url(), "small")).limits(|limits| limits.retries = 0)
}

#[tokio::test]
async fn an_answer_is_text_or_calls() {
    let model = LoopbackLlm::start().await.unwrap();
    let endpoint = Endpoint::new(model.url(), "small").field("temperature", 0);
    let chat = Chat::new(endpoint.with_model("large")).limits(|limits| limits.retries = 0);
    let question =
        Question::new([ModelMessage::user("Good morning."), ModelMessage::assistant("Hm.")]);
    let with_tools = question.clone().tools([Tool::new("roll", "Rolls a die.")]);
    model.script([
        ScriptedAnswer::text("<think>hidden-thought</think>Good morning."),
        ScriptedAnswer::call("roll", &json!({ "sides": 6 })),
        ScriptedAnswer::refusal(503),
    ]);
    let said = chat.ask(&question).await.unwrap();
    let used = said.usage.as_ref().unwrap().total();
    assert_eq!((&*said.text, said.calls.len(), used), ("Good morning.", 0, 15));
    let called = chat.ask(&with_tools).await.unwrap();
    assert_eq!(
        (&*called.calls[0].name, &called.calls[0].arguments),
        ("roll", &Some(json!({ "sides": 6 })))
    );
    let failed = chat.ask(&with_tools).await;
    assert_eq!(failed.unwrap_err(), ChatError::Unavailable { status: 503, retry_after: None });
    let asked = model.requests();
    assert_eq!(asked.len(), 3, "without retries nothing is repeated");
    let body = &asked[1].body;
    assert_eq!((&body["model"], &body["temperature"]), (&"large".into(), &0.into()));
    assert_eq!(body["messages"], json!(question.messages));
    assert_eq!(body["tools"][0]["function"]["name"], "roll");
    assert!(asked[0].body.get("tools").is_none() && body.get("reasoning_effort").is_none());
    let shown = format!("{chat:?} {question:?} {said:?} {called:?}");
    assert!(!shown.contains("morning") && !shown.contains("sides"), "{shown}");
}

#[tokio::test]
async fn tags_are_kept_for_those_who_ask_for_them() {
    let model = LoopbackLlm::start().await.unwrap();
    let written = "<think>hidden</think>\n<thinking>\nHm.\n</thinking>\n<speech>\nHi.\n</speech>";
    model.cycle([ScriptedAnswer::text(written)]);
    let question = Question::new([ModelMessage::user("Hi")]);
    assert_eq!(chat(&model).ask(&question).await.unwrap().text, "<speech>\nHi.\n</speech>");
    let kept = chat(&model).ask(&question.keep_tags()).await.unwrap().text;
    assert_eq!(kept, "<thinking>\nHm.\n</thinking>\n<speech>\nHi.\n</speech>");
}

#[tokio::test]
async fn the_level_of_thinking_stands_before_the_endpoints_and_off_says_nothing() {
    let model = LoopbackLlm::start().await.unwrap();
    model.cycle([ScriptedAnswer::text("Hi.")]);
    let endpoint = Endpoint::new(model.url(), "small").field("reasoning_effort", "low");
    let chat = Chat::new(endpoint);
    for thinking in [None, Some(Thinking::Off), Some(Thinking::High)] {
        chat.ask(&Question::new([ModelMessage::user("Hi")]).thinking(thinking)).await.unwrap();
    }
    let asked: Vec<_> =
        model.requests().iter().map(|asked| asked.body["reasoning_effort"].clone()).collect();
    assert_eq!(asked, ["low", "low", "high"]);
}

#[tokio::test]
async fn what_was_used_has_its_price_and_an_image_is_no_text_of_its_length() {
    let model = LoopbackLlm::start().await.unwrap();
    model.script([
        ScriptedAnswer::text("A cat."),
        ScriptedAnswer { usage: None, ..ScriptedAnswer::text("A cat.") },
    ]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&seen);
    let price = Price { prompt: 2_000_000, cached: 0, reply: 3_000_000 };
    let chat = chat(&model)
        .prices([("small", price)].into_iter().collect())
        .on_usage(move |usage| hook.lock().unwrap().push(usage.clone()));
    let images = vec![Image::new("image/png", "A".repeat(400_000))];
    let question =
        Question::new([ModelMessage::User { text: "This?".into(), images: images.into() }]);
    let told = chat.ask(&question).await.unwrap().usage.unwrap();
    assert_eq!((told.is_estimated, told.cost), (false, 2 * 10 + 3 * 5));
    let guessed = chat.ask(&question).await.unwrap().usage.unwrap();
    assert!(guessed.is_estimated && guessed.cost > 0);
    assert!((1_000..1_200).contains(&guessed.prompt_tokens), "{guessed:?}");
    assert_eq!(*seen.lock().unwrap(), [told, guessed]);
}
