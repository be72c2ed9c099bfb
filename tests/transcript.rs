//! The final text of a run (R095, R096), from typed messages and from a host's JSON.

use std::borrow::Cow;

use dirigent::host::{Content, Part, Role, TranscriptMessage, final_text};
use serde_json::json;

fn read(messages: serde_json::Value) -> Vec<TranscriptMessage> {
    serde_json::from_value(messages).unwrap_or_else(|error| panic!("unreadable: {error}"))
}

#[track_caller]
fn assert_final(messages: serde_json::Value, expected: &str) {
    assert_eq!(final_text(&read(messages)), expected);
}

#[test]
fn text_parts_are_joined_without_separator() {
    assert_final(
        json!([{"role": "assistant", "content": [
            {"type": "text", "text": "one"},
            {"type": "thinking", "thinking": "hidden", "text": "hidden"},
            {"type": "text", "text": ""},
            {"type": "toolCall", "id": "1", "name": "search", "arguments": {"text": "hidden"}},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "text", "text": "two "},
            {"type": "audio", "text": "hidden"},
            {"type": "text", "text": "\nthree"},
        ]}]),
        "onetwo \nthree",
    );
}

#[test]
fn plain_string_content_is_taken_whole() {
    assert_final(json!([{"role": "assistant", "content": " as it is\n"}]), " as it is\n");
}

#[test]
fn only_the_last_assistant_message_counts() {
    assert_final(
        json!([
            {"role": "assistant", "content": "earlier"},
            {"role": "user", "content": "and now?"},
            {"role": "assistant", "content": [{"type": "text", "text": "later"}]},
            {"role": "toolResult", "content": [{"type": "text", "text": "result"}], "isError": false},
            {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
        ]),
        "later",
    );
}

#[test]
fn a_last_message_of_tool_calls_only_is_no_text() {
    assert_final(
        json!([
            {"role": "assistant", "content": "earlier"},
            {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "x", "arguments": {}}]},
        ]),
        "",
    );
}

#[test]
fn without_an_assistant_message_the_text_is_empty() {
    assert_final(json!([]), "");
    assert_final(json!([{"role": "user", "content": "hello?"}]), "");
    assert_final(json!([{"role": "Assistant", "content": "roles are exact"}]), "");
}

#[test]
fn odd_messages_are_passed_over() {
    assert_final(
        json!([
            {"role": "assistant", "content": [
                "bare", 5, null, [], {}, {"type": 7, "text": "x"}, {"type": "text"},
                {"type": "text", "text": null}, {"type": "text", "text": 5},
                {"type": "text", "text": "kept", "annotations": []},
            ], "stopReason": "length", "usage": {"input": 1}, "timestamp": 12},
            {"role": 3, "content": "x"},
            {"role": "bashExecution", "command": "ls", "content": "x"},
            {"content": "x"},
            {},
        ]),
        "kept",
    );
    for content in [json!(null), json!(5), json!(true), json!({"text": "x"}), json!([])] {
        assert_final(json!([{"role": "assistant", "content": content}]), "");
    }
    assert_final(json!([{"role": "assistant"}]), "");
}

#[test]
fn a_single_text_is_borrowed() {
    let content = Content::Parts(vec![Part::Thinking, Part::Text("hi".to_owned()), Part::Image]);
    let messages = [TranscriptMessage { role: Role::Assistant, content }];
    assert!(matches!(final_text(&messages), Cow::Borrowed("hi")));
}

#[test]
fn debug_shows_no_text() {
    let messages = read(json!([
        {"role": "assistant", "content": "secret"},
        {"role": "toolResult", "content": [
            {"type": "text", "text": "secret"}, {"type": "thinking", "thinking": "secret"},
        ]},
        {"role": "secret", "content": [{"type": "secret"}]},
    ]));
    let shown = format!("{messages:?}");
    assert!(!shown.contains("secret"), "{shown}");
    assert!(shown.contains("Text(6 bytes)"), "{shown}");
}

#[test]
fn any_json_list_of_maps_is_read_without_panic() {
    let pieces = [
        r#""role":"#,
        r#""assistant""#,
        r#""content":"#,
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        r#""type""#,
        r#""text""#,
        "null",
        "1e9",
        r#""\ud83d""#,
        " ",
    ];
    let mut state = 7_u64;
    for _ in 0..20_000 {
        let mut text = String::from("[{");
        for _ in 0..8 {
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            text += pieces[usize::try_from(state >> 33).unwrap_or(0) % pieces.len()];
        }
        text += "}]";
        if let Ok(messages) = serde_json::from_str::<Vec<TranscriptMessage>>(&text) {
            let _ = final_text(&messages);
        }
    }
}
