//! Events that wait, by process. All events of a channel wait in one place and in order, and one batch at a time goes
//! to each process. A value without clock and I/O.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dirigent::ChannelId;
use dirigent::ports::{GatewayEvent, Timestamp};
use dirigent_relay::HostId;

use super::lane::{Batch, Lane, weight};
use super::waiting::{Place, Waiting};

const BATCH_MAX: usize = 100;
/// After this many bytes of text a batch takes no more events. A question has room for more, even if all of it is
/// escaped.
const BATCH_BYTES: usize = 100 * 1024;
/// The most events that wait in one place. With one more all are dropped, and the owner reads what it missed.
const WAITING_MAX: usize = 10_000;
/// After this many refusals in a row the log names the channel.
const REFUSALS_TOLD: u32 = 5;

/// Events for one channel of this process.
pub(super) struct EventsToSend {
    pub(super) channel: ChannelId,
    pub(super) round: u64,
    pub(super) events: Vec<GatewayEvent>,
}

/// The result of giving a channel of this process its events.
pub(super) struct Told {
    pub(super) channel: ChannelId,
    pub(super) round: u64,
    /// How many were given, and how many of them were taken.
    pub(super) events: usize,
    pub(super) taken: usize,
    /// `true` if this process owns the channel and did not take the next event.
    pub(super) is_refused: bool,
}

#[derive(Default)]
pub(super) struct Queue {
    channels: HashMap<ChannelId, Waiting>,
    lanes: BTreeMap<Place, Lane>,
    rounds: u64,
    /// The processes that own channels now.
    named: BTreeSet<HostId>,
    /// All processes that were ever named.
    known: BTreeSet<HostId>,
    /// `true` once events of any channel may have been missed. A process first named later must read everything, too.
    had_gap: bool,
    /// Events carried since the start, and events dropped.
    pub(super) carried: u64,
    pub(super) dropped: u64,
}

impl Queue {
    /// Sets the other processes that own channels now. One that disappears keeps its lane while it has something to
    /// hear, because it may come back.
    pub(super) fn name(&mut self, hosts: &[HostId]) {
        for host in hosts {
            if self.known.insert(host.clone()) && self.had_gap {
                self.miss(&Place::Process(host.clone()));
            }
        }
        self.named = hosts.iter().cloned().collect();
        self.lanes.retain(|_, lane| !lane.is_idle());
    }

    /// Records that events of any channel may have been missed, so that each process reads all its channels.
    pub(super) fn open_gap(&mut self) {
        self.had_gap = true;
        for host in self.known.clone() {
            self.miss(&Place::Process(host));
        }
    }

    fn miss(&mut self, place: &Place) {
        self.lane(place).missed = true;
    }

    fn lane(&mut self, place: &Place) -> &mut Lane {
        self.lanes.entry(place.clone()).or_default()
    }

    /// Adds an event for the channel's owner, if another process is known to be the owner. The event goes behind
    /// earlier ones of its channel. If the owner changed, all of them move.
    pub(super) fn push(&mut self, now: Timestamp, owner: Option<HostId>, event: GatewayEvent) {
        let channel = event.channel();
        let wanted = owner.map(Place::Process);
        let place = match (self.channels.get(&channel), wanted) {
            (None, wanted) => {
                let place = wanted.unwrap_or(Place::Here);
                self.channels.insert(channel, Waiting::new(place.clone()));
                self.lane(&place).channels.push_back(channel);
                place
            }
            (Some(waiting), Some(wanted))
                if waiting.place != wanted && !waiting.is_refused_by(&wanted, now) =>
            {
                self.move_to(channel, &wanted);
                wanted
            }
            (Some(waiting), _) => waiting.place.clone(),
        };
        if self.lane(&place).events >= WAITING_MAX {
            return self.leave_aside(&place);
        }
        self.lane(&place).events += 1;
        if let Some(waiting) = self.channels.get_mut(&channel) {
            waiting.events.push_back(event);
        }
    }

    /// Drops all events of a full place, and one more.
    fn leave_aside(&mut self, place: &Place) {
        self.channels.retain(|_, waiting| waiting.place != *place);
        let lane = self.lane(place);
        let left = std::mem::take(&mut lane.events);
        lane.channels.clear();
        lane.missed = true;
        self.dropped += left as u64 + 1;
        if *place == Place::Here {
            // Any process may own these channels.
            self.open_gap();
        }
    }

