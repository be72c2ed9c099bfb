//! How much, how often and how long.

use std::time::Duration;

/// What bounds a turn, or a question outside of one. Set with [`ChatAgent::limits`](crate::ChatAgent::limits) or
/// [`Chat::limits`](crate::Chat::limits).
///
/// ```
/// let limits = dirigent_llm::Limits::default();
/// assert_eq!((limits.messages, limits.prompt_tokens), (50, 3_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most messages of the channel in a prompt, newest first; at most 100, one request of Discord's. What people said
    /// since the agent's last turn ([`Turn::missed`](dirigent::Turn::missed)) is in the prompt even if it is more. Default 50.
    pub messages: usize,
    /// The most tokens of a prompt, estimated at four letters a token: briefing, tools, messages and what tools answered. The
    /// oldest messages are left out first, then the oldest of what people said since the agent's last turn, and the prompt says
    /// how many these are; then the oldest rounds of tools, each with its answers. The briefing, the newest
    /// message and the newest round stay. Default 3,000, which leaves room for an answer in a context of 4,096, as local servers
    /// have it unless told otherwise; they cut the briefing off without a word.
    pub prompt_tokens: usize,
    /// How many pictures of the channel's messages the model is shown in a turn, the newest: PNG, JPEG, WebP and GIF. Each counts as
    /// 1,000 tokens of the prompt. They are read from the chat's own file host and sent to the agent's endpoints, and nowhere else.
    /// Default 0: the model reads the files' names, and the briefing says that it cannot see them. For a model that takes pictures.
    pub pictures: usize,
    /// The most bytes of all pictures of a turn together; those that would exceed it are not shown. Default 4 MiB.
    pub picture_bytes: usize,
    /// Rounds in which the model may call tools in a turn. In the one after them it must answer; if it only calls
    /// tools all the same, the turn fails with [`ChatError::ToolRounds`](crate::ChatError::ToolRounds). Default 8.
    pub tool_rounds: usize,
    /// The most letters of one tool's answer that the model is given; of a longer one the beginning. Default 8,000.
    pub tool_answer_chars: usize,
    /// How long the first byte of an answer may take, connecting included. A model that is loaded first, or that reads a long
    /// prompt on a CPU, needs minutes. Default 120 s.
    pub first_byte: Duration,
    /// How long an answer that has begun may pause. Default 30 s.
    pub between_bytes: Duration,
    /// How long an answer may take from the request to its end. An endpoint that sends signs of life and no answer is given up
    /// then; it is not asked again. Default 10 min, as long as a turn may last by default.
    pub whole_answer: Duration,
    /// The longest answer, in bytes, reasoning not counted in. Default 256 KiB.
    pub answer_bytes: usize,
    /// How often a request is repeated at one endpoint after a failure that may pass, within the turn's deadline. Default 2.
    pub retries: u32,
    /// The first wait before a repetition where the endpoint asks for none; it doubles each time. Default 1 s.
    pub retry_wait: Duration,
    /// The longest wait for an endpoint while there is another to fall back on, and, in a turn without a deadline, at all.
    /// Default 20 s.
    pub retry_wait_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            messages: 50,
            prompt_tokens: 3_000,
            pictures: 0,
            picture_bytes: 4 << 20,
            tool_rounds: 8,
            tool_answer_chars: 8_000,
            first_byte: Duration::from_secs(120),
            between_bytes: Duration::from_secs(30),
            whole_answer: Duration::from_secs(600),
            answer_bytes: 256 * 1_024,
            retries: 2,
            retry_wait: Duration::from_secs(1),
            retry_wait_max: Duration::from_secs(20),
        }
    }
}
