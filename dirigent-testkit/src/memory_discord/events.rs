//! The queue of pushed events of one subscriber.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::ports::Timestamp;
use dirigent::{CallError, Clock, Dirigent};
use tokio::sync::Notify;

use super::event::Event;
use super::faults::PushFault;

/// One subscriber's queue of pushed events. Events wait until you take them, without a limit.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::memory_discord::Event;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let person = discord.add_human();
/// let guild = discord.add_guild(person);
/// let channel = discord.add_channel(guild, "round-table", &[]);
///
/// let mut events = discord.events();
/// let id = discord.say(channel, person, "hello");
/// assert!(matches!(events.try_next(), Some(Event::MessageCreated(m)) if m.id == id));
/// assert_eq!(events.try_next(), None);
/// ```
pub struct GatewayEvents {
    inbox: Arc<Inbox>,
    clock: Arc<dyn Clock>,
}

impl GatewayEvents {
    pub(crate) fn new(inbox: Arc<Inbox>, clock: Arc<dyn Clock>) -> Self {
        Self { inbox, clock }
    }

    /// Returns the next event, if one has arrived.
    pub fn try_next(&mut self) -> Option<Event> {
        self.inbox.queue().take(&*self.clock)
    }

    /// Passes every event to the library, as a bot's event loop does. Spawn it as a task. It ends when the chat is gone
    /// or the driver has ended. If the library refuses an event, it goes on with the next one.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use dirigent::{Dirigent, Mode, agent_fn, Reply, SystemClock, Turn};
    /// # use dirigent_testkit::{MemoryDiscord, memory_discord::Event};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dirigent::AgentError> {
    /// # let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    /// # let [moderator, poet, critic] = [(); 3].map(|()| discord.add_bot());
    /// # let person = discord.add_human();
    /// # let table = discord.add_channel(discord.add_guild(person), "round-table", &[moderator, poet, critic]);
    /// # let voice = || agent_fn(|_: Turn| async { Ok(Reply::text("Good day.")) });
    /// # let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
    /// #     .host("poet", voice(), discord.account(poet)).host("critic", voice(), discord.account(critic)).build()?;
    /// tokio::spawn(driver.run());
    /// tokio::spawn(discord.events().pump(dirigent.clone()));
    /// # dirigent.channel(table).set_mode(Mode::Chat).await?;
    /// let mut events = discord.events();
    /// discord.say(table, person, "Good day!");
    /// for _ in 0..2 {
    ///     assert!(matches!(events.next().await, Some(Event::MessageCreated(_))));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn pump(mut self, dirigent: Dirigent) {
        while let Some(event) = self.next().await {
            if let Err(CallError::Ended(_)) = event.tell(&dirigent).await {
                return;
            }
        }
    }

    /// Waits for the next event. Returns `None` when the chat is gone.
    ///
    /// If a fault delays an event, it waits by the chat's clock.
    ///
    /// # Cancellation
    ///
    /// You can drop the future without losing an event.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            let due = match self.inbox.queue().outlook() {
                Outlook::Over => return None,
                Outlook::At(due) => Some(due),
                Outlook::Open => None,
            };
            match due {
                Some(due) => tokio::select! {
                    biased;
                    () = self.inbox.arrived.notified() => {}
                    () = self.clock.sleep_until(due) => {}
                },
                None => self.inbox.arrived.notified().await,
            }
        }
    }

    /// Returns how many events have arrived or are on their way.
    pub fn pending(&self) -> usize {
        let queue = self.inbox.queue();
        queue.ready.len() + queue.held.len()
    }

    /// Cuts the connection. No event arrives until [`reconnect`](Self::reconnect).
    pub fn disconnect(&mut self) {
        self.inbox.queue().connected = false;
    }

    /// Connects again. A resumed session replays missed events in order; a new one has lost them.
    pub fn reconnect(&mut self, resumed: bool) {
        let mut queue = self.inbox.queue();
        queue.connected = true;
        if !resumed {
            queue.ready.clear();
            queue.held.clear();
        }
        drop(queue);
        self.inbox.arrived.notify_one();
    }
}

