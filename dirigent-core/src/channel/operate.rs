//! What operators and tools do: modes, stop and hold, mute, archive (rules 4, 5, 37 to 39)

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::AGENTS_MAX;
use super::message::is_conversation;
use super::phase::{Phase, Start};
use super::step::Step;
use crate::steering::Rested;
use crate::{
    AgentKey, Author, Cause, Config, Creation, Effect, Message, MessageId, Mode, Notice, Refusal,
    Rest, SeatTurn, Timestamp, TurnId,
};

/// How a channel was archived.
///
/// ```
/// let how = dirigent_core::Archived {
///     at: Default::default(),
///     concluded: true,
///     leaving: [None; 2],
///     bot_notice_at: None,
/// };
/// assert!(how.concluded);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Archived {
    /// When.
    pub at: Timestamp,
    /// By its initiator, and not by an operator.
    pub concluded: bool,
    /// Whose last words draw no notice for a while: the concluding agent and the one that ran.
    pub leaving: [Option<AgentKey>; 2],
    /// When a bot was last told so.
    pub bot_notice_at: Option<Timestamp>,
}

impl Step<'_> {
    pub(super) fn on_create(&mut self, creation: &Creation) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return Err(Refusal::Archived);
        }
        if self.channel.created {
            return Err(Refusal::AlreadyCreated);
        }
        if creation.initiator.is_some() != (creation.mode == Mode::Discussion) {
            return Err(Refusal::InitiatorMismatch);
        }
        if creation.members.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.channel.initiator = creation.initiator;
        if creation.initiator.is_some() {
            self.channel.limits.since = self.channel.now;
        }
        if !creation.members.is_empty() {
            self.channel.list.rebuild(&creation.members);
            self.channel.list_at = Some(self.channel.now);
            self.shuffle_first();
        }
        self.enter_mode(creation.mode, Cause::Created);
        if creation.mode.keeps_turns() && self.channel.list.len() == 1 {
            self.disable_for_lack_of_agents();
        }
        Ok(())
    }

    pub(super) fn on_set_mode(&mut self, mode: Mode) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return Err(Refusal::Archived);
        }
        if self.channel.mode.is_locked() {
            return Err(Refusal::ModeLocked);
        }
        if mode.is_locked() {
            return Err(Refusal::CreationOnly);
        }
        if mode != self.channel.mode {
            self.end_everything();
            self.channel.limits = crate::limits::Limits::default();
            self.forget_words();
            self.enter_mode(mode, Cause::ModeChanged);
            if mode.keeps_turns() {
                self.fetch_members();
            }
        }
        Ok(())
    }

    /// Takes the mode's first phase; a channel that keeps turns starts dormant.
    fn enter_mode(&mut self, mode: Mode, cause: Cause) {
        self.channel.created = true;
        self.channel.mode = mode;
        let phase = match mode {
            Mode::None | Mode::Work => Phase::Disabled,
            Mode::Report => Phase::Dead,
            Mode::Discussion | Mode::Chat => Phase::Dormant,
        };
        self.shift(phase, None, cause);
        if cause == Cause::Created && mode.keeps_turns() && self.channel.list.len() == 0 {
            self.fetch_members();
        }
    }

    /// Forgets what people said before the mode changed or the channel was archived.
    fn forget_words(&mut self) {
        self.channel.missed = false;
        self.channel.unheard = false;
        if let Some(steering) = &mut self.channel.steering {
            steering.held = None;
        }
    }

    /// Whatever was under way is over: runs are cancelled, lists and cycles forgotten.
    fn end_everything(&mut self) {
        self.cancel_turn_run();
        self.withdraw_permit();
        self.forget_refresh();
        self.forget_cycle();
        self.channel.reminder_due = None;
        self.break_off_turn();
        self.channel.forget_plans();
        self.channel.stop_awaiting();
    }

    /// Stop and hold make sense where agents could be woken or denied.
    fn require_managed(&self) -> Result<(), Refusal> {
        match self.channel.mode {
            _ if self.channel.archived.is_some() => Err(Refusal::Archived),
            Mode::None | Mode::Work => Err(Refusal::NotManaged),
            Mode::Report | Mode::Discussion | Mode::Chat => Ok(()),
        }
    }

    pub(super) fn on_stop(&mut self) -> Result<(), Refusal> {
        self.require_managed()?;
        if self.channel.rest != Some(Rest::Stopped) {
            self.come_to_rest(Rest::Stopped, Cause::Stopped);
        }
        Ok(())
    }

    /// A person stops the channel in words, which is acknowledged if it changes anything.
    pub(super) fn stop_by_word(&mut self, message: MessageId) -> Result<(), Refusal> {
        let before = self.channel.rest;
        self.on_stop()?;
        if self.channel.rest != before {
            self.acknowledge(Notice::Stopped { message });
        }
        Ok(())
    }

    fn acknowledge(&mut self, notice: Notice) {
        if self.channel.config.acknowledge {
            self.owe(|ticket| Effect::Notice { ticket, notice });
        }
    }

    /// An operator says that the work is done.
    pub(super) fn on_finish(&mut self) -> Result<(), Refusal> {
        self.require_managed()?;
        match self.channel.rest {
            Some(Rest::Stopped) => Err(Refusal::Stopped),
            Some(Rest::Finished) => Ok(()),
            Some(Rest::Held) | None => {
                self.come_to_rest(Rest::Finished, Cause::Finished);
                Ok(())
            }
        }
    }

    fn come_to_rest(&mut self, rest: Rest, cause: Cause) {
        let speaker = self.channel.speaker();
        self.end_everything();
        self.channel.keep_unheard();
        self.channel.rest = Some(rest);
        let phase = match self.channel.phase {
            Phase::Disabled => Phase::Disabled,
            Phase::Dead => Phase::Dead,
            Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => Phase::Dormant,
        };
        self.shift(phase, speaker, cause);
    }

    pub(super) fn on_hold(&mut self) -> Result<(), Refusal> {
        self.require_managed()?;
        match self.channel.rest {
            Some(Rest::Stopped) => Err(Refusal::Stopped),
            Some(Rest::Finished) => Err(Refusal::Finished),
            Some(Rest::Held) => Ok(()),
            None => {
                self.channel.rest = Some(Rest::Held);
                if self.has_not_started() {
                    self.set_start_deadline();
                }
                self.tell(None, Cause::Held);
                Ok(())
            }
        }
    }

    /// Whether an agent has the floor and has not started.
    const fn has_not_started(&self) -> bool {
        matches!(self.channel.phase, Phase::Granted(_) | Phase::Continuing { .. })
    }

    pub(super) fn on_resume(&mut self) -> Result<(), Refusal> {
        self.resume_by(None)
    }

    /// The channel goes on: by an operator, or by a person's message.
    pub(super) fn resume_by(&mut self, word: Option<MessageId>) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return Err(Refusal::Archived);
        }
        let rest = self.channel.rest.take().ok_or(Refusal::NotResting)?;
        self.begin_anew();
        self.tell(None, Cause::Resumed);
        self.restart_patience();
        if let Some(message) = word {
            self.acknowledge(Notice::Resumed { message });
        }
        match (rest, self.channel.phase) {
            (Rest::Held, _) if self.has_not_started() => self.trigger_anew(),
            (Rest::Stopped | Rest::Finished, Phase::Dormant) if self.channel.missed => {
                self.wake(Start::First, Cause::Resumed);
            }
            (_, Phase::Dormant) => self.remind_after_rest(),
            _ => {}
        }
        Ok(())
    }

    /// A discussion that was stopped or on hold has all its time before it, and is not overdue.
    fn begin_anew(&mut self) {
        let now = self.channel.now;
        self.channel.stirred_at = now;
        self.channel.limits.reminders = 0;
        if self.channel.mode == Mode::Discussion {
            self.channel.limits.since = now;
        }
    }

    /// An idle discussion goes on being idle: its initiator is reminded after a while. One that has had neither
    /// a turn nor a reminder has not begun: its guide may still be on its way.
    fn remind_after_rest(&mut self) {
        let idle = self.channel.mode == Mode::Discussion && self.channel.permit.is_none();
        let has_begun = self.channel.turn > TurnId::default() || self.channel.reminded_at.is_some();
        if idle && has_begun && !self.channel.awaits_human() {
            self.remind_anew();
        }
    }

    pub(super) fn on_mute(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        let Err(at) = self.channel.muted.binary_search(&agent) else {
            return Ok(());
        };
        if self.channel.muted.len() >= AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.channel.muted.insert(at, agent);
        if self.channel.speaker() == Some(agent) {
            self.cancel_turn_run();
            self.complete(agent, SeatTurn::Skipped, Cause::AgentMuted);
        } else {
            self.tell(Some(agent), Cause::AgentMuted);
        }
        self.take_permit_from(agent);
        Ok(())
    }

    pub(super) fn on_unmute(&mut self, agent: AgentKey) {
        if let Ok(at) = self.channel.muted.binary_search(&agent) {
            self.channel.muted.remove(at);
            self.tell(Some(agent), Cause::AgentUnmuted);
            self.wake_for_missed();
        }
    }

    pub(super) fn on_reconfigure(&mut self, config: &Arc<Config>) -> Result<(), Refusal> {
        config.validate().map_err(|_| Refusal::BadConfig)?;
        self.channel.config = Arc::clone(config);
        self.forget_spoken();
        self.changed();
        Ok(())
    }

    pub(super) fn on_conclude(&mut self, by: AgentKey) -> Result<(), Refusal> {
        if self.channel.mode != Mode::Discussion {
            return Err(Refusal::NotADiscussion);
        }
        match &self.channel.archived {
            Some(archived) if archived.concluded => return Err(Refusal::AlreadyConcluded),
            Some(_) => return Err(Refusal::Archived),
            None => {}
        }
        if self.channel.initiator != Some(by) {
            return Err(Refusal::NotTheInitiator);
        }
        self.archive(Some(by), Cause::Concluded);
        Ok(())
    }

    pub(super) fn on_archive(&mut self) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return Err(Refusal::Archived);
        }
        self.archive(None, Cause::Archived);
        Ok(())
    }

    pub(super) fn archive(&mut self, by: Option<AgentKey>, cause: Cause) {
        let running = self.channel.reply_under_way().or_else(|| {
            self.channel.permit.filter(super::permit::Permit::is_running).map(|permit| permit.agent)
        });
        self.end_everything();
        self.channel.created = true;
        self.channel.rest = None;
        self.forget_words();
        self.channel.archived = Some(Box::new(Archived {
            at: self.channel.now,
            concluded: by.is_some(),
            leaving: [by, running],
            bot_notice_at: None,
        }));
        self.shift(Phase::Archived, by, cause);
    }

    /// Answers a message in an archived channel with a notice, agents and bots less often.
    pub(super) fn on_message_when_archived(&mut self, message: &Message) -> Result<(), Refusal> {
        if !self.remember(message.id, message.backfilled) {
            return Err(Refusal::RepeatedMessage);
        }
        let (now, config) = (self.channel.now, Arc::clone(&self.channel.config));
        let Some(archived) = &mut self.channel.archived else {
            return Ok(());
        };
        let farewell = now < archived.at + config.farewell;
        let answered =
            archived.bot_notice_at.is_some_and(|at| now < at + config.bot_notice_interval);
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
        self.owe(|ticket| Effect::Notice { ticket, notice });
        Ok(())
    }
}

impl super::Channel {
    /// Whose reply may be on its way: the agent that runs, has spoken, or rests after either.
    fn reply_under_way(&self) -> Option<AgentKey> {
        let rests = self.waiting().is_some_and(|it| !matches!(it.rested, Rested::Granted { .. }));
        let speaks = match self.phase {
            Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. } => true,
            Phase::Waiting(_) => rests,
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_) => false,
        };
        self.speaker().filter(|_| speaks)
    }
}