    /// Moves all events of the channel to a place, including those under way elsewhere.
    fn move_to(&mut self, channel: ChannelId, place: &Place) {
        let Some(waiting) = self.channels.get_mut(&channel) else { return };
        let from = std::mem::replace(&mut waiting.place, place.clone());
        waiting.round = None;
        let events = waiting.events.len();
        self.lane(&from).events -= events;
        let lane = self.lane(place);
        lane.events += events;
        lane.channels.push_back(channel);
    }

    /// Looks up each channel's owner, and moves the events there. Events under way stay until another process is known.
    pub(super) fn look_up(&mut self, now: Timestamp, owner: impl Fn(ChannelId) -> Option<HostId>) {
        let wanted = |(channel, waiting): (&ChannelId, &Waiting)| {
            let wanted = owner(*channel).map_or(Place::Here, Place::Process);
            let may_move = match &wanted {
                Place::Here => waiting.round.is_none(),
                Place::Process(_) => !waiting.is_refused_by(&wanted, now),
            };
            (wanted != waiting.place && may_move).then_some((*channel, wanted))
        };
        let moves: Vec<_> = self.channels.iter().filter_map(wanted).collect();
        for (channel, place) in moves {
            self.move_to(channel, &place);
        }
    }

    /// Returns the next batch that may go now.
    pub(super) fn next_batch(&mut self, now: Timestamp) -> Option<Batch> {
        loop {
            let ready = self.ready().find(|(_, lane)| lane.is_due(now));
            let to = ready.map(|(host, _)| host.clone())?;
            let batch = self.batch(to);
            if batch.missed || !batch.events.is_empty() {
                return Some(batch);
            }
        }
    }

    /// Returns the processes with something to get and no batch under way. One that is not named gets only events.
    fn ready(&self) -> impl Iterator<Item = (&HostId, &Lane)> {
        self.lanes.iter().filter_map(|(place, lane)| match place {
            Place::Process(host) if !lane.is_under_way => {
                let may_be_told = lane.missed && self.named.contains(host);
                (may_be_told || !lane.channels.is_empty()).then_some((host, lane))
            }
            Place::Here | Place::Process(_) => None,
        })
    }

    fn batch(&mut self, to: HostId) -> Batch {
        self.rounds += 1;
        let (round, place) = (self.rounds, Place::Process(to.clone()));
        let lane = self.lanes.entry(place.clone()).or_default();
        let missed = std::mem::take(&mut lane.missed);
        let mut batch = Batch { to, round, missed, parts: Vec::new(), events: Vec::new() };
        let mut bytes = 0;
        while batch.events.len() < BATCH_MAX && bytes < BATCH_BYTES {
            let Some(channel) = lane.channels.pop_front() else { break };
            let waiting = self.channels.get_mut(&channel);
            let is_here =
                |waiting: &&mut Waiting| waiting.place == place && waiting.round.is_none();
            let Some(waiting) = waiting.filter(is_here) else { continue };
            let before = batch.events.len();
            for event in &waiting.events {
                if batch.events.len() >= BATCH_MAX || bytes >= BATCH_BYTES {
                    break;
                }
                bytes += weight(event);
                batch.events.push(event.clone());
            }
            waiting.round = Some(round);
            batch.parts.push((channel, batch.events.len() - before));
        }
        lane.is_under_way = batch.missed || !batch.events.is_empty();
        batch
    }

    /// Takes the answer to a batch. `elsewhere` has the places of the events that were not taken.
    pub(super) fn answered(&mut self, now: Timestamp, batch: &Batch, elsewhere: &[usize]) {
        self.lane(&Place::Process(batch.to.clone())).succeed();
        let refused: BTreeSet<_> = elsewhere.iter().collect();
        let taken: Vec<_> =
            (0..batch.events.len()).map(|place| !refused.contains(&place)).collect();
        let mut taken = taken.as_slice();
        for (channel, count) in &batch.parts {
            let (of_channel, others) = taken.split_at((*count).min(taken.len()));
            taken = others;
            if !self.is_in_round(*channel, batch.round) {
                continue;
            }
            self.carried += self.take(*channel, of_channel) as u64;
            if of_channel.contains(&false) {
                self.refuse(now, *channel);
                // The next look finds the channel's current owner.
                self.move_to(*channel, &Place::Here);
            }
        }
    }

