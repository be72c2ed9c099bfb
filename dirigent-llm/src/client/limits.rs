//! Limits of a turn: sizes, counts and times.

use std::time::Duration;

/// Limits of a turn, or of a question outside one. You change them with [`ChatAgent::limits`](crate::ChatAgent::limits)
/// or [`Chat::limits`](crate::Chat::limits).
///
/// ```
/// let limits = dirigent_llm::Limits::default();
/// assert_eq!((limits.messages, limits.prompt_tokens), (50, 3_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most messages of the channel in a prompt, newest first. At most 100, because that is one request of
    /// Discord's. Messages that people wrote since the agent's last turn ([`Turn::missed`](dirigent::Turn::missed)) are
    /// included even beyond this limit. Default 50.
    pub messages: usize,
    /// The most tokens of a prompt, estimated at four letters a token: briefing, tools, messages and the tools'
    /// answers.
    ///
    /// If it is too long, the oldest messages are left out first. Next are the oldest messages that people wrote since
    /// the agent's last turn, and the prompt says how many. Last are the oldest rounds of tools, each with its answers.
    /// The briefing, the newest message and the newest round always stay.
    ///
    /// Default 3,000. That leaves room for an answer in a context of 4,096 tokens, which local servers often have by
    /// default. Those servers would cut off the briefing without an error.
    pub prompt_tokens: usize,
    /// The most pictures that the model sees in a turn, newest first. PNG, JPEG, WebP and GIF count; each costs 1,000
    /// tokens of the prompt. They are read from the chat's own file host, and sent only to the agent's endpoints. Raise
    /// it if your model takes pictures. With the default 0 the model reads only file names, and the briefing says that
    /// it cannot see the files.
    pub pictures: usize,
    /// The most bytes of all pictures of a turn together. A picture that would exceed it is not shown. Default 4 MiB.
    pub picture_bytes: usize,
    /// The most rounds in a turn in which the model may call tools. In the next one it must answer. If it only calls
    /// tools there, the turn fails with [`ChatError::ToolRounds`](crate::ChatError::ToolRounds). Default 8.
    pub tool_rounds: usize,
    /// The most letters of a tool's answer that the model reads. A longer answer is cut at the end. Default 8,000.
    pub tool_answer_chars: usize,
    /// The longest wait for the first byte of an answer, including the connection. A model needs minutes if it must be
    /// loaded first, or if it reads a long prompt on a CPU. Default 120 s.
    pub first_byte: Duration,
    /// The longest pause within an answer. Default 30 s.
    pub between_bytes: Duration,
    /// The longest time from the request to the end of its answer. It ends a request to an endpoint that shows signs of
    /// life and never answers; such a request is not repeated. Default 10 min, which is also the default limit of a
    /// turn.
    pub whole_answer: Duration,
    /// The most bytes of an answer, without its reasoning. Default 256 KiB.
    pub answer_bytes: usize,
    /// The most repetitions of a request at one endpoint after a failure that may pass. All of them must fit into the
    /// turn's deadline. Default 2.
    pub retries: u32,
    /// The first wait before a request is repeated, if the endpoint does not ask for another one. It doubles each time.
    /// Default 1 s.
    pub retry_wait: Duration,
    /// The longest wait for an endpoint if there is another one to fall back on, or if the turn has no deadline.
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
