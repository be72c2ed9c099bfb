//! The handle that a host calls. It is a cheap clone without type parameters.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, MessageId};

use crate::host::builder::Builder;
use crate::ports::into_shared::IntoShared;
use crate::ports::neighbours::GatewayEvent;
use crate::ports::waker::AgentWaker;
use crate::runtime::Runtime;
use crate::runtime::registry::Hosted;
use crate::runtime::run_error::RunError;
use crate::values::error::{ApiError, ErrorKind};
use crate::values::stage::DriverStage;
use crate::{Agent, AgentId, CallError, ChannelId, ChatMessage, DiscordApi, Settings, UserId};

/// The time after which a call that waits for the driver logs it.
const WAIT_FOR_DRIVER: Duration = Duration::from_secs(2);

/// Decides who speaks when, in all channels of your bot.
///
/// Every call returns within a bounded time. You can call it from any task.
#[derive(Clone, Debug)]
pub struct Dirigent {
    pub(crate) runtime: Arc<Runtime>,
}

impl Dirigent {
    pub(crate) const fn new(runtime: Arc<Runtime>) -> Self {
        Self { runtime }
    }

    /// Creates a builder. The library acts as the moderator through `discord`.
    ///
    /// You pass each part as a value, or in an [`Arc`] if you want to keep using it. See [`IntoShared`].
    pub fn builder(discord: impl IntoShared<dyn DiscordApi>) -> Builder {
        Builder::new(discord.into_shared())
    }

    /// Returns the settings that it was built with. An adapter reads them here, for example to know which words of an agent are a pass,
    /// so that you give them once.
    pub fn settings(&self) -> &Settings {
        &self.runtime.settings
    }

    /// Reports a message that was posted in a channel. Report the messages of every author. Duplicates and reorderings
    /// do no harm.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running or the channel cannot be read. In that case the channel is loaded again
    /// later, and reads what it missed.
    pub async fn message_created(&self, message: ChatMessage) -> Result<(), CallError> {
        self.runtime.sight.told();
        if let Some(neighbours) = self.runtime.neighbours_of(message.channel) {
            neighbours.heard(GatewayEvent::MessageCreated(message));
            return Ok(());
        }
        self.created_here(message).await
    }

    /// Reports that a message was edited.
    ///
    /// # Errors
    ///
    /// Fails like [`Dirigent::message_created`].
    pub async fn message_updated(&self, message: ChatMessage) -> Result<(), CallError> {
        self.heard(GatewayEvent::MessageUpdated(message)).await
    }

