//! What may start now: every lane is asked, in the order in which they matter.

use std::sync::Arc;

use super::action::{Account, Action, Purpose};
use super::commit::CommitTerms;
use super::commit::buffers::Buffers;
use super::doorway::{Doorway, Offer};
use super::reads::Read;
use super::record::write_record;
use super::step::Step;
use super::voice::VoiceItem;
use crate::admission::{Claim, ClaimKind, Wait};
use crate::ports::discord::HistoryRequest;
use crate::ports::store::Commit;
use crate::record::channel::GapFrom;
use crate::settings::limits::WORK_TIME;
use crate::values::error::ErrorKind;
use crate::values::stage::DriverStage;

/// A room that is asked what may start.
pub(super) struct Offering<'s, 'a, 'd> {
    pub(super) step: &'s mut Step<'a>,
    pub(super) door: &'s mut Doorway<'d>,
}

impl Offering<'_, '_, '_> {
    /// Lets the next action start that may start now. Returns whether there was one.
    pub(super) fn next(&mut self) -> bool {
        if !self.step.turns.commit.is_clean() && self.commit() {
            return true;
        }
        if self.step.turns.commit.is_taken_over() || self.step.cx.stage >= DriverStage::Ending {
            return false;
        }
        match self.voice() {
            Offer::Started => return true,
            Offer::Anew => return self.anew(),
            Offer::Over => self.step.settle(),
            // A notice lets pass what stands behind it: that is asked now, since nothing else may happen for long.
            Offer::Waits(account, wait) if self.wait(account, wait) => return self.next(),
            Offer::Waits(..) | Offer::Nothing => {}
        }
        let is_holding = self.step.marks.is_holding(self.step.now);
        let calls = self.step.lanes.calls.is_waiting();
        if calls && self.step.calling().offer(self.door, is_holding).is_some() {
            return true;
        }
        if self.step.lanes.consult.is_some() {
            match self.step.consulting().offer(self.door) {
                Offer::Started => return true,
                Offer::Anew => return self.anew(),
                Offer::Waits(..) | Offer::Over | Offer::Nothing => {}
            }
        }
        let starts = self.read() || self.discussion_post() || self.deletion() || self.probe();
        // What was found to be over on the way is to be stored.
        starts || self.commit()
    }

    /// What stood first in a lane is over: what follows is settled, and everything is asked again.
    fn anew(&mut self) -> bool {
        self.step.settle();
        self.next()
    }

    /// The head of the voice lane waits for its pace, a rate limit, or the chat. Returns whether another is the head now.
    fn wait(&mut self, account: Account, wait: Wait) -> bool {
        let Step { now, lanes, .. } = &mut *self.step;
        let head = lanes.voice.head();
        lanes.voice.not_admitted();
        if let Wait::Until(until) = wait {
            lanes.voice.attempts().wait_until(until);
            if let Some(reply) = &mut lanes.reply {
                reply.wait_until(until);
            }
            lanes.chat.limited(account, *now, until);
        } else {
            lanes.chat.failed(account, *now, ErrorKind::NoAnswer);
        }
        self.step.settle();
        self.step.lanes.voice.head() != head
    }

    fn commit(&mut self) -> bool {
        let Step { cx, now, turns, marks, discussion, lanes, .. } = &mut *self.step;
        if turns.commit.is_clean() {
            return false;
        }
        let time_out = *now + WORK_TIME;
        if turns.commit.begin_read_back(*now) {
            let (purpose, action) = (Purpose::ReadBack, Action::ReadBack);
            lanes.requests.start_freely(self.door, purpose, action, time_out);
            return true;
        }
        let begun = turns.commit.begin(*now, cx.history_max, self.door.buffers);
        let Some(CommitTerms { expected, durability, writer, replaces_damaged, mut buffers }) =
            begun
        else {
            return false;
        };
        let record = Arc::make_mut(&mut buffers.record);
        write_record(turns, marks, *discussion, lanes, writer, record);
        let Buffers { record, transitions } = buffers.share();
        turns.commit.sent(durability, buffers);
        if let Some(posts) = &mut lanes.posts {
            posts.commit_begun();
        }
        let channel = turns.channel;
        let commit =
            Commit { channel, expected, record, durability, transitions, replaces_damaged };
        let action = Action::Commit(commit);
        lanes.requests.start_freely(self.door, Purpose::Commit, action, time_out);
        true
    }

    /// The head of the voice lane.
    fn voice(&mut self) -> Offer {
        let Step { discussion, .. } = &*self.step;
        let terms = discussion.map(Arc::as_ref);
        let voice = &self.step.lanes.voice;
        let Some(head) = voice.head().filter(|_| !voice.is_under_way()) else {
            return Offer::Nothing;
        };
        match head {
            VoiceItem::Reply => self.step.replying().offer(self.door),
            VoiceItem::Answer => self.step.consulting().offer_answer(self.door),
            VoiceItem::Effect(effect, stamp) => {
                self.step.speaking().offer((effect, stamp), terms, self.door)
            }
        }
    }

    fn read(&mut self) -> bool {
        let Step { cx, now, turns, marks, lanes, .. } = &mut *self.step;
        if lanes.reads.is_idle() {
            return false;
        }
        let gap_from = marks.gap_from().and_then(GapFrom::message);
        for read in lanes.reads.due(*now, &turns.commit) {
            let action = read.action(turns.channel, gap_from, cx.settings);
            let of = (turns.channel, *now);
            if let Some(id) = lanes.requests.read(cx, of, self.door, Purpose::Read, action) {
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

    fn discussion_post(&mut self) -> bool {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        let of = (turns.channel, *now);
        let callback = turns.view().initiator();
        let (commit, requests) = (&mut turns.commit, &mut lanes.requests);
        let posts = lanes.posts.as_mut();
        posts.is_some_and(|posts| posts.offer(cx, of, commit, requests, callback, self.door))
    }

    fn deletion(&mut self) -> bool {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        let commit = &turns.commit;
        let Some(cleanup) = lanes.cleanup.as_mut() else {
            return false;
        };
        let Some(message) = cleanup.ready(*now, |stamp| commit.is_committed(stamp)) else {
            return false;
        };
        let (purpose, action) = (Purpose::Delete(message), Action::Delete(message));
        let of = (turns.channel, *now);
        let started = lanes.requests.read(cx, of, self.door, purpose, action);
        started.inspect(|id| cleanup.begin(message, *id, *now)).is_some()
    }

    /// Asks whether a chat that is away answers again, where nothing else asks.
    fn probe(&mut self) -> bool {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        let Some(account) = lanes.chat.probe(*now) else {
            return false;
        };
        let channel = turns.channel;
        let claim = Claim::new(channel, account, ClaimKind::Read);
        let Ok(admitted) = self.door.admission.admit(*now, claim) else {
            return false;
        };
        lanes.chat.probed(*now);
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let action = Action::History { account, request };
        lanes.requests.start(cx, *now, self.door, admitted, Purpose::Probe, action);
        true
    }
}
