//! What waits for which process: events in order, one batch under way to each process at a time. A value without clock
//! and I/O.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use dirigent::ports::{GatewayEvent, Timestamp};

use crate::HostId;

/// The most events of one batch.
const BATCH_MAX: usize = 100;
/// The most bytes of text in one batch: far below what a question may have, also where each must be escaped.
const BATCH_BYTES: usize = 100 * 1024;
/// The most events that wait for one process. Beyond, they are left aside, and the process reads what it missed.
const WAITING_MAX: usize = 10_000;
/// How soon a process is asked again that did not answer; doubled each time.
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// What goes to one process.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<GatewayEvent>,
    /// Whether the process missed something and is to read all channels.
    missed: bool,
    is_under_way: bool,
    failures: u32,
    /// Not before then.
    next_at: Option<Timestamp>,
}

impl Lane {
    /// The batch under way failed; the next one waits, longer each time.
    fn wait(&mut self, now: Timestamp) {
        let delay = RETRY_FIRST.saturating_mul(1 << self.failures.min(5)).min(RETRY_MAX);
        self.is_under_way = false;
        self.failures += 1;
        self.next_at = Some(now + delay);
    }
}

/// One batch for one process.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) to: HostId,
    pub(super) missed: bool,
    pub(super) events: Vec<GatewayEvent>,
}

/// All that waits.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: BTreeMap<HostId, Lane>,
    /// Events that were left aside since the start.
    pub(super) dropped: u64,
}

impl Lanes {
    /// An event for this process.
    pub(super) fn push(&mut self, to: &HostId, event: GatewayEvent) {
        let lane = self.lanes.entry(to.clone()).or_default();
        if lane.waiting.len() >= WAITING_MAX {
            self.dropped += lane.waiting.len() as u64 + 1;
            lane.waiting.clear();
            lane.missed = true;
            return;
        }
        lane.waiting.push_back(event);
    }

    /// This process missed something, in any channel.
    pub(super) fn missed(&mut self, to: &HostId) {
        self.lanes.entry(to.clone()).or_default().missed = true;
    }

    /// The next batch that may go now.
    pub(super) fn next_batch(&mut self, now: Timestamp) -> Option<Batch> {
        let is_ready = |lane: &Lane| {
            let is_due = lane.next_at.is_none_or(|at| at <= now);
            (lane.missed || !lane.waiting.is_empty()) && !lane.is_under_way && is_due
        };
        let (to, lane) = self.lanes.iter_mut().find(|(_, lane)| is_ready(lane))?;
        lane.is_under_way = true;
        let mut bytes = 0;
        let fits = |event: &&GatewayEvent| {
            let fits = bytes < BATCH_BYTES;
            bytes += weight(event);
            fits
        };
        let count = lane.waiting.iter().take(BATCH_MAX).take_while(fits).count();
        let events = lane.waiting.drain(..count).collect();
        Some(Batch { to: to.clone(), missed: std::mem::take(&mut lane.missed), events })
    }

    /// The batch was answered: these places of it were not taken, and are returned.
    pub(super) fn answered(&mut self, batch: Batch, elsewhere: &[usize]) -> Vec<GatewayEvent> {
        if let Some(lane) = self.lanes.get_mut(&batch.to) {
            (lane.is_under_way, lane.failures, lane.next_at) = (false, 0, None);
            if lane.waiting.is_empty() && !lane.missed {
                self.lanes.remove(&batch.to);
            }
        }
        let refused: BTreeSet<_> = elsewhere.iter().collect();
        let places = batch.events.into_iter().enumerate();
        places.filter(|(place, _)| refused.contains(place)).map(|(_, event)| event).collect()
    }

    /// The batch was not answered. All that waits for the process is returned in order: by now, another may act for the channels.
    pub(super) fn failed(&mut self, now: Timestamp, batch: Batch) -> Vec<GatewayEvent> {
        let Some(lane) = self.lanes.get_mut(&batch.to) else {
            return batch.events;
        };
        lane.wait(now);
        lane.missed |= batch.missed;
        batch.events.into_iter().chain(lane.waiting.drain(..)).collect()
    }

    /// The batch will never be taken as it is: its events are left aside, and the process is to read all channels.
    pub(super) fn given_up(&mut self, now: Timestamp, batch: Batch) {
        self.dropped += batch.events.len() as u64;
        let lane = self.lanes.entry(batch.to).or_default();
        lane.wait(now);
        lane.missed = true;
    }

    /// Processes that are none any more are forgotten, with what they missed.
    pub(super) fn keep_only(&mut self, hosts: &[HostId]) -> Vec<GatewayEvent> {
        let mut left = Vec::new();
        self.lanes.retain(|host, lane| {
            let stays = lane.is_under_way || hosts.contains(host);
            if !stays {
                left.extend(lane.waiting.drain(..));
            }
            stays
        });
        left
    }

    /// When [`next_batch`](Self::next_batch) may have one by the passing of time.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        let waits = |lane: &&Lane| !lane.is_under_way && (lane.missed || !lane.waiting.is_empty());
        self.lanes.values().filter(waits).filter_map(|lane| lane.next_at).min()
    }

    /// How many events wait.
    pub(super) fn waiting(&self) -> usize {
        self.lanes.values().map(|lane| lane.waiting.len()).sum()
    }
}

/// About how many bytes of text the event has.
fn weight(event: &GatewayEvent) -> usize {
    match event {
        GatewayEvent::MessageCreated(message) | GatewayEvent::MessageUpdated(message) => {
            let files = message.attachments.iter();
            let files = files.map(|file| {
                let more = [&file.description, &file.content_type].into_iter().flatten();
                let more: usize = more.map(|text| text.len()).sum();
                file.name.len() + file.url.len() + more + 200
            });
            message.content.len() + files.sum::<usize>() + 300
        }
        GatewayEvent::MessageDeleted { .. }
        | GatewayEvent::MemberJoined { .. }
        | GatewayEvent::MemberLeft { .. }
        | GatewayEvent::NewestMessage { .. }
        | GatewayEvent::ThreadSeen { .. }
        | GatewayEvent::ChannelDeleted(_) => 100,
    }
}
