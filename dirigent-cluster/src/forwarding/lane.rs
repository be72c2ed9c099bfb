//! Events on their way to one process.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{GatewayEvent, Timestamp};
use dirigent_relay::HostId;

/// The first wait before a process that did not answer is asked again; it doubles.
const RETRY_FIRST: Duration = Duration::from_millis(200);
pub(super) const RETRY_MAX: Duration = Duration::from_secs(5);

/// The way to one process, or to the channels of this one.
#[derive(Default)]
pub(super) struct Lane {
    /// Channels with events and none of them under way. One may have moved to another process since.
    pub(super) channels: VecDeque<ChannelId>,
    /// How many events wait or are under way.
    pub(super) events: usize,
    /// `true` if the process missed events and must read all channels.
    pub(super) missed: bool,
    pub(super) is_under_way: bool,
    failures: u32,
    /// The next batch does not go before this time.
    pub(super) next_at: Option<Timestamp>,
}

impl Lane {
    pub(super) const fn is_idle(&self) -> bool {
        !self.missed && !self.is_under_way && self.events == 0
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.next_at.is_none_or(|at| at <= now)
    }

    /// The batch under way failed. The next one waits, longer each time.
    pub(super) fn fail(&mut self, now: Timestamp) {
        let delay = RETRY_FIRST.saturating_mul(1 << self.failures.min(5)).min(RETRY_MAX);
        self.is_under_way = false;
        self.failures += 1;
        self.next_at = Some(now + delay);
    }

    pub(super) const fn succeed(&mut self) {
        (self.is_under_way, self.failures, self.next_at) = (false, 0, None);
    }
}

/// Events that go together, those of one channel in a row.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) to: HostId,
    pub(super) round: u64,
    pub(super) missed: bool,
    /// The channels, and how many of the events each has.
    pub(super) parts: Vec<(ChannelId, usize)>,
    pub(super) events: Vec<GatewayEvent>,
}

/// Returns about how many bytes of text the event has.
pub(super) fn weight(event: &GatewayEvent) -> usize {
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
        | GatewayEvent::TypingStarted { .. }
        | GatewayEvent::MemberJoined { .. }
        | GatewayEvent::MemberLeft { .. }
        | GatewayEvent::NewestMessage { .. }
        | GatewayEvent::ThreadSeen { .. }
        | GatewayEvent::ChannelDeleted(_) => 100,
    }
}
