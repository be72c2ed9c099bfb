//! The question to the orchestrator, and its answer on its way into the channel.

use std::collections::VecDeque;
use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{MessageId, Settlement, Ticket, Timestamp};

use super::action::{
    Account, Action, ActionId, ConsultAnswer, ConsultRequest, Outcome, Purpose, Signal,
};
use super::attempts::Failure;
use super::calls::Consult;
use super::context::Context;
use super::doorway::{Doorway, Offer};
use super::handing::Handing;
use super::marks::Marks;
use super::recollection::{Recollection, own_message};
use super::reply::{is_of_files, messages_of};
use super::requests::Requests;
use super::speaking::Saying;
use super::turns::Turns;
use super::voice::{VoiceItem, VoiceLane};
use crate::admission::{Claim, ClaimKind};
use crate::ports::discord::{Mentions, Post};
use crate::values::extras::Extras;
use crate::values::message::Nonce;
use crate::values::stage::DriverStage;

/// Asks the orchestrator, and posts what it says.
pub(super) struct Consulting<'a> {
    pub(super) turns: &'a mut Turns,
    pub(super) marks: &'a mut Marks,
    pub(super) voice: &'a mut VoiceLane,
    pub(super) consult: &'a mut Option<Box<Consult>>,
    pub(super) signals: &'a mut VecDeque<Signal>,
    pub(super) requests: &'a mut Requests,
    pub(super) handing: Handing<'a>,
}

impl<'a> Consulting<'a> {
    const fn cx(&self) -> &'a Context<'a> {
        self.handing.cx
    }

    const fn now(&self) -> Timestamp {
        self.handing.now
    }

    /// The machine asks this.
    pub(super) fn ask(&mut self, consult: Consult) {
        self.withdraw();
        *self.consult = Some(Box::new(consult));
    }

    /// The question to the orchestrator is not waited for any more.
    pub(super) fn withdraw(&mut self) {
        if let Some(consult) = self.consult.take() {
            if let Some(id) = consult.under_way {
                self.signals.push_back(Signal::DropConsult(id));
            }
            self.voice.withdraw(VoiceItem::Answer);
        }
    }

    /// Asks the orchestrator, once that is stored and what people said is in memory.
    pub(super) fn offer(&mut self, door: &mut Doorway<'_>) -> Offer {
        let Some(consult) = self.consult.as_ref() else {
            return Offer::Nothing;
        };
        let is_asked = consult.under_way.is_some() || !consult.parts.is_empty();
        let is_committed = self.turns.commit.is_committed(consult.stamp);
        if is_asked || !is_committed || self.cx().stage >= DriverStage::Stopping {
            return Offer::Nothing;
        }
        if !self.cx().has_orchestrator {
            self.failed(consult.ticket);
            return Offer::Anew;
        }
        self.offer_question(door).into()
    }

    fn offer_question(&mut self, door: &mut Doorway<'_>) -> Option<ActionId> {
        let (cx, now, room) = (self.cx(), self.now(), self.turns.channel);
        let consult = self.consult.as_mut()?;
        let span = Span { first: consult.first, last: consult.last };
        let (messages, _) = self.handing.said_within(span)?;
        let claim = Claim::new(room, Account::Moderator, ClaimKind::Consult);
        let admitted = door.admission.admit(now, claim).ok()?;
        self.handing.reads.handed();
        let request = ConsultRequest { agent: consult.agent, turn: consult.turn, messages };
        let (purpose, action) =
            (Purpose::Consult(consult.ticket), Action::Consult(Box::new(request)));
        consult.under_way = Some(self.requests.start(cx, now, door, admitted, purpose, action));
        consult.under_way
    }