impl Drop for GatewayEvents {
    fn drop(&mut self) {
        self.inbox.dropped.store(true, Ordering::Release);
    }
}

impl fmt::Debug for GatewayEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayEvents").field("pending", &self.pending()).finish_non_exhaustive()
    }
}

/// The state that the chat and one subscriber share.
pub(crate) struct Inbox {
    queue: Mutex<Queue>,
    /// Notified when an event arrives.
    arrived: Notify,
    /// True if the subscriber is gone.
    dropped: AtomicBool,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self {
            queue: Mutex::new(Queue::default()),
            arrived: Notify::new(),
            dropped: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }

    /// Adds an event, with its fault.
    pub(crate) fn put(&self, event: Event, fault: Option<PushFault>, now: Timestamp) {
        self.queue().put(event, fault, now);
        self.arrived.notify_one();
    }

    /// Ends all delays.
    pub(crate) fn flush(&self) {
        self.queue().release_all();
        self.arrived.notify_one();
    }

    /// Ends the queue, because no more events will come.
    pub(crate) fn close(&self) {
        self.queue().closed = true;
        self.arrived.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event that a fault holds back.
struct Held {
    event: Event,
    /// The number of later events that must arrive before it. With `None` only time releases it.
    events_left: Option<u32>,
    /// The latest time at which it is released.
    due: Timestamp,
}

/// The prospects of an empty queue.
enum Outlook {
    /// No more events will come.
    Over,
    /// An event comes at this time, or earlier.
    At(Timestamp),
    /// An event may come at any time.
    Open,
}

/// The events of one subscriber.
struct Queue {
    /// Events that have arrived.
    ready: VecDeque<Event>,
    /// Events that are held back, in order.
    held: Vec<Held>,
    /// True if the subscriber gets events.
    connected: bool,
    /// True if the chat is gone.
    closed: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Self { ready: VecDeque::new(), held: Vec::new(), connected: true, closed: false }
    }
}

impl Queue {
    fn put(&mut self, event: Event, fault: Option<PushFault>, now: Timestamp) {
        match fault {
            None => self.ready.push_back(event),
            Some(PushFault::Dropped) => return,
            Some(PushFault::Duplicated) => {
                self.ready.push_back(event.clone());
                self.ready.push_back(event);
            }
            Some(PushFault::HeldBack { events, at_most }) => {
                let held = Held { event, events_left: Some(events), due: now + at_most };
                self.held.push(held);
                return;
            }
            Some(PushFault::Delayed { by }) => {
                self.held.push(Held { event, events_left: None, due: now + by });
                return;
            }
        }
        if !self.held.is_empty() {
            self.count_down();
        }
    }

    /// Counts one more event that overtakes those held back.
    fn count_down(&mut self) {
        for held in &mut self.held {
            held.events_left = held.events_left.map(|left| left.saturating_sub(1));
        }
        self.release(|held| held.events_left == Some(0));
    }

    fn take(&mut self, clock: &dyn Clock) -> Option<Event> {
        if !self.connected {
            return None;
        }
        if !self.held.is_empty() {
            let now = clock.now();
            self.held.sort_by_key(|held| held.due);
            self.release(|held| held.due <= now);
        }
        self.ready.pop_front()
    }

    fn release(&mut self, is_over: impl Fn(&Held) -> bool) {
        let (over, still_held) = std::mem::take(&mut self.held).into_iter().partition(is_over);
        self.held = still_held;
        let over: Vec<Held> = over;
        self.ready.extend(over.into_iter().map(|held| held.event));
    }

    fn release_all(&mut self) {
        self.ready.extend(self.held.drain(..).map(|held| held.event));
    }

    fn outlook(&self) -> Outlook {
        let due = self.held.iter().map(|held| held.due).min();
        match due {
            _ if !self.connected => Outlook::Open,
            Some(due) => Outlook::At(due),
            None if self.closed => Outlook::Over,
            None => Outlook::Open,
        }
    }
}
