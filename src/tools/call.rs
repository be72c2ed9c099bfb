//! A call as a model made it, and its meaning.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use super::arguments::Arguments;
use super::fields::Fields;
use super::{
    Caller, CreateChatChannel, CreateDiscussionChannel, CreateReportChannel, CreateWorkChannel,
    DirigentRegister, DiscussionComplete, ToolError, Tools,
};

/// A call with valid arguments.
///
/// ```
/// use dirigent::tools::{ToolCall, parse};
///
/// let arguments = serde_json::json!({ "name": "round-table", "mood": "good" });
/// let ToolCall::CreateWorkChannel(call) = parse("create-work-channel", &arguments)? else {
///     unreachable!()
/// };
/// assert_eq!(call.name, "round-table");
/// # Ok::<(), dirigent::tools::ToolError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the seed names exactly six tools")]
pub enum ToolCall {
    /// `create-chat-channel`.
    CreateChatChannel(CreateChatChannel),
    /// `create-report-channel`.
    CreateReportChannel(CreateReportChannel),
    /// `create-work-channel`.
    CreateWorkChannel(CreateWorkChannel),
    /// `create-discussion-channel`.
    CreateDiscussionChannel(CreateDiscussionChannel),
    /// `discussion-complete`.
    DiscussionComplete(DiscussionComplete),
    /// `dirigent-register`.
    DirigentRegister(DirigentRegister),
}

/// Reads a call. It has no other effect, so the same name and arguments always give the same answer.
///
/// Arguments that the tool does not have are ignored. You may write each argument with hyphens or in camel case, and
/// null means that it is missing.
///
/// # Errors
///
/// Fails for an unknown name, and for an argument that is missing, of another kind, or not acceptable.
pub fn parse(name: &str, arguments: &Value) -> Result<ToolCall, ToolError> {
    match name {
        CreateChatChannel::TOOL => read(arguments).map(ToolCall::CreateChatChannel),
        CreateReportChannel::TOOL => read(arguments).map(ToolCall::CreateReportChannel),
        CreateWorkChannel::TOOL => read(arguments).map(ToolCall::CreateWorkChannel),
        CreateDiscussionChannel::TOOL => read(arguments).map(ToolCall::CreateDiscussionChannel),
        DiscussionComplete::TOOL => read(arguments).map(ToolCall::DiscussionComplete),
        DirigentRegister::TOOL => read(arguments).map(ToolCall::DirigentRegister),
        _ => Err(ToolError::UnknownTool),
    }
}

fn read<T: Arguments>(arguments: &Value) -> Result<T, ToolError> {
    T::read(&Fields::of(arguments)?)?.checked()
}

macro_rules! deserialize {
    ($($arguments:ident)*) => {$(
        /// Reads the arguments like [`parse`].
        impl<'de> Deserialize<'de> for $arguments {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }
    )*};
}

deserialize! {
    CreateChatChannel CreateReportChannel CreateWorkChannel CreateDiscussionChannel
    DiscussionComplete DirigentRegister
}

impl Tools {
    /// Carries out a call as a model made it.
    ///
    /// # Errors
    ///
    /// Each error says whether something was changed, and what to do. Serialize it as the answer to the model.
    pub async fn call(
        &self,
        caller: &Caller,
        name: &str,
        arguments: &Value,
    ) -> Result<Value, ToolError> {
        match parse(name, arguments)? {
            ToolCall::CreateChatChannel(arguments) => {
                self.create_chat_channel(caller, arguments).await.map(answer)
            }
            ToolCall::CreateReportChannel(arguments) => {
                self.create_report_channel(caller, arguments).await.map(answer)
            }
            ToolCall::CreateWorkChannel(arguments) => {
                self.create_work_channel(caller, arguments).await.map(answer)
            }
            ToolCall::CreateDiscussionChannel(arguments) => {
                self.create_discussion_channel(caller, arguments).await.map(answer)
            }
            ToolCall::DiscussionComplete(arguments) => {
                self.discussion_complete(caller, arguments).await.map(answer)
            }
            ToolCall::DirigentRegister(arguments) => {
                self.dirigent_register(caller, arguments).await.map(answer)
            }
        }
    }
}

/// Converts a result to JSON. Structs of texts, numbers and lists always convert.
fn answer(result: impl Serialize) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}
