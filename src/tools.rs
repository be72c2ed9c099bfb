//! The tools that agents call. They create channels, open and complete a discussion, and register the agent itself.
//!
//! You offer [`definitions`] to your models, and pass every call to [`Tools::call`], together with the [`Caller`],
//! which you know from the session. The answer goes back to the model as JSON, and so does a [`ToolError`]. If no model
//! is involved, call the methods with typed arguments.
//!
//! ```
//! use dirigent::tools::{definitions, parse};
//!
//! let names: Vec<_> = definitions().into_iter().map(|tool| tool.name).collect();
//! assert_eq!(names.len(), 6);
//!
//! let error = parse("create-chat-channel", &serde_json::json!({})).unwrap_err();
//! assert_eq!(error.code(), "missing-argument");
//! ```

mod arguments;
mod call;
mod caller;
mod channel;
mod complete;
mod definition;
mod discussion;
mod error;
mod fields;
mod membership;
mod opening;
mod register;
mod schema;
mod summary;
mod toolbox;

#[doc(hidden)] // `Tools::call` takes and gives them as JSON
pub use call::{ToolCall, parse};
pub use caller::Caller;
#[doc(hidden)] // `Tools::call` takes and gives them as JSON
pub use channel::{ChannelReady, CreateChatChannel, CreateReportChannel, CreateWorkChannel};
#[doc(hidden)] // `Tools::call` takes and gives them as JSON
pub use complete::{DiscussionComplete, DiscussionCompleted};
pub use definition::{ToolDefinition, definitions};
#[doc(hidden)] // `Tools::call` takes and gives them as JSON
pub use discussion::{CreateDiscussionChannel, DiscussionReady};
pub use error::ToolError;
#[doc(hidden)] // `Tools::call` takes and gives them as JSON
pub use register::{DirigentRegister, IdentityRegistered};
pub use toolbox::{CallbackPolicy, Tools};
