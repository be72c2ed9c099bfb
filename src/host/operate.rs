//! Orders of operators and tools to a channel. Each order is stored durably before its call returns.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dirigent_core::{AgentKey, Config, Input, Mode, WakeCause};

use crate::host::participants::Participants;
use crate::ports::creation::CreatedChannel;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::ports::write_bar::ModeratorLacks;
use crate::runtime::cell::Awaited;
use crate::values::summary::{ResultPost, Summary};
use crate::{AgentId, CallError, Channel, Dirigent};

/// The longest wait for the member list in the answer to a new mode. It is short because people wait for it.
const LIST_WAIT: Duration = Duration::from_secs(1);

impl Channel<'_> {
    /// Gives a channel another mode: none, chat or report. The mode is stored durably when the call returns. If the
    /// channel never had a mode, the library first asks the chat whether the channel exists.
    ///
    /// Returns which agents take turns there, and which are missing and why, like [`participants`](Self::participants).
    /// For that it waits for the member list for at most a second. If an agent is missing, the log says so, too.
    ///
    /// # Errors
    ///
    /// Fails with [`CallError::NoChannel`], [`Refusal::ModeLocked`](crate::operate::Refusal::ModeLocked) or
    /// [`Refusal::CreationOnly`](crate::operate::Refusal::CreationOnly), or with the error of the store.
    pub async fn set_mode(self, mode: Mode) -> Result<Participants, CallError> {
        self.dirigent.live().await?;
        // A mistyped id once got a mode, and nothing said that there is no such channel.
        if !self.is_known() && self.dirigent.runtime.is_gone(self.id).await {
            return Err(CallError::NoChannel);
        }
        self.set_mode_here(mode).await
    }

    /// Gives another mode to a channel that surely exists.
    pub(crate) async fn set_mode_here(self, mode: Mode) -> Result<Participants, CallError> {
        self.give_mode(mode).await?;
        let runtime = &self.dirigent.runtime;
        let room = self.known_room().await?;
        // If the list does not arrive in time, the answer says that it is not known yet.
        let _ = runtime.within(LIST_WAIT, room.wait_for(Awaited::Members)).await;
        let here = self.participants().await?;
        if mode.keeps_turns()
            && !(here.missing.is_empty() && here.moderator == ModeratorLacks::NONE)
        {
            tracing::warn!(channel = %self.id, %mode, "{here}");
        } else if mode.keeps_turns() {
            tracing::info!(channel = %self.id, %mode, "{here}");
        }
        Ok(here)
    }

    pub(crate) async fn give_mode(self, mode: Mode) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let runtime = &self.dirigent.runtime;
        let room = runtime.room_or_new(self.id).await?;
        let stored = runtime.submit_and_store(&room, &Input::SetMode(mode)).await;
        // A channel without turns is not told of lost connections, so it must learn it with its mode.
        runtime.tell_lost(&room);
        stored
    }

    /// Records a channel that was just created, with its mode. The record is stored durably when the call returns. If
    /// another process acts for the channel, that process records it, provided that the
    /// [neighbours](crate::ports::OtherProcesses) carry requests.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::AlreadyCreated`](crate::operate::Refusal::AlreadyCreated), or because an agent is unknown.
    /// It also fails with the error of the store, or of the way to the other process.
    pub async fn register(self, made: CreatedChannel) -> Result<(), CallError> {
        self.request(&ChannelRequest::Register(made)).await.map(|_| ())
    }

    /// Takes back a channel that was not stored in time and is deleted again. An attempt to store it may still succeed
    /// later, or may have succeeded without an answer, so the state of the store proves nothing.
    pub(crate) fn take_back(self) {
        if let Some(room) = self.dirigent.runtime.rooms.awake(self.id) {
            let runtime = &self.dirigent.runtime;
            let (config, seed) = runtime.rules.of(self.id);
            // Not durably, because the store was late already, and no caller waits.
            runtime.update(&room, |room, _, _| room.forget_all(config, seed, false));
        }
    }

    /// Wakes a dormant channel without a message, as an operator. The wake is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails with a refusal, for example [`Refusal::Stopped`](crate::operate::Refusal::Stopped).
    pub async fn wake(self, first: Option<&AgentId>) -> Result<(), CallError> {
        self.wake_for(first, WakeCause::Operator).await
    }

    /// Wakes a dormant channel without a message, and with this cause. The wake is stored durably when the call
    /// returns.
    ///
    /// # Errors
    ///
    /// Fails with a refusal, for example [`Refusal::CeilingReached`](crate::operate::Refusal::CeilingReached).
    pub async fn wake_for(
        self,
        first: Option<&AgentId>,
        cause: WakeCause,
    ) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let first = first.map(|agent| self.dirigent.key(agent)).transpose()?;
        self.fact(&Input::Wake { first, cause }).await
    }

    /// Stops the channel: the turn ends, and every agent is denied until a resume. The stop is stored durably when the
    /// call returns.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::NotManaged`](crate::operate::Refusal::NotManaged) if agents answer freely in this channel.
    pub async fn stop(self) -> Result<(), CallError> {
        self.fact(&Input::Stop).await
    }

    /// Puts the channel on hold: no turn starts until a resume, a running turn ends as usual, and the order stays. The
    /// hold is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::Stopped`](crate::operate::Refusal::Stopped) while the channel is stopped.
    pub async fn hold(self) -> Result<(), CallError> {
        self.fact(&Input::Hold).await
    }

    /// Ends a stop, a hold or a finish. The resume is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::NotPaused`](crate::operate::Refusal::NotPaused) if the channel is not paused.
    pub async fn resume(self) -> Result<(), CallError> {
        self.fact(&Input::Resume).await
    }

    /// Finishes the work in this channel. No agent is active until an operator resumes the channel, or a person writes
    /// a resume word. The finish is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::Stopped`](crate::operate::Refusal::Stopped) while the channel is stopped.
    pub async fn finish(self) -> Result<(), CallError> {
        self.fact(&Input::Finish).await
    }

    /// Chooses the next speaker, as an operator. If no agent has the floor, this agent gets it at once, otherwise when
    /// the current turn ends. The choice is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails with a refusal, for example [`Refusal::NotListed`](crate::operate::Refusal::NotListed),
    /// [`Refusal::Muted`](crate::operate::Refusal::Muted) or
    /// [`Refusal::HasTheFloor`](crate::operate::Refusal::HasTheFloor).
    pub async fn speak_next(self, agent: &AgentId) -> Result<(), CallError> {
        self.order(agent, Input::SpeakNext).await
    }

    /// Reports the cost of agents in this channel, in the unit of
    /// [`BudgetRules::cost`](crate::settings::BudgetRules::cost).
    ///
    /// # Errors
    ///
    /// Fails if the channel is unknown or archived.
    pub async fn report_cost(self, cost: u64) -> Result<(), CallError> {
        self.tell(&Input::Spent { cost }).await
    }

    /// Passes such an order about an agent to the machine, and returns when the new state is stored.
    async fn order(self, agent: &AgentId, order: fn(AgentKey) -> Input) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        self.fact(&order(agent)).await
    }

    /// Resets the budgets of this channel. The reset is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails if the channel is unknown or archived.
    pub async fn reset_budget(self) -> Result<(), CallError> {
        self.fact(&Input::ResetBudget).await
    }

    /// Gives turns in this channel again to an agent that came back. The assignment is stored durably when the call
    /// returns.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::AgentOffline`](crate::operate::Refusal::AgentOffline) while the agent is offline, or if
    /// the agent or the channel is unknown.
    pub async fn assign(self, agent: &AgentId) -> Result<(), CallError> {
        self.order(agent, Input::Assign).await
    }

    /// Mutes the agent: it gets no turns in this channel. The mute is stored durably when the call returns.
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
    /// Fails if the agent or the channel is unknown.
    pub async fn mute(self, agent: &AgentId) -> Result<(), CallError> {
        self.order(agent, Input::Mute).await
    }

    /// Gives turns to the muted agent again. The change is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails if the agent or the channel is unknown.
    pub async fn unmute(self, agent: &AgentId) -> Result<(), CallError> {
        self.order(agent, Input::Unmute).await
    }

    /// Concludes a discussion, as its initiator. The discussion is archived, and the summary, or its path, is posted in
    /// the callback channel. The end is stored durably when the call returns, and the answer says whether the summary
    /// is posted already. If another process acts for the channel, that process concludes it, provided that the
    /// [neighbours](crate::ports::OtherProcesses) carry requests.
    ///
    /// # Errors
    ///
    /// Fails with a refusal, for example [`Refusal::NotTheInitiator`](crate::operate::Refusal::NotTheInitiator).
    pub async fn conclude(
        self,
        by: &AgentId,
        summary: Option<Summary>,
    ) -> Result<ResultPost, CallError> {
        let answer = self.request(&ChannelRequest::Conclude { by: by.clone(), summary }).await?;
        // An answer to another request does not say whether the summary is posted.
        Ok(if let ChannelAnswer::Concluded(post) = answer { post } else { ResultPost::Queued })
    }

    /// Archives a channel, as an operator. The archive is stored durably when the call returns. For a discussion, a
    /// message in the callback channel says that it ended without a summary.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::Archived`](crate::operate::Refusal::Archived) if the channel was archived before.
    pub async fn archive(self) -> Result<(), CallError> {
        self.fact(&Input::Archive).await
    }
}

impl Dirigent {
    /// Sets the orchestrator that answers people who write during a turn, from now on. `None` means that there is no
    /// orchestrator.
    pub fn set_orchestrator(&self, orchestrator: Option<Arc<dyn Orchestrator>>) {
        self.runtime.registry.set_orchestrator(orchestrator);
    }

    /// Changes the rules of every channel from now on. For channels with their own rules it calls the function of
    /// [`Builder::config_for`](crate::host::Builder::config_for) again.
    ///
    /// # Errors
    ///
    /// Fails if a rule cannot work. In that case no rule changes.
    pub async fn reconfigure(&self, config: Config) -> Result<(), CallError> {
        config.validate()?;
        self.live().await?;
        let config = Arc::new(config);
        // Before the rooms, so that a room that is loaded now gets the new rules.
        *self.runtime.rules.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        for room in self.runtime.rooms.all_awake() {
            // The rules are valid, and a room accepts valid rules in every state.
            let rules = Input::Reconfigure(self.runtime.rules.config_of(room.id));
            let _ = self.runtime.submit(&room, &rules);
        }
        Ok(())
    }
}
