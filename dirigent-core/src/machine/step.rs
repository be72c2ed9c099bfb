//! One input on its way through the handlers, and the consequences of one topic for others.

use core::time::Duration;

use crate::machine::caller::Caller;
use crate::machine::ending::{Ending, TurnEnd};
use crate::machine::interruption::{EndedRun, Interruption};
use crate::machine::look::Look;
use crate::machine::members::Members;
use crate::machine::out::Out;
use crate::machine::permits::Permits;
use crate::machine::reminding::Reminding;
use crate::machine::rotation::Rotation;
use crate::machine::runs::Runs;
use crate::state::speaker_list::SeatTurn;
use crate::state::{
    CeilingCounts, InitiatorPermit, PermitRun, Phase, REMINDERS_MAX, Settling, Start, State,
};
use crate::values::config::WakeRule;
use crate::{AgentKey, Author, Cause, Effect, MessageId, Notice, Refusal, Timestamp};

/// The longest time that a wake waits for people to be quiet.
const SETTLE_MAX: Duration = Duration::from_secs(5);

/// The channel while it processes one input. It lends each handler the fields of its topic, and applies the
/// consequences of a handler's decision.
pub(crate) struct Step<'o> {
    pub(crate) state: &'o mut State,
    pub(crate) out: Out<'o>,
}

/// The handlers.
impl<'o> Step<'o> {
    pub(crate) const fn look(&self) -> Look<'_> {
        Look {
            state: self.state,
            pending: self.out.pending,
            config: self.out.config,
            now: self.out.now,
        }
    }

    pub(crate) const fn caller(&mut self) -> Caller<'_, 'o> {
        let State { standing, floor, words, .. } = self.state;
        Caller { standing, floor, words, out: &mut self.out }
    }

    pub(crate) fn ending(&mut self) -> Ending<'_, 'o> {
        let State { floor, roster, cycle, words, quota, delivery, .. } = self.state;
        let (list, delivery) = (&mut roster.list, delivery.as_deref());
        Ending { floor, list, cycle, words, quota, delivery, out: &mut self.out }
    }

    pub(crate) const fn interruption(&mut self) -> Interruption<'_, 'o> {
        let State { standing, floor, words, .. } = self.state;
        Interruption { standing, floor, words, out: &mut self.out }
    }

    pub(crate) const fn members(&mut self) -> Members<'_, 'o> {
        let State { standing, floor, roster, rng, .. } = self.state;
        Members { standing, floor, roster, rng, out: &mut self.out }
    }

    pub(crate) const fn permits(&mut self) -> Permits<'_, 'o> {
        let State { floor, reminders, seen, .. } = self.state;
        Permits { floor, reminders, seen, out: &mut self.out }
    }

    pub(crate) const fn reminding(&mut self) -> Reminding<'_, 'o> {
        let State { standing, floor, roster, reminders, .. } = self.state;
        Reminding { standing, floor, roster, reminders, out: &mut self.out }
    }

    pub(crate) const fn rotation(&mut self) -> Rotation<'_, 'o> {
        let State { standing, floor, roster, cycle, words, quota, reminders, rng, .. } = self.state;
        let out = &mut self.out;
        Rotation { standing, floor, roster, cycle, words, quota, reminders, rng, out }
    }

    pub(crate) const fn runs(&mut self) -> Runs<'_, 'o> {
        let State { standing, floor, roster, words, delivery, seen, .. } = self.state;
        Runs { standing, floor, roster, words, delivery, seen, out: &mut self.out }
    }
}

