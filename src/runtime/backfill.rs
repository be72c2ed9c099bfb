//! Looks for messages without an event, after a gap that a host reports, and from time to time without a report.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dirigent_core::Timestamp;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::Runtime;
use super::catch_up::AT_ONCE;
use super::cell::{Awaited, RoomCell};
use super::lost::Affects;
use super::room_table::RoomRef;
use crate::room::chat_health::NEWEST_WITHIN;
use crate::room::connection::Gateway;
use crate::settings::limits::LOOKED_AT;
use crate::values::stage::DriverStage;
use crate::{CallError, ChannelId};

/// The shortest time between two rounds.
const EVERY_MIN: Duration = Duration::from_secs(1);
/// The wait before a channel that could not be loaded is tried again. It doubles.
const TRY_AGAIN: Duration = Duration::from_secs(10);
const TRY_AGAIN_MAX: Duration = Duration::from_secs(600);

type Reading<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Brings channels up to date, beside the driver's loop.
impl Runtime {
    /// Lets channels read what they missed, after each report of a gap and from time to time, until the driver stops.
    pub(super) async fn keep_up_to_date(self: &Arc<Self>) {
        let mut reading: FuturesUnordered<Reading<'_>> = FuturesUnordered::new();
        let mut round = Round::default();
        let mut next = self.next_round();
        loop {
            tokio::select! {
                biased;
                () = self.life.until(DriverStage::Stopping) => return,
                Some(()) = reading.next() => {}
                () = self.catch_up.called.notified() => {
                    let (wanted, unloaded) = (self.catch_up.take(), self.catch_up.take_unloaded());
                    if !wanted.is_empty() {
                        reading.push(Box::pin(self.bring_up_to_date(wanted, Runtime::tell_gap)));
                    }
                    // These open a gap whatever they know, because the message that was pushed is lost to them.
                    if !unloaded.is_empty() {
                        reading.push(Box::pin(self.bring_up_to_date(unloaded, open_gap)));
                    }
                }
                // A session that announced newest messages and sent none is not waited for any longer.
                () = self.sleep_until(self.catch_up.awaited_until()) => {
                    let behind = self.catch_up.take_awaited();
                    reading.push(Box::pin(self.bring_up_to_date(behind, open_gap)));
                }
                () = self.sleep_until(next) => {
                    reading.push(Box::pin(self.backfill(round.choose(self))));
                    next = self.next_round();
                }
            }
        }
    }

    fn next_round(&self) -> Option<Timestamp> {
        let every = self.settings.time_limits.backfill?;
        Some(self.clock.now() + every.max(EVERY_MIN))
    }

    /// Waits until this time. `None` waits for ever.
    pub(super) async fn sleep_until(&self, moment: Option<Timestamp>) {
        match moment {
            Some(next) => self.clock.sleep_until(next).await,
            None => std::future::pending().await,
        }
    }

    /// Tells these channels that they missed messages. The busy ones learn it at once, and then the others, a few at a
    /// time, with a wait until each has read its messages. Channels that the store does not return are tried again.
    pub(super) async fn bring_up_to_date(
        self: &Arc<Self>,
        behind: Vec<ChannelId>,
        tell: fn(&Runtime, &Arc<RoomCell>),
    ) {
        let mut behind = self.busy_first(behind, tell).await;
        let mut wait = TRY_AGAIN;
        while !behind.is_empty() {
            let tried = behind.into_iter().map(|channel| async move {
                (!self.catch_up_with(channel, tell).await).then_some(channel)
            });
            let tried = futures_util::stream::iter(tried).buffer_unordered(AT_ONCE);
            behind = tried.filter_map(std::future::ready).collect().await;
            if behind.is_empty() {
                return;
            }
            tokio::select! {
                () = self.clock.sleep_until(self.clock.now() + wait) => {}
                () = self.life.until(DriverStage::Stopping) => return,
            }
            // A store that fails must not be asked by hundreds of channels again and again.
            wait = TRY_AGAIN_MAX.min(wait * 2);
        }
    }

    /// Loads and tells the busy channels: an agent has its turn, a person waits, or a message is not posted yet.
    /// Returns the others.
    ///
    /// A chat returns some 50 pages of history a second. With 1,500 channels, read in the order of their ids, the one
    /// current conversation waited for half a minute after each restart. The records alone are read in far less than a
    /// second.
    async fn busy_first(
        self: &Arc<Self>,
        channels: Vec<ChannelId>,
        tell: fn(&Runtime, &Arc<RoomCell>),
    ) -> Vec<ChannelId> {
        let looked = channels.into_iter().map(|channel| async move {
            let is_told = self.is_busy(channel).await
                // It takes no place, because a channel whose page does not come must not delay the next one.
                && self.room(channel).await.is_ok_and(|room| {
                    room.inspect(|room| tell(self, room)).is_some()
                });
            (!is_told).then_some(channel)
        });
        let looked = futures_util::stream::iter(looked).buffer_unordered(AT_ONCE);
        let mut resting: Vec<_> = looked.filter_map(std::future::ready).collect().await;
        // The looks ended in any order.
        resting.sort_unstable();
        resting
    }

