//! Channels whose events wait for the driver's store, each with its events in order.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use dirigent::ports::Timestamp;
use dirigent::{CallError, ChannelId, Dirigent, MessageId};
use tokio::sync::Notify;

use super::channel_event::{ChannelEvent, is_repeated};
use super::log_limit::LogLimit;

/// How many events of one channel may wait.
const CHANNEL_MAX: usize = 1_024;

/// How many events of all channels may wait.
const TOTAL_MAX: usize = 8_192;

/// One event on its way to the driver, and what is left of it if it does not arrive.
pub(super) type Begun = (Telling, Option<ChannelEvent>);

type Telling = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>;

/// Begins to tell the driver of an event.
pub(super) fn begin(dirigent: &Dirigent, channel: ChannelId, event: ChannelEvent) -> Begun {
    let condensed = event.condensed();
    (Box::pin(event.tell(dirigent.clone(), channel)), condensed)
}

/// A channel with events that were not told at once: the [`FeedWork`](super::FeedWork) goes on with it.
pub(super) struct Job {
    pub(super) channel: ChannelId,
    /// The event of which the driver is being told, if there is one.
    pub(super) begun: Option<Begun>,
}

/// Tells the driver at once what needs no waiting, and keeps the rest, in order for each channel.
///
/// Beyond [`CHANNEL_MAX`] events of a channel that wait, or [`TOTAL_MAX`] in all, a channel's events are condensed to the
/// id of its newest message and to who joined or left: the driver then reads what was said from the history. So
/// memory follows the number of channels. Events that need not wait are passed on complete, however many wait for other channels.
#[derive(Default)]
pub(super) struct ChannelQueues {
    state: Mutex<QueuedEvents>,
    more: Notify,
    log: LogLimit,
}

#[derive(Default)]
struct QueuedEvents {
    /// What waits behind the event that is being told.
    channels: HashMap<ChannelId, VecDeque<ChannelEvent>>,
    waiting: usize,
    jobs: VecDeque<Job>,
    /// The [`FeedWork`](super::FeedWork) is gone: what would have to wait is dropped.
    is_abandoned: bool,
}

