//! Whether another process posts with the same accounts, and shares no store with this one.
//!
//! Each reply's nonce says when it was decided, and when the process began that decided it. One of another process proves nothing that
//! may be late news of a process before: it counts when it was decided and sent two minutes after this process began, or took the
//! channel over, and when another one follows.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::values::message::Nonce;
use crate::{ChannelId, ChatMessage};

/// So long after its start, or after it took a channel over, this process may hear of what the process before it posted.
const SETTLES: Duration = Duration::from_secs(2 * 60);
/// A process that is not heard of for so long is taken to be gone.
const GONE_AFTER: Duration = Duration::from_secs(10 * 60);
/// The most channels in which posts of another process are remembered.
const CHANNELS_MAX: usize = 4_096;

/// Another process that posts in a channel with the same tokens, and shares no store with this one: every agent speaks twice there.
/// The one that began later gives way: it grants no turns in the channel, and tries again after ten minutes in which the other
/// posted nothing.
///
/// It is noticed by the replies of agents that the library calls. Where all agents have gateways of their own, nothing notices it.
///
/// ```
/// use dirigent::operate::Status;
/// fn warn(status: &Status) {
///     if let Some(twin) = status.twin {
///         println!("two processes speak here; this one gives way: {}", twin.gives_way);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Twin {
    /// When the other process began, in Unix milliseconds.
    pub began: Timestamp,
    /// When its newest post was heard of.
    pub heard_at: Timestamp,
    /// Whether this process began later, and grants no turns in the channel meanwhile.
    pub gives_way: bool,
}

#[derive(Debug)]
pub(crate) struct Twins {
    up_since: Timestamp,
    /// Whether any channel has one. Asked before each action.
    any: AtomicBool,
    state: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    /// When channels came to this process, of late.
    came: HashMap<ChannelId, Timestamp>,
    seen: HashMap<ChannelId, Seen>,
}

/// What was heard of another process in a channel.
#[derive(Debug)]
struct Seen {
    nonce: Nonce,
    twin: Twin,
    is_proven: bool,
}

impl Twins {
    pub(super) fn new(up_since: Timestamp) -> Self {
        Self { up_since, any: AtomicBool::new(false), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These channels came to this process from another.
    pub(super) fn came(&self, channels: &[ChannelId], now: Timestamp) {
        let mut state = self.lock();
        state.came.retain(|_, at| now.since(*at) < SETTLES);
        state.came.extend(channels.iter().map(|channel| (*channel, now)));
        for channel in channels {
            state.seen.remove(channel);
        }
    }

    /// A message of an agent whose replies this process posts, in a channel that is its own.
    pub(crate) fn look_at(&self, message: &ChatMessage, now: Timestamp) {
        let Some((decided, began)) = message.nonce.as_ref().and_then(Nonce::decided_and_began)
        else {
            return;
        };
        if began == Nonce::rounded(decided, self.up_since) {
            return;
        }
        let mut state = self.lock();
        let came = state.came.get(&message.channel).copied();
        let settled = came.unwrap_or(self.up_since).max(self.up_since) + SETTLES;
        if decided.min(message.sent_at) < settled {
            return;
        }
        let is_full = state.seen.len() >= CHANNELS_MAX;
        if is_full && !state.seen.contains_key(&message.channel) {
            return;
        }
        let nonce = message.nonce.unwrap_or_else(|| Nonce::from_parts(0, 0, 0));
        let gives_way = began < self.up_since;
        let twin = Twin { began, heard_at: now, gives_way };
        let new = Seen { nonce, twin, is_proven: false };
        let seen = state.seen.entry(message.channel).or_insert(new);
        let began = seen.twin.began.min(began);
        seen.twin = Twin { began, heard_at: now, gives_way: began < self.up_since };
        if seen.nonce != nonce && !seen.is_proven {
            seen.is_proven = true;
            tell(message.channel, seen.twin);
        }
        self.any.store(true, Ordering::Release);
    }

    /// The other process that posts in the channel, if there is one.
    pub(crate) fn of(&self, channel: ChannelId) -> Option<Twin> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let state = self.lock();
        state.seen.get(&channel).filter(|seen| seen.is_proven).map(|seen| seen.twin)
    }

    /// Whether this process grants no turns in the channel, since one that began earlier does.
    pub(crate) fn gives_way(&self, channel: ChannelId) -> bool {
        self.of(channel).is_some_and(|twin| twin.gives_way)
    }

    /// When a process is taken to be gone next.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        self.lock().seen.values().map(|seen| seen.twin.heard_at + GONE_AFTER).min()
    }

    /// Forgets processes that were not heard of for long. Returns the channels in which this one goes on.
    pub(super) fn tick(&self, now: Timestamp) -> Vec<ChannelId> {
        if self.earliest().is_none_or(|at| now < at) {
            return Vec::new();
        }
        let mut state = self.lock();
        let is_gone = |seen: &Seen| now.since(seen.twin.heard_at) >= GONE_AFTER;
        let gives_way = |seen: &Seen| seen.is_proven && seen.twin.gives_way;
        let gone = state.seen.iter().filter(|(_, seen)| is_gone(seen) && gives_way(seen));
        let mut resumed: Vec<_> = gone.map(|(channel, _)| *channel).collect();
        state.seen.retain(|_, seen| !is_gone(seen));
        resumed.sort_unstable();
        self.any.store(!state.seen.is_empty(), Ordering::Release);
        resumed
    }
}

fn tell(channel: ChannelId, Twin { gives_way, .. }: Twin) {
    if gives_way {
        tracing::error!(
            %channel,
            "another process posts here with the same tokens, and shares no store with this one: every agent speaks twice. That one \
             began earlier, so this one grants no turns here until the other has posted nothing for ten minutes. End one of them"
        );
    } else {
        tracing::error!(
            %channel,
            "another process posts here with the same tokens, and shares no store with this one: every agent speaks twice. That one \
             began later, and gives way if its version knows how. End one of them"
        );
    }
}
