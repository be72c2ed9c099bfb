//! Messages (rules 21 to 25, 39).

use std::time::Duration;

use dirigent_core::config::{HumanInterrupt, InterruptPolicy, WakeRule};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    AgentKey, Author, Cause, Effect, Message, MessageId, MessageKind, Notice, Refusal, TurnId,
};

use super::resting::Range;
use super::state::{First, Phase, Purpose, TurnProgress};
use super::{AGENTS_MAX, Model};

impl Model {
    /// Rule 21; rule 62 for a message that addresses agents.
    pub(super) fn on_message(
        &mut self,
        message: &Message,
        addressed: Option<&[AgentKey]>,
    ) -> Result<(), Refusal> {
        if addressed.is_some_and(|agents| agents.len() > AGENTS_MAX) {
            return Err(Refusal::TooManyAgents); // rule 62
        }
        if self.closing.is_none() && !self.mode.keeps_turns() {
            self.memory.note_newest(message.id);
            return Ok(());
        }
        if self.memory.knows(message.id, message.backfilled) {
            return Err(Refusal::RepeatedMessage);
        }
        self.memory.keep(message.id, self.now);
        match message.author {
            _ if self.closing.is_some() => {}
            Author::Agent(agent) => self.be_news(Some(agent)), // rule 76
            Author::Human | Author::Bot => self.be_news(None),
            Author::Moderator | _ => {}
        }
        if message.kind == MessageKind::System || message.author == Author::Moderator {
            return Ok(());
        }
        if self.closing.is_some() {
            self.answer_archived(message.author);
            return Ok(());
        }
        self.count(message.author, message.kind);
        match (message.author, message.kind) {
            (Author::Human, MessageKind::StopWord) => self.on_stop_word(message.id), // rule 24
            (Author::Human, MessageKind::ResumeWord) if self.rest.is_some() => {
                self.on_resume(Some(message.id))
            }
            (Author::Agent(agent), MessageKind::Unasked) => {
                self.hear_unasked(agent, message);
                Ok(())
            }
            (Author::Agent(_), MessageKind::OutOfTurn) => {
                self.on_unpermitted();
                Ok(())
            }
            _ => {
                let round = self.round_of(message.author, addressed);
                self.converse(message, round);
                Ok(())
            }
        }
    }

    /// Rule 22: the counters.
    fn count(&mut self, author: Author, kind: MessageKind) {
        match author {
            Author::Human => self.on_human_word(),
            Author::Agent(agent) => {
                self.reminders = 0; // rule 36
                let own = self.speaker() == Some(agent) || self.has_running_permit(agent);
                let waking = matches!(self.phase, Phase::Refreshing(Purpose::Waking { .. }));
                let late = own || self.is_in_grace(agent);
                if (kind == MessageKind::OutOfTurn || !late) && !waking {
                    self.turns = self.turns.saturating_add(1);
                }
            }
            Author::Bot | Author::Moderator | _ => {}
        }
    }

    /// Rule 22: a human's word zeroes both counters.
    pub(super) fn on_human_word(&mut self) {
        self.turns = 0;
        self.cycles = 0;
        self.talk_since = self.now;
        self.reminders = 0; // rule 36
        self.awaits_human = false; // rule 63
        self.question = None; // rule 80
        if std::mem::take(&mut self.ceiling_announced) {
            self.causes.push(Cause::CeilingReset);
        }
    }

    /// Rule 22: whether a ceiling is reached.
    pub(super) fn is_ceiling_reached(&self) -> bool {
        self.are_turns_used_up() || self.are_cycles_used_up() || self.is_time_up()
    }

    /// Rules 16, 23 and 25: something was said.
    fn converse(&mut self, message: &Message, round: Option<Vec<AgentKey>>) {
        let author = message.author;
        let qualifies = self.qualifies(author);
        if let Author::Agent(agent) = author {
            self.take_piece(agent, message.id, &message.tail);
            if self.has_running_permit(agent) {
                self.mark_permit_spoken();
                return;
            }
        }
        let counts_again = self.is_disabled_by_count() && !self.is_stopped();
        if qualifies && self.is_stopped() {
            self.keep_in_mind();
        } else if qualifies {
            self.on_qualifying(author, message.id, round);
        }
        if counts_again {
            self.ask_recount();
        }
    }

    /// Rule 83: what an agent writes that asks nobody before it runs.
    fn hear_unasked(&mut self, agent: AgentKey, message: &Message) {
        let is_late = self.speaker() == Some(agent) || self.is_in_grace(agent);
        self.take_piece(agent, message.id, &message.tail);
        if self.has_running_permit(agent) {
            self.mark_permit_spoken();
        } else if !is_late || self.is_disabled_by_count() && !self.is_stopped() {
            self.on_unpermitted();
        }
    }

    /// Rule 83, its last rows.
    fn on_unpermitted(&mut self) {
        if self.is_disabled_by_count() && !self.is_stopped() {
            self.ask_recount();
        } else {
            self.causes.push(Cause::Unpermitted);
        }
    }

    /// Rule 83.
    pub(super) fn on_removed(&mut self) -> Result<(), Refusal> {
        self.check_runs_matter()?;
        self.causes.push(Cause::MessageRemoved);
        Ok(())
    }

    /// Rule 23.
    fn qualifies(&self, author: Author) -> bool {
        match author {
            Author::Human => true,
            Author::Agent(agent) => {
                let is_late = self.speaker() == Some(agent) || self.is_in_grace(agent);
                !is_late && !self.is_alone(agent) // rule 82
            }
            Author::Bot => self.config.people.bots_qualify,
            Author::Moderator | _ => false,
        }
    }