    /// Returns whether the channel's events of this round still wait where they waited then.
    fn is_in_round(&self, channel: ChannelId, round: u64) -> bool {
        self.channels.get(&channel).is_some_and(|waiting| waiting.round == Some(round))
    }

    /// Removes those of the channel's first events that were taken. Returns their number.
    fn take(&mut self, channel: ChannelId, taken: &[bool]) -> usize {
        let Some(waiting) = self.channels.get_mut(&channel) else { return 0 };
        let count = waiting.take(taken);
        let (place, is_empty) = (waiting.place.clone(), waiting.events.is_empty());
        let lane = self.lane(&place);
        lane.events -= count;
        if is_empty {
            self.channels.remove(&channel);
        } else {
            lane.channels.push_back(channel);
        }
        count
    }

    fn refuse(&mut self, now: Timestamp, channel: ChannelId) {
        let waiting = self.channels.get_mut(&channel);
        let Some((times, waiting)) = waiting.map(|it| (it.refuse(now), it)) else { return };
        if times == REFUSALS_TOLD {
            let (events, place) = (waiting.events.len(), &waiting.place);
            tracing::warn!(%channel, events, ?place, "events of a channel are not taken; that is tried again every few seconds");
        }
    }

    /// Puts a batch without an answer back, before events that came later.
    pub(super) fn failed(&mut self, now: Timestamp, batch: &Batch) {
        let mut again: Vec<_> = batch.parts.iter().map(|(channel, _)| *channel).collect();
        again.retain(|channel| self.is_in_round(*channel, batch.round));
        for channel in &again {
            if let Some(waiting) = self.channels.get_mut(channel) {
                waiting.round = None;
            }
        }
        let lane = self.lane(&Place::Process(batch.to.clone()));
        for channel in again.into_iter().rev() {
            lane.channels.push_front(channel);
        }
        lane.fail(now);
        lane.missed |= batch.missed;
    }

    /// Drops the events of a batch that would never be taken. The process must read all its channels instead.
    pub(super) fn give_up(&mut self, now: Timestamp, batch: &Batch) {
        for (channel, count) in &batch.parts {
            if self.is_in_round(*channel, batch.round) {
                self.dropped += self.take(*channel, &vec![true; *count]) as u64;
            }
        }
        let lane = self.lane(&Place::Process(batch.to.clone()));
        lane.fail(now);
        lane.missed = true;
    }

    /// Returns the events of channels that this process owns, if no other owner is known.
    pub(super) fn next_here(
        &mut self,
        now: Timestamp,
        acts: impl Fn(ChannelId) -> bool,
    ) -> Vec<EventsToSend> {
        self.rounds += 1;
        let round = self.rounds;
        self.lane(&Place::Here).channels.clear();
        let here = self.channels.iter_mut().filter(|(channel, waiting)| {
            let is_here = waiting.place == Place::Here && waiting.round.is_none();
            is_here && !waiting.is_refused_by(&Place::Here, now) && acts(**channel)
        });
        let to_tell = here.map(|(channel, waiting)| {
            waiting.round = Some(round);
            EventsToSend {
                channel: *channel,
                round,
                events: waiting.events.iter().cloned().collect(),
            }
        });
        to_tell.collect()
    }

    /// Takes the result of giving a channel of this process its events.
    pub(super) fn told_here(&mut self, now: Timestamp, told: &Told) {
        let Told { channel, round, events, taken, is_refused } = *told;
        if !self.is_in_round(channel, round) {
            return;
        }
        let places: Vec<_> = (0..events).map(|place| place < taken).collect();
        self.take(channel, &places);
        if is_refused {
            self.refuse(now, channel);
        }
    }

    /// Returns, once for each gap, whether this process must read its own channels.
    pub(super) fn missed_here(&mut self) -> bool {
        self.lanes.get_mut(&Place::Here).is_some_and(|lane| std::mem::take(&mut lane.missed))
    }

    /// Returns when [`next_batch`](Self::next_batch) may have a batch because time has passed.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.ready().filter_map(|(_, lane)| lane.next_at).min()
    }

    /// Returns how many events wait or are under way.
    pub(super) fn waiting(&self) -> usize {
        self.lanes.values().map(|lane| lane.events).sum()
    }

    /// Returns how many of them are of channels with a refused first event.
    pub(super) fn refused(&self) -> usize {
        let refused = self.channels.values().filter(|waiting| waiting.is_refused());
        refused.map(|waiting| waiting.events.len()).sum()
    }
}
