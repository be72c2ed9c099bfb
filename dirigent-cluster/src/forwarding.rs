//! Carries gateway events and requests to the process that owns their channel.
//!
//! `queue` decides, as a value, which event waits for which process. `waiting` keeps a channel's events in one place
//! and in order, and `lane` has those on their way to one process. `heard` takes what other processes carry here.

mod heard;
mod lane;
mod queue;
mod waiting;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::{Carried, ChannelAnswer, ChannelRequest, GatewayEvent, OtherProcesses};
use dirigent::{CallError, ChannelId, Dirigent};
use dirigent_relay::{Client, HostId, Refused, RelayError};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, FuturesUnordered};
use futures_util::{StreamExt, TryStreamExt};
use tokio::sync::Notify;

use self::heard::is_taken;
use self::lane::Batch;
use self::queue::{EventsToSend, Queue, Told};
use self::waiting::LOOK_AGAIN;
use crate::Owners;
use crate::rules::{HeardElsewhere, NotOurs, carry_request, other_owner};

pub(crate) use self::heard::Heard;

/// The time that the other process may take, because it may have to load channels first.
const TIME_LIMIT: Duration = Duration::from_secs(15);
/// The number of channels of this process that get their events at once.
const TOLD_AT_ONCE: usize = 16;

/// Carries events and requests to the process that owns their channel. Requests come, for example, from slash commands
/// and agents' tools.
///
/// Give it to [`Builder::neighbours`](dirigent::host::Builder::neighbours) if the processes share the gateway's shards,
/// and run its [link](ForwardingLink) beside the driver. Events of one channel stay in order, and each is repeated
/// until it is taken. Clones share the queue.
///
/// At most 10,000 events wait for a process. If there is one more, all of them are dropped, and the process reads what
/// it missed from the chat.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_cluster::{Forwarding, Owners};
/// use dirigent_relay::Client;
///
/// # fn example(discord: Arc<dyn DiscordApi>, client: Client, owners: Arc<dyn Owners>) -> Result<(), Box<dyn std::error::Error>> {
/// let (forwarding, link) = Forwarding::new(client, owners);
/// let (dirigent, driver) = Dirigent::builder(discord).neighbours(forwarding).build()?;
/// tokio::spawn(link.run(dirigent.clone()));
/// tokio::spawn(driver.run());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Forwarding {
    shared: Arc<EventForwarder>,
}

struct EventForwarder {
    client: Client,
    owners: Arc<dyn Owners>,
    queue: Mutex<Queue>,
    called: Notify,
}

/// Carries the events of a [`Forwarding`]. Run it once, beside the driver.
#[must_use = "no event is carried until the link runs"]
pub struct ForwardingLink {
    shared: Arc<EventForwarder>,
}

impl Forwarding {
    /// Creates both. Events and requests go with this client to the channels' owners.
    pub fn new(client: Client, owners: Arc<dyn Owners>) -> (Self, ForwardingLink) {
        let (queue, called) = (Mutex::default(), Notify::new());
        let shared = Arc::new(EventForwarder { client, owners, queue, called });
        (Self { shared: Arc::clone(&shared) }, ForwardingLink { shared })
    }

    /// Returns the numbers of events carried since the start, dropped since the start, and waiting now.
    pub fn counts(&self) -> (u64, u64, usize) {
        let queue = self.shared.queue();
        (queue.carried, queue.dropped, queue.waiting())
    }

    /// Returns how many waiting events are of channels with a refused first event, because the owner cannot store what
    /// follows from it, or no longer owns the channel. It is asked again every few seconds, while later events wait.
    pub fn refused(&self) -> usize {
        self.shared.queue().refused()
    }
}

#[async_trait]
impl OtherProcesses for Forwarding {
    fn heard(&self, event: GatewayEvent) {
        let EventForwarder { client, called, .. } = &*self.shared;
        let owner = self.shared.other_owner(event.channel());
        self.shared.queue().push(client.clock().now(), owner, event);
        called.notify_one();
    }

    fn reconnected(&self) {
        let others = self.shared.others();
        let mut queue = self.shared.queue();
        queue.name(&others);
        queue.open_gap();
        drop(queue);
        self.shared.called.notify_one();
    }

    async fn request(
        &self,
        channel: ChannelId,
        request: &ChannelRequest,
        within: Duration,
    ) -> Carried<ChannelAnswer> {
        let EventForwarder { client, owners, .. } = &*self.shared;
        carry_request(client, &**owners, channel, request, within).await
    }
}

impl EventForwarder {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> Vec<HostId> {
        let mut all = self.owners.all();
        all.retain(|host| host != self.client.me());
        all
    }

