//! What an agent's tool, or another channel, asks of a channel, whichever process acts for it.

use dirigent_core::{Creation, Input, Refusal};

use crate::host::discussion::DiscussionState;
use crate::host::storing::Storing;
use crate::ports::creation::CreatedChannel;
use crate::ports::ownership::Standing;
use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::record::outbox::OutboxKind;
use crate::runtime::callback::wake_here;
use crate::runtime::carry::carried;
use crate::runtime::cell::Awaited;
use crate::runtime::connections::Connections;
use crate::values::carried::Carried;
use crate::values::error::{ApiError, ErrorKind};
use crate::values::summary::{ResultPost, Summary};
use crate::{AgentId, CallError, Channel, ChannelId, Dirigent};

impl Dirigent {
    /// Another process asks this of a channel for which this one acts ([`Neighbours`](crate::ports::Neighbours)). It is
    /// carried no further.
    ///
    /// # Errors
    ///
    /// [`CallError::Elsewhere`] where this process does not act for the channel either; else as the function that the request is named
    /// after, but for what is an answer.
    pub async fn request_here(
        &self,
        channel: ChannelId,
        request: ChannelRequest<'_>,
    ) -> Result<ChannelAnswer, CallError> {
        let channel = self.channel(channel);
        if channel.standing() == Standing::Elsewhere {
            return Err(CallError::Elsewhere);
        }
        let requested = Requested { channel };
        let done = |()| ChannelAnswer::Done;
        let answer = match request {
            ChannelRequest::Register(made) => requested.register(made.clone()).await.map(done),
            ChannelRequest::MayConclude { by } => requested.may_conclude(by).await.map(done),
            ChannelRequest::Conclude { by, summary } => {
                requested.conclude(by, summary).await.map(ChannelAnswer::Concluded)
            }
            ChannelRequest::Wake { first } => {
                self.live().await?;
                let first = first.and_then(|agent| self.runtime.registry.key(agent));
                Ok(wake_here(&self.runtime, channel.id, first).await.map(done)?)
            }
        };
        match answer {
            Err(CallError::Refused(refusal)) => Ok(ChannelAnswer::Refused(refusal)),
            Err(CallError::UnknownAgent(agent)) => Ok(ChannelAnswer::UnknownAgent(agent)),
            Err(CallError::UnknownChannel) => Ok(ChannelAnswer::UnknownChannel),
            answer => answer,
        }
    }
}

impl Channel<'_> {
    /// Asks it of this process, or of the one that acts for the channel.
    pub(crate) async fn request(
        self,
        request: ChannelRequest<'_>,
    ) -> Result<ChannelAnswer, CallError> {
        let Channel { dirigent, id } = self;
        let runtime = &dirigent.runtime;
        let here = async || match dirigent.request_here(id, request).await {
            Err(CallError::Elsewhere) => None,
            answer => Some(answer),
        };
        let until = runtime.clock.now() + runtime.settings.time_limits.call;
        let answer = carried(runtime, until, here, |neighbours, left| async move {
            neighbours.request(id, request, left).await.map(Ok)
        });
        match answer.await {
            Carried::Answered(Ok(ChannelAnswer::Refused(refusal))) => {
                Err(CallError::Refused(refusal))
            }
            Carried::Answered(Ok(ChannelAnswer::UnknownAgent(agent))) => {
                Err(CallError::UnknownAgent(agent))
            }
            Carried::Answered(Ok(ChannelAnswer::UnknownChannel)) => Err(CallError::UnknownChannel),
            Carried::Answered(answer) => answer,
            Carried::NoOwner | Carried::NotCarried | Carried::NoWay => Err(CallError::Elsewhere),
            Carried::InDoubt => Err(ApiError::new(ErrorKind::NoAnswer).into()),
        }
    }
}

/// Carries out in this process what is asked of one of its channels.
#[derive(Clone, Copy)]
struct Requested<'a> {
    channel: Channel<'a>,
}

impl Requested<'_> {
    async fn register(self, made: CreatedChannel) -> Result<(), CallError> {
        let Channel { dirigent, id } = self.channel;
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
        Connections { runtime }.tell_lost(&room);
        Storing { runtime }.wait(room.wait_for(Awaited::Stored(stamp))).await
    }

    /// Whether the agent may conclude the discussion now.
    async fn may_conclude(self, by: &AgentId) -> Result<(), CallError> {
        let discussion = self.channel.discussion().await?.ok_or(Refusal::NotADiscussion)?;
        if discussion.initiator.as_ref() != Some(by) {
            return Err(Refusal::NotTheInitiator.into());
        }
        match discussion.state {
            DiscussionState::Open => Ok(()),
            DiscussionState::Concluded => Err(Refusal::AlreadyConcluded.into()),
            DiscussionState::Archived => Err(Refusal::Archived.into()),
        }
    }

    async fn conclude(
        self,
        by: &AgentId,
        summary: Option<Summary<'_>>,
    ) -> Result<ResultPost, CallError> {
        let dirigent = self.channel.dirigent;
        dirigent.live().await?;
        let by = dirigent.key(by)?;
        let room = self.channel.known_room().await?;
        let runtime = &dirigent.runtime;
        let stamp = runtime.update(&room, |room, cx, now| room.conclude(cx, now, by, summary))?;
        Storing { runtime }.wait(room.wait_for(Awaited::Stored(stamp))).await?;
        if room.lock().room.look().discussion().is_none() {
            return Ok(ResultPost::Nowhere);
        }
        let kind = OutboxKind::Result;
        let attempted = room.wait_for(Awaited::FirstAttempt(kind));
        // Too late is as good as in the queue.
        let _ = runtime.within(runtime.settings.time_limits.call, attempted).await;
        let is_posted = room.lock().room.look().is_posted(kind);
        Ok(if is_posted { ResultPost::Posted } else { ResultPost::Queued })
    }
}
