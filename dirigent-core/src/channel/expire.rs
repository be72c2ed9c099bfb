//! What is due, and what happens then (rules 40 and 41)

use super::Channel;
use super::budget::HOUR;
use super::permit::Permit;
use super::phase::{Grant, Phase, Start};
use super::step::Step;
use crate::{Cause, Deadline, DeadlineReason, SeatTurn, Timestamp};

/// Two slots' worth of time-outs in one call would mean that a duration of zero got in.
const EXPIRIES_MAX: usize = 1_024;

/// The earliest moment at which something is due.
pub(super) fn next_deadline(channel: &Channel) -> Option<Deadline> {
    let refresh = channel.refresh.filter(|_| !channel.is_chat_away());
    let mut next = deadline(refresh.map(|refresh| refresh.until), DeadlineReason::Members);
    let mut consider = |at: Option<Timestamp>, reason| {
        if let Some(at) = at {
            if next.is_none_or(|known| at < known.at) {
                next = Some(Deadline { at, reason });
            }
        }
    };
    if let Some(of_the_phase) = of_the_phase(channel) {
        consider(Some(of_the_phase.at), of_the_phase.reason);
    }
    if channel.is_chat_away() {
        consider(channel.outage_ends_at(), DeadlineReason::Outage);
    }
    let due = channel.litter.iter().filter_map(|litter| litter.due).min();
    consider(due, DeadlineReason::Cleanup);
    let forget = || channel.stirred_at + channel.config.forget_after;
    consider(channel.has_memory().then(forget), DeadlineReason::Forget);
    next
}

/// The earliest deadline of the phase itself.
fn of_the_phase(channel: &Channel) -> Option<Deadline> {
    match channel.phase {
        Phase::Granted(_) | Phase::Continuing { .. } => {
            deadline(channel.turn_ends_at(), DeadlineReason::Start)
        }
        Phase::Running { .. } => {
            let slow = deadline(channel.terms().slow_at, DeadlineReason::Slow);
            let candidates = [deadline(channel.turn_ends_at(), DeadlineReason::Run), slow];
            candidates.into_iter().flatten().min_by_key(|candidate| candidate.at)
        }
        Phase::Waiting(_) => {
            deadline(channel.waiting().map(|waiting| waiting.until), DeadlineReason::Consult)
        }
        Phase::Confirming { since, polls, .. } => {
            let candidates = [
                deadline(channel.quiet_deadline(since), DeadlineReason::Quiet),
                deadline(channel.turn_ends_at(), DeadlineReason::Delivery),
                deadline(polls.open.is_none().then_some(polls.next), DeadlineReason::Poll),
            ];
            candidates.into_iter().flatten().min_by_key(|candidate| candidate.at)
        }
        Phase::Dormant => {
            let due = channel.reminder_due.filter(|_| channel.rest.is_none());
            let permit = channel.permit.as_ref().and_then(Permit::until);
            let candidates = [
                deadline(due, DeadlineReason::Reminder),
                deadline(permit, DeadlineReason::Permit),
                deadline(channel.overdue_at(), DeadlineReason::Overdue),
                deadline(channel.cap_deadline(), DeadlineReason::Cap),
            ];
            candidates.into_iter().flatten().min_by_key(|candidate| candidate.at)
        }
        Phase::Unknown { .. } => deadline(channel.members_retry_at(), DeadlineReason::MembersRetry),
        Phase::Disabled
        | Phase::Dead
        | Phase::Archived
        | Phase::Refreshing(_)
        | Phase::Delivering { .. } => None,
    }
}

fn deadline(at: Option<Timestamp>, reason: DeadlineReason) -> Option<Deadline> {
    at.map(|at| Deadline { at, reason })
}

