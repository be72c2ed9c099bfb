//! Whether the gateway tells of the channel, and what may have been missed while it did not.

use dirigent_core::{MessageId, Timestamp};

use super::step::Step;

/// What a host tells of its connections to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gateway {
    /// Events may have been lost. That says nothing about whether the gateway tells of the channel now.
    Gap,
    /// It tells of the channel again, and events may have been lost.
    Reconnected,
    /// It tells of the channel again, and the chat says that no message of it is newer than this one.
    Newest(MessageId),
    /// It tells of the channel, whose conversation began at that moment, behind this message, and of which nothing was heard.
    Unheard {
        /// The highest id of before, where it is known.
        after: Option<MessageId>,
        /// When it began.
        since: Timestamp,
    },
    /// The connection is lost since then: nothing that is said is heard.
    Lost(Timestamp),
    /// A connection is back with a new session, and the host is to tell what the channel's newest message is. Else
    /// what was missed is read. `stands`: no other connection that tells of it is lost.
    AwaitNewest {
        /// Whether no other connection that tells of the channel is lost.
        stands: bool,
    },
    /// It tells of the channel again, and has told what was missed since its session began.
    HeardAgain,
}

/// What is missed, and when it is read.
impl Step<'_> {
    /// The gateway tells something. Returns whether it tells of the channel again from now on.
    pub(super) fn gateway_tells(&mut self, news: Gateway) -> bool {
        match news {
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
                false
            }
            Gateway::Lost(since) => {
                if self.turns.keeps_turns() {
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

    /// What may have been said unheard is read, where it matters.
    pub(super) fn miss(&mut self) {
        self.lanes.chat.newest_told();
        if self.turns.keeps_turns() {
            self.marks.open_gap(self.now, None);
            self.lanes.reads.want_gap();
        }
    }

    /// Another event arrives while the newest message is awaited: the newest message would have come first, so the
    /// missed messages are read from the chat instead.
    pub(super) fn read_untold(&mut self) {
        if self.lanes.chat.awaits_newest() {
            self.miss();
        }
    }

    /// The gateway tells of the channel again. Returns whether the machine is to know: it was told that the chat
    /// is away.
    pub(super) fn gateway_hears(&mut self) -> bool {
        let was_deaf = self.lanes.chat.hears().is_some();
        let view = self.turns.view();
        let is_news = was_deaf && view.chat_away_since().is_some();
        if is_news {
            // After a shorter loss the agents' own connections replay what they missed, and what the host's
            // waker called has heard.
            self.lanes.summons.again = self.lanes.summons.called != Some(view.turn());
        }
        is_news
    }

    /// While the gateway is lost, what is said in a channel whose agents talk is read from time to time. Returns
    /// whether the machine is to know that the channel is heard again.
    pub(super) fn look_while_deaf(&mut self) -> bool {
        let talks = self.turns.view().speaker().is_some();
        if self.lanes.chat.misses_newest(self.now) {
            let is_news = self.lanes.chat.stands() && self.gateway_hears();
            self.miss();
            return is_news;
        }
        if self.lanes.chat.looks(self.now) && talks {
            self.lanes.reads.want_backfill(self.turns, self.marks);
        }
        false
    }
}
