//! The outcome of an action, and its effects.

use dirigent_core::{AgentKey, Input, MessageId, Outcome as Run, RunId, Settlement};

use super::action::{Account, ActionId, AgentAnswer, Outcome, Purpose};
use super::attempts::Trouble;
use super::step::Step;
use super::voice::PostItem;
use crate::admission::{Admitted, Claim, ClaimKind};
use crate::record::channel::StoredChannel;

impl Step<'_> {
    /// Handles the end of the action with this purpose, which was admitted for that.
    pub(super) fn conclude(
        &mut self,
        id: ActionId,
        (purpose, admitted): (Purpose, Option<Admitted>),
        outcome: Outcome,
    ) {
        let claim = admitted.map(|admitted| admitted.claim);
        if let Some(Claim { account, kind, .. }) = claim.filter(|claim| !claim.kind.is_call()) {
            self.note_health(account, kind == ClaimKind::Post, &outcome);
        }
        if !self.turns.commit.is_taken_over() {
            self.take_outcome(id, purpose, outcome);
        }
        self.sort();
    }

    fn note_health(&mut self, account: Account, is_post: bool, outcome: &Outcome) {
        let (now, chat) = (self.now, &mut self.lanes.chat);
        let failure = if let Outcome::Failed(failure) = outcome { Some(failure) } else { None };
        match failure.map(|failure| (failure.trouble(), failure.kind)) {
            Some((Trouble::Away, kind)) => chat.failed(account, now, kind),
            Some((Trouble::Limited(wait), _)) => {
                // This is an answer, but not one after which anything may be retried at once.
                chat.answered(account, is_post);
                // Only a limit on posts says anything about posts. A read that is limited must not stop them.
                if is_post {
                    chat.limited(account, now, now + wait);
                }
            }
            Some((Trouble::Definite, _)) | None => {
                // Everything that waited is tried at once, so that a reply leaves within seconds of the chat's return.
                if chat.answered(account, is_post) {
                    self.lanes.retry_now();
                    self.tell_chat();
                }
            }
        }
    }

    fn take_outcome(&mut self, id: ActionId, purpose: Purpose, outcome: Outcome) {
        let Self { cx, now, turns, lanes, .. } = self;
        match purpose {
            Purpose::Commit | Purpose::ReadBack => self.commit_ended(outcome),
            Purpose::Voice => self.spoken(id, outcome),
            Purpose::FindPart => self.parts_searched(id, outcome),
            Purpose::Wake => self.waker_answered(id, outcome),
            Purpose::Delete(message) => self.deletion_ended(message, outcome),
            Purpose::Read => {
                if let Some(read) = lanes.reads.end(id) {
                    self.read_ended(read, outcome);
                }
            }
            Purpose::Probe => {}
            Purpose::Call { agent, run } => {
                lanes.calls.returned(id);
                if let Outcome::Answered { answer, took_all } = outcome {
                    self.agent_answered((agent, run), answer, took_all);
                }
            }
            Purpose::Consult(ticket) => self.orchestrator_answered(ticket, outcome),
            Purpose::Outbox(kind) => {
                let (of, newest) = ((turns.channel, *now), turns.view().newest());
                if let Some(outbox) = &mut lanes.outbox {
                    outbox.done(cx, of, &mut turns.commit, newest, (kind, outcome));
                }
            }
        }
    }

    fn commit_ended(&mut self, outcome: Outcome) {
        let Self { now, turns, lanes, .. } = self;
        if let Outcome::Committed(revision) = outcome {
            turns.commit.committed(revision);
            lanes.chat.stored();
        } else if let Outcome::Record(found) = outcome {
            let found = found.map(|stored| {
                let StoredChannel { revision, record } = *stored;
                (revision, record.writer)
            });
            turns.commit.read_back(found);
        // Another process has the lease. Whatever an earlier attempt has stored, it is not ours to read back.
        } else if matches!(outcome, Outcome::Elsewhere) {
            turns.commit.fenced();
        } else if let Some(failure) = outcome.into_failure() {
            turns.commit.failed(*now, &failure);
            lanes.chat.store_failed(failure.began.min(*now));
        } else {
            turns.commit.conflict();
        }
    }

    fn spoken(&mut self, id: ActionId, outcome: Outcome) {
        let voice = &mut self.lanes.voice;
        let (head, own) = (voice.head(), voice.end(id));
        let Some(result) = outcome.into_posted() else {
            return;
        };
        if !own {
            // The head was withdrawn meanwhile. What arrived must still be deleted, or counts as posted.
            return self.lingering_ended(id, result.ok());
        }
        // The answer may be lost, while the event shows that the post arrived.
        let failure = match (result, voice.take_arrived()) {
            (Ok(message), _) | (Err(_), Some(message)) => return self.head_posted(message),
            (Err(failure), None) => failure,
        };
        match head {
            Some(PostItem::Reply) => self.part_failed(&failure),
            Some(PostItem::Answer) => self.answer_failed(&failure),
            Some(PostItem::Effect(effect, _)) => self.effect_failed(effect, &failure),
            None => {}
        }
    }

    fn deletion_ended(&mut self, message: MessageId, outcome: Outcome) {
        let Self { now, lanes, .. } = self;
        let Some(cleanup) = &mut lanes.cleanup else {
            return;
        };
        let mut settlement = Settlement::Done { message: None };
        if let Some(failure) = outcome.into_failure() {
            // Until then it is tried again, because an old trigger in the channel may start its agent.
            if !cleanup.failed(message, *now, &failure) {
                return;
            }
            settlement = failure.settlement(*now);
        }
        let (ticket, by) = cleanup.done(message);
        if let Some(ticket) = ticket {
            self.settled(ticket, settlement);
        }
        let is_gone = matches!(settlement, Settlement::Done { .. });
        if let Some(agent) = by.filter(|_| is_gone) {
            // It is refused if the channel no longer keeps turns.
            let _ = self.submit(&Input::Removed(agent));
        }
    }

    fn agent_answered(
        &mut self,
        (agent, run): (AgentKey, RunId),
        answer: AgentAnswer,
        took_all: bool,
    ) {
        let lanes = &mut *self.lanes;
        let Some(call) = lanes.calls.end(run) else {
            // Its turn was taken away. The agent gets its words back with its next turn.
            if let AgentAnswer::Say { said, .. } = answer {
                lanes.inbox.keep_late(agent, said);
            }
            return;
        };
        let outcome = match answer {
            AgentAnswer::Say { said, end } => {
                self.ended_well(agent, took_all);
                let Some(outcome) = self.begin_reply(&call, said, end) else {
                    return;
                };
                outcome
            }
            AgentAnswer::Pass => {
                self.ended_well(agent, took_all);
                Run::Pass
            }
            AgentAnswer::Failed => {
                self.turn_failed(agent);
                Run::Failed
            }
        };
        let _ = self.submit(&Input::RunEnded { agent, run: Some(run), outcome });
    }
}