    /// Reports that a message was deleted, so that agents that missed it do not get it.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running.
    pub async fn message_deleted(
        &self,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<(), CallError> {
        self.heard(GatewayEvent::MessageDeleted { channel, message }).await
    }

    /// Reports that an account began to type in the channel. It matters only for observed agents
    /// ([`Builder::observe`](crate::host::Builder::observe)). For any other account the call has no effect, and you can
    /// leave it out.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running.
    pub async fn typing_started(&self, channel: ChannelId, user: UserId) -> Result<(), CallError> {
        // Typing events are the most frequent ones, and only few of them matter.
        if self.runtime.registry.observed_by_account(user).is_none() {
            return Ok(());
        }
        self.heard(GatewayEvent::TypingStarted { channel, user }).await
    }

    /// Reports that an account can see the channel from now on.
    ///
    /// # Errors
    ///
    /// Fails like [`Dirigent::message_created`].
    pub async fn member_joined(&self, channel: ChannelId, user: UserId) -> Result<(), CallError> {
        self.heard(GatewayEvent::MemberJoined { channel, user }).await
    }

    /// Reports that an account can no longer see the channel.
    ///
    /// # Errors
    ///
    /// Fails like [`Dirigent::message_created`].
    pub async fn member_left(&self, channel: ChannelId, user: UserId) -> Result<(), CallError> {
        self.heard(GatewayEvent::MemberLeft { channel, user }).await
    }

    /// Reads the registry again. Call it after you changed the registry. Agents that are gone leave every active
    /// channel at once. Other channels notice it when they read their members. If the registry reports changes by
    /// itself ([`IdentityStore::changed_elsewhere`](crate::IdentityStore::changed_elsewhere)), you need this call only
    /// to apply a change at once.
    ///
    /// # Errors
    ///
    /// Fails with the error of the registry or the store. In that case the old registry stays.
    pub async fn identities_changed(&self) -> Result<(), CallError> {
        self.live().await?;
        let reload = self.runtime.reload_registry();
        let reloaded = self.runtime.within(self.runtime.settings.time_limits.call, reload).await?;
        Ok(reloaded.map_err(|error| match error {
            RunError::Discord(error)
            | RunError::Identities(error)
            | RunError::Channels(error)
            | RunError::Account { source: error, .. } => error,
            other @ (RunError::SharedAccount { .. }
            | RunError::Panicked(_)
            | RunError::GivesWay(_)) => ApiError::new(ErrorKind::Invalid).with_source(other),
        })?)
    }

    /// Hosts an agent from now on, or replaces the code that speaks for it. If you did not pass a registry
    /// ([`Builder::identities`](crate::host::Builder::identities)), the agent is registered when the driver starts.
    /// After the start the next [`identities_changed`](Self::identities_changed) registers it.
    pub fn host(
        &self,
        agent: impl Into<AgentId>,
        speaks: impl IntoShared<dyn Agent>,
        discord: impl IntoShared<dyn DiscordApi>,
    ) {
        let hosted = Hosted { agent: speaks.into_shared(), discord: discord.into_shared() };
        self.runtime.registry.host(agent.into(), hosted);
    }

    /// Stops hosting the agent. A running call ends as usual. Returns `false` if the agent was not hosted.
    pub fn unhost(&self, agent: &AgentId) -> bool {
        self.runtime.registry.unhost(agent)
    }

    /// Calls agents directly from now on, instead of posting triggers. It is
    /// [`Builder::waker`](crate::host::Builder::waker) for a waker that needs the library itself. You can set a waker
    /// once. Returns `false` if there was one already, and the old one stays.
    pub fn set_waker(&self, waker: impl IntoShared<dyn AgentWaker>) -> bool {
        self.runtime.waker.set(waker.into_shared()).is_ok()
    }

    /// Waits until this process gives way to another process, one that posts with the same tokens and began earlier
    /// ([`SecondProcess`](crate::operate::SecondProcess)). Returns a channel in which this happens. It returns at once if it already
    /// happens.
    ///
    /// You need not end the process then, because it grants no turns there until the other process has not posted for
    /// ten minutes. If a supervisor restarts it instead, each new process speaks for two minutes before it notices the
    /// other.
    ///
    /// ```no_run
    /// # async fn example(dirigent: dirigent::Dirigent, driver: dirigent::Driver) -> Result<(), dirigent::host::RunError> {
    /// let driver = tokio::spawn(driver.run());
    /// let channel = dirigent.gives_way().await;
    /// eprintln!("another process speaks in {channel}");
    /// dirigent.shutdown(std::time::Duration::from_secs(5)).await;
    /// driver.await.expect("the driver does not panic") // RunError::GivesWay
    /// # }
    /// ```
    pub async fn gives_way(&self) -> ChannelId {
        self.runtime.twins.until_gives_way().await
    }

    /// Ends the driver. It accepts no new calls. Work in progress may finish within `grace`, and after that agents are
    /// cancelled. Returns when [`Driver::run`](crate::Driver::run) has returned or was dropped, so keep polling the
    /// driver, or drop it.
    pub async fn shutdown(&self, grace: Duration) {
        let life = &self.runtime.life;
        if life.stage() == DriverStage::NotStarted {
            return;
        }
        life.reach(DriverStage::Stopping);
        // A refused record waits for up to an hour, so it is tried once more before the end.
        for room in self.runtime.rooms.all_awake() {
            let is_refused = room.lock().room.look().commit().refused.since().is_some();
            if is_refused {
                self.runtime.update(&room, |room, _, _| room.store_before_end());
            }
        }
        let deadline = self.runtime.clock.now() + grace;
        tokio::select! {
            biased;
            () = life.until(DriverStage::Ended) => return,
            () = self.runtime.clock.sleep_until(deadline) => {}
        }
        // Their agents learn that the process ends, and may keep what they have.
        for room in self.runtime.rooms.all_awake() {
            self.runtime.update(&room, |room, _, _| room.cancel_for_end());
        }
        life.reach(DriverStage::Ending);
        life.until(DriverStage::Ended).await;
    }

    /// Waits until calls are answered, because a driver that was just spawned may not have begun.
    pub(crate) async fn live(&self) -> Result<(), CallError> {
        let life = &self.runtime.life;
        if life.stage() < DriverStage::Running {
            let limit = self.runtime.settings.time_limits.call;
            // A bot that forgot to spawn the driver would otherwise wait ten seconds for an error that says little.
            let running = async || {
                let until = life.until(DriverStage::Running);
                if self.runtime.within(WAIT_FOR_DRIVER, until).await.is_err() {
                    tracing::warn!(
                        "a call waits for the driver, which is not running yet: spawn Driver::run"
                    );
                    life.until(DriverStage::Running).await;
                }
            };
            // A timeout gets the same answer below as a driver that never starts.
            let _ = self.runtime.within(limit, running()).await;
        }
        self.not_ended()?;
        if life.stage() < DriverStage::Running { Err(CallError::NotRunning) } else { Ok(()) }
    }

    pub(crate) fn not_ended(&self) -> Result<(), CallError> {
        let life = &self.runtime.life;
        let has_ended = life.stage() >= DriverStage::Stopping;
        if has_ended { Err(CallError::Ended(life.end())) } else { Ok(()) }
    }

    pub(crate) fn key(&self, agent: &AgentId) -> Result<AgentKey, CallError> {
        let key = self.runtime.registry.key(agent);
        key.ok_or_else(|| CallError::UnknownAgent(agent.clone()))
    }
}
