//! Requests of an agent's tool, or of another channel, to a channel, whichever process acts for it.

use std::time::Duration;

use dirigent_core::{Creation, Input, Mode, Outcome, Refusal, RunId, TurnState};

use crate::host::discussion::DiscussionState;
use crate::host::permit::{Denial, RunReport};
use crate::host::run_end::EndTaken;
use crate::ports::creation::CreatedChannel;
use crate::ports::ownership::Standing;
use crate::ports::request::{
    ChannelAnswer, ChannelRequest, ChannelState, CheckAnswer, CompleteAnswer, ExplainAnswer,
};
use crate::record::outbox::OutboxKind;
use crate::room::outbox::Undelivered;
use crate::runtime::callback::wake_here;
use crate::runtime::carry::carried;
use crate::runtime::cell::Awaited;
use crate::values::carried::Carried;
use crate::values::error::{ApiError, ErrorKind};
use crate::values::summary::{ResultPost, Summary};
use crate::{AgentId, CallError, Channel, ChannelId, Dirigent, MessageId};

impl Dirigent {
    /// Carries out a request of another process ([`OtherProcesses`](crate::ports::OtherProcesses)) to a channel of this
    /// process. The other process waits for the answer for the time `within`. The request is not passed on to a third
    /// process.
    ///
    /// # Errors
    ///
    /// Fails with [`CallError::Elsewhere`] if this process does not act for the channel either. Otherwise it fails like
    /// the function that the request is named after, except for failures that are part of an answer.
    pub async fn request_here(
        &self,
        channel: ChannelId,
        request: &ChannelRequest,
        within: Duration,
    ) -> Result<ChannelAnswer, CallError> {
        let channel = self.channel(channel);
        if channel.standing() == Standing::Elsewhere {
            return Err(CallError::Elsewhere);
        }
        match channel.carry_out(request, within).await {
            // These are answers about the channel. Only an error says that another process has to be asked.
            Err(CallError::Refused(refusal)) => Ok(ChannelAnswer::Refused(refusal)),
            Err(CallError::UnknownAgent(agent)) => Ok(ChannelAnswer::UnknownAgent(agent)),
            Err(CallError::UnknownChannel) => Ok(ChannelAnswer::UnknownChannel),
            answer => answer,
        }
    }
}

impl Channel<'_> {
    /// Carries out a request in this process, or in the process that acts for the channel. For example, you stop a
    /// channel with [`ChannelRequest::Stop`] without knowing which process acts for it.
    ///
    /// # Errors
    ///
    /// Fails with the error of the request. It fails with [`CallError::Elsewhere`] if another process acts for the
    /// channel and cannot be asked.
    pub async fn request(self, request: &ChannelRequest) -> Result<ChannelAnswer, CallError> {
        let Channel { dirigent, id } = self;
        let runtime = &dirigent.runtime;
        let limit = runtime.settings.time_limits.call;
        let here = async || match dirigent.request_here(id, request, limit).await {
            Err(CallError::Elsewhere) => None,
            answer => Some(answer),
        };
        let until = runtime.clock.now() + limit;
        let answer = carried(runtime, until, here, |neighbours, left| async move {
            neighbours.request(id, request, left).await.map(Ok)
        });
        match answer.await {
            Carried::Answered(answer) => answer?.into_result(),
            Carried::NoOwner | Carried::NotCarried | Carried::NoWay => Err(CallError::Elsewhere),
            Carried::InDoubt => Err(ApiError::new(ErrorKind::NoAnswer).into()),
        }
    }
}

