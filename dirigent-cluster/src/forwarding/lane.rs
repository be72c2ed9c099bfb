//! One process for which events wait, and what goes to it at once.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{GatewayEvent, Timestamp};
use dirigent_relay::HostId;

/// How soon a process is asked again that did not answer; doubled each time.
const RETRY_FIRST: Duration = Duration::from_millis(200);
pub(super) const RETRY_MAX: Duration = Duration::from_secs(5);

/// What goes to one process, or to the channels of this one.
#[derive(Default)]
pub(super) struct Lane {
    /// The channels with events of which none is under way. One may have gone to another process since.
    pub(super) channels: VecDeque<ChannelId>,
    /// How many events wait or are under way.
    pub(super) events: usize,
    /// Whether the process missed something and is to read all channels.
    pub(super) missed: bool,
    pub(super) is_under_way: bool,
    failures: u32,
    /// Not before then.
    pub(super) next_at: Option<Timestamp>,
}

impl Lane {
    pub(super) const fn is_idle(&self) -> bool {
        !self.missed && !self.is_under_way && self.events == 0
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.next_at.is_none_or(|at| at <= now)
    }

    /// The batch under way failed; the next one waits, longer each time.
    pub(super) fn fail(&mut self, now: Timestamp) {
        let delay = RETRY_FIRST.saturating_mul(1 << self.failures.min(5)).min(RETRY_MAX);
        self.is_under_way = false;
        self.failures += 1;
        self.next_at = Some(now + delay);
    }

    /// The batch under way was answered.
    pub(super) const fn succeed(&mut self) {
        (self.is_under_way, self.failures, self.next_at) = (false, 0, None);
    }
}

/// Events that are under way together, those of one channel one after the other.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) to: HostId,
    pub(super) round: u64,
    pub(super) missed: bool,
    /// The channels, and how many of the events are each one's.
    pub(super) parts: Vec<(ChannelId, usize)>,
    pub(super) events: Vec<GatewayEvent>,
}

/// About how many bytes of text the event has.
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
