//! Assembles an answer from its chunks.

use std::sync::Arc;

use serde_json::Value;

use crate::calls::Calls;
use crate::client::beside::Beside;
use crate::client::shape::{Place, Shape};
use crate::client::tokens::estimate;
use crate::client::told::reported;
use crate::client::wire::{Choice, Completion, Delta, Field};
use crate::error::ChatError;
use crate::question::ChatAnswer;
use crate::reasoning::{without_leading_think, without_reasoning};
use crate::usage::Usage;

/// The parts of an answer that have arrived.
#[derive(Default)]
pub(crate) struct Partial {
    text: String,
    has_reasoning: bool,
    /// True if any message came, even an empty one.
    has_message: bool,
    /// The number of the answer that is read, if there are several.
    choice: Option<u64>,
    is_refused: bool,
    calls: Calls,
    /// Fields that go back with the calls.
    beside: Beside,
    finish: Option<Finish>,
    /// The size in bytes when a finish came by itself, after all words.
    closed_at: Option<usize>,
    /// The size in bytes when the finish came. If more bytes follow, the finish alone does not end the answer.
    finished_at: usize,
    usage: Option<Usage>,
    model: Option<String>,
    /// The JSON around the words of the newest chunk.
    shape: Shape,
}

/// The fields that contain reasoning.
const REASONING: [&str; 5] =
    ["reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks"];
/// The longest model name, in bytes, that is accepted from an endpoint.
const MODEL_MAX: usize = 200;

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    /// The answer is whole.
    Whole,
    /// The model calls tools.
    Calls,
    /// The limit of tokens was reached.
    Cut,
    /// A content filter removed it.
    Filtered,
    /// The endpoint failed in the middle of it.
    Failed,
    /// A reason that this crate does not know, for example `abort` of vLLM, `insufficient_system_resource` of
    /// `DeepSeek` or `network_error` of GLM.
    Unknown,
}

impl Finish {
    /// Returns the finish of this name, in any letter case. The names are OpenAI's, and those that other endpoints pass
    /// on from a model's own interface.
    fn of(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "stop" | "stop_sequence" | "end_turn" | "eos" | "eos_token" | "complete" => Self::Whole,
            "tool_calls" | "tool_call" | "tool_use" | "function_call" => Self::Calls,
            "length" | "max_tokens" | "model_length" | "max_output_tokens" => Self::Cut,
            "content_filter" | "safety" | "sensitive" | "refusal" | "recitation" | "blocklist"
            | "prohibited_content" | "spii" => Self::Filtered,
            "error" => Self::Failed,
            _ => Self::Unknown,
        }
    }
}

impl Partial {
    /// Adds a chunk of a stream, as JSON.
    ///
    /// # Errors
    ///
    /// Returns [`ChatError::NotChat`] if the data is no chunk, or the error that the endpoint reports inside it.
    pub(crate) fn add_chunk(&mut self, data: &str) -> Result<(), ChatError> {
        if let Some(words) = self.shape.words_of(data) {
            self.text.push_str(words);
            return Ok(());
        }
        let chunk: Completion<'_> = serde_json::from_str(data).map_err(|_| ChatError::NotChat)?;
        let place = Place::of(&chunk, data);
        self.add(chunk)?;
        match place.filter(|place| self.choice == Some(place.choice)) {
            Some(place) => self.shape.set(data, &place),
            // This chunk says more than words, so later chunks must not be compared with it.
            None => self.shape = Shape::default(),
        }
        Ok(())
    }

