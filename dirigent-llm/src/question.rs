//! A question to a model, and its answer.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::ModelToolCall;
use crate::message::{ModelMessage, Role};
use crate::toolbox::Tool;
use crate::usage::Usage;

/// A question to the model of a [`Chat`](crate::Chat): the whole conversation, and the tools that the model may call.
/// `Debug` shows no text.
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
    /// The conversation, oldest message first. All of it is sent.
    pub messages: Vec<ModelMessage<'a>>,
    /// The tools that the model may call. There are none by default.
    pub tools: Arc<[Tool]>,
    /// True if the model may call tools now, which is the default. If you set it to false, the model still reads about
    /// the tools, because it sees earlier calls, but must answer.
    pub may_call: bool,
    /// How much the model should think, sent as `reasoning_effort`. With `None`, the default, or with [`Thinking::Off`]
    /// the field is not sent, and the endpoint's own setting applies.
    pub thinking: Option<Thinking>,
    /// True if the answer keeps its tags, except a leading `<think>` block. By default everything that may be reasoning
    /// is removed.
    pub keeps_tags: bool,
}

impl<'a> Question<'a> {
    /// Creates a question without tools.
    pub fn new(messages: impl Into<Vec<ModelMessage<'a>>>) -> Self {
        let (tools, messages) = (Arc::default(), messages.into());
        Self { messages, tools, may_call: true, thinking: None, keeps_tags: false }
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Arc<[Tool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets how much the model should think.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<Option<Thinking>>) -> Self {
        self.thinking = thinking.into();
        self
    }

    /// Keeps the answer's tags, except a leading `<think>` block. You need it if you ask the model for tags of your
    /// own.
    #[must_use]
    pub const fn keep_tags(mut self) -> Self {
        self.keeps_tags = true;
        self
    }

    /// Returns the newest text of a user, or an empty text if there is none.
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

/// How much a model should think before it answers.
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
    /// No thinking.
    Off,
    /// As little as the model can.
    Minimal,
    /// A little.
    Low,
    /// Enough for most questions.
    Medium,
    /// A lot.
    High,
    /// More than [`High`](Self::High), if the model knows it.
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

/// A model's answer. `Debug` shows no text.
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
    /// The text without reasoning. It is usually empty if there are calls.
    pub text: String,
    /// The tools that the model calls.
    pub calls: Vec<ModelToolCall>,
    /// The usage. A [`Chat`](crate::Chat) always sets it, and estimates it if the endpoint does not report it.
    pub usage: Option<Usage>,
}

impl ChatAnswer {
    /// Creates an answer with this text.
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

    /// Returns true if there is neither text nor a call.
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
