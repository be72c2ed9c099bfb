//! The end of a run, and whether its reply has arrived (rules 12 to 20)

use core::time::Duration;

use super::phase::{Grant, Phase, Polls, TurnRun};
use super::step::Step;
use crate::delivery::Extent;
use crate::seen::RunFate;
use crate::steering::{Rested, Waiting};
use crate::{
    AgentKey, Author, Cause, Effect, MessageId, Outcome, Refusal, RunId, SeatTurn, Tail, Ticket,
    Timestamp,
};

impl Step<'_> {
    pub(super) fn on_run_ended(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        outcome: &Outcome,
    ) -> Result<(), Refusal> {
        self.require_turns()?;
        match self.channel.phase {
            Phase::Running { run, receipt, .. } | Phase::Delivering { run, receipt }
                if self.ends(&run, agent, id) =>
            {
                self.remember_run(run.id.or(id), RunFate::Ended);
                self.end_turn_run(run, receipt, outcome);
                Ok(())
            }
            Phase::Dormant if self.permit_ends(agent, id) => {
                self.remember_run(id, RunFate::Ended);
                self.end_permit_run();
                Ok(())
            }
            Phase::Waiting(_) => self.keep_end(agent, id, outcome),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. } => Err(Refusal::StaleRun),
        }
    }

    /// Whether this is the end of the turn's run.
    pub(super) fn ends(&self, run: &TurnRun, agent: AgentKey, id: Option<RunId>) -> bool {
        run.matches(agent, id) && (run.id.is_some() || self.is_open(id))
    }

    pub(super) fn permit_ends(&self, agent: AgentKey, id: Option<RunId>) -> bool {
        let permit = self.channel.permit.filter(|permit| permit.matches(agent, id));
        permit.is_some_and(|permit| permit.run_id().is_some() || self.is_open(id))
    }

    /// Whether a run may still speak, as far as is remembered. What a turn without a run id is told
    /// can only be compared with that.
    fn is_open(&self, id: Option<RunId>) -> bool {
        id.and_then(|id| self.channel.seen.run(id)).is_none()
    }

    /// Refuses what is about turns where none are kept.
    pub(super) fn require_turns(&self) -> Result<(), Refusal> {
        match self.channel.phase {
            Phase::Archived => Err(Refusal::Archived),
            Phase::Disabled | Phase::Dead => Err(Refusal::NotManaged),
            Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => Ok(()),
        }
    }

    pub(super) fn end_turn_run(&mut self, run: TurnRun, receipt: bool, outcome: &Outcome) {
        self.unwatch_run();
        match outcome {
            Outcome::Unfinished { .. } => return self.continue_turn(run.agent),
            Outcome::AwaitsHuman { .. } => self.channel.steering_mut().terms.awaits_human = true,
            Outcome::Spoke { .. } | Outcome::Pass | Outcome::Failed => {}
        }
        if receipt {
            if *outcome == Outcome::Failed {
                // The receipt is of what was posted before the run broke off: more may be on its way.
                self.expect_late_pieces(run.agent);
            }
            return self.complete(run.agent, SeatTurn::Spoke, Cause::ReceiptGiven);
        }
        match (outcome, self.channel.has_arrived()) {
            (
                Outcome::Spoke { tail }
                | Outcome::Unfinished { tail }
                | Outcome::AwaitsHuman { tail },
                _,
            ) => {
                self.confirm_later(run, tail, Cause::Spoke);
            }
            (Outcome::Pass | Outcome::Failed, true) => {
                self.confirm_later(run, &Tail::EMPTY, Cause::Spoke);
            }
            (Outcome::Pass, false) => self.complete(run.agent, SeatTurn::Passed, Cause::Passed),
            (Outcome::Failed, false) => {
                self.complete(run.agent, SeatTurn::Passed, Cause::RunFailed);
            }
        }
    }

    /// The host was restarted: what ran is gone, but what it said has been said (rule 43).
    pub(super) fn on_runs_lost(&mut self, rerun: bool) {
        self.lose_consultation();
        if self.channel.phase == Phase::Dormant {
            return self.lose_permit_run(rerun);
        }
        let Phase::Running { run, receipt, .. } = self.channel.phase else {
            return;
        };
        self.remember_run(run.id, RunFate::Ended);
        if receipt || self.channel.has_arrived() {
            self.end_turn_run(run, receipt, &Outcome::Failed);
        } else if rerun {
            self.unwatch_run();
            let (agent, until) = (run.agent, None);
            let phase = if self.channel.terms().spoken {
                Phase::Continuing { agent, until }
            } else {
                Phase::Granted(Grant { agent, until, attempt: 0 })
            };
            self.shift(phase, Some(agent), Cause::RunLost);
            self.trigger(None);
        } else {
            self.pass_on();
            self.complete(run.agent, SeatTurn::Skipped, Cause::RunLost);
        }
    }

    /// What the run that is lost was given is for the next one, of this agent if no other takes it.
    fn pass_on(&mut self) {
        if !self.channel.terms().spoken {
            self.channel.unheard = true;
            self.veto();
        }
    }

    /// The run took too long and is cancelled. What it said has been said: that is a turn.
    pub(super) fn on_run_late(&mut self) {
        self.cancel_turn_run();
        let Phase::Running { run, receipt, .. } = self.channel.phase else {
            return;
        };
        if receipt {
            self.end_turn_run(run, receipt, &Outcome::Failed);
        } else if self.channel.has_arrived() {
            self.unwatch_run();
            self.confirm_later(run, &Tail::EMPTY, Cause::RunTimedOut);
        } else {
            self.complete(run.agent, SeatTurn::Skipped, Cause::RunTimedOut);
        }
    }

    /// Waits until the reply has arrived, unless it already has.
    fn confirm_later(&mut self, run: TurnRun, reply: &Tail, cause: Cause) {
        let since = self.channel.chat_now();
        let polls = Polls {
            open: None,
            next: self.channel.now + self.channel.config.poll_first,
            interval: self.channel.config.poll_interval,
        };
        let length = self.channel.config.fingerprint_length;
        self.channel.delivery.get_or_insert_default().fingerprint.set_to_last(reply, length);
        self.shift(Phase::Confirming { run, since, polls }, Some(run.agent), cause);
        self.confirm_if_matched(run.agent);
    }

    fn confirm_if_matched(&mut self, agent: AgentKey) {
        if self.channel.delivery.as_ref().is_some_and(|delivery| delivery.is_matched()) {
            self.complete(agent, SeatTurn::Spoke, Cause::TailMatched);
        }
    }

    pub(super) fn on_receipt(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        messages: &[MessageId],
    ) -> Result<(), Refusal> {
        if messages.is_empty() {
            return Err(Refusal::EmptyReceipt);
        }
        self.require_turns()?;
        match &mut self.channel.phase {
            Phase::Running { run, receipt, .. } | Phase::Delivering { run, receipt }
                if run.matches(agent, id) =>
            {
                *receipt = true;
                self.changed();
                self.remember_all(messages);
            }
            Phase::Confirming { run, .. } if run.matches(agent, id) => {
                self.remember_all(messages);
                self.complete(agent, SeatTurn::Spoke, Cause::ReceiptGiven);
            }
            Phase::Dormant => match &mut self.channel.permit {
                Some(permit) if permit.matches(agent, id) => {
                    permit.mark_spoken();
                    self.note_activity();
                    self.changed();
                    self.remember_all(messages);
                }
                _ => return Err(Refusal::StaleRun),
            },
            Phase::Waiting(_) => return self.keep_receipt(agent, id, messages),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. } => return Err(Refusal::StaleRun),
        }
        Ok(())
    }

    /// The reply of a run whose turn rests has arrived.
    fn keep_receipt(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        messages: &[MessageId],
    ) -> Result<(), Refusal> {
        let run = self.channel.turn_run().filter(|run| run.matches(agent, id));
        let steering = self.channel.steering_mut();
        match &mut steering.waiting {
            Some(Waiting { rested: Rested::Running { receipt, .. }, .. }) if run.is_some() => {
                *receipt = true;
            }
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.changed();
        self.remember_all(messages);
        Ok(())
    }

    fn remember_all(&mut self, messages: &[MessageId]) {
        for id in messages {
            self.remember(*id, false);
        }
    }

    /// A message of the speaker in its turn: a piece of its reply, if it stands after the anchor.
    pub(super) fn on_piece(&mut self, id: MessageId, tail: &Tail) {
        let Some(run) = self.channel.turn_run().filter(|run| run.covers(id)) else {
            return;
        };
        let (now, seen_at) = (self.channel.now, self.channel.chat_now());
        self.channel.delivery.get_or_insert_default().put(seen_at, id, tail);
        if let Phase::Confirming { polls, .. } = &mut self.channel.phase {
            if polls.open.is_none() {
                polls.next = polls.next.max(now + polls.interval);
            }
            self.confirm_if_matched(run.agent);
        }
    }

    pub(super) fn on_edit(&mut self, id: MessageId, author: Author, tail: &Tail) {
        if self.channel.speaker().map(Author::Agent) == Some(author) {
            self.on_piece(id, tail);
        }
    }

    /// Looks for the reply once more.
    pub(super) fn poll(&mut self) {
        if let Phase::Confirming { run, .. } = self.channel.phase {
            let ticket = self.owe(|ticket| Effect::Poll { ticket, after: run.anchor });
            if let Phase::Confirming { polls, .. } = &mut self.channel.phase {
                polls.open = Some(ticket);
            }
        }
    }

    /// A poll was answered: the next one follows, later and later, and not before `retry_at`.
    pub(super) fn on_polled(&mut self, ticket: Ticket, retry_at: Option<Timestamp>) {
        let (now, longest) = (self.channel.now, self.channel.config.poll_interval_max);
        if let Phase::Confirming { polls, .. } = &mut self.channel.phase {
            if polls.open == Some(ticket) {
                polls.open = None;
                polls.next = (now + polls.interval).max(retry_at.unwrap_or(now));
                let longer = polls.interval.saturating_add(polls.interval / 2);
                polls.interval = longest.min(longer);
            }
        }
    }
}

impl super::Channel {
    /// Whether a piece of the reply has arrived.
    fn has_arrived(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| !delivery.is_empty())
    }

    /// When the author will have been quiet long enough for any message to confirm.
    pub(super) fn quiet_deadline(&self, since: Timestamp) -> Option<Timestamp> {
        let delivery = self.delivery.as_ref().filter(|it| !it.is_empty())?;
        if self.is_chat_away() {
            return None;
        }
        let (last, quiet) = (delivery.last_seen, self.config.quiet_period);
        if delivery.fingerprint.is_empty() {
            return Some(last + quiet);
        }
        if !self.config.any_message_fallback {
            return None;
        }
        let half: Duration = self.config.delivery_timeout / 2;
        // What was said while the agent ran need not be the reply: the quiet begins with the run's end.
        let held_back = delivery.held_back_until().unwrap_or(last);
        let settled = last.max(since).max(held_back) + quiet;
        match delivery.extent() {
            Extent::Whole => Some(settled),
            // A word was lost in rewriting, or a short last piece is missing: more patience.
            Extent::Most => Some(settled.max(last.max(since) + half)),
            Extent::Part => None,
            Extent::Unknown => Some((last + quiet).max(since + half)),
        }
    }
}
