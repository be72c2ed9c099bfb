//! Reports which agents are online.

use crate::{AgentId, CallError, Dirigent};

impl Dirigent {
    /// Reports that an agent crashed or disconnected. From now on it gets no turns in any channel, and its current turn
    /// is over. Channels that are not in memory learn it when they are loaded.
    ///
    /// A hosted agent that fails or panics does not become offline, unless you set
    /// [`Hooks::offline_after_failures`](crate::settings::Hooks::offline_after_failures). Only its turn is over, and it
    /// is asked again at its next turn.
    ///
    /// # Errors
    ///
    /// Fails if the agent is unknown, or if there is no driver.
    pub async fn agent_offline(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        // The lock ends with this line. Rooms are told outside of it.
        self.runtime.presence.lock().offline(agent);
        self.runtime.tell_all();
        Ok(())
    }

    /// Reports that an agent is back. It gets turns again in the channels that it is [assigned](crate::Channel::assign)
    /// to. With [`OrderRules::auto_requeue`](crate::settings::OrderRules::auto_requeue) it gets turns again in all of
    /// its channels.
    ///
    /// # Errors
    ///
    /// Fails if the agent is unknown, or if there is no driver.
    pub async fn agent_online(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.runtime.presence.lock().online(agent);
        self.runtime.tell_all();
        Ok(())
    }

    /// Reports that an agent is alive. With [`Hooks::heartbeat`](crate::settings::Hooks::heartbeat) the library watches
    /// the agent from its first heartbeat on, and counts it as offline if further heartbeats are missing. Questions
    /// whether it may speak and ends of its runs are signs of life, too.
    ///
    /// A heartbeat brings an offline agent back, like [`Dirigent::agent_online`]. This also works if the agent went
    /// offline before the process was restarted. A question whether it may speak does not bring it back.
    ///
    /// # Errors
    ///
    /// Fails if the agent is unknown, or if there is no driver.
    pub async fn heartbeat(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        let now = self.runtime.clock.now();
        let is_news = self.runtime.presence.lock().heartbeat(agent, now);
        if is_news {
            self.runtime.tell_all();
        }
        // The first heartbeat makes a deadline that the sleeping driver does not know.
        if self.runtime.settings.hooks.heartbeat.is_some() {
            self.runtime.timers.wake();
        }
        Ok(())
    }
}
