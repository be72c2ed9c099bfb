//! Messages: each one wakes, asks for another cycle, interrupts, counts, or has no effect (rules 21 to 25)

use crate::machine::ending::TurnEnd;
use crate::machine::operator::Operator;
use crate::machine::step::Step;
use crate::state::reminders::InitiatorPermit;
use crate::state::speaker_list::AGENTS_MAX;
use crate::state::{Phase, Purpose, Start, State};
use crate::values::config::{BOT_NOTICE_INTERVAL, FAREWELL, InterruptPolicy, MentionRule};
use crate::{
    AgentKey, Author, Cause, Effect, Message, MessageId, MessageKind, Mode, Notice, Refusal, Tail,
};

/// Processes messages.
pub(crate) struct Hearing<'s, 'o> {
    pub(crate) step: &'s mut Step<'o>,
}

impl Hearing<'_, '_> {
    /// Processes a message that mentions agents (rule 62).
    pub(crate) fn on_addressed(
        &mut self,
        message: &Message,
        agents: &[AgentKey],
    ) -> Result<(), Refusal> {
        if agents.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.on_message(message, agents)
    }

    pub(crate) fn on_message(
        &mut self,
        message: &Message,
        mentioned: &[AgentKey],
    ) -> Result<(), Refusal> {
        let state = &mut *self.step.state;
        if state.standing.archived.is_some() {
            return self.on_message_when_archived(message);
        }
        if matches!(state.standing.mode, Mode::None | Mode::Work | Mode::Report) {
            state.seen.note(message.id);
            return Ok(());
        }
        if !self.step.remember(message.id, message.backfilled) {
            return Err(Refusal::RepeatedMessage);
        }
        self.tell_others(message.author);
        if !is_conversation(message) {
            return Ok(());
        }
        match message.author {
            Author::Human => self.step.hear_human(),
            Author::Agent(agent) => {
                let was_reminded = self.step.state.reminders.restart_count();
                self.step.out.changed_if(was_reminded);
                self.count(agent, message.kind);
            }
            Author::Bot | Author::Moderator => {}
        }
        let is_paused = self.step.state.standing.is_paused();
        match (message.kind, message.author) {
            (MessageKind::StopWord, Author::Human) => {
                Operator { step: self.step }.stop_by_word(message.id)
            }
            (MessageKind::ResumeWord, Author::Human) if is_paused => {
                Operator { step: self.step }.resume(Some(message.id))
            }
            (MessageKind::Unasked, Author::Agent(agent)) => {
                self.take_unasked(message, agent);
                Ok(())
            }
            (MessageKind::OutOfTurn, Author::Agent(agent)) => {
                self.tell_unpermitted(agent);
                Ok(())
            }
            _ => {
                self.take_part(message, mentioned);
                Ok(())
            }
        }
    }

    /// Notes that any message of this author is news to an agent that spoke last. The moderator's messages are not,
    /// because agents do not get them.
    fn tell_others(&mut self, author: Author) {
        let agent = match author {
            Author::Moderator => return,
            Author::Agent(agent) => Some(agent),
            Author::Human | Author::Bot => None,
        };
        let is_news = self.step.state.roster.list.hear(agent);
        self.step.out.changed_if(is_news);
    }

    /// Counts a message of an agent outside its own turn like a turn, because rooms loop through the messages that no
    /// filter counts. Late pieces belong to a turn that was counted already. And no message uses up a ceiling between a
    /// person's word and the grant.
    #[inline]
    fn count(&mut self, agent: AgentKey, kind: MessageKind) {
        let state = &*self.step.state;
        let permit = state.reminders.permit();
        let in_permit = permit.is_some_and(|permit| permit.agent == agent && permit.is_running());
        let waking = matches!(state.floor.phase, Phase::Refreshing(Purpose::Wake(_)));
        let has_floor = state.floor.speaker() == Some(agent) || in_permit;
        let is_its = has_floor || self.is_in_grace(agent);
        if !waking && (!is_its || kind == MessageKind::OutOfTurn) {
            self.step.state.quota.limits.count_turn();
            self.step.out.changed();
        }
    }

    #[inline]
    fn take_part(&mut self, message: &Message, mentioned: &[AgentKey]) {
        let Message { id, author, .. } = *message;
        let speaker = self.step.state.floor.speaker();
        if speaker.is_some() && speaker.map(Author::Agent) == Some(author) {
            return self.on_piece(id, &message.tail);
        }
        let qualifies = self.qualifies(author);
        if self.step.state.standing.is_stopped() {
            // A stopped channel answers no word, but loses none either: it wakes for it at the resume.
            return self.step.keep_in_mind(qualifies);
        }
        let addressed = self.addressed(author, mentioned);
        if author == Author::Human {
            self.step.must_be_heard();
        }
        let phase = self.step.state.floor.phase;
        match phase {
            Phase::Dormant => self.on_message_when_dormant(message, qualifies, addressed),
            Phase::Disabled => {
                self.step.keep_in_mind(qualifies);
                self.step.members().recount();
            }
            _ if !qualifies => {}
            Phase::Unknown { .. } => self.step.keep_in_mind(true),
            Phase::Refreshing(Purpose::Boundary) => self.request_cycle(addressed),
            Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => self.hear_in_turn(id, author, addressed),
            // A person whose message is queued does not interrupt a reply that the agent has already made.
            Phase::Confirming { .. }
                if author == Author::Human && self.step.interruption().holds_messages() =>
            {
                self.hear_in_turn(id, author, addressed);
            }
            Phase::Confirming { run, .. } => self.interrupt(run.agent, author, addressed),
            Phase::Refreshing(Purpose::Wake(_)) => self.plan_round_on_waking(addressed),
            Phase::Dead | Phase::Archived => {}
        }
    }

