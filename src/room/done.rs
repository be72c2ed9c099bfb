//! What came of an action, and what follows from it.

use dirigent_core::{AgentKey, Input, MessageId, Outcome as Run, RunId, Settlement};

use super::action::{Account, ActionId, AgentAnswer, Outcome, Purpose};
use super::attempts::Trouble;
use super::pages::Reading;
use super::step::Step;
use super::voice::VoiceItem;
use crate::admission::{Admitted, Claim, ClaimKind};
use crate::record::channel::StoredChannel;

/// A room that learns what came of an action.
pub(super) struct Concluding<'s, 'a> {
    pub(super) step: &'s mut Step<'a>,
    pub(super) id: ActionId,
}

impl Concluding<'_, '_> {
    /// The action ended that was for this, and was admitted for that.
    pub(super) fn conclude(
        mut self,
        purpose: Purpose,
        admitted: Option<Admitted>,
        outcome: Outcome,
    ) {
        let claim = admitted.map(|admitted| admitted.claim);
        if let Some(Claim { account, kind, .. }) = claim.filter(|claim| !claim.kind.is_call()) {
            self.note_health(account, kind == ClaimKind::Post, &outcome);
        }
        if !self.step.turns.commit.is_taken_over() {
            self.take(purpose, outcome);
        }
        self.step.sort();
    }

    /// What the request says about the chat as such.
    fn note_health(&mut self, account: Account, is_post: bool, outcome: &Outcome) {
        let (now, chat) = (self.step.now, &mut self.step.lanes.chat);
        let failure = if let Outcome::Failed(failure) = outcome { Some(failure) } else { None };
        match failure.map(|failure| (failure.trouble(), failure.kind)) {
            Some((Trouble::Away, kind)) => chat.failed(account, now, kind),
            Some((Trouble::Limited(wait), _)) => {
                // An answer, but none after which anything may be retried at once.
                chat.answered(account, is_post);
                if is_post {
                    chat.limited(account, now, now + wait);
                }
            }
            Some((Trouble::Definite, _)) | None => {
                if chat.answered(account, is_post) {
                    self.step.lanes.retry_now();
                    self.step.tell_chat();
                }
            }
        }
    }

    fn take(&mut self, purpose: Purpose, outcome: Outcome) {
        let Step { cx, now, turns, lanes, .. } = &mut *self.step;
        match purpose {
            Purpose::Commit | Purpose::ReadBack => self.stored(outcome),
            Purpose::Voice => self.spoken(outcome),
            Purpose::FindPart => self.step.replying().searched(self.id, outcome),
            Purpose::Wake => self.step.speaking().woken(self.id, outcome),
            Purpose::Delete(message) => self.deleted(message, outcome),
            Purpose::Read => {
                if let Some(read) = lanes.reads.end(self.id) {
                    Reading { step: self.step }.take(read, outcome);
                }
            }
            Purpose::Probe => {}
            Purpose::Call { agent, run } => {
                lanes.calls.returned(self.id);
                if let Outcome::Answered { answer, took_all } = outcome {
                    self.answered((agent, run), answer, took_all);
                }
            }
            Purpose::Consult(ticket) => self.step.consulting().answered(ticket, outcome),
            Purpose::Outbox(kind) => {
                let (of, newest) = ((turns.channel, *now), turns.view().newest());
                if let Some(posts) = &mut lanes.posts {
                    posts.done(cx, of, newest, kind, outcome);
                }
            }
        }
    }

    /// A commit, or a read after a conflict, ended.
    fn stored(&mut self, outcome: Outcome) {
        let Step { now, turns, lanes, .. } = &mut *self.step;
        if let Outcome::Committed(revision) = outcome {
            turns.commit.committed(revision);
            if let Some(posts) = &mut lanes.posts {
                posts.committed();
            }
            lanes.chat.stored();
        } else if let Outcome::Record(found) = outcome {
            let found = found.map(|stored| {
                let StoredChannel { revision, record } = *stored;
                (revision, record.writer)
            });
            turns.commit.read_back(found);
        } else if matches!(outcome, Outcome::Elsewhere) {
            turns.commit.fenced();
        } else if let Some(failure) = outcome.into_failure() {
            turns.commit.failed(*now, &failure);
            lanes.chat.store_failed(failure.began.min(*now));
        } else {
            turns.commit.conflict();
        }
    }

    /// A post of the voice lane ended.
    fn spoken(&mut self, outcome: Outcome) {
        let voice = &mut self.step.lanes.voice;
        let (head, own) = (voice.head(), voice.end(self.id));
        let Some(result) = outcome.into_posted() else {
            return;
        };
        if !own {
            return self.step.replying().lingering_ended(self.id, result.ok());
        }
        // The answer may be lost, and the event tells that the post arrived all the same.
        let failure = match (result, voice.take_arrived()) {
            (Ok(message), _) | (Err(_), Some(message)) => return self.step.head_posted(message),
            (Err(failure), None) => failure,
        };
        match head {
            Some(VoiceItem::Reply) => self.step.replying().failed(&failure),
            Some(VoiceItem::Answer) => self.step.consulting().post_failed(&failure),
            Some(VoiceItem::Effect(effect, _)) => self.step.speaking().failed(effect, &failure),
            None => {}
        }
    }

    fn deleted(&mut self, message: MessageId, outcome: Outcome) {
        let Step { now, lanes, .. } = &mut *self.step;
        let Some(cleanup) = &mut lanes.cleanup else {
            return;
        };
        let mut settlement = Settlement::Done { message: None };
        if let Some(failure) = outcome.into_failure() {
            if !cleanup.failed(message, *now, &failure) {
                return;
            }
            settlement = failure.settlement(*now);
        }
        if let Some(ticket) = cleanup.done(message) {
            self.step.settled(ticket, settlement);
        }
    }

    /// A hosted agent returned.
    fn answered(&mut self, (agent, run): (AgentKey, RunId), answer: AgentAnswer, took_all: bool) {
        let lanes = &mut *self.step.lanes;
        let Some(call) = lanes.calls.end(run) else {
            // Its turn was taken away.
            if let AgentAnswer::Say { said, .. } = answer {
                lanes.inbox.keep_late(agent, said);
            }
            return;
        };
        let outcome = match answer {
            AgentAnswer::Say { said, end } => {
                self.step.ended_well(agent, took_all);
                return self.step.replying().begin(&call, said, end);
            }
            AgentAnswer::Pass => {
                self.step.ended_well(agent, took_all);
                Run::Pass
            }
            AgentAnswer::Failed => {
                self.step.handing().failed(agent);
                Run::Failed
            }
        };
        let _ = self.step.submit(&Input::RunEnded { agent, run: Some(run), outcome });
    }
}