    /// Posts the next part of the answer, at the head of the voice lane.
    pub(super) fn offer_answer(&mut self, door: &mut Doorway<'_>) -> Offer {
        let Some(consult) = self.consult.as_ref() else {
            self.voice.pop();
            return Offer::Anew;
        };
        let may_go = self.turns.view().pause().is_none() && self.voice.is_due(self.handing.now);
        let Some(content) = consult.parts.get(consult.posted).filter(|_| may_go).cloned() else {
            return Offer::Nothing;
        };
        let part = u64::try_from(consult.posted).unwrap_or(u64::MAX);
        // The first part has the effect's own name; the others are told apart by what is beyond it.
        let number = consult.ticket.get() & 0xff_ffff | part << 24;
        let channel = self.turns.channel;
        let nonce = Nonce::from_parts(channel.get(), consult.since.as_millis(), number);
        let beside = consult.beside();
        let mentions = consult.extras.as_deref().map(|extras| Mentions::from(&extras.mentions));
        let post = Post {
            reply_to: beside.reply_to,
            mentions: mentions.unwrap_or(Mentions::None),
            embeds: beside.embeds().into(),
            files: beside.files,
            ..Post::new(channel, content, nonce)
        };
        let (cx, now) = (self.cx(), self.now());
        let saying = Saying { cx, now, room: channel, voice: self.voice, requests: self.requests };
        saying.offer(Account::Moderator, post, None, door).unwrap_or_else(|| {
            self.voice.pop();
            Offer::Over
        })
    }

    /// The orchestrator returned.
    pub(super) fn answered(&mut self, ticket: Ticket, outcome: Outcome) {
        let cx = self.cx();
        let Some(consult) = self.consult.as_mut().filter(|c| c.ticket == ticket) else {
            return;
        };
        consult.under_way = None;
        let Outcome::Consulted(answer) = outcome else {
            return;
        };
        match answer {
            ConsultAnswer::Say { text, extras } => {
                consult.parts = answer_parts(cx, &text);
                consult.extras = extras;
                if consult.parts.is_empty() && consult.extras.as_deref().is_some_and(Extras::shows)
                {
                    consult.parts.push(Arc::default());
                }
                if consult.parts.is_empty() {
                    self.over(Settlement::Done { message: None });
                } else {
                    self.voice.push_front(VoiceItem::Answer);
                }
            }
            ConsultAnswer::Pass => self.over(Settlement::Done { message: None }),
            ConsultAnswer::Failed => self.failed(ticket),
        }
    }

    /// The messages are handed to the agent, as if there were no orchestrator.
    fn failed(&mut self, ticket: Ticket) {
        if self.consult.as_ref().is_some_and(|consult| consult.ticket == ticket) {
            self.over(Settlement::Failed { retry_at: None });
        }
    }

    fn over(&mut self, settlement: Settlement) {
        self.voice.withdraw(VoiceItem::Answer);
        if let Some(consult) = self.consult.take() {
            self.turns.settle(self.handing.cx, self.handing.now, consult.ticket, settlement);
        }
    }

    /// A part of the answer is in the channel.
    pub(super) fn posted(&mut self, message: MessageId) {
        let Some(consult) = self.consult.as_mut() else {
            return;
        };
        let content = consult.parts.get(consult.posted).cloned().unwrap_or_default();
        let beside = consult.beside();
        consult.answer.get_or_insert(message);
        consult.posted += 1;
        let is_over = consult.posted >= consult.parts.len();
        let answer = consult.answer;
        self.voice.attempts().retry_now();
        if let Some(author) = self.handing.cx.directory.moderator() {
            let (cx, place) = (self.handing.cx, (self.turns.channel, message));
            let own = own_message(cx, place, (author, None), &beside, content);
            let mut kept = Recollection { marks: self.marks, inbox: self.handing.inbox };
            kept.remember_own(self.handing.cx, self.turns, own);
        }
        if is_over {
            self.over(Settlement::Done { message: answer });
        }
    }

    /// An attempt at a part of the answer failed.
    pub(super) fn post_failed(&mut self, failure: &Failure) {
        self.voice.attempts().back_off(self.handing.now, failure.retry_after);
        if !failure.is_final() {
            return;
        }
        let consult = self.consult.as_mut().filter(|_| is_of_files(failure.kind));
        if consult.is_some_and(|consult| consult.do_without_files()) {
            tracing::warn!(channel = %self.turns.channel, kind = ?failure.kind, "the files of an answer were not posted");
            return self.voice.attempts().retry_now();
        }
        tracing::warn!(channel = %self.turns.channel, kind = ?failure.kind, "an answer was not posted");
        let answer = self.consult.as_ref().and_then(|consult| consult.answer);
        self.over(match answer {
            Some(_) => Settlement::Done { message: answer },
            None => failure.settlement(self.handing.now),
        });
    }
}

/// The parts of an orchestrator's answer.
fn answer_parts(cx: &Context<'_>, text: &str) -> Vec<Arc<str>> {
    let words = cx.settings.reading.silence.deliverable(text).into();
    messages_of(&words, cx.settings, cx.chat.longest_message()).0.collect()
}