    /// Rule 23: late pieces of a reply.
    fn is_in_grace(&self, agent: AgentKey) -> bool {
        let slot = self.list.iter().find(|slot| slot.agent == agent);
        let since = slot.and_then(|slot| slot.grace_since);
        since.is_some_and(|since| self.now < since + self.config.confirmation.late_grace)
    }

    /// Rule 25: what a qualifying message does in a channel that is not stopped.
    fn on_qualifying(&mut self, author: Author, id: MessageId, round: Option<Vec<AgentKey>>) {
        let is_human = author == Author::Human;
        match &mut self.phase {
            Phase::Dormant => {
                let wakes = is_human || !(self.is_ceiling_reached() || self.awaits_human);
                let question = self.lone_question(id).filter(|_| is_human);
                if wakes && self.is_any_budget_spent() {
                    self.keep_in_mind(); // rule 65
                    self.say_that_budget_is_spent();
                } else if wakes && is_human && self.waits_for_quiet() {
                    self.keep_in_mind();
                    self.plan_round(round);
                    self.settle();
                } else if wakes {
                    self.untaken |= is_human;
                    self.be_news(None);
                    self.wake_for(self.first_for(author), round);
                }
                self.question = question.or(self.question);
            }
            Phase::Disabled | Phase::Unknown { .. } => self.keep_in_mind(),
            Phase::Refreshing(Purpose::Boundary) => {
                self.untaken |= is_human; // rule 54
                self.veto();
                self.plan_round(round);
            }
            Phase::Refreshing(Purpose::Waking { first }) => {
                if round.is_some() && !matches!(first, First::Chosen(_)) {
                    *first = First::Front;
                }
                self.untaken |= is_human;
                self.plan_round(round);
            }
            Phase::Dead | Phase::Archived => {}
            Phase::Turn(turn) => {
                if matches!(turn.stage, TurnProgress::Confirming(_))
                    && !(is_human && self.holds_words())
                {
                    self.interrupt(author, round);
                    return;
                }
                self.veto();
                if is_human {
                    self.plan_round(round);
                    self.say_to_speaker(id);
                }
            }
        }
    }

    /// Rule 58: where the cycle starts that this author's message begins.
    fn first_for(&self, author: Author) -> First {
        match author {
            Author::Agent(agent) => self.first_after(agent),
            Author::Human | Author::Bot | Author::Moderator | _ => First::Front,
        }
    }

    /// Rule 58: where the cycle starts that this agent's message begins.
    pub(super) fn first_after(&self, agent: AgentKey) -> First {
        match self.config.order.wake_rule {
            WakeRule::NextAfterSender => First::After(agent),
            WakeRule::FirstInList | _ => First::Front,
        }
    }

    /// Rule 53: whether a human's message is held whatever the phase.
    fn holds_words(&self) -> bool {
        self.is_held() || self.config.people.human_interrupt == HumanInterrupt::Queue
    }

    /// Rule 53: a human spoke during a turn.
    fn say_to_speaker(&mut self, id: MessageId) {
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let (agent, turn_id) = (turn.agent, TurnId::new(self.turn));
        let is_made = turn.stage == TurnProgress::Delivering; // rule 67
        if let TurnProgress::Waiting(waiting) = &mut turn.stage {
            waiting.next = Range::both(waiting.next, Some(Range::of(id))); // rule 55
        } else if is_made || self.holds_words() {
            self.hold(Some(Range::of(id)));
        } else if self.config.people.human_interrupt == HumanInterrupt::Interrupt {
            self.rest_turn(id);
        } else {
            self.untaken = true; // rule 54
            self.emitted.push(Effect::Inject { agent, turn: turn_id, message: id });
        }
    }

    /// Rule 25: another author wrote while a reply was awaited.
    fn interrupt(&mut self, author: Author, round: Option<Vec<AgentKey>>) {
        let is_human = author == Author::Human;
        let awaits = !is_human && self.awaits_a_person(); // rule 63
        self.end_turn(SeatTurn::Spoke, Cause::Interrupted);
        if awaits {
            self.await_a_person();
            return;
        }
        self.untaken |= is_human; // rule 54
        match self.config.people.interrupt {
            InterruptPolicy::AdvanceNormally => {
                self.veto();
                self.plan_round(round);
                self.advance();
            }
            InterruptPolicy::RestartCycle | _ => self.wake_for(self.first_for(author), round),
        }
    }

    /// Whether the agent's permit is being used.
    fn has_running_permit(&self, agent: AgentKey) -> bool {
        let permit = self.permit.as_ref();
        permit.is_some_and(|permit| permit.agent == agent && permit.running.is_some())
    }

    /// Rule 39: a new message in an archived channel.
    fn answer_archived(&mut self, author: Author) {
        let now = self.now;
        let Some(closing) = &mut self.closing else {
            return;
        };
        if let Author::Agent(agent) = author {
            if closing.farewell.contains(&agent) && now < closing.at + Duration::from_secs(15) {
                return;
            }
        }
        if author != Author::Human {
            let interval = Duration::from_secs(60);
            if closing.bot_notice.is_some_and(|last| now < last + interval) {
                return;
            }
            closing.bot_notice = Some(now);
        }
        let notice = if closing.concluded { Notice::Closed } else { Notice::Archived };
        self.emit_notice(notice);
    }
}
