//! The time of each channel's newest change. It is read once from the store's history, and after that it follows
//! the events.

use std::sync::{Mutex, PoisonError};

use dirigent::operate::{Cause, EventOrLag, Events, Status, Transition};
use dirigent::snapshot::PhaseKind;
use dirigent::{ChannelId, Dirigent};
use rustc_hash::FxHashMap;

/// The most channels that are remembered.
const CHANNELS_MAX: usize = 100_000;

/// The times of the channels' newest changes.
pub(crate) struct SinceCache(Mutex<Heard>);

struct Heard {
    events: Events,
    known: FxHashMap<ChannelId, Since>,
    /// A number that rises with each event, because a history that was read before may lack it.
    count: u64,
}

/// The times of one channel's newest changes.
#[derive(Clone, Copy, Default)]
struct Since {
    /// The time at which it entered this phase.
    phase: Option<(PhaseKind, u64)>,
    /// The time of its newest pause, which changes no phase.
    paused: Option<u64>,
}

impl Since {
    fn take(&mut self, change: &Transition) {
        let at = change.at.as_millis();
        if change.from != change.to {
            self.phase = Some((change.to, at));
        }
        if matches!(change.cause, Cause::Stopped | Cause::Held | Cause::Concluded) {
            self.paused = Some(at);
        }
    }

    /// Returns the time, or `None` while the newest change is not stored, because its event arrives in a moment.
    fn of(self, status: &Status) -> Option<u64> {
        if status.rest.is_some() {
            return self.paused;
        }
        self.phase.filter(|(phase, _)| *phase == status.phase).map(|(_, at)| at)
    }
}

impl SinceCache {
    pub(crate) fn new(dirigent: &Dirigent) -> Self {
        let (events, known, count) = (dirigent.events(), FxHashMap::default(), 0);
        Self(Mutex::new(Heard { events, known, count }))
    }

    /// Returns the time of the channel's newest change, in milliseconds of Unix time, if its history has it.
    pub(crate) async fn of(
        &self,
        dirigent: &Dirigent,
        channel: ChannelId,
        status: &Status,
    ) -> Option<u64> {
        let before = match self.heard(channel) {
            Ok(since) => return since.of(status),
            Err(count) => count,
        };
        let history = dirigent.channel(channel).history().await.ok()?;
        let mut since = Since::default();
        for event in &history {
            since.take(&event.transition);
        }
        self.keep(channel, since, before);
        since.of(status)
    }

    /// Returns the known state of the channel, or the number of events so far.
    fn heard(&self, channel: ChannelId) -> Result<Since, u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Heard { events, known, count } = &mut *all;
        while let Some(event) = events.try_next() {
            *count += 1;
            match event {
                EventOrLag::Transition(event) => {
                    if let Some(since) = known.get_mut(&event.channel) {
                        since.take(&event.transition);
                    }
                }
                // The histories contain the missed events.
                EventOrLag::Lagged(_) => known.clear(),
                EventOrLag::AgentFailed(_)
                | EventOrLag::ReplyLost(_)
                | EventOrLag::Progress(_)
                | _ => {}
            }
        }
        known.get(&channel).copied().ok_or(*count)
    }

    fn keep(&self, channel: ChannelId, since: Since, before: u64) {
        // Events that arrived in the meantime are processed first.
        let _ = self.heard(channel);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.count == before && all.known.len() < CHANNELS_MAX {
            all.known.insert(channel, since);
        }
    }

    /// Forgets the channel, because another process acts for it and this one does not receive its events.
    pub(crate) fn forget(&self, channel: ChannelId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).known.remove(&channel);
    }
}
