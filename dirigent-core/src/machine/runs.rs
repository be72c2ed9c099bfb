//! A run from its start to the arrival of its reply (rules 10 to 20, 43 and 67 to 69)

use alloc::boxed::Box;

use crate::machine::caller::Caller;
use crate::machine::ending::TurnEnd;
use crate::machine::interruption::EndedRun;
use crate::machine::out::Out;
use crate::state::interruption::Waiting;
use crate::state::speaker_list::SeatTurn;
use crate::state::{
    Delivery, Floor, Grant, Phase, Polls, Roster, RunFate, Seen, Situation, TurnRun, Words,
};
use crate::{AgentKey, Cause, Effect, MessageId, Outcome, Refusal, RunId, Tail, Ticket, Timestamp};

/// Follows the run of the agent that has the floor. If an input ends the turn, its function returns the turn's end.
pub(crate) struct Runs<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) roster: &'a mut Roster,
    pub(crate) words: &'a mut Words,
    pub(crate) delivery: &'a mut Option<Box<Delivery>>,
    pub(crate) seen: &'a mut Seen,
    pub(crate) out: &'a mut Out<'o>,
}

impl<'o> Runs<'_, 'o> {
    fn caller(&mut self) -> Caller<'_, 'o> {
        let Self { standing, floor, words, out, .. } = self;
        Caller { standing, floor, words, out }
    }

    /// Starts the speaker's run, or replaces it with a newer one.
    #[inline]
    pub(crate) fn start(&mut self, agent: AgentKey, id: Option<RunId>, latest: Option<MessageId>) {
        if self.floor.phase.awaits_start() {
            // The messages that stand in the channel now cannot belong to the reply.
            let run = TurnRun { agent, id, anchor: self.seen.newest.max(latest) };
            let until = self.out.config.deadlines.run.map(|limit| self.out.now + limit);
            self.clear_delivery();
            self.floor.watch_run(self.out.now, self.out.config);
            let phase = Phase::Running { run, until, receipt: false };
            self.out.shift(self.floor, phase, Some(agent), Cause::RunStarted);
        } else if let Phase::Running { run, .. } = &mut self.floor.phase {
            // Without a name for the run, a newer one cannot be told from the same run that asks again.
            if id.is_some() && run.id != id {
                let replaced = core::mem::replace(&mut run.id, id);
                self.remember(replaced);
                self.out.tell(self.floor, Some(agent), Cause::RunReplaced);
            }
        }
    }

    /// Applies the end of a run, if it is the one of this turn.
    #[inline]
    pub(crate) fn on_ended(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        outcome: &Outcome,
    ) -> Result<Option<TurnEnd>, Refusal> {
        if matches!(self.floor.phase, Phase::Waiting(_)) {
            return self.keep_end(agent, id, outcome).map(|()| None);
        }
        let (run, receipt) = self.floor.phase.open_run().ok_or(Refusal::StaleRun)?;
        if !run.is_ended_by(agent, id, self.seen) {
            return Err(Refusal::StaleRun);
        }
        self.remember(run.id.or(id));
        Ok(self.end(run, receipt, outcome))
    }

    /// Keeps the end of a run while its turn waits. It takes effect when the turn goes on.
    fn keep_end(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        outcome: &Outcome,
    ) -> Result<(), Refusal> {
        let run = self.floor.turn_run().filter(|run| run.is_ended_by(agent, id, self.seen));
        let run = run.ok_or(Refusal::StaleRun)?;
        match &mut self.floor.waiting {
            Some(waiting) if waiting.end.is_none() => waiting.end = Some(*outcome),
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.out.changed();
        self.remember(run.id.or(id));
        Ok(())
    }

    /// Applies the end of a run that came while its turn waited.
    pub(crate) fn end_kept(&mut self, ended: &EndedRun) -> Option<TurnEnd> {
        self.end(ended.run, ended.receipt, &ended.outcome)
    }

    /// Ends the turn's run. Either the turn ends too, or its reply is awaited, or the agent goes on.
    #[inline]
    fn end(&mut self, run: TurnRun, receipt: bool, outcome: &Outcome) -> Option<TurnEnd> {
        let agent = run.agent;
        self.floor.unwatch_run();
        match outcome {
            Outcome::Unfinished { .. } => return self.keep_floor(agent),
            Outcome::AwaitsHuman { .. } => self.floor.terms.edit().awaits_human = true,
            Outcome::Spoke { .. } | Outcome::Pass | Outcome::Repeated | Outcome::Failed => {}
        }
        if *outcome == Outcome::Repeated {
            // A receipt says that the text stands in the channel, not that it is worth an answer. Two agents on a small
            // model once counted on in an empty list for 26 turns, so a repetition ends as an empty turn.
            return Some(TurnEnd::passed(agent, Cause::Repeated));
        }
        if receipt {
            if *outcome == Outcome::Failed {
                // The receipt is for messages from before the run broke off, so more may be on their way.
                self.roster.list.expect_late_pieces(agent, self.out.now);
            }
            return Some(TurnEnd::spoke(agent, Cause::ReceiptGiven));
        }
        match outcome {
            Outcome::Spoke { tail }
            | Outcome::Unfinished { tail }
            | Outcome::AwaitsHuman { tail } => self.confirm(run, tail, Cause::Spoke),
            // The agent says that it said nothing, but it posted with its own tool. Any further message confirms that.
            Outcome::Pass | Outcome::Failed if self.has_arrived() => {
                self.confirm(run, &Tail::EMPTY, Cause::Spoke)
            }
            Outcome::Pass | Outcome::Repeated => Some(TurnEnd::passed(agent, Cause::Passed)),
            Outcome::Failed => Some(TurnEnd::passed(agent, Cause::RunFailed)),
        }
    }

    /// Keeps the floor for an agent with a run that ended before its turn was complete, and asks it to go on.
    fn keep_floor(&mut self, agent: AgentKey) -> Option<TurnEnd> {
        if self.roster.away(agent).is_some() {
            // Its reply went out, but an agent that is away cannot be asked to go on.
            return Some(TurnEnd::spoke(agent, Cause::AgentOffline));
        }
        // A delivered reply had no time limit, but the rest of the turn has one again.
        let delivered = matches!(self.floor.phase, Phase::Delivering { .. });
        self.clear_delivery();
        // The agent has taken all words that it got until now. It may still fail with those that it gets later.
        self.words.wake_unserved = false;
        let terms = self.floor.terms.edit();
        let asks =
            !self.standing.is_paused() && terms.continued < self.out.config.order.continuations;
        terms.spoken = true;
        terms.continued += u8::from(asks);
        if delivered {
            let chat_now = self.standing.chat_now(self.out.now);
            self.floor.set_turn_end(chat_now, self.out.config);
        }
        let phase = Phase::Continuing { agent, until: None };
        self.out.shift(self.floor, phase, Some(agent), Cause::Unfinished);
        if asks {
            self.caller().trigger(None);
        } else {
            self.caller().set_start_deadline();
        }
        None
    }

    /// Waits until the reply has arrived, unless it already has.
    #[inline]
    fn confirm(&mut self, run: TurnRun, reply: &Tail, cause: Cause) -> Option<TurnEnd> {
        let (now, config) = (self.out.now, self.out.config);
        let delivery = self.delivery.get_or_insert_default();
        delivery.fingerprint.set_to_last(reply, config.confirmation.fingerprint_length);
        delivery.polls = Polls::begin(now, config);
        let phase = Phase::Confirming { run, since: self.standing.chat_now(now) };
        self.out.shift(self.floor, phase, Some(run.agent), cause);
        self.confirmed(run.agent)
    }

    /// Returns the turn's end if the pieces that arrived end as the reply does.
    #[inline]
    fn confirmed(&self, agent: AgentKey) -> Option<TurnEnd> {
        let is_matched = self.delivery.as_ref().is_some_and(|delivery| delivery.is_matched());
        is_matched.then(|| TurnEnd::spoke(agent, Cause::TailMatched))
    }

    /// Applies the host's statement that a whole reply of the turn has arrived.
    pub(crate) fn on_receipt(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        messages: &[MessageId],
    ) -> Result<Option<TurnEnd>, Refusal> {
        let is_its = self.floor.turn_run().is_some_and(|run| run.matches(agent, id));
        if !is_its {
            return Err(Refusal::StaleRun);
        }
        let mut end = None;
        if let Phase::Running { receipt, .. } | Phase::Delivering { receipt, .. } =
            &mut self.floor.phase
        {
            // The run may say more, so the turn ends with the run.
            *receipt = true;
            self.words.wake_unserved = false;
            self.out.changed();
        } else if let Some(waiting) = &mut self.floor.waiting {
            waiting.mark_received();
            self.words.wake_unserved = false;
            self.out.changed();
        } else {
            end = Some(TurnEnd::spoke(agent, Cause::ReceiptGiven));
        }
        self.remember_all(messages);
        Ok(end)
    }

    /// Remembers the messages of a receipt as seen, so that their events have no effect.
    pub(crate) fn remember_all(&mut self, messages: &[MessageId]) {
        for id in messages {
            if self.seen.remember(*id, false) {
                self.floor.last_activity_at = self.out.now;
            }
        }
    }

    /// Notes that the library has the whole reply of the turn's run, and delivers it.
    pub(crate) fn on_replied(&mut self, agent: AgentKey, id: Option<RunId>) -> Result<(), Refusal> {
        if matches!(self.floor.phase, Phase::Waiting(_)) {
            return self.keep_reply(agent, id);
        }
        match self.floor.phase.open_run() {
            Some((run, receipt))
                if !self.floor.has_replied() && run.is_ended_by(agent, id, self.seen) =>
            {
                self.floor.forget_turn_limits();
                let phase = Phase::Delivering { run, receipt };
                self.out.shift(self.floor, phase, Some(agent), Cause::Replied);
                Ok(())
            }
            Some(_) | None => Err(Refusal::StaleRun),
        }
    }

    /// Notes that the run of a turn that waits made its reply, which is delivered when the turn goes on.
    fn keep_reply(&mut self, agent: AgentKey, id: Option<RunId>) -> Result<(), Refusal> {
        let is_its = self.floor.turn_run().is_some_and(|it| it.is_ended_by(agent, id, self.seen));
        let waiting = self.floor.waiting.as_deref_mut().filter(|_| is_its);
        if !waiting.is_some_and(Waiting::mark_replied) {
            return Err(Refusal::StaleRun);
        }
        self.floor.forget_turn_limits();
        self.out.tell(self.floor, Some(agent), Cause::Replied);
        Ok(())
    }

    /// Ends the turn, because the delivery of its reply was given up.
    pub(crate) fn on_undelivered(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        posted: bool,
    ) -> Result<TurnEnd, Refusal> {
        let Phase::Delivering { run, .. } = self.floor.phase else {
            return Err(Refusal::StaleRun);
        };
        if !run.is_ended_by(agent, id, self.seen) {
            return Err(Refusal::StaleRun);
        }
        self.remember(run.id.or(id));
        // It never counts as a pass, because the agent had something to say and the channel did not hear it. When a
        // failed delivery counted as silence, a minute without Discord put rooms to sleep.
        let turn = if posted { SeatTurn::Spoke } else { SeatTurn::Skipped };
        Ok(TurnEnd { agent, turn, cause: Cause::Undelivered })
    }

    /// Processes a message of the speaker in its turn, which is a piece of its reply if it stands after the anchor.
    #[inline]
    pub(crate) fn on_piece(&mut self, id: MessageId, tail: &Tail) -> Option<TurnEnd> {
        let run = self.floor.turn_run().filter(|run| run.covers(id))?;
        let seen_at = self.standing.chat_now(self.out.now);
        let delivery = self.delivery.get_or_insert_default();
        delivery.put(seen_at, id, tail);
        if !matches!(self.floor.phase, Phase::Confirming { .. }) {
            return None;
        }
        delivery.polls.put_off(self.out.now);
        self.confirmed(run.agent)
    }

    /// Requests another poll for the reply.
    pub(crate) fn poll(&mut self) {
        let delivery = self.delivery.as_mut();
        if let (Phase::Confirming { run, .. }, Some(delivery)) = (self.floor.phase, delivery) {
            let poll = |ticket| Effect::Poll { ticket, after: run.anchor };
            delivery.polls.open = Some(self.out.request(poll));
        }
    }

    /// Applies the answer to a poll.
    pub(crate) fn on_polled(&mut self, ticket: Ticket, retry_at: Option<Timestamp>) {
        let confirms = matches!(self.floor.phase, Phase::Confirming { .. });
        if let Some(delivery) = self.delivery.as_mut().filter(|_| confirms) {
            // The poll of an earlier turn says nothing about this one.
            if delivery.polls.open == Some(ticket) {
                let longest = self.out.config.confirmation.poll_interval_max;
                delivery.polls.answered(self.out.now, retry_at, longest);
            }
        }
    }

    /// Cancels a run that took too long. If a message of it arrived, it was a turn, because the channel has heard it.
    pub(crate) fn on_late(&mut self) -> Option<TurnEnd> {
        self.cancel();
        let Phase::Running { run, receipt, .. } = self.floor.phase else {
            return None;
        };
        if receipt {
            self.end(run, receipt, &Outcome::Failed)
        } else if self.has_arrived() {
            self.floor.unwatch_run();
            self.confirm(run, &Tail::EMPTY, Cause::RunTimedOut)
        } else {
            Some(TurnEnd::skipped(run.agent, Cause::RunTimedOut))
        }
    }

    /// Reports that the run takes long. The state does not change.
    pub(crate) fn on_slow(&mut self) {
        self.floor.unwatch_run();
        self.out.tell(self.floor, self.floor.speaker(), Cause::RunSlow);
    }

    /// Handles a run that is gone with its process. If a message of it arrived, that counts. Otherwise its agent is
    /// asked once more, if the host wants that, or its turn is over.
    pub(crate) fn lose(&mut self, run: TurnRun, receipt: bool, rerun: bool) -> Option<TurnEnd> {
        self.remember(run.id);
        if receipt || self.has_arrived() {
            return self.end(run, receipt, &Outcome::Failed);
        }
        let (agent, until) = (run.agent, None);
        if !rerun {
            return Some(TurnEnd::skipped(agent, Cause::RunLost));
        }
        self.floor.unwatch_run();
        let phase = if self.floor.has_spoken() {
            Phase::Continuing { agent, until }
        } else {
            Phase::Granted(Grant { agent, until, attempt: 0 })
        };
        self.out.shift(self.floor, phase, Some(agent), Cause::RunLost);
        self.caller().trigger(None);
        None
    }

    /// Cancels the turn's run, if it runs.
    pub(crate) fn cancel(&mut self) {
        let ended = self.floor.waiting.as_ref().is_some_and(|waiting| waiting.end.is_some());
        let runs = matches!(
            self.floor.phase,
            Phase::Running { .. } | Phase::Delivering { .. } | Phase::Waiting(_)
        );
        if let Some(TurnRun { agent, id: run, .. }) =
            self.floor.turn_run().filter(|_| runs && !ended)
        {
            self.remember(run);
            self.out.emit(Effect::CancelRun { agent, run, turn: Some(self.floor.turn) });
        }
    }

    fn clear_delivery(&mut self) {
        if let Some(delivery) = self.delivery {
            delivery.clear();
        }
    }

    /// Returns true if a piece of the reply has arrived.
    fn has_arrived(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| !delivery.is_empty())
    }

    fn remember(&mut self, run: Option<RunId>) {
        if self.seen.remember_run(run, RunFate::Ended) {
            self.floor.last_activity_at = self.out.now;
        }
    }
}
