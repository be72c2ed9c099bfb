//! A message was seen: it wakes, vetoes, interrupts, counts, or means nothing (rules 21 to 25)

use super::phase::{Phase, Purpose};
use super::step::Step;
use crate::limits::Limits;
use crate::{
    AgentKey, Author, Cause, Effect, InterruptPolicy, Message, MessageKind, Mode, Refusal, SeatTurn,
};

impl Step<'_> {
    pub(super) fn on_message(&mut self, message: &Message) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return self.on_message_when_archived(message);
        }
        if matches!(self.channel.mode, Mode::None | Mode::Work | Mode::Report) {
            self.channel.seen.note(message.id);
            return Ok(());
        }
        if !self.remember(message.id) {
            return Err(Refusal::RepeatedMessage);
        }
        if !is_conversation(message) {
            return Ok(());
        }
        match message.author {
            Author::Human => self.hear_human(),
            Author::Agent(agent) => self.count_message(agent),
            Author::Bot | Author::Moderator => {}
        }
        match (message.kind, message.author) {
            (MessageKind::StopWord, Author::Human) => self.on_stop(),
            (MessageKind::ResumeWord, Author::Human) if self.channel.rest.is_some() => {
                self.on_resume()
            }
            _ => {
                self.take_part(message);
                Ok(())
            }
        }
    }

    /// A human's word lifts the ceilings (F02).
    pub(super) fn hear_human(&mut self) {
        let in_discussion = self.channel.mode == Mode::Discussion;
        let since = if in_discussion { self.channel.now } else { crate::Timestamp::default() };
        let fresh = Limits { since, ..Limits::default() };
        let limits = core::mem::replace(&mut self.channel.limits, fresh);
        if limits.announced {
            self.tell(None, Cause::CeilingReset);
        } else if limits != fresh {
            self.changed();
        }
    }

    /// A message of an agent outside its own turn counts like a turn (F02). Late pieces belong to a
    /// turn that was counted; and nothing uses up a ceiling between a person's word and the grant.
    fn count_message(&mut self, agent: AgentKey) {
        let in_permit =
            self.channel.permit.is_some_and(|permit| permit.agent == agent && permit.is_running());
        let waking = matches!(self.channel.phase, Phase::Refreshing(Purpose::Wake(_)));
        if self.channel.speaker() != Some(agent)
            && !in_permit
            && !waking
            && !self.is_in_grace(agent)
        {
            self.channel.limits.count_turn();
            self.changed();
        }
    }

    fn take_part(&mut self, message: &Message) {
        if let Author::Agent(agent) = message.author {
            if self.channel.speaker() == Some(agent) {
                return self.on_piece(message.id, &message.tail);
            }
        }
        let qualifies = self.qualifies(message.author);
        if self.channel.is_stopped() {
            self.keep_in_mind(qualifies);
            return;
        }
        match self.channel.phase {
            Phase::Dormant => self.on_message_when_dormant(message.author, qualifies),
            Phase::Disabled => {
                self.keep_in_mind(qualifies);
                self.recount();
            }
            _ if !qualifies => {}
            Phase::Refreshing(Purpose::Boundary) => self.veto(),
            Phase::Granted(_) | Phase::Running { .. } => {
                self.veto();
                self.inject(message);
            }
            Phase::Confirming { run, .. } => self.interrupt(run.agent, message.author),
            Phase::Refreshing(Purpose::Wake(_)) | Phase::Dead | Phase::Archived => {}
        }
    }

    /// Whether the author is somebody whose word changes the round (D59, D70).
    fn qualifies(&self, author: Author) -> bool {
        match author {
            Author::Human => true,
            Author::Agent(agent) => !self.is_in_grace(agent),
            Author::Bot => self.channel.config.bots_qualify,
            Author::Moderator => false,
        }
    }

    /// Whether the agent's messages still count as late pieces of its last turn.
    fn is_in_grace(&self, agent: AgentKey) -> bool {
        let grace = self.channel.config.late_grace;
        let from = self.channel.list.slot(agent).and_then(|slot| slot.grace_from);
        from.is_some_and(|from| self.channel.now < from + grace)
    }

    fn keep_in_mind(&mut self, qualifies: bool) {
        if qualifies && !self.channel.missed {
            self.channel.missed = true;
            self.changed();
        }
    }

    fn on_message_when_dormant(&mut self, author: Author, qualifies: bool) {
        if let (Author::Agent(agent), Some(permit)) = (author, &mut self.channel.permit) {
            if permit.agent == agent && permit.is_running() {
                permit.mark_spoken();
                self.changed();
                return;
            }
        }
        if qualifies && (author == Author::Human || !self.channel.ceiling_reached()) {
            self.wake(None, message_cause(author));
        }
    }

    /// Hands a human's message to the speaker without disturbing its turn (D62, inject).
    fn inject(&mut self, message: &Message) {
        if let (Author::Human, Some(agent), false) =
            (message.author, self.channel.speaker(), self.channel.is_held())
        {
            let turn = self.channel.turn;
            self.effects.push(Effect::Inject { agent, turn, message: message.id });
        }
    }

    /// Somebody else spoke while the reply was on its way (D61).
    fn interrupt(&mut self, speaker: AgentKey, author: Author) {
        self.record(speaker, SeatTurn::Spoke, Cause::Interrupted);
        match self.channel.config.interrupt {
            InterruptPolicy::RestartCycle => self.wake(None, message_cause(author)),
            InterruptPolicy::AdvanceNormally => {
                self.veto();
                self.advance_after(speaker);
            }
        }
    }
}

/// Whether the message is talk at all: not the moderator's, and no system message (F03, D50).
pub(super) fn is_conversation(message: &Message) -> bool {
    message.author != Author::Moderator && message.kind != MessageKind::System
}

const fn message_cause(author: Author) -> Cause {
    match author {
        Author::Human => Cause::HumanMessage,
        Author::Agent(_) => Cause::AgentMessage,
        Author::Bot | Author::Moderator => Cause::BotMessage,
    }
}