    /// Processes a message of an agent that runs without asking (rule 83). In its turn it is a part of its reply.
    /// Outside of it, the message moves no turn.
    fn take_unasked(&mut self, message: &Message, agent: AgentKey) {
        if self.step.state.floor.speaker() == Some(agent) {
            return self.on_piece(message.id, &message.tail);
        }
        if self.marks_permit(agent) {
            return;
        }
        if !self.is_in_grace(agent) || self.may_all_speak() {
            self.tell_unpermitted(agent);
        }
    }

    /// Reports that an agent wrote outside of its turn.
    fn tell_unpermitted(&mut self, agent: AgentKey) {
        if self.may_all_speak() {
            self.step.members().recount();
        } else {
            self.step.tell(Some(agent), Cause::Unpermitted);
        }
    }

    fn may_all_speak(&self) -> bool {
        let State { floor, standing, .. } = &*self.step.state;
        floor.phase == Phase::Disabled && !standing.is_stopped()
    }

    fn hear_in_turn(&mut self, id: MessageId, author: Author, addressed: Option<&[AgentKey]>) {
        self.request_cycle(addressed);
        if author == Author::Human {
            self.step.interruption().hear(id);
        }
    }

    /// Requests another cycle, which is for the addressed if the message addresses any.
    fn request_cycle(&mut self, addressed: Option<&[AgentKey]>) {
        self.step.rotation().request_cycle();
        self.step.plan_round(addressed);
    }

    /// Makes the channel wake with a round of the addressed, unless an agent was chosen to be first.
    fn plan_round_on_waking(&mut self, addressed: Option<&[AgentKey]>) {
        self.step.plan_round(addressed);
        let chosen = self.step.state.cycle.chosen().is_some();
        if let Phase::Refreshing(Purpose::Wake(start)) = &mut self.step.state.floor.phase {
            if addressed.is_some() && !chosen {
                *start = Start::First;
            }
        }
    }

