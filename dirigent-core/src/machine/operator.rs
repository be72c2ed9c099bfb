//! Orders of operators and tools: modes, stop and hold, mute, wake, choose, archive (rules 4, 5, 35, 37, 38, 60, 61 and
//! 65)

use alloc::boxed::Box;

use crate::machine::listing::Listing;
use crate::machine::rotation::EndedCycle;
use crate::machine::step::Step;
use crate::state::budget::Budget;
use crate::state::interruption::WaitingFrom;
use crate::state::situation::Pause;
use crate::state::speaker_list::AGENTS_MAX;
use crate::state::{Archived, CeilingCounts, InitiatorPermit, Phase, Purpose, Start};
use crate::{AgentKey, Cause, Creation, Effect, MessageId, Mode, Notice, Refusal, WakeCause};

/// Carries out the orders of operators and tools.
pub(crate) struct Operator<'s, 'o> {
    pub(crate) step: &'s mut Step<'o>,
}

impl Operator<'_, '_> {
    pub(crate) fn create(&mut self, creation: &Creation) -> Result<(), Refusal> {
        let standing = &self.step.state.standing;
        standing.require_unarchived()?;
        if standing.created {
            return Err(Refusal::AlreadyCreated);
        }
        if creation.initiator.is_some() != (creation.mode == Mode::Discussion) {
            return Err(Refusal::InitiatorMismatch);
        }
        if creation.members.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.step.state.standing.initiator = creation.initiator;
        if creation.initiator.is_some() {
            self.step.state.quota.limits.since = self.step.out.now;
        }
        if !creation.members.is_empty() {
            self.step.members().read(&creation.members);
        }
        self.enter_mode(creation.mode, Cause::Created);
        let keeps_turns = creation.mode.keeps_turns();
        let agents = self.step.state.roster.list.len();
        let is_enough = self.step.state.standing.is_enough(agents, self.step.out.config);
        match agents {
            0 if keeps_turns => self.step.members().fetch(),
            1 if keeps_turns && !is_enough => {
                Listing { step: self.step }.leave_turns(Phase::Disabled, Cause::TooFewAgents);
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) -> Result<(), Refusal> {
        let standing = &self.step.state.standing;
        standing.require_unarchived()?;
        if standing.mode.is_locked() {
            return Err(Refusal::ModeLocked);
        }
        if mode.is_locked() {
            return Err(Refusal::CreationOnly);
        }
        if mode != standing.mode {
            self.end_everything();
            self.step.state.quota.limits = CeilingCounts::default();
            self.step.state.reminders.restart_count();
            self.step.state.words.forget();
            self.step.state.cycle.forget_question();
            self.enter_mode(mode, Cause::ModeChanged);
            if mode.keeps_turns() {
                self.step.members().fetch();
            }
        }
        Ok(())
    }

    /// Enters the first phase of the mode. A channel that keeps turns starts dormant.
    fn enter_mode(&mut self, mode: Mode, cause: Cause) {
        let state = &mut *self.step.state;
        state.standing.created = true;
        state.standing.mode = mode;
        let phase = match mode {
            Mode::None | Mode::Work => Phase::Disabled,
            Mode::Report => Phase::Dead,
            Mode::Discussion | Mode::Chat => Phase::Dormant,
        };
        self.step.out.shift(&mut state.floor, phase, None, cause);
    }

    /// Ends all that is under way: cancels runs, and forgets the list that is being read and the cycle.
    fn end_everything(&mut self) {
        let step = &mut *self.step;
        step.runs().cancel();
        step.permits().withdraw();
        step.members().stop_reading();
        let state = &mut *step.state;
        state.cycle.forget(&mut state.roster.list, &mut state.words);
        step.state.reminders.cancel();
        step.ending().break_off();
        step.state.cycle.forget_plans();
        step.state.cycle.cut_at(None);
        step.state.words.awaits_human = false;
    }

    pub(crate) fn stop(&mut self) -> Result<(), Refusal> {
        self.step.state.standing.require_managed()?;
        if self.step.state.standing.pause != Some(Pause::Stopped) {
            self.come_to_rest(Pause::Stopped, Cause::Stopped);
        }
        Ok(())
    }

    /// Stops the channel by a person's word, which is acknowledged if it changes anything.
    pub(crate) fn stop_by_word(&mut self, message: MessageId) -> Result<(), Refusal> {
        let before = self.step.state.standing.pause;
        self.stop()?;
        if self.step.state.standing.pause != before {
            self.acknowledge(Notice::Stopped { message });
        }
        Ok(())
    }

    fn acknowledge(&mut self, notice: Notice) {
        if self.step.out.config.people.acknowledge {
            self.step.out.request(|ticket| Effect::Notice { ticket, notice });
        }
    }

    /// Pauses the channel, because an operator says that the work is done.
    pub(crate) fn finish(&mut self) -> Result<(), Refusal> {
        self.step.state.standing.require_managed()?;
        match self.step.state.standing.pause {
            Some(Pause::Stopped) => Err(Refusal::Stopped),
            Some(Pause::Finished) => Ok(()),
            Some(Pause::Held) | None => {
                self.come_to_rest(Pause::Finished, Cause::Finished);
                Ok(())
            }
        }
    }

    fn come_to_rest(&mut self, pause: Pause, cause: Cause) {
        let speaker = self.step.state.floor.speaker();
        let is_cut = self.cuts_conversation();
        // If no turn is under way now, the cut of an earlier ceiling or stop still counts.
        let known = self.step.state.cycle.take_cut();
        let cut = self.step.cut().or(known);
        self.end_everything();
        let state = &mut *self.step.state;
        state.cycle.cut_at(cut);
        state.words.keep_unserved();
        // People expect a resume to go on where the stop cut. Without a pending wake the channel would stay dormant.
        state.words.wake_pending |= is_cut;
        state.cycle.forget_answered(&state.words);
        state.standing.pause = Some(pause);
        // A channel that keeps no turns keeps its phase.
        let keeps_no_turns = matches!(state.floor.phase, Phase::Disabled | Phase::Dead);
        let phase = if keeps_no_turns { state.floor.phase } else { Phase::Dormant };
        self.step.out.shift(&mut state.floor, phase, speaker, cause);
    }

    /// Returns true if agents would go on by themselves without this stop.
    fn cuts_conversation(&mut self) -> bool {
        let phase = self.step.state.floor.phase;
        if phase == Phase::Refreshing(Purpose::Boundary) {
            let ended = EndedCycle::of(self.step.state);
            return self.step.rotation().goes_on_after(&ended);
        }
        matches!(phase, Phase::Refreshing(_)) || phase.speaker().is_some()
    }

    pub(crate) fn hold(&mut self) -> Result<(), Refusal> {
        let standing = &mut self.step.state.standing;
        standing.require_managed()?;
        standing.require_unstopped()?;
        if !standing.is_held() {
            standing.pause = Some(Pause::Held);
            // An agent that runs may go on, because a hold that parked its outcome would need a second machine inside
            // this one. An agent that has not started need not hurry.
            self.step.caller().set_start_deadline();
            self.step.tell(None, Cause::Held);
        }
        Ok(())
    }

    /// Resumes the channel, by an operator or by a person's message.
    pub(crate) fn resume(&mut self, word: Option<MessageId>) -> Result<(), Refusal> {
        let now = self.step.out.now;
        let state = &mut *self.step.state;
        state.standing.require_unarchived()?;
        let pause = state.standing.pause.take().ok_or(Refusal::NotPaused)?;
        // A discussion that was stopped or on hold has all its time again. Otherwise the same step that resumes it
        // could archive it as overdue.
        state.floor.last_activity_at = now;
        state.reminders.restart_count();
        if state.standing.is_discussion() {
            state.quota.limits.since = now;
        }
        state.standing.restart_patience(now);
        self.step.tell(None, Cause::Resumed);
        if let Some(message) = word {
            self.acknowledge_resume(message, pause);
        }
        let step = &mut *self.step;
        let phase = &step.state.floor.phase;
        if pause == Pause::Held && phase.awaits_start() {
            step.caller().trigger_anew();
        } else if *phase == Phase::Dormant {
            if pause != Pause::Held && step.state.words.wake_pending {
                step.wake(Start::First, Cause::Resumed);
            } else {
                let awaits_human = step.state.words.awaits_human;
                step.reminding().remind_after_pause(awaits_human);
            }
        }
        let is_asleep = step.state.floor.phase == Phase::Dormant;
        if word.is_some() && is_asleep && step.look().budget_spent() {
            step.rotation().announce_budget();
        }
        Ok(())
    }

    /// Acknowledges a resume word, and says what is needed if the channel does not go on by itself.
    fn acknowledge_resume(&mut self, message: MessageId, pause: Pause) {
        let step = &mut *self.step;
        let is_asleep = step.state.floor.phase == Phase::Dormant;
        let wakes = pause != Pause::Held && step.state.words.wake_pending;
        let permit = step.state.reminders.permit();
        let is_idle = is_asleep && !wakes && !permit.is_some_and(|permit| permit.is_running());
        let is_spent = step.look().budget_spent();
        if is_spent && is_asleep {
            // A message would not help here, so the notice that the budget is spent is given once more.
            step.state.quota.budget.edit().announced = false;
        }
        self.acknowledge(if is_idle && !is_spent {
            Notice::ResumedIdle { message }
        } else {
            Notice::Resumed { message }
        });
    }

    pub(crate) fn mute(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        let step = &mut *self.step;
        if !step.state.roster.mute(agent).ok_or(Refusal::TooManyAgents)? {
            return Ok(());
        }
        if step.state.floor.speaker() == Some(agent) {
            step.take_floor(agent, Cause::AgentMuted);
        } else {
            step.tell(Some(agent), Cause::AgentMuted);
        }
        step.take_permit_from(agent);
        Ok(())
    }

    pub(crate) fn unmute(&mut self, agent: AgentKey) {
        if self.step.state.roster.unmute(agent) {
            self.step.tell(Some(agent), Cause::AgentUnmuted);
            self.step.comes_back(agent);
        }
    }

    pub(crate) fn wake(
        &mut self,
        first: Option<AgentKey>,
        cause: WakeCause,
    ) -> Result<(), Refusal> {
        let step = &mut *self.step;
        if cause != WakeCause::Operator && must_wait(step) {
            // The guide or the result stands in the channel already, so the wake stays pending until agents can begin.
            // Discussions that found too few agents or a stop once never started.
            step.state.cycle.forget_question();
            step.keep_in_mind(true);
            if !step.state.standing.is_stopped() {
                step.members().recount();
            }
            return Ok(());
        }
        step.require_going_on()?;
        if step.look().budget_spent() {
            return Err(Refusal::BudgetSpent);
        }
        // Only a person lifts the ceilings. When a wake of the library's own did, a channel without a start deadline
        // woke itself for ever.
        if cause == WakeCause::Operator {
            step.hear_human();
        }
        if step.look().ceiling_reached() {
            return Err(Refusal::CeilingReached);
        }
        // The wait for a person is over if the wake is for a person's word that no turn took.
        if step.state.words.awaits_human && cause != WakeCause::Unheard {
            return Err(Refusal::AwaitingHuman);
        }
        step.state.cycle.forget_question();
        step.must_be_heard();
        let start = first.map_or(Start::First, Start::At);
        let phase = step.state.floor.phase;
        step.be_news();
        if phase == Phase::Dormant {
            step.wake(start, cause.into());
        } else if matches!(phase, Phase::Unknown { .. }) {
            step.keep_in_mind(true);
        } else if !matches!(phase, Phase::Refreshing(Purpose::Wake(_))) {
            // It is awake, so the agents that spoke before are asked again.
            step.rotation().request_cycle();
        }
        Ok(())
    }

    pub(crate) fn speak_next(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        let step = &mut *self.step;
        step.require_going_on()?;
        let state = &*step.state;
        if !state.roster.is_present(agent) {
            return Err(Refusal::NotListed);
        }
        if state.roster.is_muted(agent) {
            return Err(Refusal::Muted);
        }
        if !state.roster.may_write(agent) {
            return Err(Refusal::MayNotWrite);
        }
        if state.roster.away(agent).is_some() {
            return Err(Refusal::AgentOffline);
        }
        if state.floor.speaker() == Some(agent) {
            return Err(Refusal::HasTheFloor);
        }
        if step.look().budget_spent() {
            return Err(Refusal::BudgetSpent);
        }
        if state.floor.phase == Phase::Dormant && state.standing.is_chat_away() {
            return Err(Refusal::ChatAway);
        }
        step.hear_human();
        if step.state.floor.phase == Phase::Dormant {
            // A round that waits for people to be quiet belongs to another wake. A choice once began the round of the
            // words that it replaced.
            step.state.cycle.forget_plans();
        }
        step.state.cycle.plans.edit().chosen = Some(agent);
        step.out.changed();
        step.must_be_heard();
        if step.state.floor.speaker().is_none() {
            step.be_news();
        }
        let phase = &mut step.state.floor.phase;
        if let Phase::Refreshing(Purpose::Wake(start)) = phase {
            *start = Start::At(agent);
        } else if *phase == Phase::Refreshing(Purpose::Boundary) {
            step.rotation().request_cycle();
        } else if *phase == Phase::Dormant {
            step.wake_as_planned(Start::At(agent), Cause::OperatorChoice);
        }
        // Otherwise the choice takes effect when the turn under way ends.
        Ok(())
    }

    /// Adds the cost that the host reports. If a budget is spent while the channel is dormant, that is announced at
    /// once, because a person would otherwise write into silence.
    pub(crate) fn spend(&mut self, cost: u64) -> Result<(), Refusal> {
        self.step.state.standing.require_unarchived()?;
        let is_change = self.step.state.quota.budget.edit().add_cost(cost);
        self.step.out.changed_if(is_change);
        let is_asleep = self.step.state.floor.phase == Phase::Dormant;
        if is_asleep && !self.step.state.standing.is_stopped() && self.step.look().budget_spent() {
            self.step.rotation().announce_budget();
        }
        Ok(())
    }

    pub(crate) fn reset_budget(&mut self) -> Result<(), Refusal> {
        self.step.state.standing.require_unarchived()?;
        if let Some(budget) = self.step.state.quota.budget.existing() {
            *budget = Budget::default();
        }
        self.step.tell(None, Cause::BudgetReset);
        self.step.wake_for_pending();
        Ok(())
    }

    pub(crate) fn conclude(&mut self, by: AgentKey) -> Result<(), Refusal> {
        let standing = &self.step.state.standing;
        if !standing.is_discussion() {
            return Err(Refusal::NotADiscussion);
        }
        match &standing.archived {
            Some(archived) if archived.concluded => return Err(Refusal::AlreadyConcluded),
            Some(_) => return Err(Refusal::Archived),
            None => {}
        }
        if standing.initiator != Some(by) {
            return Err(Refusal::NotTheInitiator);
        }
        self.archive(Some(by), Cause::Concluded)
    }

    pub(crate) fn archive(&mut self, by: Option<AgentKey>, cause: Cause) -> Result<(), Refusal> {
        self.step.state.standing.require_unarchived()?;
        let permit = self.step.state.reminders.permit().filter(InitiatorPermit::is_running);
        let running = self.reply_under_way().or(permit.map(|permit| permit.agent));
        self.end_everything();
        let state = &mut *self.step.state;
        state.standing.created = true;
        state.standing.pause = None;
        state.words.forget();
        state.cycle.forget_question();
        state.standing.archived = Some(Box::new(Archived {
            at: self.step.out.now,
            concluded: by.is_some(),
            leaving: [by, running],
            bot_notice_at: None,
        }));
        self.step.out.shift(&mut state.floor, Phase::Archived, by, cause);
        Ok(())
    }

    /// Returns the agent with a reply that may be on its way: it runs, has spoken, or waits after either.
    fn reply_under_way(&self) -> Option<AgentKey> {
        let floor = &self.step.state.floor;
        let from = floor.waiting.as_ref().map(|waiting| waiting.from);
        let has_started = floor.phase.run().is_some()
            || matches!(floor.phase, Phase::Continuing { .. })
            || from.is_some_and(|it| !matches!(it, WaitingFrom::Granted { .. }));
        floor.speaker().filter(|_| has_started)
    }
}

/// Returns true if the channel keeps turns, but none now, because it is stopped or has too few agents.
fn must_wait(step: &Step<'_>) -> bool {
    let standing = &step.state.standing;
    let is_disabled = step.state.floor.phase == Phase::Disabled;
    standing.keeps_turns() && (standing.is_stopped() || is_disabled)
}

impl From<WakeCause> for Cause {
    fn from(cause: WakeCause) -> Self {
        match cause {
            WakeCause::Operator => Self::OperatorWake,
            WakeCause::Guide => Self::GuidePosted,
            WakeCause::Result => Self::ResultPosted,
            WakeCause::Unheard => Self::HumanMessage,
        }
    }
}
