//! What operators and tools tell a channel. All of it is stored for good before the call returns.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dirigent_core::{Config, Input, Mode, WakeCause};

use crate::host::participants::Participants;
use crate::host::storing::Storing;
use crate::ports::creation::CreatedChannel;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::ports::write_bar::OwnLacks;
use crate::runtime::cell::Awaited;
use crate::runtime::connections::Connections;
use crate::values::summary::{ResultPost, Summary};
use crate::{AgentId, CallError, Channel, Dirigent};

/// How long a new mode's answer waits for the member list: people wait for it.
const LIST_WAIT: Duration = Duration::from_secs(1);

impl Channel<'_> {
    /// Gives a channel another mode: none, chat or report. Stored for good when it returns. Where the channel was never given one,
    /// the chat is asked whether it exists. Returns who takes turns there, and who is missing and why, as
    /// [`participants`](Self::participants) does: the member list is waited for, for a second at most. If an agent is missing, the
    /// log says so, too.
    ///
    /// # Errors
    ///
    /// [`CallError::NoChannel`], [`Refusal::ModeLocked`](crate::operate::Refusal::ModeLocked),
    /// [`Refusal::CreationOnly`](crate::operate::Refusal::CreationOnly), or as the store fails.
    pub async fn set_mode(self, mode: Mode) -> Result<Participants, CallError> {
        self.dirigent.live().await?;
        if !self.is_known() && self.dirigent.runtime.is_gone(self.id).await {
            return Err(CallError::NoChannel);
        }
        self.set_mode_here(mode).await
    }

    /// The same for a channel that surely exists.
    pub(crate) async fn set_mode_here(self, mode: Mode) -> Result<Participants, CallError> {
        self.give_mode(mode).await?;
        let runtime = &self.dirigent.runtime;
        let room = self.known_room().await?;
        // Without the list in time it says that it is not known yet.
        let _ = runtime.within(LIST_WAIT, room.wait_for(Awaited::Members)).await;
        let here = self.participants().await?;
        if mode.keeps_turns() && !(here.missing.is_empty() && here.moderator == OwnLacks::NONE) {
            tracing::warn!(channel = %self.id, %mode, "{here}");
        } else if mode.keeps_turns() {
            tracing::info!(channel = %self.id, %mode, "{here}");
        }
        Ok(here)
    }

    /// Gives a channel another mode, stored for good when it returns.
    pub(crate) async fn give_mode(self, mode: Mode) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let runtime = &self.dirigent.runtime;
        let room = runtime.room_or_new(self.id).await?;
        let stored = Storing { runtime }.fact(&room, &Input::SetMode(mode)).await;
        Connections { runtime }.tell_lost(&room);
        stored
    }

    /// Records a channel that was just created, with its mode. Stored for good when it returns. Where another process acts for the
    /// channel, that one records it, if the [neighbours](crate::ports::Neighbours) carry requests.
    ///
    /// # Errors
    ///
    /// [`Refusal::AlreadyCreated`](crate::operate::Refusal::AlreadyCreated), an unknown agent, or as the
    /// store, or the way to the other process, fails.
    pub async fn register(self, made: CreatedChannel) -> Result<(), CallError> {
        self.request(&ChannelRequest::Register(made)).await.map(|_| ())
    }

    /// Takes back a channel that could not be stored in time and is deleted again. The attempts to
    /// store it may succeed later, or have succeeded unseen: what is stored in the end says nothing.
    pub(crate) fn take_back(self) {
        if let Some(room) = self.dirigent.runtime.rooms.awake(self.id) {
            let (config, seed) = (
                self.dirigent.runtime.rules.config_of(self.id),
                self.dirigent.runtime.rules.seed_of(self.id),
            );
            self.dirigent.runtime.update(&room, |room, _, _| room.forget_all(config, seed, false));
        }
    }

    /// Wakes a dormant channel without a message, as an operator. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::operate::Refusal::Stopped) and the like.
    pub async fn wake(self, first: Option<&AgentId>) -> Result<(), CallError> {
        self.wake_for(first, WakeCause::Operator).await
    }

    /// Wakes a dormant channel without a message, for this reason. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::CeilingReached`](crate::operate::Refusal::CeilingReached) and the like.
    pub async fn wake_for(
        self,
        first: Option<&AgentId>,
        cause: WakeCause,
    ) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let first = first.map(|agent| self.dirigent.key(agent)).transpose()?;
        self.fact(&Input::Wake { first, cause }).await
    }

    /// Denies everybody at once, until resumed. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotManaged`](crate::operate::Refusal::NotManaged) where agents answer freely.
    pub async fn stop(self) -> Result<(), CallError> {
        self.fact(&Input::Stop).await
    }

    /// Pauses the channel and keeps its order. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::operate::Refusal::Stopped) while it is stopped.
    pub async fn hold(self) -> Result<(), CallError> {
        self.fact(&Input::Hold).await
    }

    /// Ends a stop or a hold. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotPaused`](crate::operate::Refusal::NotPaused).
    pub async fn resume(self) -> Result<(), CallError> {
        self.fact(&Input::Resume).await
    }

    /// The work in this channel is done: no agent is active until it is resumed, by an operator or by a
    /// person's resume word. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::operate::Refusal::Stopped) while it is stopped.
    pub async fn finish(self) -> Result<(), CallError> {
        self.fact(&Input::Finish).await
    }

    /// Chooses who speaks next, as an operator: at once where no agent has the floor, else when the turn
    /// under way ends. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotListed`](crate::operate::Refusal::NotListed), [`Refusal::Muted`](crate::operate::Refusal::Muted),
    /// [`Refusal::HasTheFloor`](crate::operate::Refusal::HasTheFloor) and the like.
    pub async fn speak_next(self, agent: &AgentId) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        self.fact(&Input::SpeakNext(agent)).await
    }

    /// Reports what agents cost in this channel, in the unit of
    /// [`BudgetRules::cost`](crate::settings::BudgetRules::cost).
    ///
    /// # Errors
    ///
    /// An unknown or archived channel.
    pub async fn report_cost(self, cost: u64) -> Result<(), CallError> {
        self.tell(&Input::Spent { cost }).await
    }

    /// Lets the budgets of this channel begin anew. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown or archived channel.
    pub async fn reset_budget(self) -> Result<(), CallError> {
        self.fact(&Input::ResetBudget).await
    }

    /// Gives turns in this channel again to an agent that came back. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::AgentOffline`](crate::operate::Refusal::AgentOffline) while it is offline; an unknown agent or
    /// channel.
    pub async fn assign(self, agent: &AgentId) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        self.fact(&Input::Assign(agent)).await
    }

    /// Gives the agent no turns in this channel. Stored for good when it returns.
    ///
    /// | to silence | call | until |
    /// | --- | --- | --- |
    /// | one agent in one channel | `mute` | [`unmute`](Self::unmute) |
    /// | one agent everywhere, because it cannot answer | [`Dirigent::agent_offline`](crate::Dirigent::agent_offline) | [`Dirigent::agent_online`](crate::Dirigent::agent_online), and [`assign`](Self::assign) in each channel unless [`OrderRules::auto_requeue`](crate::settings::OrderRules::auto_requeue) is set |
    /// | every agent in one channel, with the order kept | [`hold`](Self::hold) | [`resume`](Self::resume) |
    /// | every agent in one channel, by a person | [`stop`](Self::stop), `/stop` | [`resume`](Self::resume), `/resume` |
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn mute(self, agent: &AgentId) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        self.fact(&Input::Mute(agent)).await
    }

    /// Gives the agent turns again. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn unmute(self, agent: &AgentId) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        self.fact(&Input::Unmute(agent)).await
    }

    /// The initiator concludes its discussion: it is archived, and the summary, or its path, is posted in the callback
    /// channel. Stored for good when it returns; the answer says whether the callback channel
    /// has been told. Where another process acts for the channel, that one concludes it, if the
    /// [neighbours](crate::ports::Neighbours) carry requests.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotTheInitiator`](crate::operate::Refusal::NotTheInitiator) and the like.
    pub async fn conclude(
        self,
        by: &AgentId,
        summary: Option<Summary>,
    ) -> Result<ResultPost, CallError> {
        let answer = self.request(&ChannelRequest::Conclude { by: by.clone(), summary }).await?;
        // An answer to another request says nothing of the post.
        Ok(if let ChannelAnswer::Concluded(post) = answer { post } else { ResultPost::Queued })
    }

    /// Archives a channel, as an operator. Stored for good when it returns. In the callback channel of a
    /// discussion a message says that it ended without a summary.
    ///
    /// # Errors
    ///
    /// [`Refusal::Archived`](crate::operate::Refusal::Archived) when it was before.
    pub async fn archive(self) -> Result<(), CallError> {
        self.fact(&Input::Archive).await
    }
}

impl Dirigent {
    /// Sets who answers people that speak during a turn, from now on; with `None` no orchestrator does.
    pub fn set_orchestrator(&self, orchestrator: Option<Arc<dyn Orchestrator>>) {
        self.runtime.registry.set_orchestrator(orchestrator);
    }

    /// Other rules for every channel, from now on, but for those that have rules of their own
    /// ([`Builder::config_for`](crate::host::Builder::config_for)): these are asked for anew.
    ///
    /// # Errors
    ///
    /// A rule that cannot be obeyed; then nothing changed.
    pub async fn reconfigure(&self, config: Config) -> Result<(), CallError> {
        config.validate()?;
        self.live().await?;
        let config = Arc::new(config);
        *self.runtime.rules.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        for room in self.runtime.rooms.all_awake() {
            // They are valid, and no state refuses valid rules.
            let rules = Input::Reconfigure(self.runtime.rules.config_of(room.id));
            let _ = self.runtime.submit(&room, &rules);
        }
        Ok(())
    }
}
