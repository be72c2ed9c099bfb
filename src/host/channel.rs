//! The handle of one channel, for questions and reports of a host.

use std::sync::Arc;

use dirigent_core::{Input, MessageId, Refusal, RunId};

use crate::ports::ownership::Standing;
use crate::runtime::events::{EventOrLag, Progress};
use crate::runtime::room_table::RoomRef;
use crate::runtime::workers::Work;
use crate::{AgentId, CallError, ChannelId, Dirigent};

/// One channel of a [`Dirigent`]. With it you ask whether an agent may speak there, you steer the channel, and you read
/// its status. It is only a borrow and an id, so it is cheap to create. You can create it even if the channel does not
/// exist or has no mode.
///
/// Every call returns within a bounded time.
///
/// ```no_run
/// use dirigent::{CallError, ChannelId, Dirigent, Mode};
///
/// async fn begin(dirigent: Dirigent, id: ChannelId) -> Result<(), CallError> {
///     let channel = dirigent.channel(id);
///     channel.set_mode(Mode::Chat).await?;
///     channel.speak_next(&"poet".into()).await
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Channel<'a> {
    pub(crate) dirigent: &'a Dirigent,
    pub(crate) id: ChannelId,
}

impl Dirigent {
    /// Returns the handle of one channel.
    pub const fn channel(&self, id: ChannelId) -> Channel<'_> {
        Channel { dirigent: self, id }
    }
}

impl Channel<'_> {
    /// Returns the id of the channel.
    pub const fn id(self) -> ChannelId {
        self.id
    }

    /// Returns whether the channel was ever given a mode. The call is cheap.
    pub fn is_known(self) -> bool {
        self.dirigent.runtime.rooms.is_known(self.id)
    }

    /// Reports the progress of a worker in this channel, for example of an agent that needs a long time to answer, or
    /// of a program that it uses. Listeners ([`Dirigent::events`]) get the report at once, and
    /// [`workers`](Self::workers) returns it for 15 minutes. It changes no turn, and is not stored.
    pub fn progress(self, worker: impl Into<Arc<str>>, so_far: impl Into<Arc<str>>) {
        let (worker, so_far) = (worker.into(), so_far.into());
        let runtime = &self.dirigent.runtime;
        runtime.workers.report(self.id, runtime.clock.now(), &worker, &so_far);
        runtime.counts.reported();
        let progress = Progress { channel: self.id, worker, so_far };
        // Without a listener the event is dropped.
        let _ = runtime.events.send(EventOrLag::Progress(progress));
    }

    /// Returns the workers in this channel by name, each with its newest [`progress`](Self::progress). It has those of
    /// the last 15 minutes, and at most 16. The call reads only memory.
    pub fn workers(self) -> Vec<Work> {
        let runtime = &self.dirigent.runtime;
        runtime.workers.of(self.id, runtime.clock.now())
    }

    /// Returns how this process stands to the channel. It matters if several processes share a store
    /// ([`Builder::ownership`](crate::host::Builder::ownership)). Otherwise it is always [`Standing::Held`]. The call
    /// is cheap.
    pub fn standing(self) -> Standing {
        self.dirigent.runtime.standing(self.id)
    }

    /// Reports that these messages are the whole reply of this run, and that they arrived. In a channel without turns
    /// the call has no effect, like [`turn_ended`](Self::turn_ended).
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::StaleRun`](crate::operate::Refusal::StaleRun) if the channel does not wait for this run.
    pub async fn delivered(
        self,
        agent: &AgentId,
        run: Option<RunId>,
        messages: Vec<MessageId>,
    ) -> Result<(), CallError> {
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        told_of_run(self.tell(&Input::Receipt { agent, run, messages }).await)
    }

    pub(crate) async fn known_room(self) -> Result<RoomRef, CallError> {
        self.dirigent.live().await?;
        self.dirigent.runtime.room(self.id).await?.ok_or(CallError::UnknownChannel)
    }

    /// Passes an input to the machine. The new state may be stored after the call returns.
    pub(crate) async fn tell(self, input: &Input) -> Result<(), CallError> {
        let room = self.known_room().await?;
        self.dirigent.runtime.submit(&room, input)?;
        Ok(())
    }

    /// Passes an input to the machine, and returns when the new state is stored durably.
    pub(crate) async fn fact(self, input: &Input) -> Result<(), CallError> {
        let room = self.known_room().await?;
        self.dirigent.runtime.submit_and_store(&room, input).await
    }
}

/// Ignores refusals of a channel that keeps no turns, because it need not know the end of a run.
fn told_of_run(told: Result<(), CallError>) -> Result<(), CallError> {
    match told {
        // Hosts report the end of every run, also in channels that never had turns.
        Err(CallError::UnknownChannel | CallError::Refused(Refusal::NotManaged)) => Ok(()),
        told => told,
    }
}
