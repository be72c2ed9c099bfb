//! Channels with events that wait for the driver's store, in order.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use dirigent::ports::Timestamp;
use dirigent::{CallError, ChannelId, Dirigent, MessageId};

use super::channel_event::{ChannelEvent, is_repeated};
use super::log_limit::LogLimit;

/// The most events of one channel that may wait.
const CHANNEL_MAX: usize = 1_024;

/// The most events of all channels that may wait.
const TOTAL_MAX: usize = 8_192;

/// An event on its way to the driver, and its short form for the case that it does not arrive.
pub(super) type Begun = (Telling, Option<ChannelEvent>);

type Telling = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>;

/// Begins to report an event to the driver.
pub(super) fn begin(dirigent: &Dirigent, channel: ChannelId, event: ChannelEvent) -> Begun {
    let condensed = event.condensed();
    (Box::pin(event.tell(dirigent.clone(), channel)), condensed)
}

/// A channel with events that could not be reported at once. The [`FeedWork`](super::FeedWork) goes on with it.
pub(super) struct Job {
    pub(super) channel: ChannelId,
    /// The event that is being reported, if there is one.
    pub(super) begun: Option<Begun>,
}

/// Reports to the driver at once what need not wait, and stores the rest, in order for each channel.
///
/// At most [`CHANNEL_MAX`] events of a channel wait, and [`TOTAL_MAX`] in all. Beyond that, a channel's events are
/// condensed to the id of its newest message and to the accounts that joined or left. The driver then reads the
/// messages from the history. So memory depends only on the number of channels. Events that need not wait always stay
/// complete.
#[derive(Default)]
pub(super) struct ChannelQueues {
    state: Mutex<QueuedEvents>,
    log: LogLimit,
}

#[derive(Default)]
struct QueuedEvents {
    /// Events that wait behind the one that is being reported.
    channels: HashMap<ChannelId, VecDeque<ChannelEvent>>,
    waiting: usize,
}

impl ChannelQueues {
    /// Reports an event to the driver. Returns without waiting. If the event must wait, returns the channel for the work.
    pub(super) fn tell(
        &self,
        dirigent: &Dirigent,
        channel: ChannelId,
        event: ChannelEvent,
        now: Timestamp,
    ) -> Option<Job> {
        let mut state = self.state();
        if state.channels.contains_key(&channel) {
            state.push(channel, event);
            return None;
        }
        state.channels.insert(channel, VecDeque::new());
        drop(state);
        let (mut telling, condensed) = begin(dirigent, channel, event);
        // The work polls it again with its own waker.
        let begun = match telling.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) if is_repeated(&error) && condensed.is_some() => {
                // The work finds this answer, and repeats the event like any other.
                let failed: Telling = Box::pin(std::future::ready(Err(error)));
                Some((failed, condensed))
            }
            Poll::Ready(told) => {
                if let Err(error) = told {
                    self.log_untold(channel, &error, now);
                }
                None
            }
            Poll::Pending if self.is_full() => {
                drop(telling);
                condensed.map(|event| begin(dirigent, channel, event))
            }
            Poll::Pending => Some((telling, condensed)),
        };
        let mut state = self.state();
        if begun.is_some() {
            state.waiting += 1;
        } else if state.channels.get(&channel).is_none_or(VecDeque::is_empty) {
            // Otherwise another thread has added events during that time.
            state.channels.remove(&channel);
            return None;
        }
        Some(Job { channel, begun })
    }

    fn is_full(&self) -> bool {
        self.state().waiting >= TOTAL_MAX
    }

    /// Logs, at most once a minute, that the driver did not accept an event.
    pub(super) fn log_untold(&self, channel: ChannelId, error: &CallError, now: Timestamp) {
        if matches!(error, CallError::Refused(_)) {
            // It came too late to have an effect.
            tracing::debug!(%channel, %error, "an event was refused");
        } else if let Some(suppressed) = self.log.admit("untold", now) {
            tracing::warn!(%channel, %error, suppressed, "the driver could not be told of an event");
        }
    }

    /// Drops a channel's events, because the [`FeedWork`](super::FeedWork) is gone and they would have to wait.
    pub(super) fn drop_job(&self, Job { channel, begun }: Job, now: Timestamp) {
        let mut state = self.state();
        let behind = state.channels.remove(&channel).map_or(0, |events| events.len());
        let dropped = behind + usize::from(begun.is_some());
        state.waiting = state.waiting.saturating_sub(dropped);
        drop(state);
        if let Some(suppressed) = self.log.admit("abandoned", now) {
            tracing::warn!(
                %channel,
                suppressed,
                "an event was dropped: it would have to wait, and FeedWork::run is not running"
            );
        }
    }

    /// Called when an event that had begun was reported.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(1);
    }

    /// Returns the channel's next event, which counts until [`ChannelQueues::finish`]. Returns `None` if there is none,
    /// and the next one is then reported at once.
    pub(super) fn next_event(&self, channel: ChannelId) -> Option<ChannelEvent> {
        let mut state = self.state();
        let event = state.channels.get_mut(&channel).and_then(VecDeque::pop_front);
        if event.is_none() {
            state.channels.remove(&channel);
        }
        event
    }

    /// Returns an event that the driver could not accept, to report it again. The channel's events are condensed with
    /// it.
    pub(super) fn give_back(&self, channel: ChannelId, event: ChannelEvent) {
        let mut state = self.state();
        if let Some(events) = state.channels.get_mut(&channel) {
            events.push_front(event);
            state.waiting += 1;
            state.condense(channel);
        }
    }

    /// Drops all waiting events. None of them reaches the driver.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        state.channels.clear();
        state.waiting = 0;
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
}

/// Condenses events. The newest message comes first, because the driver must know it before any message after the gap.
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
    // A thread takes its parent's mode from its first message, and has no earlier history to read.
    first_in_thread
        .into_iter()
        .chain(newest.map(|newest| ChannelEvent::Newest(newest, parent)))
        .chain(members)
        .chain(is_stopped.then_some(ChannelEvent::Stopped))
        .chain(is_deleted.then_some(ChannelEvent::ChannelDeleted))
        .collect()
}

/// Remembers only an account's last move.
fn note(members: &mut Vec<(dirigent::UserId, bool)>, user: dirigent::UserId, is_here: bool) {
    match members.iter_mut().find(|(known, _)| *known == user) {
        Some((_, was_here)) => *was_here = is_here,
        None => members.push((user, is_here)),
    }
}
