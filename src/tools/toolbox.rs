//! The value that carries out all tools.

use std::fmt;
use std::sync::Arc;

use crate::Dirigent;
use crate::ports::discord::GuildApi;

/// Carries out the tool calls of agents. It is a cheap clone for any task.
///
/// Every request to Discord has a time limit. A read that fails is repeated if that may help. The creation of a channel
/// is not repeated, because this could create a second one.
/// [`LimitRules::creations`](crate::settings::LimitRules::creations) limits how many channels agents may create.
///
/// # Cancellation
///
/// If you drop a call while a channel is being created, a channel without a mode may stay behind.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::tools::{Caller, Tools};
/// use dirigent::Dirigent;
/// use dirigent::ports::GuildApi;
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
    pub(super) dirigent: Dirigent,
    /// The guild functions, which act as the moderator.
    pub(super) guild_api: Arc<dyn GuildApi>,
    pub(super) callbacks: CallbackPolicy,
}

/// The places where an agent may open a discussion and have its result posted.
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
    /// The guild of the agent's session, with a callback channel that the agent's own account can see.
    #[default]
    SessionGuild,
    /// Any guild in which the moderator is an administrator, with any callback channel that the moderator can see. An
    /// agent that got a message in one guild then uses the moderator's rights in another. Choose this only if every
    /// agent may do so.
    AnyGuild,
}

impl Tools {
    /// Creates the tools. They act in Discord through `guild_api`, which must be the moderator's account.
    pub fn new(dirigent: Dirigent, guild_api: Arc<dyn GuildApi>) -> Self {
        Self { dirigent, guild_api, callbacks: CallbackPolicy::default() }
    }

    /// Sets where agents may open discussions. The default is [`CallbackPolicy::SessionGuild`].
    #[must_use]
    pub const fn callbacks(mut self, policy: CallbackPolicy) -> Self {
        self.callbacks = policy;
        self
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("dirigent", &self.dirigent).finish_non_exhaustive()
    }
}
