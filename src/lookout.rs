//! Looking for what was said without an event of it: when a host says that there was a gap, and now
//! and then without being told.

use std::collections::{BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent_core::{PhaseKind, Timestamp};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;

use crate::ChannelId;
use crate::life::Stage;
use crate::shared::Shared;

/// How many channels are looked at at once.
const AT_ONCE: usize = 4;
/// The shortest time between two rounds.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// In which channels something may have been missed.
#[derive(Debug, Default)]
pub(crate) struct Lookouts {
    wanted: Mutex<Wanted>,
    called: Notify,
}

#[derive(Debug, Default)]
struct Wanted {
    /// Nobody reads there yet.
    called: BTreeSet<ChannelId>,
    /// Called, or being read.
    open: BTreeSet<ChannelId>,
}

impl Lookouts {
    /// Something was missed in these channels.
    pub(crate) fn call(&self, channels: impl IntoIterator<Item = ChannelId>) {
        let mut wanted = self.wanted();
        for channel in channels {
            wanted.called.insert(channel);
            wanted.open.insert(channel);
        }
        drop(wanted);
        self.called.notify_one();
    }

    /// Whether what was missed there is still to be read.
    pub(crate) fn is_wanted(&self, channel: ChannelId) -> bool {
        self.wanted().open.contains(&channel)
    }

    /// The channel was brought up to date, unless it was called again meanwhile.
    pub(crate) fn done(&self, channel: ChannelId) {
        let mut wanted = self.wanted();
        if !wanted.called.contains(&channel) {
            wanted.open.remove(&channel);
        }
    }

    fn take(&self) -> Vec<ChannelId> {
        std::mem::take(&mut self.wanted().called).into_iter().collect()
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Reading<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl Shared {
    /// Reads what was missed, whenever there is word of a gap and every now and then, until the
    /// driver stops.
    pub(crate) async fn look_out(self: &Arc<Self>) {
        let mut reading: FuturesUnordered<Reading<'_>> = FuturesUnordered::new();
        let mut round = Round::default();
        let mut next = self.next_round();
        loop {
            tokio::select! {
                biased;
                () = self.life.until(Stage::Stopping) => return,
                Some(()) = reading.next() => {}
                () = self.lookouts.called.notified() => {
                    reading.push(Box::pin(self.reconcile(self.lookouts.take())));
                }
                () = self.until_round(next) => {
                    let channels = round.choose(self);
                    reading.push(Box::pin(self.look_at(channels)));
                    next = self.next_round();
                }
            }
        }
    }

    fn next_round(&self) -> Option<Timestamp> {
        let lookout = self.settings.lookout.filter(|lookout| lookout.channels > 0)?;
        Some(self.clock.now() + lookout.every.max(EVERY_MIN))
    }

    async fn until_round(&self, next: Option<Timestamp>) {
        match next {
            Some(next) => self.clock.sleep_until(next).await,
            None => std::future::pending().await,
        }
    }

    async fn look_at(self: &Arc<Self>, channels: Vec<ChannelId>) {
        let looks = channels.into_iter().map(|channel| self.look(channel));
        futures_util::stream::iter(looks).buffer_unordered(AT_ONCE).collect::<()>().await;
    }

    /// One look: if it fails, the next round looks again.
    async fn look(self: &Arc<Self>, channel: ChannelId) {
        let Ok(Some(room)) = self.room(channel).await else {
            return;
        };
        let from = {
            let state = room.lock();
            let view = state.channel.view();
            let keeps_turns = view.mode().keeps_turns() && view.phase() != PhaseKind::Archived;
            let is_read_anyway = state.active.as_ref().is_some_and(|a| a.missed_from.is_some());
            (keeps_turns && !is_read_anyway).then_some(state.heard)
        };
        if let Some(from) = from {
            if let Err(error) = self.take_all_missed(&room, from).await {
                tracing::debug!(%channel, %error, "a look came to nothing");
            }
        }
    }
}

/// Whose turn it is to be looked at.
#[derive(Debug, Default)]
struct Round {
    /// The last channel in memory that was looked at.
    last: Option<ChannelId>,
    /// The others that are still to come.
    asleep: VecDeque<ChannelId>,
}

impl Round {
    /// Channels in memory first, in turn if they are too many, then those that only the store has;
    /// a quarter is always theirs.
    fn choose(&mut self, shared: &Arc<Shared>) -> Vec<ChannelId> {
        let most = shared.settings.lookout.map_or(0, |lookout| lookout.channels);
        let awake_most = most - most.div_ceil(4);
        let mut chosen: Vec<_> = shared.all_awake().iter().map(|room| room.id).collect();
        chosen.sort_unstable();
        if chosen.len() > awake_most {
            let from = chosen.partition_point(|channel| Some(*channel) <= self.last);
            let from = from % chosen.len();
            chosen.rotate_left(from);
            chosen.truncate(awake_most);
            self.last = chosen.last().copied().or(self.last);
        }
        if self.asleep.is_empty() {
            self.asleep = shared.known().into();
        }
        while chosen.len() < most {
            match self.asleep.pop_front() {
                Some(channel) if chosen.contains(&channel) => {}
                Some(channel) => chosen.push(channel),
                None => break,
            }
        }
        chosen
    }
}
