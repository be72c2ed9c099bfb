//! The question to the orchestrator, and its answer on its way into the channel.

use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{MessageId, Settlement, Ticket};

use super::action::{Account, Action, ActionId, ConsultAnswer, ConsultRequest, Outcome, Purpose};
use super::attempts::Failure;
use super::calls::Consult;
use super::context::Context;
use super::doorway::{Doorway, Offer};
use super::recollection::own_message;
use super::reply::{is_of_files, messages_of};
use super::step::Step;
use super::voice::PostItem;
use crate::admission::{Claim, ClaimKind};
use crate::ports::discord::{Mentions, Post};
use crate::values::extras::Extras;
use crate::values::message::Nonce;
use crate::values::stage::DriverStage;

impl Step<'_> {
    pub(super) fn ask_orchestrator(&mut self, consult: Consult) {
        // The machine asks one question at a time. A newer one replaces one that was not answered.
        self.lanes.withdraw_question();
        self.lanes.consult = Some(Box::new(consult));
    }

    /// Asks the orchestrator, once the state is stored and people's messages are in memory.
    pub(super) fn offer_question(&mut self, door: &mut Doorway<'_>) -> Offer {
        let Some(consult) = self.lanes.consult.as_ref() else {
            return Offer::Nothing;
        };
        let is_asked = consult.under_way.is_some() || !consult.parts.is_empty();
        let is_committed = self.turns.commit.is_committed(consult.stamp);
        if is_asked || !is_committed || self.cx.stage >= DriverStage::Stopping {
            return Offer::Nothing;
        }
        // The host may have removed the orchestrator since. The agent then gets the messages, as without one.
        if !self.cx.has_orchestrator {
            self.question_failed(consult.ticket);
            return Offer::Anew;
        }
        self.start_question(door).into()
    }

    fn start_question(&mut self, door: &mut Doorway<'_>) -> Option<ActionId> {
        let (cx, now, room) = (self.cx, self.now, self.turns.channel);
        let &Consult { ticket, agent, turn, first, last, .. } = self.lanes.consult.as_deref()?;
        let (messages, _) = self.said_within(Span { first, last })?;
        let claim = Claim::new(room, Account::Moderator, ClaimKind::Consult);
        let admitted = door.admission.admit(now, claim).ok()?;
        self.lanes.reads.handed();
        let action = Action::Consult(Box::new(ConsultRequest { agent, turn, messages }));
        let purpose = Purpose::Consult(ticket);
        let id = self.lanes.requests.start(cx, now, door, admitted, purpose, action);
        self.lanes.consult.as_mut()?.under_way = Some(id);
        Some(id)
    }

    /// Posts the next part of the answer, at the head of the voice lane.
    pub(super) fn offer_answer(&mut self, door: &mut Doorway<'_>) -> Offer {
        let Some(consult) = self.lanes.consult.as_ref() else {
            self.lanes.voice.pop();
            return Offer::Anew;
        };
        let may_go = self.turns.view().pause().is_none() && self.lanes.voice.is_due(self.now);
        let Some(content) = consult.parts.get(consult.posted).filter(|_| may_go).cloned() else {
            return Offer::Nothing;
        };
        let part = u64::try_from(consult.posted).unwrap_or(u64::MAX);
        // The first part has the effect's own number, and the high bits distinguish the others.
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
        // The answer is given up, because a wait of more than five minutes would hold back the turn.
        self.offer_post(Account::Moderator, post, None, door).unwrap_or_else(|| {
            self.lanes.voice.pop();
            Offer::Over
        })
    }

    pub(super) fn orchestrator_answered(&mut self, ticket: Ticket, outcome: Outcome) {
        let cx = self.cx;
        let Some(consult) = self.lanes.consult.as_mut().filter(|c| c.ticket == ticket) else {
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
                // An answer of embeds alone has no text to split, but is posted all the same.
                if consult.parts.is_empty() && consult.extras.as_deref().is_some_and(Extras::shows)
                {
                    consult.parts.push(Arc::default());
                }
                if consult.parts.is_empty() {
                    self.question_over(Settlement::Done { message: None });
                } else {
                    // It goes before what stands in the lane, because the turn of the agent waits for it.
                    self.lanes.voice.push_front(PostItem::Answer);
                }
            }
            ConsultAnswer::Pass => self.question_over(Settlement::Done { message: None }),
            ConsultAnswer::Failed => self.question_failed(ticket),
        }
    }

    /// Passes the messages to the agent, as if there were no orchestrator.
    fn question_failed(&mut self, ticket: Ticket) {
        if self.lanes.consult.as_ref().is_some_and(|consult| consult.ticket == ticket) {
            self.question_over(Settlement::Failed { retry_at: None });
        }
    }

    fn question_over(&mut self, settlement: Settlement) {
        self.lanes.voice.withdraw(PostItem::Answer);
        if let Some(consult) = self.lanes.consult.take() {
            self.turns.settle(self.cx, self.now, consult.ticket, settlement);
        }
    }

    pub(super) fn answer_posted(&mut self, message: MessageId) {
        let Some(consult) = self.lanes.consult.as_mut() else {
            return;
        };
        let content = consult.parts.get(consult.posted).cloned().unwrap_or_default();
        let beside = consult.beside();
        consult.answer.get_or_insert(message);
        consult.posted += 1;
        let is_over = consult.posted >= consult.parts.len();
        let answer = consult.answer;
        self.lanes.voice.retry_now();
        if let Some(author) = self.cx.directory.moderator() {
            let (cx, place) = (self.cx, (self.turns.channel, message));
            let own = own_message(cx, place, (author, None), &beside, content);
            self.remember_own(own);
        }
        if is_over {
            self.question_over(Settlement::Done { message: answer });
        }
    }

    pub(super) fn answer_failed(&mut self, failure: &Failure) {
        self.lanes.voice.back_off(self.now, failure.retry_after);
        if !failure.is_final() {
            return;
        }
        let consult = self.lanes.consult.as_mut().filter(|_| is_of_files(failure.kind));
        // The words go without their files, because the chat may refuse only the files.
        if consult.is_some_and(|consult| consult.do_without_files()) {
            tracing::warn!(channel = %self.turns.channel, kind = ?failure.kind, "the files of an answer were not posted");
            return self.lanes.voice.retry_now();
        }
        tracing::warn!(channel = %self.turns.channel, kind = ?failure.kind, "an answer was not posted");
        let answer = self.lanes.consult.as_ref().and_then(|consult| consult.answer);
        self.question_over(match answer {
            // A part of the answer stands in the channel, so the messages count as answered.
            Some(_) => Settlement::Done { message: answer },
            None => failure.settlement(self.now),
        });
    }
}

fn answer_parts(cx: &Context<'_>, text: &str) -> Vec<Arc<str>> {
    let words = cx.settings.reading.silence.deliverable(text).into();
    messages_of(&words, cx.settings, cx.chat.longest_message()).0.collect()
}
