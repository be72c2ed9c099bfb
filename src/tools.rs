//! The tools that agents call: creating channels, opening and completing a discussion, and
//! registering themselves (seed 1, sections 1, 3 and 5).
//!
//! A host offers [`definitions`] to its models and gives every call to [`Tools::call`], together
//! with the [`Caller`], which it knows from the session. The answer goes back to the model as JSON,
//! and so does a [`ToolError`]. Hosts that are no go-between call the methods with typed arguments.
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

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::{Dirigent, GuildApi};

mod call;
mod caller;
mod channel;
mod complete;
pub(crate) mod creations;
mod definition;
mod discussion;
mod error;
mod fields;
mod membership;
mod opening;
mod register;
mod schema;
mod summary;

pub use call::{ToolCall, parse};
pub use caller::Caller;
pub use channel::{ChannelReady, CreateChatChannel, CreateReportChannel, CreateWorkChannel};
pub use complete::{DiscussionComplete, DiscussionCompleted};
pub use definition::{ToolDefinition, definitions};
pub use discussion::{CreateDiscussionChannel, DiscussionReady};
pub use error::{CreationScope, ToolError};
pub use register::{DirigentRegister, IdentityRegistered};

/// Carries out what agents ask for. A cheap clone for any task.
///
/// Every request of Discord is bounded in time. A read that fails is repeated where that may help;
/// the creation of a channel is not, since a second one might come of it. How many channels agents may create
/// is limited by [`Settings::creations`](crate::Settings::creations).
///
/// # Cancellation
///
/// A call that is given up while a channel is being created may leave a channel without a mode.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::tools::{Caller, Tools};
/// use dirigent::{Dirigent, GuildApi};
///
/// # async fn host(dirigent: Dirigent, moderator: Arc<dyn GuildApi>, arguments: serde_json::Value) {
/// let tools = Tools::new(dirigent, moderator);
/// let answer = match tools.call(&Caller::new("poet"), "dirigent-register", &arguments).await {
///     Ok(answer) => answer,
///     Err(error) => serde_json::json!(error),
/// };
/// # let _ = answer;
/// # }
/// ```
#[derive(Clone)]
pub struct Tools {
    dirigent: Dirigent,
    /// Acts as the moderator.
    guild_api: Arc<dyn GuildApi>,
    callbacks: CallbackPolicy,
}

/// Where an agent may open a discussion and have its result posted.
///
/// ```no_run
/// use dirigent::tools::{CallbackPolicy, Tools};
/// # fn host(tools: Tools) -> Tools {
/// // Every agent here belongs to one team, in all of its servers.
/// tools.callbacks(CallbackPolicy::AnyGuild)
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallbackPolicy {
    /// In the guild of the agent's session, with a callback channel that the agent's own account can
    /// see.
    #[default]
    SessionGuild,
    /// In any guild in which the moderator is an administrator, with any callback channel that the
    /// moderator can see. An agent spoken to in one guild then acts in another with the moderator's
    /// rights; choose this only where every agent may do so.
    AnyGuild,
}

impl Tools {
    /// The tools of this library, acting in Discord through `guild_api`, which must be the
    /// moderator's account.
    pub fn new(dirigent: Dirigent, guild_api: Arc<dyn GuildApi>) -> Self {
        Self { dirigent, guild_api, callbacks: CallbackPolicy::default() }
    }

    /// Sets where agents may open discussions. Default [`CallbackPolicy::SessionGuild`].
    #[must_use]
    pub const fn callbacks(mut self, policy: CallbackPolicy) -> Self {
        self.callbacks = policy;
        self
    }

    /// Carries out a call as a model made it.
    ///
    /// # Errors
    ///
    /// Each says what may be concluded and what to do; serialise it as the model's answer.
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

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("dirigent", &self.dirigent).finish_non_exhaustive()
    }
}

/// A result as JSON. Structs of texts, numbers and lists always convert.
fn answer(result: impl Serialize) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}
