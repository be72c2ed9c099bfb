//! Chooses the action that may start now. It asks every lane in the order of importance.

use std::sync::Arc;

use super::action::{Account, Action, Purpose};
use super::commit::CommitTerms;
use super::commit::buffers::Buffers;
use super::doorway::{Doorway, Offer};
use super::reads::Read;
use super::record::write_record;
use super::step::Step;
use super::voice::PostItem;
use crate::admission::{Claim, ClaimKind, Wait};
use crate::ports::discord::HistoryRequest;
use crate::ports::store::Commit;
use crate::record::channel::GapFrom;
use crate::settings::limits::WORK_TIME;
use crate::values::error::ErrorKind;
use crate::values::stage::DriverStage;

impl Step<'_> {
    pub(super) fn next_action(&mut self, door: &mut Doorway<'_>) -> bool {
        // The state first: almost every action waits for its commit.
        if !self.turns.commit.is_clean() && self.offer_commit(door) {
            return true;
        }
        // A stopped driver still stores, so that the next process knows what was done.
        if self.turns.commit.is_taken_over() || self.cx.stage >= DriverStage::Ending {
            return false;
        }
        match self.offer_head(door) {
            Offer::Started => return true,
            Offer::Anew => return self.anew(door),
            Offer::Over => self.settle(),
            // A notice lets the next entry pass. That one is asked now, because the next event may be far away.
            Offer::Waits(account, wait) if self.head_waits(account, wait) => {
                return self.next_action(door);
            }
            Offer::Waits(..) | Offer::Nothing => {}
        }
        let is_holding = self.marks.is_holding(self.now);
        let calls = self.lanes.calls.waiting().is_some();
        if calls && self.offer_call(door, is_holding).is_some() {
            return true;
        }
        if self.lanes.consult.is_some() {
            match self.offer_question(door) {
                Offer::Started => return true,
                Offer::Anew => return self.anew(door),
                Offer::Waits(..) | Offer::Over | Offer::Nothing => {}
            }
        }
        let starts = self.offer_read(door)
            || self.offer_discussion_post(door)
            || self.offer_deletion(door)
            || self.offer_probe(door);
        // The state may have changed on the way, and must then be stored.
        starts || self.offer_commit(door)
    }

    /// Settles after the first entry of a lane is over, and asks all lanes again.
    fn anew(&mut self, door: &mut Doorway<'_>) -> bool {
        self.settle();
        self.next_action(door)
    }

    /// Handles that the head of the voice lane waits for its pace, a rate limit, or the chat. Returns whether the lane
    /// has another head now.
    fn head_waits(&mut self, account: Account, wait: Wait) -> bool {
        let Self { now, lanes, .. } = self;
        let head = lanes.voice.head();
        lanes.voice.not_admitted();
        if let Wait::Until(until) = wait {
            lanes.voice.wait_until(until);
            lanes.chat.limited(account, *now, until);
        } else {
            lanes.chat.failed(account, *now, ErrorKind::NoAnswer);
        }
        self.settle();
        self.lanes.voice.head() != head
    }

    fn offer_commit(&mut self, door: &mut Doorway<'_>) -> bool {
        let Self { cx, now, turns, marks, discussion, lanes, .. } = self;
        if turns.commit.is_clean() {
            return false;
        }
        let time_out = *now + WORK_TIME;
        if turns.commit.begin_read_back(*now) {
            let (purpose, action) = (Purpose::ReadBack, Action::ReadBack);
            lanes.requests.start_freely(door, purpose, action, time_out);
            return true;
        }
        let begun = turns.commit.begin(*now, cx.history_max, door.buffers);
        let Some(CommitTerms { expected, durability, writer, replaces_damaged, mut buffers }) =
            begun
        else {
            return false;
        };
        let record = Arc::make_mut(&mut buffers.record);
        write_record(turns, marks, *discussion, lanes, writer, record);
        let Buffers { record, transitions } = buffers.share();
        turns.commit.sent(durability, buffers);
        let channel = turns.channel;
        let commit =
            Commit { channel, expected, record, durability, transitions, replaces_damaged };
        let action = Action::Commit(commit);
        lanes.requests.start_freely(door, Purpose::Commit, action, time_out);
        true
    }

    fn offer_head(&mut self, door: &mut Doorway<'_>) -> Offer {
        let Self { discussion, .. } = self;
        let terms = discussion.map(Arc::as_ref);
        let voice = &self.lanes.voice;
        let Some(head) = voice.head().filter(|_| !voice.is_under_way()) else {
            return Offer::Nothing;
        };
        match head {
            PostItem::Reply => self.offer_reply(door),
            PostItem::Answer => self.offer_answer(door),
            PostItem::Effect(effect, stamp) => self.offer_effect((effect, stamp), terms, door),
        }
    }

    fn offer_read(&mut self, door: &mut Doorway<'_>) -> bool {
        let Self { cx, now, turns, marks, lanes, .. } = self;
        if lanes.reads.is_idle() {
            return false;
        }
        let gap_from = marks.gap_from().and_then(GapFrom::message);
        for read in lanes.reads.due(*now, &turns.commit) {
            let action = read.action(turns.channel, gap_from, cx.settings);
            let of = (turns.channel, *now);
            if let Some(id) = lanes.requests.read(cx, of, door, Purpose::Read, action) {
                if read == Read::Gap {
                    marks.begin_read();
                }
                lanes.reads.begin(read, id);
                return true;
            }
            lanes.reads.stands_in_line(read.kind());
        }
        false
    }

    fn offer_discussion_post(&mut self, door: &mut Doorway<'_>) -> bool {
        let Self { cx, now, turns, lanes, .. } = self;
        let of = (turns.channel, *now);
        let callback = turns.view().initiator();
        let (commit, requests) = (&mut turns.commit, &mut lanes.requests);
        let outbox = lanes.outbox.as_mut();
        outbox.is_some_and(|outbox| outbox.offer(cx, of, commit, requests, callback, door))
    }

    fn offer_deletion(&mut self, door: &mut Doorway<'_>) -> bool {
        let Self { cx, now, turns, lanes, .. } = self;
        let commit = &turns.commit;
        let Some(cleanup) = lanes.cleanup.as_mut() else {
            return false;
        };
        let Some((message, by)) = cleanup.ready(*now, |stamp| commit.is_committed(stamp)) else {
            return false;
        };
        let action = Action::Delete { message, is_own: by.is_none() };
        let purpose = Purpose::Delete(message);
        let of = (turns.channel, *now);
        let started = lanes.requests.read(cx, of, door, purpose, action);
        started.inspect(|id| cleanup.begin(message, *id, *now)).is_some()
    }

    /// Asks whether a chat that is away answers again, if there is no other request.
    fn offer_probe(&mut self, door: &mut Doorway<'_>) -> bool {
        let Self { cx, now, turns, lanes, .. } = self;
        let Some(account) = lanes.chat.probe(*now) else {
            return false;
        };
        let channel = turns.channel;
        let claim = Claim::new(channel, account, ClaimKind::Read);
        let Ok(admitted) = door.admission.admit(*now, claim) else {
            return false;
        };
        lanes.chat.probed(*now);
        // One message is enough to see whether the chat answers.
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let action = Action::History { account, request };
        lanes.requests.start(cx, *now, door, admitted, Purpose::Probe, action);
        true
    }
}
