//! One channel, as a host sees it: what the host asks of it and reports to it.

use std::sync::Arc;

use dirigent_core::{Input, MessageId, Refusal, RunId};

use crate::host::storing::Storing;
use crate::ports::ownership::Standing;
use crate::runtime::events::{EventOrLag, Progress};
use crate::runtime::room_table::RoomRef;
use crate::runtime::workers::Work;
use crate::{AgentId, CallError, ChannelId, Dirigent};

/// One channel of a [`Dirigent`]: asks whether an agent may speak there, steers it, and tells how it stands. A borrow
/// and an id, so that it costs nothing to make; it says nothing about whether the channel exists or has a mode.
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
    /// Returns a handle for what concerns one channel.
    pub const fn channel(&self, id: ChannelId) -> Channel<'_> {
        Channel { dirigent: self, id }
    }
}

impl Channel<'_> {
    /// Which channel this is.
    pub const fn id(self) -> ChannelId {
        self.id
    }

    /// Whether the channel was ever given a mode. Costs nothing.
    pub fn is_known(self) -> bool {
        self.dirigent.runtime.rooms.is_known(self.id)
    }

    /// Tells listeners ([`Dirigent::events`]) how far something is that works for this channel: an agent whose answer takes long, or a
    /// program that it uses. [`workers`](Self::workers) tells it for 15 minutes to those who did not listen. It changes nothing, and is
    /// not stored.
    pub fn progress(self, worker: impl Into<Arc<str>>, so_far: impl Into<Arc<str>>) {
        let (worker, so_far) = (worker.into(), so_far.into());
        let runtime = &self.dirigent.runtime;
        runtime.workers.report(self.id, runtime.clock.now(), &worker, &so_far);
        runtime.counts.reported();
        let progress = Progress { channel: self.id, worker, so_far };
        // Without a listener there is nothing to do.
        let _ = runtime.events.send(EventOrLag::Progress(progress));
    }

    /// What works for this channel, by name: the newest [`progress`](Self::progress) of each worker, of the last 15 minutes and of at
    /// most 16 workers. Only memory is read.
    pub fn workers(self) -> Vec<Work> {
        let runtime = &self.dirigent.runtime;
        runtime.workers.of(self.id, runtime.clock.now())
    }

    /// How this process stands to the channel, where several processes share a store
    /// ([`Builder::ownership`](crate::host::Builder::ownership)); else it is [`Standing::Held`]. Costs nothing.
    pub fn standing(self) -> Standing {
        self.dirigent.runtime.standing(self.id)
    }

    /// The host knows that these messages are the whole reply of this run, and that they arrived. Where no turns
    /// are kept it means nothing, as [`turn_ended`](Self::turn_ended).
    ///
    /// # Errors
    ///
    /// [`Refusal::StaleRun`](crate::operate::Refusal::StaleRun) when the run is not the one waited for.
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

    /// Tells the machine something that may be stored behind.
    pub(crate) async fn tell(self, input: &Input) -> Result<(), CallError> {
        let room = self.known_room().await?;
        self.dirigent.runtime.submit(&room, input)?;
        Ok(())
    }

    /// Tells the machine something that must be stored for good before the call returns.
    pub(crate) async fn fact(self, input: &Input) -> Result<(), CallError> {
        let room = self.known_room().await?;
        Storing { runtime: &self.dirigent.runtime }.fact(&room, input).await
    }
}

/// The machine was told what became of a run: where no turns are kept, it need not know.
fn told_of_run(told: Result<(), CallError>) -> Result<(), CallError> {
    match told {
        Err(CallError::UnknownChannel | CallError::Refused(Refusal::NotManaged)) => Ok(()),
        told => told,
    }
}