/// The consequences.
impl Step<'_> {
    pub(crate) fn tell(&mut self, agent: Option<AgentKey>, cause: Cause) {
        self.out.tell(&self.state.floor, agent, cause);
    }

    /// Remembers a message. Returns false if it was seen before.
    #[inline]
    pub(crate) fn remember(&mut self, id: MessageId, backfilled: bool) -> bool {
        let new = self.state.seen.remember(id, backfilled);
        if new {
            self.state.floor.last_activity_at = self.out.now;
        }
        new
    }

    /// Ends the speaker's turn, after which the next one follows.
    #[inline]
    pub(crate) fn complete(&mut self, end: TurnEnd) {
        let mut ending = self.ending();
        // This is read first, because recording the end forgets what the reply asked for.
        let awaits = end.turn == SeatTurn::Spoke && ending.asks_for_human();
        ending.record(end);
        if self.out.config.announce_timeouts && end.is_timeout() {
            let notice = Notice::TimedOut { agent: end.agent };
            self.out.request(|ticket| Effect::Notice { ticket, notice });
        }
        if awaits {
            self.rotation().await_human();
        } else {
            self.rotation().advance_after(end.agent);
        }
    }

    /// Ends the turn, if there is an end.
    #[inline]
    pub(crate) fn complete_if(&mut self, end: Option<TurnEnd>) {
        if let Some(end) = end {
            self.complete(end);
        }
    }

    /// Goes on after a turn that waited. If its run ended in the meantime, that takes effect now.
    pub(crate) fn go_on(&mut self, ended: Option<&EndedRun>) {
        let end = ended.and_then(|ended| self.runs().end_kept(ended));
        self.complete_if(end);
    }

    /// Takes the floor from the speaker at once, and cancels its run.
    pub(crate) fn take_floor(&mut self, agent: AgentKey, cause: Cause) {
        self.runs().cancel();
        self.complete(TurnEnd::skipped(agent, cause));
    }

    /// Takes the permit from an initiator that has left, is muted or away, and reminds it once more.
    pub(crate) fn take_permit_from(&mut self, agent: AgentKey) {
        if self.state.reminders.permit().is_some_and(|permit| permit.agent == agent) {
            self.permits().withdraw();
            self.reminding().remind_anew();
        }
    }

    /// Ends the permitted run.
    pub(crate) fn end_permit_run(&mut self) {
        if let Some(permit) = self.permits().use_up() {
            self.go_on_after_permit(&permit);
        }
    }

    /// Ends a permitted run that took too long.
    pub(crate) fn expire_permit(&mut self) {
        if let Some(permit) = self.permits().expire() {
            self.go_on_after_permit(&permit);
        }
    }

    /// Wakes the channel for the words of a permitted run. After a run in vain there is another reminder.
    fn go_on_after_permit(&mut self, permit: &InitiatorPermit) {
        if !(permit.has_spoken() && self.wake_by(Author::Agent(permit.agent), None)) {
            self.reminding().remind_anew();
        }
    }

    /// Handles a permitted run that is gone with its process. Its agent is reminded and may run again, as often as
    /// there are reminders. Otherwise the permit is used up.
    pub(crate) fn lose_permit_run(&mut self, rerun: bool) {
        let permit = self.state.reminders.permit();
        let Some(permit @ InitiatorPermit { run: PermitRun::Running { spoke, replied, .. }, .. }) =
            permit
        else {
            return;
        };
        if replied {
            // The library has the reply and goes on delivering it.
            return;
        }
        let sent = self.state.reminders.get().map_or(0, |reminders| reminders.sent);
        if spoke || !rerun || sent >= REMINDERS_MAX {
            return self.end_permit_run();
        }
        self.permits().lose(&permit);
        if self.state.standing.is_paused() {
            // No agent is called on hold, so the reminder waits.
            return self.reminding().remind_anew();
        }
        // The initiator learns from the reminder that it may run. Without one no agent would be called.
        self.reminding().remind();
    }

    /// Refuses an input that makes the channel go on, if it must not or keeps no turns.
    pub(crate) fn require_going_on(&self) -> Result<(), Refusal> {
        let standing = &self.state.standing;
        standing.require_unarchived()?;
        standing.require_unstopped()?;
        self.state.floor.phase.require_turns()
    }

    /// Resets the ceilings after a human's word, which also ends the wait for a person.
    pub(crate) fn hear_human(&mut self) {
        let is_answer = core::mem::take(&mut self.state.words.awaits_human);
        let was_alone = self.state.cycle.forget_question();
        self.out.changed_if(is_answer || was_alone);
        let in_discussion = self.state.standing.is_discussion();
        let since = if in_discussion { self.out.now } else { Timestamp::default() };
        let fresh = CeilingCounts { since, ..CeilingCounts::default() };
        let limits = core::mem::replace(&mut self.state.quota.limits, fresh);
        let was_reminded = self.state.reminders.restart_count();
        if limits.announced {
            self.tell(None, Cause::CeilingReset);
        } else {
            self.out.changed_if(limits != fresh || was_reminded);
        }
    }

    /// Makes a word that comes while the list is read unserved, until a turn has taken it.
    pub(crate) fn must_be_heard(&mut self) {
        let reads = matches!(self.state.floor.phase, Phase::Refreshing(_));
        let is_change = reads && !core::mem::replace(&mut self.state.words.wake_unserved, true);
        self.out.changed_if(is_change);
    }

    /// Makes a wake pending for a message that qualifies.
    pub(crate) fn keep_in_mind(&mut self, qualifies: bool) {
        if qualifies {
            self.be_news();
            if self.state.cycle.settling().is_none() {
                // The wake is for more agents than those that were addressed.
                self.state.cycle.forget_planned_round();
            }
            self.make_wake_pending();
        }
    }

    fn make_wake_pending(&mut self) {
        let is_change = !core::mem::replace(&mut self.state.words.wake_pending, true);
        self.out.changed_if(is_change);
    }

    /// Notes that something is new to all agents, even to those that passed or spoke last.
    pub(crate) fn be_news(&mut self) {
        let is_change = self.state.roster.list.forget_silent();
        self.out.changed_if(is_change);
    }

    /// Returns the agent that goes on with the conversation if the turn under way is cut off. It is the turn's own
    /// agent, or the one behind it if its reply is on its way.
    pub(crate) fn cut(&self) -> Option<AgentKey> {
        let State { floor, roster, .. } = &*self.state;
        let agent = floor.speaker()?;
        let is_said = matches!(floor.phase, Phase::Confirming { .. });
        if is_said { roster.list.behind(agent) } else { Some(agent) }
    }

    /// Plans a cycle for the addressed, as soon as it may begin.
    pub(crate) fn plan_round(&mut self, addressed: Option<&[AgentKey]>) {
        if let Some(agents) = addressed {
            self.state.cycle.plan_round(agents);
            self.out.changed();
        }
    }

    /// Wakes the channel for a message, unless it is dormant for a reason that the author cannot lift. Returns true if
    /// it wakes now or when people are quiet.
    pub(crate) fn wake_by(&mut self, author: Author, addressed: Option<&[AgentKey]>) -> bool {
        let barred = self.look().ceiling_reached() || self.state.words.awaits_human;
        if author != Author::Human && barred {
            return false;
        }
        if self.look().budget_spent() {
            // A word does not reset a budget, but is answered when an operator resets it.
            self.keep_in_mind(true);
            self.rotation().announce_budget();
            return false;
        }
        if author != Author::Human || !self.settle(addressed) {
            self.wake_with(author, addressed);
        }
        true
    }

    /// Makes a person's word wait until people are quiet, if the host wants that. Returns true if it does.
    fn settle(&mut self, addressed: Option<&[AgentKey]>) -> bool {
        let (settle, now) = (self.out.config.people.settle, self.out.now);
        let State { floor, standing, .. } = &*self.state;
        if settle.is_zero() || floor.phase != Phase::Dormant || standing.is_chat_away() {
            return false;
        }
        self.keep_in_mind(true);
        self.plan_round(addressed);
        let plans = self.state.cycle.plans.edit();
        let latest = plans.settling.map_or(now + SETTLE_MAX, |settling| settling.latest);
        plans.settling = Some(Settling { until: latest.min(now + settle), latest });
        self.out.changed();
        true
    }

    /// Wakes the channel after people were quiet long enough.
    pub(crate) fn wake_for_settled(&mut self) {
        self.state.cycle.plans.edit().settling = None;
        self.out.changed();
        if self.look().wakes_for_pending() {
            self.wake_as_planned(Start::First, Cause::HumanMessage);
        } else {
            self.state.cycle.forget_plans();
        }
    }

    pub(crate) fn wake_with(&mut self, author: Author, addressed: Option<&[AgentKey]>) {
        let start = match (author, self.out.config.order.wake_rule) {
            (Author::Agent(sender), WakeRule::NextAfterSender) => Start::After(sender),
            (Author::Agent(_) | Author::Human | Author::Bot | Author::Moderator, _) => Start::First,
        };
        let cause = match author {
            Author::Human => Cause::HumanMessage,
            Author::Agent(_) => Cause::AgentMessage,
            Author::Bot | Author::Moderator => Cause::BotMessage,
        };
        self.be_news();
        self.state.cycle.forget_plans();
        self.plan_round(addressed);
        self.wake_as_planned(start, cause);
    }

    /// Begins a new cycle with a fresh list, and forgets the plans for another one.
    pub(crate) fn wake(&mut self, start: Start, cause: Cause) {
        self.state.cycle.forget_plans();
        self.wake_as_planned(start, cause);
    }

    /// Begins a new cycle with a fresh list.
    pub(crate) fn wake_as_planned(&mut self, start: Start, cause: Cause) {
        let is_idle = self.state.floor.phase == Phase::Dormant;
        if is_idle && self.state.standing.is_chat_away() {
            // No agent could be called, so the wake stays pending and the plans are forgotten.
            self.state.cycle.forget_plans();
            return self.make_wake_pending();
        }
        self.permits().withdraw();
        self.rotation().wake(start, cause);
    }

    /// Handles an agent that can be granted again.
    pub(crate) fn comes_back(&mut self, agent: AgentKey) {
        self.rotation().note_return(agent);
        self.wake_for_pending();
    }

    /// Wakes the channel for a pending wake, because an agent may be able to take it now.
    pub(crate) fn wake_for_pending(&mut self) {
        if self.look().wakes_for_pending() {
            self.wake_as_planned(Start::First, Cause::HumanMessage);
        }
    }
}
