//! What a model is asked, and what it answers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::ModelToolCall;
use crate::message::{ModelMessage, Role};
use crate::toolbox::Tool;
use crate::usage::Usage;

/// What a [`Chat`](crate::Chat) asks its model: a conversation, all of it, and the tools that may be called. `Debug` shows no text.
///
/// ```
/// use dirigent_llm::{ModelMessage, Question, Tool};
///
/// let question = Question::new([ModelMessage::system("Be brief."), ModelMessage::user("Roll the die!")]);
/// let question = question.tools([Tool::new("roll", "Rolls a die.")]);
/// assert_eq!(question.user_message(), "Roll the die!");
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The conversation, oldest first. All of it is sent.
    pub messages: Vec<ModelMessage<'a>>,
    /// The tools that may be called. Default: none.
    pub tools: Arc<[Tool]>,
    /// Whether the model may call them now. Without it the model reads of them, since it sees earlier calls, and must answer.
    /// Default: yes.
    pub may_call: bool,
    /// How much the model is to think. It is sent as `reasoning_effort`, unless it is [`Thinking::Off`]. Default none: what the
    /// endpoint is set to.
    pub thinking: Option<Thinking>,
    /// Whether the answer keeps its tags, except a `<think>` block at its beginning. Default: no, and what may be reasoning is
    /// left out.
    pub keeps_tags: bool,
}

impl<'a> Question<'a> {
    /// Creates a question without tools.
    pub fn new(messages: impl Into<Vec<ModelMessage<'a>>>) -> Self {
        let (tools, messages) = (Arc::default(), messages.into());
        Self { messages, tools, may_call: true, thinking: None, keeps_tags: false }
    }

    /// Sets the tools.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Arc<[Tool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets how much the model is to think.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<Option<Thinking>>) -> Self {
        self.thinking = thinking.into();
        self
    }

    /// Keeps the answer's tags, except a `<think>` block at its beginning: for callers who ask for tags of their own.
    #[must_use]
    pub const fn keep_tags(mut self) -> Self {
        self.keeps_tags = true;
        self
    }

    /// Returns the newest words that are said to the model; an empty text where there are none.
    pub fn user_message(&self) -> &str {
        let mut said = self.messages.iter().rev().filter(|message| message.role() == Role::User);
        said.next().map_or("", ModelMessage::text)
    }
}

impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("messages", &self.messages.len())
            .field("tools", &self.tools.len())
            .field("thinking", &self.thinking)
            .finish_non_exhaustive()
    }
}

/// How much a model is to think before it answers.
///
/// ```
/// use dirigent_llm::Thinking;
/// assert_eq!(Thinking::High.as_str(), "high");
/// assert_eq!(serde_json::to_string(&Thinking::Xhigh)?, "\"xhigh\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Thinking {
    /// Not at all.
    Off,
    /// As little as the model can.
    Minimal,
    /// A little.
    Low,
    /// As much as most questions need.
    Medium,
    /// Much thinking.
    High,
    /// More than that, where a model knows it.
    Xhigh,
}

impl Thinking {
    /// Returns its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
        }
    }
}

/// What a model answered. `Debug` shows no text.
///
/// ```
/// use dirigent_llm::ChatAnswer;
/// use serde_json::json;
///
/// let mut both = ChatAnswer::call("roll", json!({ "sides": 6 }));
/// both.calls.extend(ChatAnswer::call("draw", json!({})).calls);
/// assert_eq!(both.calls.len(), 2);
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatAnswer {
    /// What it says, without reasoning; mostly empty beside calls.
    pub text: String,
    /// What it calls.
    pub calls: Vec<ModelToolCall>,
    /// What it used. A [`Chat`](crate::Chat) always knows it, or estimates it.
    pub usage: Option<Usage>,
}

impl ChatAnswer {
    /// Creates an answer that says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates an answer that calls one tool.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::calls([ModelToolCall::new("call", tool, Some(arguments))])
    }

    /// Creates an answer with these calls.
    pub fn calls(calls: impl IntoIterator<Item = ModelToolCall>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// Returns whether it says nothing and calls nothing.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.text.trim().is_empty()
    }
}

impl fmt::Debug for ChatAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatAnswer")
            .field("text", &format_args!("{} bytes", self.text.len()))
            .field("calls", &self.calls)
            .field("usage", &self.usage)
            .finish()
    }
}
