//! Polls in Discord's form (resources/poll). Votes are not counted here.

use std::time::Duration;

use dirigent::ports::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use dirigent_testkit::memory_discord::moment;

/// The longest question, in characters.
const QUESTION_CHARS_MAX: usize = 300;

/// The longest answer, in characters.
const ANSWER_CHARS_MAX: usize = 55;

/// The most answers.
const ANSWERS_MAX: usize = 10;

/// The longest time that a poll may be open, in hours.
const HOURS_MAX: u64 = 768;

/// The default time that a poll is open, in hours.
const HOURS_USUAL: u64 = 24;

/// A poll as it is posted.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PollRequest {
    question: Media,
    answers: Vec<AnswerRequest>,
    duration: Option<u64>,
    allow_multiselect: Option<bool>,
    layout_type: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct AnswerRequest {
    poll_media: Media,
}

/// A text, with an emoji if it is an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Media {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emoji: Option<Value>,
}

/// A poll as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Poll {
    question: Media,
    answers: Vec<Answer>,
    expiry: String,
    allow_multiselect: bool,
    layout_type: u64,
    results: Results,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Answer {
    answer_id: usize,
    poll_media: Media,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Results {
    answer_counts: [u8; 0],
    is_finalized: bool,
}

/// A wrong field of a poll, with its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadPoll {
    pub(crate) field: &'static str,
    pub(crate) bounds: (usize, usize),
}

impl PollRequest {
    /// Creates a poll of one question with these answers. It allows one choice and is open for a
    /// day.
    pub(crate) fn new(question: &str, answers: &[String]) -> Self {
        let media = |text: &str| Media { text: Some(text.to_owned()), emoji: None };
        let answers = answers.iter().map(|text| AnswerRequest { poll_media: media(text) });
        Self {
            question: media(question),
            answers: answers.collect(),
            duration: None,
            allow_multiselect: None,
            layout_type: None,
        }
    }

    /// Opens the poll, if it is within Discord's limits.
    pub(crate) fn open(self, now: Timestamp) -> Result<Poll, BadPoll> {
        let bad = |field, bounds| Err(BadPoll { field, bounds });
        let length = |media: &Media| media.text.as_deref().map_or(0, |text| text.chars().count());
        if !(1..=QUESTION_CHARS_MAX).contains(&length(&self.question)) {
            return bad("question.text", (1, QUESTION_CHARS_MAX));
        }
        if !(1..=ANSWERS_MAX).contains(&self.answers.len()) {
            return bad("answers", (1, ANSWERS_MAX));
        }
        let mut lengths = self.answers.iter().map(|answer| length(&answer.poll_media));
        if lengths.any(|length| !(1..=ANSWER_CHARS_MAX).contains(&length)) {
            return bad("answers.poll_media.text", (1, ANSWER_CHARS_MAX));
        }
        let hours = self.duration.unwrap_or(HOURS_USUAL);
        if !(1..=HOURS_MAX).contains(&hours) {
            return bad("duration", (1, 768));
        }
        let answers = self.answers.into_iter().zip(1..);
        let answers =
            answers.map(|(answer, answer_id)| Answer { answer_id, poll_media: answer.poll_media });
        Ok(Poll {
            question: self.question,
            answers: answers.collect(),
            expiry: moment::written(now + Duration::from_secs(hours * 60 * 60)),
            allow_multiselect: self.allow_multiselect.unwrap_or(false),
            layout_type: self.layout_type.unwrap_or(1),
            results: Results { answer_counts: [], is_finalized: false },
        })
    }
}
