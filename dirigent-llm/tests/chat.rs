//! One question to a model, outside any turn.

use dirigent_llm::{Chat, ChatError, Endpoint, Tool};
use dirigent_llm_loopback::{Answer, LoopbackLlm};
use serde_json::json;

#[tokio::test]
async fn a_question_is_asked_once_and_its_answer_is_text_or_calls() {
    let model = LoopbackLlm::start().await.unwrap();
    let endpoint = Endpoint::new(model.url(), "small").field("temperature", 0);
    let chat = Chat::new(endpoint.with_model("large"));
    let messages = [
        json!({ "role": "user", "content": [{ "type": "text", "text": "Good morning." }] }),
        json!({ "role": "assistant", "content": null }),
    ];
    let tools = [Tool::new("roll", "Rolls a die.")];
    model.script([
        Answer::text("<think>hidden-thought</think>Good morning."),
        Answer::call("roll", &json!({ "sides": 6 })),
        Answer::refusal(503),
    ]);
    let said = chat.ask(&messages, &[]).await.unwrap();
    assert_eq!((&*said.text, said.calls.len(), said.usage.total()), ("Good morning.", 0, 15));
    let called = chat.ask(&messages, &tools).await.unwrap();
    assert_eq!(
        (&*called.calls[0].name, &called.calls[0].arguments),
        ("roll", &Some(json!({ "sides": 6 })))
    );
    let failed = chat.ask(&messages, &tools).await;
    assert_eq!(failed.unwrap_err(), ChatError::Unavailable { status: 503, retry_after: None });
    let asked = model.requests();
    assert_eq!(asked.len(), 3, "nothing is repeated");
    let body = &asked[1].body;
    assert_eq!((&body["model"], &body["temperature"]), (&"large".into(), &0.into()));
    assert_eq!(body["messages"], json!(messages));
    assert_eq!(body["tools"][0]["function"]["name"], "roll");
    assert!(asked[0].body.get("tools").is_none());
    let shown = format!("{chat:?} {said:?} {called:?}");
    assert!(!shown.contains("morning") && !shown.contains("sides"), "{shown}");
}
