//! Which agents are online, as a host tells it.

use crate::{AgentId, CallError, Dirigent};

impl Dirigent {
    /// Reports that an agent crashed or disconnected: it has no turns in any channel from now on, and
    /// a turn that it has is over. Channels that are not in memory are told when they are read again.
    ///
    /// A hosted agent that fails or panics is not offline by itself, unless
    /// [`Hooks::offline_after_failures`](crate::settings::Hooks::offline_after_failures) says so: its turn is over,
    /// and it is asked again when its next one comes.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_offline(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.runtime.presence.lock().offline(agent);
        self.runtime.tell_all();
        Ok(())
    }

    /// Reports that an agent is back. It has turns again in the channels to which it is
    /// [assigned](crate::Channel::assign); in all of them with
    /// [`OrderRules::auto_requeue`](crate::settings::OrderRules::auto_requeue).
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_online(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.runtime.presence.lock().online(agent);
        self.runtime.tell_all();
        Ok(())
    }

    /// Reports that an agent is alive. With [`Hooks::heartbeat`](crate::settings::Hooks::heartbeat) the agent
    /// is watched from its first heartbeat on, and counts as offline when further ones are missing;
    /// asking to speak and the end of a run are signs of life, too.
    ///
    /// A heartbeat brings back an agent that is offline, as [`Dirigent::agent_online`] does, also one
    /// that went offline before the process was restarted. Asking to speak does not.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn heartbeat(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        let now = self.runtime.clock.now();
        let is_news = self.runtime.presence.lock().heartbeat(agent, now);
        if is_news {
            self.runtime.tell_all();
        }
        if self.runtime.settings.hooks.heartbeat.is_some() {
            self.runtime.timers.wake();
        }
        Ok(())
    }
}