    /// Adds a chunk, or a whole answer.
    ///
    /// # Errors
    ///
    /// Returns the error that the endpoint reports inside it.
    pub(crate) fn add(&mut self, mut completion: Completion<'_>) -> Result<(), ChatError> {
        if let Some(error) = completion.told_error() {
            return Err(reported(&error));
        }
        if let Some(usage) = completion.usage.as_ref().and_then(Usage::told) {
            // Some endpoints send a running total with each chunk, so the last one is the sum.
            self.usage = Some(usage);
        }
        let model = completion.model.as_ref().and_then(Field::as_str);
        if let (None, Some(model)) = (&self.model, model.filter(|name| name.len() <= MODEL_MAX)) {
            self.model = Some(model.to_owned());
        }
        let mut choices = completion.choices.0.into_iter();
        let Some(choice) = choices.find(|choice| self.reads(choice)) else {
            return Ok(());
        };
        let before = self.bytes();
        for delta in [choice.delta, choice.message].into_iter().flatten() {
            self.take(delta);
        }
        let finish = choice.finish_reason.as_ref().and_then(Field::as_str);
        if let Some(finish) = finish.filter(|finish| !finish.is_empty()) {
            let went_on = self.finish.is_some() && self.closed_at != Some(before);
            self.closed_at = Some(before).filter(|_| before == self.bytes() && !went_on);
            (self.finish, self.finished_at) = (Some(Finish::of(finish)), self.bytes());
        }
        Ok(())
    }

    /// Returns true if this choice belongs to the answer that is read, which is the first one that came.
    fn reads(&mut self, choice: &Choice<'_>) -> bool {
        let index = choice.index();
        *self.choice.get_or_insert(index) == index
    }

    fn take(&mut self, mut delta: Delta<'_>) {
        self.has_message = true;
        self.is_refused |= delta.refusal.0;
        let is_thought = delta.is_thought();
        for (name, field) in delta.take_beside() {
            let Some(field) = field else {
                continue;
            };
            self.has_reasoning |= REASONING.contains(&name) && field.has_words();
            // The mark says nothing about a thought that belongs to no call.
            if !(is_thought && name == "extra_content") {
                self.beside.add(name, field);
            }
        }
        match delta.content {
            Some(content) if is_thought => self.has_reasoning |= content.has_words(),
            Some(content) => self.has_reasoning |= content.add_to(&mut self.text),
            None => {}
        }
        if let Some(Value::Array(calls)) = delta.tool_calls {
            for call in calls {
                self.calls.add(call);
            }
        }
        if let Some(call @ Value::Object(_)) = delta.function_call {
            self.calls.add(call);
        }
    }

    /// Returns true if any message came. Otherwise this is no answer, not even an empty one.
    pub(crate) const fn is_chat(&self) -> bool {
        self.has_message
    }