impl Channel {
    /// When the speaker is waited for no longer, if nothing happens before: one that was granted or
    /// asked to go on must have started, a run must have ended, a reply must have arrived.
    pub(crate) fn turn_ends_at(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Granted(Grant { until, .. })
            | Phase::Running { until, .. }
            | Phase::Continuing { until, .. } => {
                let end = self.turn_end().filter(|_| !self.is_chat_away());
                until.into_iter().chain(end).min()
            }
            Phase::Confirming { since, .. } => {
                (!self.is_chat_away()).then(|| since + self.config.delivery_timeout)
            }
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Delivering { .. }
            | Phase::Refreshing(_)
            | Phase::Waiting(_) => None,
        }
    }

    /// Whether an idle channel holds memory that it could give back.
    fn has_memory(&self) -> bool {
        self.phase.is_idle() && (!self.seen.is_forgotten() || self.delivery.is_some())
    }
}

impl Step<'_> {
    /// Lets everything that is due happen. Each expiry counts as happening now, however late.
    pub(super) fn expire(&mut self) {
        for _ in 0..EXPIRIES_MAX {
            match self.channel.find_deadline() {
                Some(deadline) if deadline.at <= self.now() => self.on_due(deadline.reason),
                _ => return,
            }
        }
    }

    fn on_due(&mut self, reason: DeadlineReason) {
        match reason {
            DeadlineReason::Start => self.on_start_late(),
            DeadlineReason::Run => self.on_run_late(),
            DeadlineReason::Delivery => {
                self.end_confirming(SeatTurn::Spoke, Cause::DeliveryTimedOut);
            }
            DeadlineReason::Quiet => {
                self.end_confirming(SeatTurn::Spoke, Cause::QuietAfterMessage);
            }
            DeadlineReason::Slow => self.on_slow(),
            DeadlineReason::Consult => self.on_consult_late(),
            DeadlineReason::Cap => self.wake(Start::First, Cause::HumanMessage),
            DeadlineReason::Poll => self.poll(),
            DeadlineReason::Members => self.go_on_without_list(Cause::MembersLate),
            DeadlineReason::MembersRetry => self.ask_again(),
            DeadlineReason::Outage => self.on_outage(),
            DeadlineReason::Reminder => self.remind(),
            DeadlineReason::Permit => self.expire_permit(),
            DeadlineReason::Overdue => self.archive(None, Cause::Overdue),
            DeadlineReason::Cleanup => self.clean_up_due(),
            DeadlineReason::Forget => self.forget(),
        }
    }

    /// The granted agent did not start: it is woken once more, unless its turn is over, then
    /// skipped. One that has spoken is not waited for any longer.
    fn on_start_late(&mut self) {
        let retriggers = self.channel.config.retriggers;
        let end = self.channel.turn_end();
        if let Phase::Continuing { agent, .. } = self.channel.phase {
            return self.on_signal_missing(agent);
        }
        let Phase::Granted(Grant { agent, attempt, until }) = &mut self.channel.phase else {
            return;
        };
        let agent = *agent;
        let is_over = end.is_some_and(|end| until.is_none_or(|until| end <= until));
        if *attempt < retriggers && !is_over {
            *attempt += 1;
            self.tell(Some(agent), Cause::Retriggered);
            self.trigger(None);
        } else {
            self.complete(agent, SeatTurn::Skipped, Cause::StartTimedOut);
        }
    }

    fn end_confirming(&mut self, turn: SeatTurn, cause: Cause) {
        if let Some(agent) = self.channel.speaker() {
            self.complete(agent, turn, cause);
        }
    }

    /// An idle channel gives its memory back.
    fn forget(&mut self) {
        self.channel.seen.forget();
        self.channel.delivery = None;
        self.channel.debts.shrink();
        self.channel.litter.shrink_to_fit();
        self.channel.muted.shrink_to_fit();
        self.channel.list.forget_passed();
        self.channel.list.shrink();
        let now = self.channel.now;
        if let Some(steering) = &mut self.channel.steering {
            steering.spoken.retain(|turn| turn.at + HOUR > now);
            steering.spoken.shrink_to_fit();
            steering.away.shrink_to_fit();
        }
        self.changed();
    }
}
