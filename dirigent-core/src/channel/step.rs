//! One call of `handle`: the channel, the buffer, and the small moves that every topic needs.

use alloc::vec::Vec;

use super::{Channel, Permit, Phase};
use crate::seen::RunFate;
use crate::{
    AgentKey, Answer, Cause, Effect, Input, MessageId, Refusal, RunId, Ticket, Timestamp,
    Transition, TurnId,
};

/// The channel while it considers one input. Each topic adds its own methods in its own file.
pub(super) struct Step<'a> {
    pub(super) channel: &'a mut Channel,
    pub(super) effects: &'a mut Vec<Effect>,
}

impl Step<'_> {
    /// Every input's way to the file of its topic.
    pub(super) fn consider(&mut self, input: &Input) -> Result<Answer, Refusal> {
        match input {
            Input::Gate { agent, run, latest } => {
                return Ok(Answer::Verdict(self.on_gate(*agent, *run, *latest)));
            }
            Input::RunEnded { agent, run, outcome } => self.on_run_ended(*agent, *run, outcome)?,
            Input::Replied { agent, run } => self.on_replied(*agent, *run)?,
            Input::Undelivered { agent, run, posted } => {
                self.on_undelivered(*agent, *run, *posted)?;
            }
            Input::Chat { away } => self.on_chat(*away),
            Input::TriggerAgain => self.on_trigger_again(),
            Input::Receipt { agent, run, messages } => self.on_receipt(*agent, *run, messages)?,
            Input::Message(message) => self.on_message(message, &[])?,
            Input::Addressed { message, agents } => self.on_addressed(message, agents)?,
            Input::MessageEdited { id, author, tail } => self.on_edit(*id, *author, tail),
            Input::Members { ticket, agents } => self.on_members(*ticket, agents)?,
            Input::MemberJoined(agent) => self.on_joined(*agent),
            Input::MemberLeft(agent) => self.on_left(*agent),
            Input::Settled { ticket, settlement } => self.on_settled(*ticket, *settlement)?,
            Input::Create(creation) => self.on_create(creation)?,
            Input::SetMode(mode) => self.on_set_mode(*mode)?,
            Input::Wake { first, cause } => self.on_wake(*first, *cause)?,
            Input::Conclude { by } => self.on_conclude(*by)?,
            Input::Archive => self.on_archive()?,
            Input::Stop => self.on_stop()?,
            Input::Hold => self.on_hold()?,
            Input::Resume => self.on_resume()?,
            Input::Mute(agent) => self.on_mute(*agent)?,
            Input::Unmute(agent) => self.on_unmute(*agent),
            Input::RunsLost { rerun } => self.on_runs_lost(*rerun),
            Input::Reconfigure(config) => self.on_reconfigure(config)?,
            Input::SpeakNext(agent) => self.on_speak_next(*agent)?,
            Input::Finish => self.on_finish()?,
            Input::Offline(agent) => self.on_offline(*agent)?,
            Input::Online(agent) => self.on_online(*agent)?,
            Input::Assign(agent) => self.on_assign(*agent)?,
            Input::Spent { cost } => self.on_spent(*cost)?,
            Input::ResetBudget => self.on_reset_budget()?,
            Input::Tick => {}
        }
        Ok(Answer::Accepted)
    }

    pub(super) const fn now(&self) -> Timestamp {
        self.channel.now
    }

    /// Counts a change that a restart must not lose and that no effect shows.
    pub(super) const fn changed(&mut self) {
        self.channel.revision += 1;
    }

    /// Asks for an effect that must be settled.
    pub(super) fn owe(&mut self, effect: impl FnOnce(Ticket) -> Effect) -> Ticket {
        let ticket = Ticket::new(self.channel.next_ticket);
        self.channel.next_ticket += 1;
        let effect = effect(ticket);
        self.channel.debts.push(effect, self.channel.now);
        self.effects.push(effect);
        ticket
    }

    /// Tells that something changed which is no phase.
    pub(super) fn tell(&mut self, agent: Option<AgentKey>, cause: Cause) {
        let kind = self.channel.phase.kind();
        self.push_transition(kind, agent, cause);
    }

    /// Goes to another phase and tells why.
    pub(super) fn shift(&mut self, phase: Phase, agent: Option<AgentKey>, cause: Cause) {
        let from = self.channel.phase.kind();
        self.channel.phase = phase;
        self.channel.stirred_at = self.channel.now;
        self.push_transition(from, agent, cause);
    }

    fn push_transition(&mut self, from: crate::PhaseKind, agent: Option<AgentKey>, cause: Cause) {
        self.effects.push(Effect::Transition(Transition {
            at: self.channel.now,
            from,
            to: self.channel.phase.kind(),
            agent,
            turn: self.channel.turn,
            cause,
        }));
    }

    /// Remembers a message; `false` when it was seen before.
    pub(super) fn remember(&mut self, id: MessageId, backfilled: bool) -> bool {
        let new = self.channel.seen.remember(id, backfilled);
        if new {
            self.channel.stirred_at = self.channel.now;
        }
        new
    }

    pub(super) fn remember_run(&mut self, run: Option<RunId>, fate: RunFate) {
        if let Some(run) = run {
            self.channel.seen.remember_run(run, fate);
            self.channel.stirred_at = self.channel.now;
        }
    }

    /// Takes the permission from the turn's run, if it runs.
    pub(super) fn cancel_turn_run(&mut self) {
        let ended = self.channel.waiting().is_some_and(|waiting| waiting.end.is_some());
        let runs = matches!(
            self.channel.phase,
            Phase::Running { .. } | Phase::Delivering { .. } | Phase::Waiting(_)
        );
        if let Some(run) = self.channel.turn_run().filter(|_| runs && !ended) {
            self.cancel(run.agent, run.id, Some(self.channel.turn));
        }
    }

    /// Withdraws the permit, and takes the permission from its run if it runs.
    pub(super) fn withdraw_permit(&mut self) {
        if let Some(permit) = self.channel.permit.take().filter(Permit::is_running) {
            self.cancel(permit.agent, permit.run_id(), None);
        }
    }

    fn cancel(&mut self, agent: AgentKey, run: Option<RunId>, turn: Option<TurnId>) {
        self.remember_run(run, RunFate::Ended);
        self.effects.push(Effect::CancelRun { agent, run, turn });
    }
}