impl Channel<'_> {
    /// Carries out a request to a channel of this process.
    async fn carry_out(
        self,
        request: &ChannelRequest,
        within: Duration,
    ) -> Result<ChannelAnswer, CallError> {
        match request {
            ChannelRequest::Register(made) => self.register_here(made.clone()).await,
            ChannelRequest::MayConclude { by } => self.may_conclude(by).await,
            ChannelRequest::Conclude { by, summary } => {
                return self
                    .conclude_here(by, summary.as_ref())
                    .await
                    .map(ChannelAnswer::Concluded);
            }
            ChannelRequest::WakeForResult { first } => {
                self.dirigent.live().await?;
                let runtime = &self.dirigent.runtime;
                // An agent that is no longer registered does not keep its channel from waking.
                let first = first.as_ref().and_then(|agent| runtime.registry.key(agent));
                Ok(wake_here(runtime, self.id, first).await?)
            }
            ChannelRequest::Command { command, invoker, input } => {
                let answer = self.command_here((*command, *invoker), input, within).await?;
                return Ok(ChannelAnswer::Command(answer));
            }
            ChannelRequest::SetMode { mode } => self.give_mode(*mode).await,
            ChannelRequest::Stop => self.stop().await,
            ChannelRequest::Hold => self.hold().await,
            ChannelRequest::Resume => self.resume().await,
            ChannelRequest::Finish => self.finish().await,
            ChannelRequest::Wake { first } => self.wake(first.as_ref()).await,
            ChannelRequest::SpeakNext { agent } => self.speak_next(agent).await,
            ChannelRequest::Mute { agent } => self.mute(agent).await,
            ChannelRequest::Unmute { agent } => self.unmute(agent).await,
            ChannelRequest::Assign { agent } => self.assign(agent).await,
            ChannelRequest::ResetBudget => self.reset_budget().await,
            ChannelRequest::Archive => self.archive().await,
            ChannelRequest::RetryPosts => self.redress(Undelivered::Retry).await,
            ChannelRequest::DismissResult => self.redress(Undelivered::Dismiss).await,
            ChannelRequest::SendResult { to } => self.redress(Undelivered::SendTo(*to)).await,
            ChannelRequest::CheckTurn { agent_id, run_id } => {
                return self.check_turn(agent_id, *run_id).await.map(ChannelAnswer::Turn);
            }
            ChannelRequest::TurnComplete { agent_id, run_id, outcome, delivered_message_ids } => {
                let end = self.turn_complete((agent_id, *run_id), outcome, delivered_message_ids);
                return end.await.map(ChannelAnswer::Ended);
            }
            ChannelRequest::State => return self.state().await.map(ChannelAnswer::State),
            ChannelRequest::Explain { agent_id } => {
                let why = self.explain(agent_id).await?;
                let (allows, text) = (why.allows(), why.to_string());
                return Ok(ChannelAnswer::Explained(ExplainAnswer { allows, text }));
            }
        }?;
        Ok(ChannelAnswer::Done)
    }

    async fn register_here(self, made: CreatedChannel) -> Result<(), CallError> {
        let Channel { dirigent, id } = self;
        dirigent.live().await?;
        let CreatedChannel { mode, members, opening } = made;
        let members = members.iter().map(|agent| dirigent.key(agent)).collect::<Result<_, _>>()?;
        let initiator =
            opening.as_ref().map(|opening| dirigent.key(&opening.initiator)).transpose()?;
        let terms = opening.and_then(|opening| opening.terms);
        let runtime = &dirigent.runtime;
        let room = runtime.room_or_new(id).await?;
        let input = Input::Create(Creation { mode, members, initiator });
        let stamp = runtime.update(&room, |room, cx, now| room.create(cx, now, &input, terms))?;
        // A channel that is created while the gateway is lost hears nothing either.
        runtime.tell_lost(&room);
        runtime.until_stamp_stored(&room, stamp).await
    }

    /// Handles the undelivered part of a discussion in this way. The change is stored durably when the call returns.
    async fn redress(self, what: Undelivered) -> Result<(), CallError> {
        let dirigent = self.dirigent;
        dirigent.live().await?;
        let room = self.known_room().await?;
        let runtime = &dirigent.runtime;
        let stamp = runtime.update(&room, |room, cx, now| room.redress(cx, now, what))?;
        runtime.until_stamp_stored(&room, stamp).await
    }

    /// Returns an error unless the agent may conclude the discussion now.
    async fn may_conclude(self, by: &AgentId) -> Result<(), CallError> {
        let discussion = self.discussion().await?.ok_or(Refusal::NotADiscussion)?;
        if discussion.initiator.as_ref() != Some(by) {
            return Err(Refusal::NotTheInitiator.into());
        }
        match discussion.state {
            DiscussionState::Open => Ok(()),
            DiscussionState::Concluded => Err(Refusal::AlreadyConcluded.into()),
            DiscussionState::Archived => Err(Refusal::Archived.into()),
        }
    }

    async fn conclude_here(
        self,
        by: &AgentId,
        summary: Option<&Summary>,
    ) -> Result<ResultPost, CallError> {
        let dirigent = self.dirigent;
        dirigent.live().await?;
        let by = dirigent.key(by)?;
        let room = self.known_room().await?;
        let runtime = &dirigent.runtime;
        let stamp = runtime.update(&room, |room, cx, now| room.conclude(cx, now, by, summary))?;
        runtime.until_stamp_stored(&room, stamp).await?;
        // A discussion without a callback channel has nowhere to post its result.
        if room.lock().room.look().discussion().is_none() {
            return Ok(ResultPost::Nowhere);
        }
        let kind = OutboxKind::Result;
        let attempted = room.wait_for(Awaited::FirstAttempt(kind));
        // An attempt that takes too long counts as queued.
        let _ = runtime.within(runtime.settings.time_limits.call, attempted).await;
        let is_posted = room.lock().room.look().is_posted(kind);
        Ok(if is_posted { ResultPost::Posted } else { ResultPost::Queued })
    }

    async fn check_turn(
        self,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<CheckAnswer, CallError> {
        match self.may_speak(agent, run).await {
            Ok(permit) => {
                let (reason, holds_floor) = (permit.reason().to_string(), permit.holds_floor());
                let was_running = permit.was_running();
                // `TurnComplete` ends the run, or its deadline does.
                permit.keep();
                let current_speaker =
                    if holds_floor { Some(agent.clone()) } else { self.speaker().await };
                let allowed = true;
                let no_reply_model = None;
                Ok(CheckAnswer {
                    allowed,
                    current_speaker,
                    reason,
                    holds_floor,
                    was_running,
                    no_reply_model,
                })
            }
            Err(Denial::Denied { reason, no_reply_model, .. }) => Ok(CheckAnswer {
                allowed: false,
                current_speaker: self.speaker().await,
                reason: reason.to_string(),
                no_reply_model: Some(no_reply_model),
                ..CheckAnswer::default()
            }),
            // The question was asked without a deferral.
            Err(Denial::Deferred { reason, speaker, .. }) => Ok(CheckAnswer {
                current_speaker: speaker,
                reason: reason.to_string(),
                ..CheckAnswer::default()
            }),
            Err(Denial::Failed(error)) => Err(error),
        }
    }

    /// The end is accepted once it is stored, because a process that takes over the channel after this one then knows
    /// it.
    async fn turn_complete(
        self,
        (agent, run): (&AgentId, Option<RunId>),
        outcome: &Outcome,
        arrived: &[MessageId],
    ) -> Result<CompleteAnswer, CallError> {
        let taken = match self.turn_ended(agent, run, RunReport::Outcome(outcome)).await {
            // A stale end is an answer and no error: the asking process must post nothing.
            Err(CallError::Refused(Refusal::StaleRun)) => return Ok(CompleteAnswer::default()),
            ended => ended?,
        };
        if !arrived.is_empty() {
            // The end counts even if the receipt does not, because the messages are then recognised as they arrive.
            if let Err(error) = self.delivered(agent, run, arrived.to_vec()).await {
                tracing::debug!(channel = %self.id, %agent, %error, "a receipt was not taken");
            }
        }
        Ok(CompleteAnswer { accepted: true, duplicate: taken == EndTaken::Before })
    }

    async fn state(self) -> Result<ChannelState, CallError> {
        Ok(match self.status().await? {
            Some(status) => ChannelState {
                mode: status.mode.as_str().to_owned(),
                tm_state: status.turn_state.as_str().to_owned(),
                current_speaker: status.speaker,
            },
            None => ChannelState {
                mode: Mode::None.as_str().to_owned(),
                tm_state: TurnState::Disabled.as_str().to_owned(),
                current_speaker: None,
            },
        })
    }

    /// Returns the agent that has the floor. The answer is about one moment, and the channel may have gone on since.
    async fn speaker(self) -> Option<AgentId> {
        self.status().await.ok().flatten()?.speaker
    }
}
