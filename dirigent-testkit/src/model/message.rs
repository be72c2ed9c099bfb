//! Messages (rules 21 to 25, 39).

use dirigent_core::{
    AgentKey, Author, Cause, Effect, InterruptPolicy, Message, MessageId, MessageKind, Notice,
    Refusal, SeatTurn, TurnId,
};

use super::Model;
use super::state::{Phase, Purpose, Stage};

impl Model {
    /// Rule 21.
    pub(super) fn on_message(&mut self, message: &Message) -> Result<(), Refusal> {
        if self.closing.is_none() && !self.mode.keeps_turns() {
            self.memory.note_newest(message.id);
            return Ok(());
        }
        if self.memory.has_seen(message.id) {
            return Err(Refusal::RepeatedMessage);
        }
        self.memory.remember(message.id, self.now);
        if message.kind == MessageKind::System || message.author == Author::Moderator {
            return Ok(());
        }
        if self.closing.is_some() {
            self.answer_archived(message.author);
            return Ok(());
        }
        self.count(message.author);
        match (message.author, message.kind) {
            (Author::Human, MessageKind::StopWord) => self.on_stop(), // rule 24
            (Author::Human, MessageKind::ResumeWord) if self.rest.is_some() => self.on_resume(),
            _ => {
                self.converse(message);
                Ok(())
            }
        }
    }

    /// Rule 22: the counters.
    fn count(&mut self, author: Author) {
        match author {
            Author::Human => self.on_human_word(),
            Author::Agent(agent) => {
                let own = self.speaker() == Some(agent) || self.has_running_permit(agent);
                let waking = matches!(self.phase, Phase::Refreshing(Purpose::Waking { .. }));
                if !own && !waking && !self.is_in_grace(agent) {
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
        if std::mem::take(&mut self.ceiling_announced) {
            self.causes.push(Cause::CeilingReset);
        }
    }

    /// Rule 22: whether a ceiling is reached.
    pub(super) fn is_ceiling_reached(&self) -> bool {
        self.are_turns_used_up() || self.are_cycles_used_up() || self.is_time_up()
    }

    /// Rules 16, 23 and 25: something was said.
    fn converse(&mut self, message: &Message) {
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
            self.kept_in_mind = true;
        } else if qualifies {
            self.on_qualifying(author, message.id);
        }
        if counts_again {
            self.ask_recount();
        }
    }

    /// Rule 23.
    fn qualifies(&self, author: Author) -> bool {
        match author {
            Author::Human => true,
            Author::Agent(agent) => self.speaker() != Some(agent) && !self.is_in_grace(agent),
            Author::Bot => self.config.bots_qualify,
            Author::Moderator | _ => false,
        }
    }

    /// Rule 23: late pieces of a reply.
    fn is_in_grace(&self, agent: AgentKey) -> bool {
        let slot = self.list.iter().find(|slot| slot.agent == agent);
        let since = slot.and_then(|slot| slot.grace_since);
        since.is_some_and(|since| self.now < since + self.config.late_grace)
    }

    /// Rule 25: what a qualifying message does in a channel that is not stopped.
    fn on_qualifying(&mut self, author: Author, id: MessageId) {
        let is_human = author == Author::Human;
        let held = self.is_held();
        match &self.phase {
            Phase::Dormant => {
                if is_human || !self.is_ceiling_reached() {
                    self.wake(None);
                }
            }
            Phase::Disabled => self.kept_in_mind = true,
            Phase::Refreshing(Purpose::Boundary) => self.cycle.vetoed = true,
            Phase::Refreshing(Purpose::Waking { .. }) | Phase::Dead | Phase::Archived => {}
            Phase::Turn(turn) => {
                if matches!(turn.stage, Stage::Confirming(_)) {
                    self.interrupt();
                    return;
                }
                self.cycle.vetoed = true;
                if is_human && !held {
                    self.emitted.push(Effect::Inject {
                        agent: turn.agent,
                        turn: TurnId::new(self.turn),
                        message: id,
                    });
                }
            }
        }
    }

    /// Rule 25: somebody else wrote while a reply was awaited.
    fn interrupt(&mut self) {
        self.end_turn(SeatTurn::Spoke, Cause::Interrupted);
        match self.config.interrupt {
            InterruptPolicy::AdvanceNormally => {
                self.cycle.vetoed = true;
                self.advance();
            }
            InterruptPolicy::RestartCycle | _ => self.wake(None),
        }
    }

    /// Whether the agent's permit is being used.
    fn has_running_permit(&self, agent: AgentKey) -> bool {
        let permit = self.permit.as_ref();
        permit.is_some_and(|permit| permit.agent == agent && permit.running.is_some())
    }

    /// Rule 39: a new message in an archived channel.
    fn answer_archived(&mut self, author: Author) {
        let (now, config) = (self.now, &self.config);
        let Some(closing) = &mut self.closing else {
            return;
        };
        if let Author::Agent(agent) = author {
            if closing.farewell.contains(&agent) && now < closing.at + config.farewell {
                return;
            }
        }
        if author != Author::Human {
            let interval = config.bot_notice_interval;
            if closing.bot_notice.is_some_and(|last| now < last + interval) {
                return;
            }
            closing.bot_notice = Some(now);
        }
        let notice = if closing.concluded { Notice::Closed } else { Notice::Archived };
        self.emit_notice(notice);
    }
}
