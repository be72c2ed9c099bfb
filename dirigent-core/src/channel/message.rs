//! A message was seen: it wakes, vetoes, interrupts, counts, or means nothing (rules 21 to 25)

use super::AGENTS_MAX;
use super::phase::{Phase, Purpose, Start};
use super::step::Step;
use crate::limits::Limits;
use crate::{
    AgentKey, Author, Cause, InterruptPolicy, Message, MessageKind, Mode, Refusal, SeatTurn,
    WakeRule,
};

impl Step<'_> {
    /// A message that mentions agents (rule 62).
    pub(super) fn on_addressed(
        &mut self,
        message: &Message,
        agents: &[AgentKey],
    ) -> Result<(), Refusal> {
        if agents.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.on_message(message, agents)
    }

    pub(super) fn on_message(
        &mut self,
        message: &Message,
        mentioned: &[AgentKey],
    ) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return self.on_message_when_archived(message);
        }
        if matches!(self.channel.mode, Mode::None | Mode::Work | Mode::Report) {
            self.channel.seen.note(message.id);
            return Ok(());
        }
        if !self.remember(message.id, message.backfilled) {
            return Err(Refusal::RepeatedMessage);
        }
        if !is_conversation(message) {
            return Ok(());
        }
        match message.author {
            Author::Human => self.hear_human(),
            Author::Agent(agent) => {
                self.note_activity();
                self.count_message(agent);
            }
            Author::Bot | Author::Moderator => {}
        }
        match (message.kind, message.author) {
            (MessageKind::StopWord, Author::Human) => self.stop_by_word(message.id),
            (MessageKind::ResumeWord, Author::Human) if self.channel.rest.is_some() => {
                self.resume_by(Some(message.id))
            }
            _ => {
                self.take_part(message, mentioned);
                Ok(())
            }
        }
    }

    /// A human's word lifts the ceilings, and is what an agent asked for.
    pub(super) fn hear_human(&mut self) {
        if self.channel.awaits_human() {
            self.channel.stop_awaiting();
            self.changed();
        }
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

    /// A message of an agent outside its own turn counts like a turn. Late pieces belong to a
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

    fn take_part(&mut self, message: &Message, mentioned: &[AgentKey]) {
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
        let addressed = self.addressed(message.author, mentioned);
        if message.author == Author::Human {
            self.must_be_heard();
        }
        match self.channel.phase {
            Phase::Dormant => self.on_message_when_dormant(message.author, qualifies, addressed),
            Phase::Disabled => {
                self.keep_in_mind(qualifies);
                self.recount();
            }
            _ if !qualifies => {}
            Phase::Unknown { .. } => self.keep_in_mind(true),
            Phase::Refreshing(Purpose::Boundary) => {
                self.veto();
                self.plan_round(addressed);
            }
            Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => {
                self.veto();
                self.plan_round(addressed);
                if message.author == Author::Human {
                    self.hear_in_turn(message.id);
                }
            }
            Phase::Confirming { .. }
                if message.author == Author::Human && self.channel.holds_messages() =>
            {
                self.veto();
                self.plan_round(addressed);
                self.hear_in_turn(message.id);
            }
            Phase::Confirming { run, .. } => self.interrupt(run.agent, message.author, addressed),
            Phase::Refreshing(Purpose::Wake(_)) => {
                self.plan_round_on_waking(addressed);
            }
            Phase::Dead | Phase::Archived => {}
        }
    }

    /// For whom a round is to be held, if the message asks for one.
    fn addressed<'a>(&self, author: Author, agents: &'a [AgentKey]) -> Option<&'a [AgentKey]> {
        let asks = author == Author::Human && self.channel.config.mention_rounds;
        let available = |agent: &AgentKey| self.channel.is_available(*agent);
        Some(agents).filter(|agents| asks && agents.iter().any(available))
    }

    /// A word that comes while the list is read counts until an agent has heard it.
    pub(super) fn must_be_heard(&mut self) {
        let reads = matches!(self.channel.phase, Phase::Refreshing(_));
        if reads && !core::mem::replace(&mut self.channel.unheard, true) {
            self.changed();
        }
    }

    /// Whether a message of this author changes the round.
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

    pub(super) fn keep_in_mind(&mut self, qualifies: bool) {
        if qualifies && !self.channel.missed {
            self.channel.missed = true;
            self.changed();
        }
    }

    fn on_message_when_dormant(
        &mut self,
        author: Author,
        qualifies: bool,
        addressed: Option<&[AgentKey]>,
    ) {
        if let (Author::Agent(agent), Some(permit)) = (author, &mut self.channel.permit) {
            if permit.agent == agent && permit.is_running() {
                permit.mark_spoken();
                self.changed();
                return;
            }
        }
        if qualifies {
            self.wake_by(author, addressed);
        }
    }

    /// A message wakes the channel, unless it is at rest for a reason that the author cannot lift.
    /// Gives whether it did.
    pub(super) fn wake_by(&mut self, author: Author, addressed: Option<&[AgentKey]>) -> bool {
        let barred = self.channel.ceiling_reached() || self.channel.awaits_human();
        if author != Author::Human && barred {
            return false;
        }
        if self.channel.budget_spent() {
            self.keep_in_mind(true);
            return false;
        }
        self.wake_with(author, addressed);
        true
    }

    fn wake_with(&mut self, author: Author, addressed: Option<&[AgentKey]>) {
        let start = match (author, self.channel.config.wake_rule) {
            (Author::Agent(sender), WakeRule::NextAfterSender) => Start::After(sender),
            (Author::Agent(_) | Author::Human | Author::Bot | Author::Moderator, _) => Start::First,
        };
        self.channel.forget_plans();
        self.plan_round(addressed);
        self.wake_as_planned(start, message_cause(author));
    }

    /// Another author wrote while the reply was on its way.
    fn interrupt(&mut self, speaker: AgentKey, author: Author, addressed: Option<&[AgentKey]>) {
        let awaits = author != Author::Human && self.channel.asks_for_human();
        self.record(speaker, SeatTurn::Spoke, Cause::Interrupted);
        self.channel.unheard |= author == Author::Human;
        match self.channel.config.interrupt {
            _ if awaits => self.await_human(),
            InterruptPolicy::RestartCycle => self.wake_with(author, addressed),
            InterruptPolicy::AdvanceNormally => {
                self.veto();
                self.plan_round(addressed);
                self.advance_after(speaker);
            }
        }
    }
}

/// Whether the message is talk at all: not the moderator's, and no system message.
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