    /// Loads the channel, which then reads by itself. Returns `false` if the store did not return it.
    async fn catch_up_with(
        self: &Arc<Self>,
        channel: ChannelId,
        tell: fn(&Runtime, &Arc<RoomCell>),
    ) -> bool {
        /// The time that a channel that reads keeps others from beginning.
        const PATIENCE: Duration = Duration::from_secs(10);
        // It is never closed, so there is a place sooner or later.
        let _place = self.catch_up.places.acquire().await;
        match self.room(channel).await {
            Ok(Some(room)) => {
                tell(self, &room);
                let read = room.wait_for(Awaited::NoGap);
                // It reads on by itself, however long that takes.
                let _ = self.within(PATIENCE, read).await;
                true
            }
            // A barred channel waits for an operator, and another one's owner reads it.
            Ok(None) | Err(CallError::Barred(_) | CallError::Elsewhere) => true,
            Err(error) => {
                tracing::error!(%channel, %error, "a channel could not be read");
                false
            }
        }
    }

    async fn backfill(self: &Arc<Self>, channels: Vec<ChannelId>) {
        for channel in channels {
            if let Ok(Some(room)) = self.room(channel).await {
                self.update(&room, |room, _, _| room.backfill());
            }
        }
    }
}

/// Opens a gap in a room in memory, whatever it knows.
fn open_gap(runtime: &Runtime, cell: &Arc<RoomCell>) {
    runtime.update(cell, |room, cx, now| room.gateway(cx, now, Gateway::Gap));
}

impl Runtime {
    /// Handles a new session on a connection that serves these channels. Those in memory wait for their newest message
    /// themselves. The others are loaded and read if none arrives in time.
    pub(crate) fn await_newest_of_parked(&self, affects: &Affects) {
        let parked = self.rooms.asleep().into_iter().filter(|channel| affects(*channel));
        self.catch_up.await_newest(self.clock.now() + NEWEST_WITHIN, parked);
    }

    /// Opens a gap in a room in memory, if events of all channels may have been lost and the room does not know it.
    pub(crate) fn tell_gap(&self, cell: &Arc<RoomCell>) {
        self.update_cell(cell, None, |state, cx, now| {
            // Each channel once for each gap. A thousand reconnects at once read a channel no more than a few times.
            let newest = self.gap_epoch.load(Ordering::Acquire);
            if state.epochs.gap != newest {
                state.epochs.gap = newest;
                state.room.gateway(cx, now, Gateway::Gap);
            }
        });
    }

    /// Tells a room that every connection to the gateway stands, and that events of all channels may have been lost.
    pub(crate) fn tell_reconnected(&self, cell: &Arc<RoomCell>) {
        self.update_cell(cell, None, |state, cx, now| {
            state.epochs.gap = self.gap_epoch.load(Ordering::Acquire);
            state.room.gateway(cx, now, Gateway::Reconnected);
        });
    }

    /// Returns the channel of a new message. If the store does not return the channel, it is loaded again later, and
    /// reads what it missed.
    pub(crate) async fn room_or_catch_up(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<Option<RoomRef>, CallError> {
        let room = self.room_of_event(channel).await;
        // A barred record cannot be loaded later either.
        if room.as_ref().is_err_and(|error| !matches!(error, CallError::Barred(_))) {
            self.catch_up.call_unloaded(channel);
        }
        room
    }
}

/// The order of the channels for the check.
#[derive(Debug, Default)]
struct Round {
    last: Option<ChannelId>,
    /// The others that are still to come.
    asleep: VecDeque<ChannelId>,
}

impl Round {
    /// Chooses channels in memory first, in turn if there are too many, and then those that only the store has, which
    /// always get a quarter.
    fn choose(&mut self, runtime: &Arc<Runtime>) -> Vec<ChannelId> {
        let awake_most = LOOKED_AT - LOOKED_AT.div_ceil(4);
        let mut chosen: Vec<_> = runtime.rooms.all_awake().iter().map(|room| room.id).collect();
        chosen.sort_unstable();
        if chosen.len() > awake_most {
            let from = chosen.partition_point(|channel| Some(*channel) <= self.last);
            let from = from % chosen.len();
            chosen.rotate_left(from);
            chosen.truncate(awake_most);
            self.last = chosen.last().copied().or(self.last);
        }
        if self.asleep.is_empty() {
            self.asleep = runtime.rooms.known().into();
        }
        while chosen.len() < LOOKED_AT {
            match self.asleep.pop_front() {
                Some(channel) if chosen.contains(&channel) => {}
                Some(channel) => chosen.push(channel),
                None => break,
            }
        }
        chosen
    }
}