    fn other_owner(&self, channel: ChannelId) -> Option<HostId> {
        other_owner(&self.client, &*self.owners, channel)
    }

    /// Moves waiting events to the current owners of their channels.
    fn look_up(&self) {
        let now = self.client.clock().now();
        self.queue().look_up(now, |channel| self.other_owner(channel));
    }

    async fn carry(&self, batch: Batch) -> Done {
        let question = HeardElsewhere { missed: batch.missed, events: batch.events.clone() };
        let answer = self.client.ask_within(&batch.to, &question, TIME_LIMIT).await;
        Done::Carried(batch, answer)
    }

    fn carried(&self, batch: &Batch, answer: Result<NotOurs, RelayError>) {
        let now = self.client.clock().now();
        match answer {
            Ok(not_ours) => self.queue().answered(now, batch, &not_ours.elsewhere),
            Err(error) if is_final(&error) => {
                tracing::warn!(host = %batch.to, %error, "events cannot be carried; the process reads what was said");
                self.queue().give_up(now, batch);
            }
            Err(error) => {
                tracing::debug!(host = %batch.to, %error, "events could not be carried; they wait");
                self.queue().failed(now, batch);
            }
        }
    }
}

/// A finished piece of the link's work.
enum Done {
    Carried(Batch, Result<NotOurs, RelayError>),
    /// An error means that the driver has ended.
    Here(Result<Vec<Told>, CallError>),
}

impl ForwardingLink {
    /// Carries events until the driver of this Dirigent ends.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, waiting events stay in the queue and are not carried.
    pub async fn run(self, dirigent: Dirigent) {
        let shared = &*self.shared;
        let clock = shared.client.clock();
        let mut under_way: FuturesUnordered<BoxFuture<'_, Done>> = FuturesUnordered::new();
        let mut look_at = clock.now() + LOOK_AGAIN;
        let mut tells = false;
        loop {
            let now = clock.now();
            if now >= look_at {
                look_at = now + LOOK_AGAIN;
                shared.queue().name(&shared.others());
                shared.look_up();
                if !tells {
                    tells = true;
                    under_way.push(Box::pin(self.tell_here(&dirigent)));
                }
            }
            while let Some(batch) = { shared.queue().next_batch(now) } {
                under_way.push(Box::pin(shared.carry(batch)));
            }
            let due = shared.queue().next_deadline();
            let wake_at = due.map_or(look_at, |due| due.min(look_at));
            tokio::select! {
                () = shared.called.notified() => {}
                () = clock.sleep_until(wake_at) => {}
                Some(done) = under_way.next() => match done {
                    Done::Carried(batch, answer) => shared.carried(&batch, answer),
                    Done::Here(Ok(told)) => {
                        tells = false;
                        let now = clock.now();
                        let mut queue = shared.queue();
                        for told in &told {
                            queue.told_here(now, told);
                        }
                    }
                    Done::Here(Err(_)) => return,
                },
            }
        }
    }

    /// Gives this process's channels the events that wait for them.
    async fn tell_here(&self, dirigent: &Dirigent) -> Done {
        let shared = &*self.shared;
        if shared.queue().missed_here()
            && let Err(error) = dirigent.reconnected_here().await
        {
            return Done::Here(Err(error));
        }
        let acts = |channel| dirigent.channel(channel).standing().acts();
        let to_tell = shared.queue().next_here(shared.client.clock().now(), acts);
        let telling = to_tell.into_iter().map(|events| tell_in_order(dirigent, events));
        Done::Here(stream::iter(telling).buffer_unordered(TOLD_AT_ONCE).try_collect().await)
    }
}

/// Gives a channel its events in order, until one is not taken. An error means that the driver has ended.
async fn tell_in_order(dirigent: &Dirigent, to_tell: EventsToSend) -> Result<Told, CallError> {
    let EventsToSend { channel, round, events } = to_tell;
    let mut told = Told { channel, round, events: events.len(), taken: 0, is_refused: false };
    for event in events {
        match dirigent.event_here(event.clone()).await {
            Err(error @ CallError::Ended(_)) => return Err(error),
            answer if is_taken(&event, &answer) => told.taken += 1,
            answer => {
                told.is_refused = !matches!(answer, Err(CallError::Elsewhere));
                break;
            }
        }
    }
    Ok(told)
}

/// Returns whether the process would give this answer however often it is asked.
fn is_final(error: &RelayError) -> bool {
    let is_refused =
        |refused: &Refused| !matches!(refused, Refused::Failed { .. } | Refused::Elsewhere);
    matches!(error, RelayError::TooLarge) || error.refused().is_some_and(is_refused)
}

impl fmt::Debug for Forwarding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarding").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ForwardingLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwardingLink").finish_non_exhaustive()
    }
}
