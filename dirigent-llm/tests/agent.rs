//! What an agent says.

use dirigent::settings::SilencePolicy;
use dirigent::{Agent as _, Reply, Settings};
use dirigent_llm::script::ScriptedAnswer;
use dirigent_llm::{ChatAgent, ChatError};
use serde_json::json;

use crate::fixture::{Fixture, endpoint, say};

#[tokio::test]
async fn the_answer_of_a_model_is_the_reply() {
    let fixture = Fixture::new().await;
    fixture.model.script([ScriptedAnswer::text("The sea, the sea.")]);
    assert_eq!(fixture.speak().await, say("The sea, the sea."));
    let request = &fixture.model.requests()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!((&request.body["model"], &request.body["stream"]), (&json!("small"), &json!(true)));
    assert_eq!(request.body["stream_options"], json!({ "include_usage": true }));
    assert!(request.body.get("tools").is_none(), "{}", request.body);
    assert_eq!(fixture.last_told("user"), ["Ann: Hello there"]);
    assert!(fixture.last_told("system")[0].starts_with("You rhyme.\n\nYou are poet"));
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_taken_as_it_is() {
    let fixture = Fixture::new().await;
    let whole = ScriptedAnswer {
        reasoning: "Hm.".to_owned(),
        ..ScriptedAnswer::text("<think>Hm.</think>Whole.")
    };
    let endpoint = endpoint(&fixture.model).whole_answers();
    let fixture = fixture.with(|_| ChatAgent::new(endpoint));
    fixture.model.script([whole]);
    assert_eq!(fixture.speak().await, say("Whole."));
    assert!(fixture.model.requests()[0].body.get("stream_options").is_none());
}

#[tokio::test]
async fn an_endpoint_that_answers_a_stream_with_a_whole_is_understood() {
    let fixture = Fixture::new().await;
    let whole = r#"{"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}"#;
    fixture
        .model
        .script([ScriptedAnswer { body: Some(whole.to_owned()), ..ScriptedAnswer::default() }]);
    assert_eq!(fixture.speak().await, say("Whole."));
}

#[tokio::test]
async fn what_a_host_sets_of_an_endpoint_is_sent() {
    let fixture = Fixture::new().await;
    let endpoint = endpoint(&fixture.model)
        .key("sk-1")
        .header("X-Title", "Round table")
        .field("temperature", 0.5)
        .field("model", "another");
    let fixture = fixture.with(|_| ChatAgent::new(endpoint));
    fixture.model.script([ScriptedAnswer::text("Yes.")]);
    assert_eq!(fixture.speak().await, say("Yes."));
    let request = &fixture.model.requests()[0];
    let header = |name: &str| {
        let found = request.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    assert_eq!(header("authorization").unwrap(), "Bearer sk-1");
    assert_eq!(header("x-title").unwrap(), "Round table");
    assert_eq!(header("content-type").unwrap(), "application/json");
    assert_eq!(
        (&request.body["temperature"], &request.body["model"]),
        (&json!(0.5), &json!("small"))
    );
}

#[tokio::test]
async fn reasoning_is_never_said() {
    let fixture = Fixture::new().await;
    fixture.model.script([
        ScriptedAnswer {
            reasoning: "They greet me.".to_owned(),
            ..ScriptedAnswer::text("Good day.")
        },
        ScriptedAnswer::text("<think>They greet me.</think>\n\nGood day."),
        ScriptedAnswer::text("They greet me.\n</think>\n\nGood day."),
        ScriptedAnswer {
            deltas: vec![json!({ "reasoning": "They greet me.", "content": "Good day." })],
            ..ScriptedAnswer::default()
        },
    ]);
    for _ in 0..4 {
        assert_eq!(fixture.speak().await, say("Good day."));
    }
}

#[tokio::test]
async fn reasoning_without_an_answer_is_an_error_and_no_silence() {
    let fixture = Fixture::new().await;
    let cut = Some("length".to_owned());
    fixture.model.script([
        ScriptedAnswer { reasoning: "They greet me.".to_owned(), ..ScriptedAnswer::default() },
        ScriptedAnswer { finish: cut, ..ScriptedAnswer::text("<think>They greet me, so") },
    ]);
    assert_eq!(fixture.speak().await, Err(ChatError::OnlyReasoning { is_cut: false }));
    assert_eq!(fixture.speak().await, Err(ChatError::OnlyReasoning { is_cut: true }));
    assert_eq!(fixture.model.requests().len(), 2, "the same model would do the same again");
}

#[tokio::test]
async fn names_before_the_words_are_taken_off() {
    let fixture = Fixture::new().await;
    fixture.model.script(
        ["poet: Good day.", "Ann: critic: **poet:** Good day.", "poet: NO_REPLY"]
            .map(ScriptedAnswer::text),
    );
    assert_eq!(fixture.speak().await, say("Good day."));
    assert_eq!(fixture.speak().await, say("Good day."));
    assert_eq!(
        fixture.speak().await,
        say("NO_REPLY"),
        "which the silence policy takes for silence"
    );
}

#[tokio::test]
async fn what_is_silence_is_left_to_the_policy_and_an_empty_answer_is_silence() {
    let fixture = Fixture::new().await;
    let silent = ["NO_REPLY", "**NO_REPLY**", "\"no_reply\".", "<think>Nothing.</think>NO_REPLY"];
    fixture.model.script(silent.map(ScriptedAnswer::text));
    assert_eq!(Settings::default().reading.silence, SilencePolicy::default());
    for words in silent {
        let Ok(Reply::Say(text)) = fixture.speak().await else { panic!("{words}") };
        assert!(SilencePolicy::default().is_silent(&text), "{words}");
    }
    fixture.model.script([ScriptedAnswer::default()]);
    assert_eq!(fixture.speak().await, Ok(Reply::Pass));
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let fixture = Fixture::new().await;
    fixture.model.cycle([ScriptedAnswer::text("Good day.")]);
    let another = fixture.agent.clone();
    for agent in [&fixture.agent, &another, &fixture.agent] {
        assert_eq!(
            crate::fixture::told(agent.speak(crate::fixture::turn()).await),
            say("Good day.")
        );
    }
    assert_eq!(fixture.model.connections(), 1);
}
