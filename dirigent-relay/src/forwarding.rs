//! Events of the gateway that reach a process which does not act for their channel are carried to the one that does.

mod command;
mod lanes;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::command::{CommandCarried, CommandUse};
use dirigent::ports::{GatewayEvent, Neighbours};
use dirigent::{CallError, Dirigent};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;

use self::command::{CommandText, UseCommand};
use self::lanes::{Batch, Lanes};
use crate::event::{HeardElsewhere, NotOurs};
use crate::master::refused;
use crate::rule::{read, write};
use crate::{Asker, Client, HostId, Owners, Question, Refused, RelayError, Role, Service};

/// How long the other process may take: it may have to load channels first.
const TIME_LIMIT: Duration = Duration::from_secs(15);
/// How soon an event is looked at again whose channel no process acts for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// The most events that wait for a channel to have an owner. What is left aside its next owner reads in the history.
const HOMELESS_MAX: usize = 10_000;

/// Carries events of channels for which another process acts, and slash commands that are used there, to that process. Events: in order within a channel while nothing fails, and again until they are
/// taken. Given to [`Builder::neighbours`](dirigent::host::Builder::neighbours) where the processes share the gateway's
/// shards; its [link](ForwardingLink) is run beside the driver. Clones share the queue.
///
/// At most 10,000 events wait for a process. Where more do, they are left aside, and the process reads what it missed from
/// the chat.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_relay::{Client, Forwarding, Owners};
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
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    owners: Arc<dyn Owners>,
    queue: Mutex<Queue>,
    called: Notify,
}

#[derive(Default)]
struct Queue {
    lanes: Lanes,
    /// Events of channels for which no other process acts now.
    homeless: Vec<GatewayEvent>,
    carried: u64,
}

/// What carries the events of a [`Forwarding`]: the host runs it, once.
#[must_use = "no event is carried until the link runs"]
pub struct ForwardingLink {
    shared: Arc<Shared>,
}

impl Forwarding {
    /// Carries by this client, to the processes that act for the channels.
    pub fn new(client: Client, owners: Arc<dyn Owners>) -> (Self, ForwardingLink) {
        let (queue, called) = (Mutex::default(), Notify::new());
        let shared = Arc::new(Shared { client, owners, queue, called });
        (Self { shared: Arc::clone(&shared) }, ForwardingLink { shared })
    }

    /// Returns how many events were carried since the start, how many were left aside, and how many wait.
    pub fn counts(&self) -> (u64, u64, usize) {
        let queue = self.shared.queue();
        (queue.carried, queue.lanes.dropped, queue.lanes.waiting() + queue.homeless.len())
    }
}

#[async_trait]
impl Neighbours for Forwarding {
    fn heard(&self, event: GatewayEvent) {
        self.shared.push([event]);
        self.shared.called.notify_one();
    }

    fn reconnected(&self) {
        let others = self.shared.others();
        let mut queue = self.shared.queue();
        for host in &others {
            queue.lanes.missed(host);
        }
        drop(queue);
        self.shared.called.notify_one();
    }

    async fn command(&self, used: &CommandUse, within: Duration) -> CommandCarried {
        let Shared { client, owners, .. } = &*self.shared;
        let owner = owners.owner(used.channel).filter(|host| host != client.me());
        let Some(owner) = owner else { return CommandCarried::NoOwner };
        let question = UseCommand::new(used, within);
        command::carried(client.ask_within(&owner, &question, within).await)
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> Vec<HostId> {
        let mut all = self.owners.all();
        all.retain(|host| host != self.client.me());
        all
    }

    /// Gives each event to the lane of the process that acts for its channel now.
    fn push(&self, events: impl IntoIterator<Item = GatewayEvent>) {
        for event in events {
            let owner = self.owners.owner(event.channel());
            let mut queue = self.queue();
            match owner.filter(|host| host != self.client.me()) {
                Some(host) => queue.lanes.push(&host, event),
                None if queue.homeless.len() < HOMELESS_MAX => queue.homeless.push(event),
                None => queue.lanes.dropped += 1,
            }
        }
    }

    async fn carry(&self, batch: Batch) -> (Batch, Result<NotOurs, RelayError>) {
        let events = batch.events.iter().map(Into::into).collect();
        let question = HeardElsewhere { missed: batch.missed, events };
        let answer = self.client.ask_within(&batch.to, &question, TIME_LIMIT).await;
        (batch, answer)
    }

    fn carried(&self, batch: Batch, answer: Result<NotOurs, RelayError>) {
        let now = self.client.clock().now();
        match answer {
            Ok(not_ours) => {
                let mut queue = self.queue();
                queue.carried +=
                    (batch.events.len() - not_ours.elsewhere.len().min(batch.events.len())) as u64;
                // Changed hands: whose they are now is looked up a moment later.
                let refused = queue.lanes.answered(batch, &not_ours.elsewhere);
                queue.homeless.extend(refused);
            }
            Err(error) if is_final(&error) => {
                tracing::warn!(host = %batch.to, %error, "events cannot be carried; the process reads what was said");
                self.queue().lanes.given_up(now, batch);
            }
            Err(error) => {
                tracing::debug!(host = %batch.to, %error, "events could not be carried; they wait");
                let waiting = self.queue().lanes.failed(now, batch);
                self.push(waiting);
            }
        }
    }
}

impl ForwardingLink {
    /// Carries events until the driver of this Dirigent ends.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves what waits; nothing else.
    pub async fn run(self, dirigent: Dirigent) {
        let shared = &*self.shared;
        let clock = shared.client.clock();
        let mut under_way: FuturesUnordered<BoxFuture<'_, _>> = FuturesUnordered::new();
        let mut look_at = clock.now() + LOOK_AGAIN;
        loop {
            let now = clock.now();
            if now >= look_at {
                look_at = now + LOOK_AGAIN;
                if self.look_again(&dirigent).await.is_err() {
                    return;
                }
            }
            while let Some(batch) = { shared.queue().lanes.next_batch(now) } {
                under_way.push(Box::pin(shared.carry(batch)));
            }
            let due = shared.queue().lanes.next_deadline();
            let wake_at = due.map_or(look_at, |due| due.min(look_at));
            tokio::select! {
                () = shared.called.notified() => {}
                () = clock.sleep_until(wake_at) => {}
                Some((batch, answer)) = under_way.next() => shared.carried(batch, answer),
            }
        }
    }