    /// Returns the agents that a round is held for, if the message asks for one.
    fn addressed<'a>(&self, author: Author, agents: &'a [AgentKey]) -> Option<&'a [AgentKey]> {
        let asks =
            author == Author::Human && self.step.out.config.people.mentions != MentionRule::Ignored;
        let available = |agent: &AgentKey| self.step.state.roster.is_available(*agent);
        Some(agents).filter(|agents| asks && agents.iter().any(available))
    }

    /// Returns true if a message of this author qualifies.
    fn qualifies(&self, author: Author) -> bool {
        match author {
            Author::Human => true,
            Author::Agent(agent) => !self.is_in_grace(agent) && !self.is_alone(agent),
            Author::Bot => self.step.out.config.people.bots_qualify,
            Author::Moderator => false,
        }
    }

    /// Returns true if it is the only agent that has turns. Its own words must not wake the channel, because it would
    /// be asked to answer itself.
    fn is_alone(&self, agent: AgentKey) -> bool {
        let State { roster, standing, .. } = &*self.step.state;
        standing.keeps_turns_of_one(self.step.out.config)
            && roster.list.len() == 1
            && roster.list.slot(agent).is_some()
    }

    /// Returns true if the agent's messages still count as late pieces of its last turn.
    fn is_in_grace(&self, agent: AgentKey) -> bool {
        let grace = self.step.out.config.confirmation.late_grace;
        let from = self.step.state.roster.list.slot(agent).and_then(|slot| slot.grace_from);
        from.is_some_and(|from| self.step.out.now < from + grace)
    }

    fn on_message_when_dormant(
        &mut self,
        message: &Message,
        qualifies: bool,
        addressed: Option<&[AgentKey]>,
    ) {
        let author = message.author;
        if matches!(author, Author::Agent(agent) if self.marks_permit(agent)) {
            return;
        }
        if qualifies {
            let words = &self.step.state.words;
            let is_first = !words.wake_pending && !words.has_queued();
            self.step.wake_by(author, addressed);
            if is_first && author == Author::Human {
                self.ask(message.id);
            }
        }
    }

    /// Marks that the agent spoke while its permit runs, so that the channel wakes when that run is over. Returns true
    /// if the permit runs.
    fn marks_permit(&mut self, agent: AgentKey) -> bool {
        let permit = self.step.state.reminders.permit_mut();
        let running = permit.filter(|permit| permit.agent == agent && permit.is_running());
        let is_running = running.map(InitiatorPermit::mark_spoken).is_some();
        self.step.out.changed_if(is_running);
        is_running
    }

    /// Notes that this is the only message that the channel wakes for, if people may take it back.
    fn ask(&mut self, question: MessageId) {
        if self.step.out.config.people.withdraw_deleted {
            self.step.state.cycle.plans.edit().question = Some(question);
            self.step.out.changed();
        }
    }

    /// Processes a deletion (rule 80). The question that the channel wakes for is withdrawn if the agent with the floor
    /// has not received it, no turn took it, and no other message came.
    pub(crate) fn on_deleted(&mut self, id: MessageId) {
        let State { words, seen, floor, cycle, standing, .. } = &*self.step.state;
        let is_question = cycle.question() == Some(id) && seen.newest == Some(id);
        if !is_question || !self.step.out.config.people.withdraw_deleted {
            return;
        }
        // The run may have begun although its agent does not know yet, because the library waits for a free place to
        // call it. The question can still be taken back then.
        let is_owed = || self.step.out.pending.has_trigger_of(floor.turn);
        let is_unheard = || standing.is_paused() || !cycle.is_told(floor.turn);
        let is_untold = matches!(floor.phase, Phase::Refreshing(_))
            || matches!(floor.phase, Phase::Granted(_)) && (is_unheard() || is_owed())
            || matches!(floor.phase, Phase::Running { .. }) && is_owed();
        let (is_pending, is_untaken) = (words.wake_pending, is_untold && words.wake_unserved);
        let step = &mut *self.step;
        if step.state.floor.phase == Phase::Dormant && is_pending {
            step.state.words.withdraw();
            step.state.cycle.forget_plans();
            step.state.cycle.forget_question();
            step.tell(None, Cause::Withdrawn);
        } else if is_untaken {
            step.state.words.withdraw();
            step.runs().cancel();
            step.ending().break_off();
            step.members().stop_reading();
            step.rotation().become_dormant(Cause::Withdrawn);
        }
    }

    /// Ends the wait for a reply, because another author wrote while it was on its way.
    fn interrupt(&mut self, speaker: AgentKey, author: Author, addressed: Option<&[AgentKey]>) {
        let step = &mut *self.step;
        let awaits = author != Author::Human && step.ending().asks_for_human();
        step.ending().record(TurnEnd::spoke(speaker, Cause::Interrupted));
        // A person's word that interrupts a reply has not been taken by any turn yet.
        step.state.words.wake_unserved |= author == Author::Human;
        match step.out.config.people.interrupt {
            _ if awaits => step.rotation().await_human(),
            InterruptPolicy::RestartCycle => step.wake_with(author, addressed),
            InterruptPolicy::AdvanceNormally => {
                self.request_cycle(addressed);
                self.step.rotation().advance_after(speaker);
            }
        }
    }

    pub(crate) fn on_edit(&mut self, id: MessageId, author: Author, tail: &Tail) {
        if self.step.state.floor.speaker().map(Author::Agent) == Some(author) {
            self.on_piece(id, tail);
        }
    }

    /// Processes a message of the speaker in its turn.
    fn on_piece(&mut self, id: MessageId, tail: &Tail) {
        let end = self.step.runs().on_piece(id, tail);
        self.step.complete_if(end);
    }

    /// Answers a message in an archived channel with a notice. Agents and bots get one less often, because two bots
    /// would answer each other's notices for ever.
    fn on_message_when_archived(&mut self, message: &Message) -> Result<(), Refusal> {
        if !self.step.remember(message.id, message.backfilled) {
            return Err(Refusal::RepeatedMessage);
        }
        let now = self.step.out.now;
        let Some(archived) = &mut self.step.state.standing.archived else {
            return Ok(());
        };
        let farewell = now < archived.at + FAREWELL;
        let answered = archived.bot_notice_at.is_some_and(|at| now < at + BOT_NOTICE_INTERVAL);
        let silent = match message.author {
            Author::Human => false,
            Author::Agent(agent) if farewell && archived.leaving.contains(&Some(agent)) => true,
            Author::Agent(_) | Author::Bot => answered,
            Author::Moderator => true,
        };
        if silent || !is_conversation(message) {
            return Ok(());
        }
        if message.author != Author::Human {
            archived.bot_notice_at = Some(now);
        }
        let notice = if archived.concluded { Notice::Closed } else { Notice::Archived };
        self.step.out.request(|ticket| Effect::Notice { ticket, notice });
        Ok(())
    }
}

/// Returns true if the message is part of the conversation: it is not the moderator's, and not a system message.
fn is_conversation(message: &Message) -> bool {
    message.author != Author::Moderator && message.kind != MessageKind::System
}
