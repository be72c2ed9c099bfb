//! Reads the accounts and the registry at the start. It reads the registry also when that has changed.

use std::time::Duration;

use dirigent_core::Input;

use super::Runtime;
use super::host_code::caught;
use super::registry::Changes;
use crate::ports::identity::{Identity, RegisterError};
use crate::runtime::run_error::RunError;
use crate::settings::limits::WORK_TIME;
use crate::text::plain::folded;
use crate::values::error::ApiError;
use crate::{DiscordApi, UserId};

/// The wait before a chat that did not answer at the start is asked again.
const START_AGAIN: Duration = Duration::from_secs(10);

/// Asks for an account that the library acts as. It waits for a chat that is away, and fails if the chat refuses.
async fn own_account(runtime: &Runtime, discord: &dyn DiscordApi) -> Result<UserId, ApiError> {
    loop {
        match runtime.retry(|| discord.me()).await {
            // A bot often starts before its network.
            Err(error) if error.kind().is_retryable() => {
                tracing::warn!(%error, "the chat did not answer; trying again");
                runtime.clock.sleep_until(runtime.clock.now() + START_AGAIN).await;
            }
            known => return known,
        }
    }
}

impl Runtime {
    /// Reads the registry. Returns the agents that are gone and those that are new. One read is made at a time, so that
    /// the newest list stays. It asks for the own account once, because a change of the registry needs no chat.
    pub(crate) async fn load_registry(&self) -> Result<Changes, RunError> {
        let _one_at_a_time = self.registry.start_load().await;
        let moderator = match self.registry.directory().moderator() {
            Some(known) => known,
            None => own_account(self, self.discord.as_ref()).await.map_err(RunError::Discord)?,
        };
        if self.registers_hosts {
            register_hosts(self, moderator).await?;
        }
        let identities = in_time(self, async { self.identities.all().await })
            .await
            .map_err(RunError::Identities)?;
        let identities = add_personas(self, identities)?;
        let loaded = self.registry.load(moderator, identities, self.store.as_ref());
        in_time(self, loaded).await.map_err(RunError::Channels)
    }

    /// Reads the registry again. Agents that are gone leave every channel in memory. New ones join every channel,
    /// because their accounts may have been there all the time, and a person may wait for a second agent.
    pub(crate) async fn reload_registry(&self) -> Result<(), RunError> {
        let Changes { gone, new } = self.load_registry().await?;
        for room in self.rooms.all_awake() {
            for agent in &gone {
                // The machine never refuses this.
                let _ = self.submit(&room, &Input::MemberLeft(*agent));
            }
        }
        if !new.is_empty() {
            self.presence.registered(&new);
            self.tell_all();
        }
        Ok(())
    }
}

pub(super) fn persona_of(discord: &dyn DiscordApi) -> Option<(UserId, String)> {
    caught("a persona", || discord.persona()).flatten()
}

/// Registers hosted agents that are not registered, in the library's own registry.
async fn register_hosts(runtime: &Runtime, moderator: UserId) -> Result<(), RunError> {
    let known = async { runtime.identities.all().await };
    let known = in_time(runtime, known).await.map_err(RunError::Identities)?;
    for (agent_id, discord) in runtime.registry.hosts() {
        let is_registered = known.iter().any(|identity| identity.agent_id == agent_id);
        // A persona has no account that could be registered.
        if is_registered || persona_of(&*discord).is_some() {
            continue;
        }
        let discord_user_id = own_account(runtime, discord.as_ref()).await.map_err(|error| {
            tracing::error!(agent = %agent_id, %error, "the account of a hosted agent is not known");
            RunError::Account { agent: agent_id.clone(), source: error }
        })?;
        if discord_user_id == moderator {
            // The agent would never have a turn, and nothing would say why.
            return Err(RunError::SharedAccount { agent: agent_id, owner: None });
        }
        let agent_name = agent_id.as_str().to_owned();
        let identity = Identity { discord_user_id, agent_id: agent_id.clone(), agent_name };
        let registered = async { Ok(runtime.identities.register(identity).await) };
        let registered = in_time(runtime, registered).await.map_err(RunError::Identities)?;
        registered.map_err(|error| match error {
            RegisterError::Store(error) => RunError::Identities(error),
            RegisterError::AccountTaken { owner } => {
                RunError::SharedAccount { agent: agent_id, owner: Some(owner) }
            }
        })?;
    }
    Ok(())
}

/// Adds the personas of hosted agents, which are in no registry. A registered agent gives way to a persona if people,
/// or the library, could not tell the two apart.
fn add_personas(runtime: &Runtime, identities: Vec<Identity>) -> Result<Vec<Identity>, RunError> {
    let fold = |it: Identity| (folded(&it.agent_name), it);
    let mut identities: Vec<_> = identities.into_iter().map(fold).collect();
    let mut personas: Vec<Identity> = Vec::new();
    for (agent_id, discord) in runtime.registry.hosts() {
        let Some((discord_user_id, agent_name)) = persona_of(&*discord) else { continue };
        let is_shared = |other: &&Identity| other.discord_user_id == discord_user_id;
        if let Some(owner) = personas.iter().find(is_shared).map(|other| other.agent_id.clone()) {
            return Err(RunError::SharedAccount { agent: agent_id, owner: Some(owner) });
        }
        let name = folded(&agent_name);
        identities.retain(|(like, it)| {
            let is_same = it.agent_id == agent_id;
            if !is_same && *like == name {
                let (agent, persona) = (&it.agent_id, &agent_id);
                tracing::warn!(%agent, %persona, "a registered agent has the name of a persona: it is left out");
            }
            !is_same && *like != name
        });
        personas.push(Identity { discord_user_id, agent_id, agent_name });
    }
    Ok(identities.into_iter().map(|(_, it)| it).chain(personas).collect())
}

/// Waits for the store. If it does not answer in time, it has failed.
pub(super) async fn in_time<T>(
    runtime: &Runtime,
    asked: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    runtime.within(WORK_TIME, asked).await?
}
