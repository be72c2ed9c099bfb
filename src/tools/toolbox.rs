//! What every tool acts with.

use std::fmt;
use std::sync::Arc;

use crate::Dirigent;
use crate::ports::discord::GuildApi;

/// Carries out what agents ask for. A cheap clone for any task.
///
/// Every request of Discord is bounded in time. A read that fails is repeated where that may help;
/// the creation of a channel is not, since a second one might come of it. How many channels agents may create
/// is limited by [`LimitRules::creations`](crate::settings::LimitRules::creations).
///
/// # Cancellation
///
/// A call that is given up while a channel is being created may leave a channel without a mode.
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
    /// Acts as the moderator.
    pub(super) guild_api: Arc<dyn GuildApi>,
    pub(super) callbacks: CallbackPolicy,
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
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("dirigent", &self.dirigent).finish_non_exhaustive()
    }
}