    /// Returns how many bytes are stored.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.calls.bytes()
    }

    /// Returns true if the endpoint ended the answer, and no more of it came afterwards.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some() && self.finished_at == self.bytes()
    }

    /// Returns true if only the token counts can still follow, because the finish came by itself.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_finished() && self.closed_at == Some(self.bytes())
    }

    /// Returns the usage and the whole answer. If the endpoint reported no usage, it is estimated from the answer
    /// alone, without the prompt. With `keeps_tags` only a leading `<think>` block is removed.
    ///
    /// An answer without an end, or with an end that this crate does not know, is an error. Half a sentence must not be
    /// posted, and half a call must not be performed. `from` names the endpoint.
    pub(crate) fn into_answer(
        self,
        model: &str,
        keeps_tags: bool,
        from: &Arc<str>,
    ) -> (Usage, Result<ChatAnswer, ChatError>) {
        let mut usage = self.usage.unwrap_or_else(|| Usage {
            reply_tokens: estimate(&self.text) as u64,
            is_estimated: true,
            ..Usage::default()
        });
        usage.model = self.model.unwrap_or_else(|| model.to_owned());
        let (text, was_there) = if keeps_tags {
            without_leading_think(&self.text)
        } else {
            without_reasoning(&self.text)
        };
        let is_cut = self.finish == Some(Finish::Cut);
        let calls = self.calls.into_calls(is_cut, self.beside.into_fields(), from);
        let is_empty = text.is_empty() && calls.is_empty();
        let answer = match self.finish {
            Some(Finish::Failed) => Err(ChatError::Broken),
            _ if is_empty && (was_there || self.has_reasoning) => {
                Err(ChatError::OnlyReasoning { is_cut })
            }
            Some(Finish::Whole) if is_empty && self.is_refused => Err(ChatError::Withheld),
            // If the endpoint announced a call and sent none, that is no silence.
            Some(Finish::Calls | Finish::Cut | Finish::Filtered | Finish::Unknown) | None
                if is_empty =>
            {
                Err(ChatError::Withheld)
            }
            Some(Finish::Unknown) | None => Err(ChatError::Broken),
            Some(Finish::Whole | Finish::Calls | Finish::Cut | Finish::Filtered) => {
                Ok(ChatAnswer { text: text.into_owned(), calls, usage: None })
            }
        };
        (usage, answer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    impl Partial {
        /// The answer as it is when the endpoint says that it is whole.
        fn ended(mut self) -> Self {
            self.finish.get_or_insert(Finish::Whole);
            self
        }
    }

    fn read(chunks: &[&str]) -> Result<(Usage, String), ChatError> {
        let mut partial = Partial::default();
        for chunk in chunks {
            partial.add(serde_json::from_str(chunk).unwrap())?;
        }
        let (usage, answer) = partial.ended().into_answer("small", false, &Arc::default());
        answer.map(|answer| (usage, answer.text))
    }

    fn text_of(chunks: &[&str]) -> Result<String, ChatError> {
        read(chunks).map(|(_, text)| text)
    }

    #[test]
    fn content_is_read_as_a_text_or_as_parts_and_reasoning_is_left_out() {
        let chunks = [
            r#"{"choices": [{"delta": {"role": "assistant", "content": null, "reasoning_content": "Hm."}}]}"#,
            r#"{"choices": [{"delta": {"reasoning": "Well.", "content": ""}}]}"#,
            r#"{"choices": [{"delta": {"content": "Good "}, "finish_reason": null}]}"#,
            r#"{"choices": [{"delta": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "So"}]}, {"type": "text", "text": "morning"}]}}]}"#,
            r#"{"choices": [{"delta": {"content": [{"type": "text", "text": "So", "thought": true}, {"type": "reasoning_text", "text": "So"}]}}]}"#,
            r#"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#,
            r#"{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}, "model": "small-2"}"#,
        ];
        let (usage, text) = read(&chunks).unwrap();
        assert_eq!(text, "Good morning");
        assert_eq!((usage.total(), usage.model.as_str()), (5, "small-2"));
        assert!(!usage.is_estimated);
    }

    #[test]
    fn of_several_counts_the_last_holds_and_of_several_models_the_first() {
        let chunk = |tokens: u8, model: &str| {
            format!(
                r#"{{"choices": [{{"delta": {{"content": "{tokens}"}}}}], "usage": {{"prompt_tokens": 3, "completion_tokens": {tokens}}}, "model": "{model}"}}"#
            )
        };
        let (usage, text) = read(&[&chunk(1, "small-2"), &chunk(2, "another")]).unwrap();
        assert_eq!((usage.reply_tokens, &*usage.model, &*text), (2, "small-2", "12"));
    }

    #[test]
    fn without_numbers_the_reply_is_estimated() {
        let chunks =
            [r#"{"choices": [{"message": {"content": "12345678"}, "finish_reason": "stop"}]}"#];
        let (usage, _) = read(&chunks).unwrap();
        assert_eq!((usage.reply_tokens, usage.is_estimated), (2, true));
    }

    #[test]
    fn reasoning_without_an_answer_is_an_error_and_no_silence() {
        let fields = ["reasoning_content", "reasoning", "reasoning_details", "thinking"];
        for field in fields {
            let chunk = format!(
                r#"{{"choices": [{{"message": {{"content": "", "{field}": "Hm."}}, "finish_reason": "stop"}}]}}"#
            );
            assert_eq!(text_of(&[&chunk]), Err(ChatError::OnlyReasoning { is_cut: false }));
        }
        let blank = r#"{"choices": [{"message": {"content": "", "reasoning": " \n"}}]}"#;
        assert_eq!(text_of(&[blank]), Ok(String::new()), "nothing was thought");
        let cut = r#"{"choices": [{"message": {"content": "<think>And so"}, "finish_reason": "length"}]}"#;
        assert_eq!(text_of(&[cut]), Err(ChatError::OnlyReasoning { is_cut: true }));
    }

    #[test]
    fn an_empty_answer_is_silence_unless_it_was_cut_or_filtered() {
        let ended = |reason: &str| {
            text_of(&[&format!(
                r#"{{"choices": [{{"message": {{"content": ""}}, "finish_reason": "{reason}"}}]}}"#
            )])
        };
        assert_eq!(ended("stop"), Ok(String::new()));
        assert_eq!(ended("length"), Err(ChatError::Withheld));
        assert_eq!(ended("max_tokens"), Err(ChatError::Withheld));
        assert_eq!(ended("content_filter"), Err(ChatError::Withheld));
        assert_eq!(ended("error"), Err(ChatError::Broken));
        for reason in ["abort", "network_error", "insufficient_system_resource", "tool_calls"] {
            assert_eq!(ended(reason), Err(ChatError::Withheld), "{reason}");
        }
    }

    /// LM1: the names of a finish are known in any letter case, and a name that is not known ends no answer.
    #[test]
    fn the_names_of_a_finish_are_known_in_any_letter_case() {
        let names = [
            (Finish::Whole, vec!["stop", "STOP", "Stop", "end_turn", "eos_token", "COMPLETE"]),
            (Finish::Calls, vec!["tool_calls", "function_call", "TOOL_USE"]),
            (Finish::Cut, vec!["length", "LENGTH", "MAX_TOKENS", "model_length"]),
            (Finish::Filtered, vec!["content_filter", "SAFETY", "sensitive", "refusal"]),
            (Finish::Failed, vec!["error", "ERROR"]),
            (Finish::Unknown, vec!["abort", "cancelled", "network_error", "null", "stopped?"]),
        ];
        for (finish, names) in names {
            for name in names {
                assert_eq!(Finish::of(name), finish, "{name}");
            }
        }
    }

    /// LM1: a call that was cut before its arguments is no call without arguments.
    #[test]
    fn a_call_that_was_cut_is_not_carried_out_as_a_whole_one() {
        for (finish, expected) in [("length", None), ("tool_calls", Some(json!({})))] {
            let chunk = format!(
                r#"{{"choices": [{{"delta": {{"tool_calls": [{{"id": "a", "function": {{"name": "delete", "arguments": ""}}}}]}}, "finish_reason": "{finish}"}}]}}"#
            );
            let mut partial = Partial::default();
            partial.add_chunk(&chunk).unwrap();
            let answer = partial.into_answer("small", false, &Arc::default()).1.unwrap();
            assert_eq!(answer.calls[0].arguments, expected, "{finish}");
        }
    }

    /// LM1: whatever the shape of its chunks, text that follows a finish is an answer that goes on.
    #[test]
    fn text_after_a_finish_goes_on_and_a_repeated_finish_ends_it_again() {
        let chunk = |text: &str, finish: &str| {
            format!(
                r#"{{"choices": [{{"delta": {{"content": "{text}"}}, "finish_reason": {finish}}}]}}"#
            )
        };
        let mut partial = Partial::default();
        for (text, finish, is_finished) in [
            ("One", "null", false),
            (" two", "null", false),
            (" three", "\"stop\"", true),
            (" four", "null", false),
            (" five", "null", false),
            (" six", "\"stop\"", true),
            (" seven", "\"stop\"", true),
            ("", "null", true),
        ] {
            partial.add_chunk(&chunk(text, finish)).unwrap();
            assert_eq!(partial.is_finished(), is_finished, "{text}");
        }
        let text = partial.into_answer("small", false, &Arc::default()).1.unwrap().text;
        assert_eq!(text, "One two three four five six seven");
    }

    /// LM4: of an endpoint that went on after a finish the next one is waited for longer.
    #[test]
    fn a_finish_by_itself_closes_an_answer_unless_one_was_followed_by_words() {
        let mut partial = Partial::default();
        for (text, finish, is_closed) in [
            ("One", "null", false),
            ("", "\"stop\"", true),
            ("", "\"stop\"", true),
            (" two", "null", false),
            ("", "\"stop\"", false),
        ] {
            let chunk = format!(
                r#"{{"choices": [{{"delta": {{"content": "{text}"}}, "finish_reason": {finish}}}]}}"#
            );
            partial.add_chunk(&chunk).unwrap();
            assert_eq!(partial.is_closed(), is_closed, "{text} {finish}");
        }
        assert!(partial.is_finished());
    }

    #[test]
    fn of_several_answers_the_first_is_read() {
        let chunk = |index: &str, word: &str| {
            format!(r#"{{"choices": [{{"index": {index}, "delta": {{"content": "{word}"}}}}]}}"#)
        };
        let chunks = [chunk("0", "Good "), chunk("1", "Bad "), chunk("0", "day"), chunk("1", "no")];
        let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
        assert_eq!(text_of(&chunks), Ok("Good day".to_owned()));
        let both = r#"{"choices": [{"index": 0, "message": {"content": "Good"}}, {"index": 1, "message": {"content": "Bad"}}]}"#;
        assert_eq!(text_of(&[both]), Ok("Good".to_owned()));
        let unnumbered = [chunk("null", "Good "), chunk("\"0\"", "day")];
        let unnumbered: Vec<&str> = unnumbered.iter().map(String::as_str).collect();
        assert_eq!(text_of(&unnumbered), Ok("Good day".to_owned()));
        assert_eq!(text_of(&[&chunk("3", "Third")]), Ok("Third".to_owned()));
    }

    #[test]
    fn a_refusal_in_the_place_of_an_answer_is_no_silence() {
        let refused = r#"{"choices": [{"message": {"content": null, "refusal": "I cannot."}, "finish_reason": "stop"}]}"#;
        assert_eq!(text_of(&[refused]), Err(ChatError::Withheld));
        let answered = r#"{"choices": [{"message": {"content": "Yes.", "refusal": null}, "finish_reason": "stop"}]}"#;
        assert_eq!(text_of(&[answered]), Ok("Yes.".to_owned()));
    }

    #[test]
    fn an_error_inside_an_answer_is_told_by_its_code_and_never_by_its_words() {
        let reported = |error: &str| text_of(&[&format!(r#"{{"error": {error}}}"#)]).unwrap_err();
        let secret =
            reported(r#"{"message": "sk-secret", "code": "sk-secret", "type": "server_error"}"#);
        assert_eq!(secret, ChatError::Reported { code: Some("server_error".into()) });
        assert_eq!(reported(r#"{"code": 429}"#), ChatError::RateLimited { retry_after: None });
        let down = ChatError::Unavailable { status: 502, retry_after: None };
        assert_eq!(reported(r#"{"code": 502}"#), down);
        assert_eq!(reported(r#"{"code": "bad_gateway", "status": 502}"#), down);
        assert_eq!(reported(r#""overloaded""#), ChatError::Reported { code: None });
        let refused = ChatError::Refused { status: 401, code: None };
        assert_eq!(text_of(&[r#"{"code": 401, "message": "No."}"#]), Err(refused));
        assert_eq!(text_of(&[r#"{"error": null}"#]), Ok(String::new()));
    }

    #[test]
    fn a_chunk_whose_words_end_the_text_says_what_it_says_and_not_what_the_one_before_said() {
        let chunks = [
            r#"{"choices": [{"index": 0, "delta": {"content": "One"}}]}"#,
            r#"{"choices": [{"index": 0, "delta": {"content": " two"}}]}"#,
            r#"{"choices": [{"index": 0, "delta": {"content": "", "reasoning": "hidden"}}]}"#,
            r#"{"choices": [{"index": 0, "delta": {"content": " \"three\""}}]}"#,
            r#"{"choices": [{"index": 1, "delta": {"content": " other"}}]}"#,
            r#"{"choices": [{"index": 1, "delta": {"content": " answer"}}]}"#,
            r#"{"choices": [{"index": 0, "delta": {"content": " four"}}]}"#,
        ];
        let mut partial = Partial::default();
        for chunk in chunks {
            partial.add_chunk(chunk).unwrap();
        }
        assert!(partial.has_reasoning);
        assert_eq!(
            partial.ended().into_answer("small", false, &Arc::default()).1.unwrap().text,
            "One two \"three\" four"
        );
        let mut partial = Partial::default();
        partial.add_chunk(chunks[0]).unwrap();
        for none in ["\n", "\u{1f}", "a\"b"] {
            let chunk = chunks[0].replace("One", none);
            assert_eq!(partial.add_chunk(&chunk), Err(ChatError::NotChat), "{none:?}");
        }
        assert_eq!(partial.bytes(), 3);
    }

    #[test]
    fn a_chunk_is_compared_with_the_newest_and_with_no_earlier_one() {
        let chunk = |choice: u8, tokens: u8| {
            format!(
                r#"{{"choices": [{{"index": {choice}, "delta": {{"content": "a"}}}}], "usage": {{"prompt_tokens": {tokens}}}}}"#
            )
        };
        let mut partial = Partial::default();
        for chunk in [chunk(0, 1), chunk(1, 9), chunk(0, 1)] {
            partial.add_chunk(&chunk).unwrap();
        }
        let (usage, answer) = partial.ended().into_answer("small", false, &Arc::default());
        assert_eq!((usage.prompt_tokens, &*answer.unwrap().text), (1, "aa"));
    }

    #[test]
    fn a_call_that_is_told_twice_in_one_shape_is_two_fragments() {
        let chunk = r#"{"choices": [{"delta": {"content": "a", "tool_calls": [{"function": {"name": "roll", "arguments": "{}"}}]}}]}"#;
        let mut partial = Partial::default();
        for chunk in [chunk, chunk] {
            partial.add_chunk(chunk).unwrap();
        }
        assert_eq!(
            partial.ended().into_answer("small", false, &Arc::default()).1.unwrap().calls.len(),
            2
        );
    }

    /// Any JSON, of the names that are read.
    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z<>/{}]{0,8}".prop_map(Value::from),
        ];
        let name = prop::sample::select(vec![
            "content",
            "text",
            "type",
            "reasoning",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "index",
            "id",
            "input",
        ]);
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone(), inner, 0..4).prop_map(|fields| fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn chunks_of_one_shape_say_what_each_of_them_says_by_itself(
            said in prop::collection::vec((0..4_usize, "[a-z\"\\\\é\n]{0,6}", 0..3_u64), 0..20),
        ) {
            let (mut quick, mut slow) = (Partial::default(), Partial::default());
            for (shape, words, number) in said {
                let delta = match shape {
                    0 => json!({ "content": words }),
                    1 => json!({ "role": "assistant", "content": words, "reasoning": null }),
                    2 => json!({ "reasoning": words }),
                    _ => json!({ "tool_calls": [{ "function": { "arguments": words } }] }),
                };
                let choice = json!({ "index": number / 2, "delta": delta });
                let usage = json!({ "prompt_tokens": number, "completion_tokens": 1 });
                let chunk = json!({ "choices": [choice], "usage": usage }).to_string();
                quick.add_chunk(&chunk).unwrap();
                slow.add(serde_json::from_str(&chunk).unwrap()).unwrap();
            }
            prop_assert_eq!(quick.bytes(), slow.bytes());
            prop_assert_eq!(quick.ended().into_answer("small", false, &Arc::default()), slow.ended().into_answer("small", false, &Arc::default()));
        }

        #[test]
        fn whatever_an_endpoint_sends_is_an_answer_or_an_error(
            deltas in prop::collection::vec(anything(), 1..5),
            finish in anything(),
            usage in anything(),
        ) {
            let mut partial = Partial::default();
            for delta in deltas {
                let choice = json!({ "delta": delta, "finish_reason": finish });
                let chunk = json!({ "choices": [choice], "usage": usage }).to_string();
                if let Ok(completion) = serde_json::from_str(&chunk) {
                    let _ = partial.add(completion);
                }
            }
            if let (_, Ok(answer)) = partial.into_answer("small", false, &Arc::default()) {
                prop_assert!(answer.calls.iter().all(|call| !call.id.is_empty()));
            }
        }
    }
}
