//! `dirigent-register`.

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Arguments;
use super::fields::{Fields, needed, plain_name};
use super::opening::is_absent;
use super::{Caller, ToolError, Tools};
use crate::ports::identity::Identity;
use crate::{AgentId, UserId};

/// The arguments of `dirigent-register`.
///
/// ```
/// use dirigent::tools::DirigentRegister;
/// let call: DirigentRegister =
///     serde_json::from_str(r#"{ "discordUserId": "123456789012345678", "agentId": "other" }"#)?;
/// assert_eq!(call.agent_name, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly these arguments")]
pub struct DirigentRegister {
    /// The user id of your own Discord account, a bot of this server: 15 to 20 digits, as a string.
    pub discord_user_id: UserId,
    /// Your name for people, 1 to 100 characters in one line. Leave it out to keep the one that you
    /// have.
    #[schemars(length(min = 1, max = 100))]
    pub agent_name: Option<String>,
}

/// An agent's entry in the registry, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IdentityRegistered {
    /// The agent that called.
    pub agent_id: AgentId,
    /// The account of the agent.
    pub discord_user_id: UserId,
    /// The name of the agent for people.
    pub agent_name: String,
    /// `true` if it had no entry before.
    pub is_new: bool,
}

impl Tools {
    /// Adds the caller to the registry, or changes its entry. The account must be a bot's in the guild of the caller's
    /// session. To register other accounts, use your [`IdentityStore`](crate::IdentityStore).
    ///
    /// # Errors
    ///
    /// Fails with a [`ToolError`]. After [`ToolError::Failed`] the entry may be stored but not in use yet, and another
    /// call fixes this.
    pub async fn dirigent_register(
        &self,
        caller: &Caller,
        arguments: DirigentRegister,
    ) -> Result<IdentityRegistered, ToolError> {
        let DirigentRegister { discord_user_id, agent_name } = arguments.checked()?;
        self.dirigent.live().await?;
        let shared = &self.dirigent.runtime;
        // The moderator's own messages would count as this agent's.
        if shared.registry.directory().moderator() == Some(discord_user_id) {
            return Err(ToolError::ModeratorAccount);
        }
        self.check_account(caller, discord_user_id).await?;
        let limit = shared.settings.time_limits.call;
        let known = shared.within(limit, shared.identities.all()).await??;
        let own = known.into_iter().find(|identity| identity.agent_id == caller.agent);
        let is_new = own.is_none();
        // Without a name it keeps the one that it has, or takes the agent's own.
        let agent_name = agent_name
            .or_else(|| own.map(|identity| identity.agent_name))
            .unwrap_or_else(|| caller.agent.as_str().to_owned());
        let agent_id = caller.agent.clone();
        let identity = Identity {
            discord_user_id,
            agent_id: agent_id.clone(),
            agent_name: agent_name.clone(),
        };
        shared.within(limit, shared.identities.register(identity)).await??;
        self.dirigent.identities_changed().await?;
        Ok(IdentityRegistered { agent_id, discord_user_id, agent_name, is_new })
    }

    /// Checks that the account is a bot of the session's guild. If an agent named a person's account here, the person
    /// would get turns.
    async fn check_account(&self, caller: &Caller, account: UserId) -> Result<(), ToolError> {
        let guild = caller.guild.ok_or(ToolError::NotInGuild)?;
        match self.dirigent.runtime.retry(|| self.guild_api.is_bot(guild, account)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(ToolError::PersonsAccount),
            Err(error) if is_absent(&error) => {
                // The moderator may be missing in the guild, and then this is the error to correct.
                self.moderated(guild).await?;
                Err(ToolError::AccountNotInGuild)
            }
            Err(error) => Err(ToolError::Failed(error)),
        }
    }
}

impl Arguments for DirigentRegister {
    const TOOL: &'static str = "dirigent-register";

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError> {
        let discord_user_id = needed("discordUserId", fields.id("discordUserId")?)?;
        Ok(Self { discord_user_id, agent_name: fields.text("agentName")? })
    }

    fn checked(self) -> Result<Self, ToolError> {
        let agent_name = self.agent_name.map(|name| plain_name("agentName", &name)).transpose()?;
        Ok(Self { agent_name, ..self })
    }
}
