//! What an agent's tool, or another channel, asks of a channel, whichever process acts for it.

use crate::host::discussion::DiscussionState;
use crate::ports::ownership::Standing;
use crate::runtime::callback::wake_here;
use crate::runtime::carry::carried;
use crate::values::carried::Carried;
use crate::values::error::{ApiError, ErrorKind};
use crate::values::request::{ChannelAnswer, ChannelRequest};
use crate::{AgentId, CallError, Channel, ChannelId, Dirigent};
use dirigent_core::Refusal;

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
        let done = |()| ChannelAnswer::Done;
        let answer = match request {
            ChannelRequest::Register(made) => channel.register_here(made.clone()).await.map(done),
            ChannelRequest::MayConclude { by } => channel.may_conclude(by).await.map(done),
            ChannelRequest::Conclude { by, summary } => {
                channel.conclude_here(by, summary).await.map(ChannelAnswer::Concluded)
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
        let until = runtime.clock.now() + runtime.settings.call_deadline;
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

    /// Whether the agent may conclude the discussion now.
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
}