    /// Finds owners for events that had none. An error: the driver has ended.
    async fn look_again(&self, dirigent: &Dirigent) -> Result<(), CallError> {
        let shared = &*self.shared;
        let others = shared.others();
        let gone = shared.queue().lanes.keep_only(&others);
        let homeless = std::mem::take(&mut shared.queue().homeless);
        for event in homeless.into_iter().chain(gone) {
            match dirigent.event_here(event.clone()).await {
                Err(error @ CallError::Ended(_)) => return Err(error),
                told if is_taken(&event, &told) => {}
                _ => shared.push([event]),
            }
        }
        Ok(())
    }
}

/// Whether the event need not be told again. A message is read later in a channel that cannot be read now; of what else happened no trace
/// would be left.
fn is_taken(event: &GatewayEvent, told: &Result<(), CallError>) -> bool {
    match told {
        Err(CallError::Elsewhere) => false,
        Err(CallError::Failed(_) | CallError::NotStored) => {
            matches!(event, GatewayEvent::MessageCreated(_))
        }
        Ok(()) | Err(_) => true,
    }
}

/// Whether the same question would have the same answer, however often it is asked.
fn is_final(error: &RelayError) -> bool {
    let is_refused =
        |refused: &Refused| !matches!(refused, Refused::Failed { .. } | Refused::Elsewhere);
    matches!(error, RelayError::TooLarge) || error.refused().is_some_and(is_refused)
}

/// Takes what other processes heard of the channels of this one: given to a [`Server`](crate::Server).
pub(crate) struct Heard {
    pub(crate) dirigent: Dirigent,
}

impl Heard {
    /// Tells each channel its events in order, all channels at once. Returns the places of those that are not ours.
    async fn tell(&self, heard: HeardElsewhere) -> Vec<usize> {
        if heard.missed {
            // Where the driver does not run, it reads everything when it starts.
            let _ = self.dirigent.reconnected_here().await;
        }
        let mut channels = std::collections::BTreeMap::<_, Vec<_>>::new();
        for (place, event) in heard.events.into_iter().enumerate() {
            let event = GatewayEvent::from(event);
            channels.entry(event.channel()).or_default().push((place, event));
        }
        let told = channels.into_values().map(|events| async {
            let mut elsewhere = Vec::new();
            for (place, event) in events {
                // What follows in the channel waits for what was not taken.
                if !elsewhere.is_empty()
                    || !is_taken(&event, &self.dirigent.event_here(event.clone()).await)
                {
                    elsewhere.push(place);
                }
            }
            elsewhere
        });
        join_all(told).await.concat()
    }
}

#[async_trait]
impl Service for Heard {
    fn rules(&self) -> &'static [&'static str] {
        &[HeardElsewhere::RULE, UseCommand::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        if asker.role != Role::Peer {
            return Err(Refused::OnlyPeers);
        }
        if rule == UseCommand::RULE {
            let (used, within) = read::<UseCommand>(question)?.read()?;
            let answer = self.dirigent.command_here(&used, within).await;
            let answer = answer.map_err(|error| refused(&error))?;
            return Ok(write(&CommandText::from(answer)));
        }
        let elsewhere = self.tell(read(question)?).await;
        Ok(write(&NotOurs { elsewhere }))
    }
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
