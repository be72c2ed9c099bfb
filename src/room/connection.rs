//! Knows whether the gateway serves the channel, and which messages may have been missed while it did not.

use dirigent_core::{MessageId, Timestamp};

use super::step::Step;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gateway {
    /// Events may have been lost. It is open whether the gateway serves the channel now.
    Gap,
    /// The gateway serves the channel again, and events may have been lost.
    Reconnected,
    /// The gateway serves the channel again, and the chat says that no message of the channel is newer than this one.
    Newest(MessageId),
    /// The gateway serves the channel. Its conversation began then, behind this message, and none of it was heard.
    Unheard {
        /// The highest id from before, if it is known.
        after: Option<MessageId>,
        /// The time when the conversation began.
        since: Timestamp,
    },
    /// The connection is lost since then, so no messages are heard.
    Lost(Timestamp),
    /// A connection is back with a new session, and the host will report the channel's newest message. If it does not,
    /// the missed messages are read.
    AwaitNewest {
        /// `true` if no other connection that serves the channel is lost.
        stands: bool,
    },
    /// The gateway serves the channel again, and has reported every message that was missed since its session began.
    HeardAgain,
}

impl Step<'_> {
    /// Handles news of the gateway. Returns whether it serves the channel again from now on.
    pub(super) fn gateway_tells(&mut self, news: Gateway) -> bool {
        match news {
            // The room has heard up to that message, so the session lost nothing here.
            Gateway::Newest(newest) if self.marks.covers(newest) => {
                self.lanes.chat.newest_told();
                true
            }
            Gateway::Reconnected | Gateway::Newest(_) => {
                self.miss();
                true
            }
            Gateway::Unheard { after, since } => {
                self.marks.begin(after, since);
                self.miss();
                true
            }
            Gateway::Gap => {
                self.miss();
                // Nothing says that the gateway serves the channel now, so an outage goes on.
                false
            }
            Gateway::Lost(since) => {
                if self.turns.keeps_turns() {
                    // The host's time may lie ahead of the room's last event.
                    self.lanes.chat.lost_gateway(since.min(self.now));
                }
                false
            }
            Gateway::AwaitNewest { stands } if self.turns.keeps_turns() => {
                self.lanes.chat.await_newest(self.now, stands);
                false
            }
            Gateway::AwaitNewest { stands } => stands,
            Gateway::HeardAgain => {
                self.read_untold();
                true
            }
        }
    }

    /// Reads messages that may have been missed, if they matter.
    pub(super) fn miss(&mut self) {
        self.lanes.chat.newest_told();
        if self.turns.keeps_turns() {
            self.marks.open_gap(self.now, None);
            self.lanes.reads.want_gap();
        }
    }

    /// Reads the missed messages from the chat, because another event arrived while the newest message was awaited. The
    /// newest message would have come first.
    pub(super) fn read_untold(&mut self) {
        // With a new session the newest message comes first. Any other event means that the host will not report it.
        if self.lanes.chat.awaits_newest() {
            self.miss();
        }
    }

    /// Handles that the gateway serves the channel again. Returns whether to tell the machine, because it knows that
    /// the chat is away.
    pub(super) fn gateway_hears(&mut self) -> bool {
        let was_deaf = self.lanes.chat.hears().is_some();
        let view = self.turns.view();
        let is_news = was_deaf && view.chat_away_since().is_some();
        if is_news {
            // After a shorter loss the agents' own connections replay what they missed, and an agent that the host's
            // waker called has heard of its turn.
            self.lanes.summons.again = self.lanes.summons.called != Some(view.turn());
        }
        is_news
    }

    /// While the gateway is lost, from time to time reads the messages of a channel with agents that talk. Returns
    /// whether to tell the machine that the channel is heard again.
    pub(super) fn look_while_deaf(&mut self) -> bool {
        let talks = self.turns.view().speaker().is_some();
        // No message was reported in time, so the host or the session has failed. Reading is the only way to know.
        if self.lanes.chat.misses_newest(self.now) {
            let is_news = self.lanes.chat.stands() && self.gateway_hears();
            self.miss();
            return is_news;
        }
        // An idle channel is not read, because a thousand of them would use up the rate limit for nothing.
        if self.lanes.chat.looks(self.now) && talks {
            self.lanes.reads.want_backfill(self.turns, self.marks);
        }
        false
    }
}
