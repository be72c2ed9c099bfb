//! One input on its way: the handlers of all topics, and what follows from one topic for others.

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

/// How long a wake waits for people to be quiet, at most.
const SETTLE_MAX: Duration = Duration::from_secs(5);

/// The channel while it considers one input. Lends each handler the fields of its topic, and carries
/// out what follows from what a handler decided.
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

/// What follows.
impl Step<'_> {
    pub(crate) fn tell(&mut self, agent: Option<AgentKey>, cause: Cause) {
        self.out.tell(&self.state.floor, agent, cause);
    }

    /// Remembers a message; `false` when it was seen before.
    #[inline]
    pub(crate) fn remember(&mut self, id: MessageId, backfilled: bool) -> bool {
        let new = self.state.seen.remember(id, backfilled);
        if new {
            self.state.floor.last_activity_at = self.out.now;
        }
        new
    }

    /// The speaker's turn is over, and the next one follows.
    #[inline]
    pub(crate) fn complete(&mut self, end: TurnEnd) {
        let mut ending = self.ending();
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

    /// Completes the turn, if something ended it.
    #[inline]
    pub(crate) fn complete_if(&mut self, end: Option<TurnEnd>) {
        if let Some(end) = end {
            self.complete(end);
        }
    }

    /// The turn went on after it had waited; its run may have ended meanwhile.
    pub(crate) fn go_on(&mut self, ended: Option<&EndedRun>) {
        let end = ended.and_then(|ended| self.runs().end_kept(ended));
        self.complete_if(end);
    }

    /// The speaker's turn ends at once, and with it its run.
    pub(crate) fn take_floor(&mut self, agent: AgentKey, cause: Cause) {
        self.runs().cancel();
        self.complete(TurnEnd::skipped(agent, cause));
    }

    /// The initiator has left, is muted or away: it has no permit, and is reminded once more.
    pub(crate) fn take_permit_from(&mut self, agent: AgentKey) {
        if self.state.reminders.permit().is_some_and(|permit| permit.agent == agent) {
            self.permits().withdraw();
            self.reminding().remind_anew();
        }
    }

    /// The permitted run ended.
    pub(crate) fn end_permit_run(&mut self) {
        if let Some(permit) = self.permits().use_up() {
            self.go_on_after_permit(&permit);
        }
    }

    /// The permitted run took too long.
    pub(crate) fn expire_permit(&mut self) {
        if let Some(permit) = self.permits().expire() {
            self.go_on_after_permit(&permit);
        }
    }

    /// What the permitted run said wakes the channel; after a run in vain there is another reminder.
    fn go_on_after_permit(&mut self, permit: &InitiatorPermit) {
        if !(permit.has_spoken() && self.wake_by(Author::Agent(permit.agent), None)) {
            self.reminding().remind_anew();
        }
    }

    /// The permitted run is gone with its process: its agent is reminded again and may run again, as often as
    /// there are reminders, or the permit is used up.
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
            return self.reminding().remind_anew();
        }
        // The reminder is how the initiator learns that it may run: without one no agent would be called.
        self.reminding().remind();
    }

    /// Refuses what makes the channel go on where it must not, or keeps no turns.
    pub(crate) fn require_going_on(&self) -> Result<(), Refusal> {
        let standing = &self.state.standing;
        standing.require_unarchived()?;
        standing.require_unstopped()?;
        self.state.floor.phase.require_turns()
    }

    /// A human's word lifts the ceilings, and is what an agent asked for.
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

    /// A word that comes while the list is read counts until a turn has taken it.
    pub(crate) fn must_be_heard(&mut self) {
        let reads = matches!(self.state.floor.phase, Phase::Refreshing(_));
        let is_change = reads && !core::mem::replace(&mut self.state.words.wake_unserved, true);
        self.out.changed_if(is_change);
    }

    /// A message that qualifies wakes the channel when an agent can be granted.
    pub(crate) fn keep_in_mind(&mut self, qualifies: bool) {
        if qualifies {
            self.be_news();
            if self.state.cycle.settling().is_none() {
                // The wake is for more than those who were addressed.
                self.state.cycle.forget_planned_round();
            }
            self.make_wake_pending();
        }
    }

    fn make_wake_pending(&mut self) {
        let is_change = !core::mem::replace(&mut self.state.words.wake_pending, true);
        self.out.changed_if(is_change);
    }

    /// Something is new to all agents, also to those who passed or spoke last.
    pub(crate) fn be_news(&mut self) {
        let is_change = self.state.roster.list.forget_silent();
        self.out.changed_if(is_change);
    }

    /// With whom the conversation goes on if the turn under way is cut off: with its agent, or with the one behind it
    /// where its reply is on its way.
    pub(crate) fn cut(&self) -> Option<AgentKey> {
        let State { floor, roster, .. } = &*self.state;
        let agent = floor.speaker()?;
        let is_said = matches!(floor.phase, Phase::Confirming { .. });
        if is_said { roster.list.behind(agent) } else { Some(agent) }
    }

    /// The addressed speak in a cycle of their own, as soon as that may begin.
    pub(crate) fn plan_round(&mut self, addressed: Option<&[AgentKey]>) {
        if let Some(agents) = addressed {
            self.state.cycle.plan_round(agents);
            self.out.changed();
        }
    }

    /// A message wakes the channel, unless it is at rest for a reason that the author cannot lift.
    /// Gives whether it did.
    pub(crate) fn wake_by(&mut self, author: Author, addressed: Option<&[AgentKey]>) -> bool {
        let barred = self.look().ceiling_reached() || self.state.words.awaits_human;
        if author != Author::Human && barred {
            return false;
        }
        if self.look().budget_spent() {
            // A word does not reset a budget, but is answered when an operator does.
            self.keep_in_mind(true);
            self.rotation().announce_budget();
            return false;
        }
        if author != Author::Human || !self.settle(addressed) {
            self.wake_with(author, addressed);
        }
        true
    }

    /// A person's word waits until people are quiet, if the host wants that. Gives whether it does.
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

    /// People were quiet long enough.
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

    /// A new cycle begins, with a fresh list; what was planned for another is forgotten.
    pub(crate) fn wake(&mut self, start: Start, cause: Cause) {
        self.state.cycle.forget_plans();
        self.wake_as_planned(start, cause);
    }

    /// A new cycle begins, with a fresh list.
    pub(crate) fn wake_as_planned(&mut self, start: Start, cause: Cause) {
        let is_idle = self.state.floor.phase == Phase::Dormant;
        if is_idle && self.state.standing.is_chat_away() {
            // No agent could be called. The wake is pending, and no plan is kept.
            self.state.cycle.forget_plans();
            return self.make_wake_pending();
        }
        self.permits().withdraw();
        self.rotation().wake(start, cause);
    }

    /// An agent that could not be granted can be again.
    pub(crate) fn comes_back(&mut self, agent: AgentKey) {
        self.rotation().note_return(agent);
        self.wake_for_pending();
    }

    /// Something changed that may let an agent be granted: a pending wake wakes the channel.
    pub(crate) fn wake_for_pending(&mut self) {
        if self.look().wakes_for_pending() {
            self.wake_as_planned(Start::First, Cause::HumanMessage);
        }
    }
}