impl ChannelQueues {
    /// Tells the driver, or has it told by the work. Returns without waiting.
    pub(super) fn tell(
        &self,
        dirigent: &Dirigent,
        channel: ChannelId,
        event: ChannelEvent,
        now: Timestamp,
    ) {
        let mut state = self.state();
        if state.channels.contains_key(&channel) {
            state.push(channel, event);
            return;
        }
        state.channels.insert(channel, VecDeque::new());
        drop(state);
        let (mut telling, condensed) = begin(dirigent, channel, event);
        // The work polls it again with a waker of its own.
        match telling.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) if is_repeated(&error) && condensed.is_some() => {
                // The work finds the same answer, and repeats the event as it repeats every other.
                let failed: Telling = Box::pin(std::future::ready(Err(error)));
                self.hand_on(channel, (failed, condensed), now);
            }
            Poll::Ready(told) => {
                if let Err(error) = told {
                    self.log_untold(channel, &error, now);
                }
                self.pass_on(channel);
            }
            Poll::Pending if self.is_full() => {
                drop(telling);
                match condensed {
                    Some(event) => self.hand_on(channel, begin(dirigent, channel, event), now),
                    None => self.pass_on(channel),
                }
            }
            Poll::Pending => self.hand_on(channel, (telling, condensed), now),
        }
    }

    /// The work goes on with an event that was not told at once, and with what follows it.
    fn hand_on(&self, channel: ChannelId, begun: Begun, now: Timestamp) {
        let mut state = self.state();
        if state.is_abandoned {
            state.forget(channel);
            drop(state);
            return self.log_abandoned(channel, now);
        }
        state.waiting += 1;
        state.jobs.push_back(Job { channel, begun: Some(begun) });
        drop(state);
        self.more.notify_one();
    }

    fn is_full(&self) -> bool {
        self.state().waiting >= TOTAL_MAX
    }

    /// Writes to the log, at most once a minute, that the driver did not take an event.
    pub(super) fn log_untold(&self, channel: ChannelId, error: &CallError, now: Timestamp) {
        if matches!(error, CallError::Refused(_)) {
            // It came late, and changes nothing any more.
            tracing::debug!(%channel, %error, "an event was refused");
        } else if let Some(suppressed) = self.log.admit("untold", now) {
            tracing::warn!(%channel, %error, suppressed, "the driver could not be told of an event");
        }
    }

    fn log_abandoned(&self, channel: ChannelId, now: Timestamp) {
        if let Some(suppressed) = self.log.admit("abandoned", now) {
            tracing::warn!(
                %channel,
                suppressed,
                "an event was dropped: it would have to wait, and FeedWork::run is not running"
            );
        }
    }

    /// An event was told at once. What came meanwhile, from another thread, is for the work.
    fn pass_on(&self, channel: ChannelId) {
        let mut state = self.state();
        let is_empty = state.channels.get(&channel).is_none_or(VecDeque::is_empty);
        if is_empty || state.is_abandoned {
            state.forget(channel);
            return;
        }
        state.jobs.push_back(Job { channel, begun: None });
        drop(state);
        self.more.notify_one();
    }

    /// The next channel that the work goes on with.
    pub(super) fn next_job(&self) -> Option<Job> {
        self.state().jobs.pop_front()
    }

    /// Waits until there may be a [`Job`].
    pub(super) async fn more(&self) {
        self.more.notified().await;
    }

    /// An event that had begun was told.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(1);
    }

    /// The channel's next event, which counts until [`ChannelQueues::finish`]. `None` where there is none: the next
    /// one is then passed on at once.
    pub(super) fn next_event(&self, channel: ChannelId) -> Option<ChannelEvent> {
        let mut state = self.state();
        let event = state.channels.get_mut(&channel).and_then(VecDeque::pop_front);
        if event.is_none() {
            state.channels.remove(&channel);
        }
        event
    }

    /// The driver could not be told of this event, and is to be told again: the channel's events are
    /// condensed with it.
    pub(super) fn give_back(&self, channel: ChannelId, event: ChannelEvent) {
        let mut state = self.state();
        if let Some(events) = state.channels.get_mut(&channel) {
            events.push_front(event);
            state.waiting += 1;
            state.condense(channel);
        }
    }

    /// Drops all waiting events; none reaches the driver any more.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        state.is_abandoned = true;
        let jobs = std::mem::take(&mut state.jobs);
        state.channels.clear();
        state.waiting = 0;
        drop(state);
        drop(jobs);
    }

    fn state(&self) -> MutexGuard<'_, QueuedEvents> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedEvents {
    fn push(&mut self, channel: ChannelId, event: ChannelEvent) {
        let Some(events) = self.channels.get_mut(&channel) else { return };
        events.push_back(event);
        self.waiting += 1;
        if events.len() > CHANNEL_MAX || self.waiting > TOTAL_MAX {
            self.condense(channel);
        }
    }

    fn condense(&mut self, channel: ChannelId) {
        if let Some(events) = self.channels.get_mut(&channel) {
            let before = events.len();
            *events = condense(std::mem::take(events));
            self.waiting = (self.waiting + events.len()).saturating_sub(before);
        }
    }

    fn forget(&mut self, channel: ChannelId) {
        if let Some(events) = self.channels.remove(&channel) {
            self.waiting -= events.len();
        }
    }
}

/// The newest message comes first: the driver wants to know of it before any message after the gap.
fn condense(events: VecDeque<ChannelEvent>) -> VecDeque<ChannelEvent> {
    let (mut newest, mut parent) = (None::<MessageId>, None);
    let mut members = Vec::new();
    let mut first_in_thread = None;
    let (mut is_stopped, mut is_deleted) = (false, false);
    for event in events {
        match event.condensed() {
            Some(ChannelEvent::Created(message, of)) => {
                newest = newest.max(Some(message.id));
                first_in_thread.get_or_insert(ChannelEvent::Created(message, of));
            }
            Some(ChannelEvent::Newest(id, of)) => {
                newest = newest.max(Some(id));
                parent = parent.or(of);
            }
            Some(ChannelEvent::Joined(user)) => note(&mut members, user, true),
            Some(ChannelEvent::Left(user)) => note(&mut members, user, false),
            Some(ChannelEvent::Stopped) => is_stopped = true,
            Some(ChannelEvent::ChannelDeleted) => is_deleted = true,
            Some(ChannelEvent::Updated(_) | ChannelEvent::Deleted(_) | ChannelEvent::Typing(_))
            | None => {}
        }
    }
    let members = members.into_iter().map(|(user, is_here)| {
        if is_here { ChannelEvent::Joined(user) } else { ChannelEvent::Left(user) }
    });
    // A thread takes over its parent's mode with its first message, and has no history to read before.
    first_in_thread
        .into_iter()
        .chain(newest.map(|newest| ChannelEvent::Newest(newest, parent)))
        .chain(members)
        .chain(is_stopped.then_some(ChannelEvent::Stopped))
        .chain(is_deleted.then_some(ChannelEvent::ChannelDeleted))
        .collect()
}

/// Only an account's last move matters.
fn note(members: &mut Vec<(dirigent::UserId, bool)>, user: dirigent::UserId, is_here: bool) {
    match members.iter_mut().find(|(known, _)| *known == user) {
        Some((_, was_here)) => *was_here = is_here,
        None => members.push((user, is_here)),
    }
}
