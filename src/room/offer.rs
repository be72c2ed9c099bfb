//! What may start now: every lane is asked, in the order in which they matter.

use std::sync::Arc;

use dirigent_core::Timestamp;

use super::action::{Account, Action, Purpose, Started};
use super::claims::Lane;
use super::commit::CommitTerms;
use super::commit::buffers::Buffers;
use super::doorway::{Doorway, Offer};
use super::reads::Read;
use super::record::write_record;
use super::requests::Ask;
use super::step::Step;
use super::voice::VoiceItem;
use crate::admission::ClaimKind;
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
    /// The next action that may start now.
    pub(super) fn next(&mut self) -> Option<Started> {
        self.withdraw_claims();
        let started = self.offer();
        if started.is_none() {
            self.step.lanes.requests.claims.pass_on();
            self.withdraw_claims();
        }
        started
    }

    /// What is not waited for any more keeps no other request waiting.
    fn withdraw_claims(&mut self) {
        let claims = &mut self.step.lanes.requests.claims;
        if claims.has_withdrawn() {
            let (room, now) = (self.step.turns.channel, self.step.now);
            for id in claims.withdrawn() {
                self.door.wakeups.extend(self.door.admission.withdraw(now, room, id));
            }
        }
    }

    fn offer(&mut self) -> Option<Started> {
        if let Some(started) = self.commit() {
            return Some(started);
        }
        if self.step.turns.commit.is_taken_over() || self.step.cx.stage >= DriverStage::Ending {
            return None;
        }
        match self.voice() {
            Offer::Started(started) => return Some(started),
            Offer::Anew => return self.anew(),
            Offer::Over => self.step.settle(),
            Offer::Waits(account, until) => self.wait(account, until),
            Offer::Nothing => {}
        }
        let Step { marks, .. } = &*self.step;
        let is_holding = marks.is_holding(self.step.now);
        if self.step.lanes.calls.is_waiting() {
            if let Some(started) = self.step.calling().offer(self.door, is_holding) {
                return Some(started);
            }
        }
        if self.step.lanes.consult.is_some() {
            match self.step.consulting().offer(self.door) {
                Offer::Started(started) => return Some(started),
                Offer::Anew => return self.anew(),
                Offer::Waits(..) | Offer::Over | Offer::Nothing => {}
            }
        }
        let next = self.read().or_else(|| self.discussion_post());
        let next = next.or_else(|| self.deletion()).or_else(|| self.probe());
        // What was found to be over on the way is to be stored.
        next.or_else(|| self.commit())
    }

    /// What stood first in a lane is over: what follows is settled, and everything is asked again.
    fn anew(&mut self) -> Option<Started> {
        self.step.settle();
        self.next()
    }

    /// The head of the voice lane waits for its pace, a rate limit, or the chat.
    fn wait(&mut self, account: Account, until: Option<Timestamp>) {
        let Step { now, lanes, .. } = &mut *self.step;
        if let Some(until) = until {
            lanes.voice.attempts().wait_until(until);
            if let Some(reply) = &mut lanes.reply {
                reply.wait_until(until);
            }
            lanes.chat.limited(account, *now, until);
        } else {
            lanes.chat.failed(account, *now, ErrorKind::NoAnswer);
        }
        self.step.settle();
    }

    fn commit(&mut self) -> Option<Started> {
        let Step { cx, now, turns, marks, discussion, lanes, .. } = &mut *self.step;
        if turns.commit.is_clean() {
            return None;
        }
        let time_out = *now + WORK_TIME;
        if turns.commit.begin_read_back(*now) {
            let (purpose, action) = (Purpose::ReadBack, Action::ReadBack);
            return Some(lanes.requests.start_freely(purpose, action, time_out));
        }
        let CommitTerms { expected, durability, writer, replaces_damaged, mut buffers } =
            turns.commit.begin(*now, cx.history_max, self.door.buffers)?;
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
        Some(lanes.requests.start_freely(Purpose::Commit, Action::Commit(commit), time_out))
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

    fn read(&mut self) -> Option<Started> {
        let Step { cx, now, turns, marks, lanes, .. } = &mut *self.step;
        if lanes.reads.is_idle() {
            return None;
        }
        let gap_from = marks.gap_from().and_then(GapFrom::message);
        for read in lanes.reads.due(*now, &turns.commit) {
            let action = read.action(turns.channel, gap_from, cx.settings);
            let lane = (Lane::Read(read.kind()), Purpose::Read);
            let of = (turns.channel, *now);
            if let Some(started) = lanes.requests.read(cx, of, self.door, lane, action) {
                if read == Read::Gap {
                    marks.begin_read();
                }
                lanes.reads.begin(read, started.id);
                return Some(started);
            }
        }
        None
    }

    fn discussion_post(&mut self) -> Option<Started> {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        let of = (turns.channel, *now);
        let callback = turns.view().initiator();
        let (commit, requests) = (&mut turns.commit, &mut lanes.requests);
        lanes.posts.as_mut()?.offer(cx, of, commit, requests, callback, self.door)
    }

    fn deletion(&mut self) -> Option<Started> {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        let commit = &turns.commit;
        let cleanup = lanes.cleanup.as_mut()?;
        let message = cleanup.ready(*now, |stamp| commit.is_committed(stamp))?;
        let (lane, action) = ((Lane::Cleanup, Purpose::Delete(message)), Action::Delete(message));
        let of = (turns.channel, *now);
        let started = lanes.requests.read(cx, of, self.door, lane, action)?;
        cleanup.begin(message, started.id, *now);
        Some(started)
    }

    /// Asks whether a chat that is away answers again, where nothing else asks.
    fn probe(&mut self) -> Option<Started> {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        let account = lanes.chat.probe(*now)?;
        let (channel, kind) = (turns.channel, ClaimKind::Read);
        let ask = Ask { lane: Lane::Probe, target: channel, account, agent: None, kind };
        lanes.chat.probed(*now);
        let claim = lanes.requests.admit(channel, *now, self.door, &ask).ok()?;
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let action = Action::History { account, request };
        Some(lanes.requests.start(cx, *now, claim, Purpose::Probe, action))
    }
}
