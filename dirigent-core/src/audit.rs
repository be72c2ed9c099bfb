//! The invariants that every channel must satisfy at every moment, in one readable list.

use core::fmt;

use crate::state::{
    Grant, PendingEffect, Phase, Plans, Purpose, SeatTurn, Settling, Slot, Snapshot, State,
    TurnTerms, WaitingFrom,
};
use crate::turn_machine::TurnMachine;
use crate::{Effect, Mode, Ticket};

/// A broken invariant. It means a bug of the library, or a snapshot that was tampered with.
///
/// ```
/// use dirigent_core::{TurnMachine, Config};
/// assert!(TurnMachine::new(Config::default().into(), 1).audit().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breach {
    /// The sentence that should be true.
    pub invariant: &'static str,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.invariant)
    }
}

impl core::error::Error for Breach {}

/// An invariant about the topics of a channel: its sentence and its check.
type Rule = (&'static str, fn(&State) -> bool);

/// An invariant about the pending effects and the channel as a whole: its sentence and its check.
type WholeRule = (&'static str, fn(&Snapshot) -> bool);

/// All invariants of the topics.
const RULES: &[Rule] = &[
    ("the speaker is in the list", |c| {
        c.floor.speaker().is_none_or(|agent| c.roster.list.position(agent).is_some())
    }),
    ("the speaker can be given the floor", |c| {
        // An agent that goes away after its reply was made keeps the floor, because the reply still goes out.
        let away = c.floor.has_replied() || matches!(c.floor.phase, Phase::Confirming { .. });
        let is_silenced = |agent| c.roster.is_muted(agent) || !c.roster.may_write(agent);
        let may_stay = |agent| away && c.roster.is_present(agent) && !is_silenced(agent);
        c.floor.speaker().is_none_or(|agent| c.roster.is_available(agent) || may_stay(agent))
    }),
    ("the speaker's turn is not over", |c| {
        c.speaker_slot().is_none_or(|slot| slot.turn == SeatTurn::Ahead)
    }),
    ("every slot before the speaker is done and every slot after it is ahead", |c| {
        let at = c.floor.speaker().and_then(|agent| c.roster.list.position(agent));
        let mut slots = c.roster.list.slots().iter().enumerate();
        at.is_none_or(|at| slots.all(|(i, slot)| (slot.turn == SeatTurn::Ahead) == (i >= at)))
    }),
    ("no agent is listed twice", |c| {
        let slots = c.roster.list.slots();
        slots.iter().enumerate().all(|(i, slot)| c.roster.list.position(slot.agent) == Some(i))
    }),
    ("the mute list ascends", |c| c.roster.muted().is_sorted_by(|a, b| a < b)),
    ("turns are kept only in chat and discussion", |c| {
        let active = !matches!(c.floor.phase, Phase::Disabled | Phase::Dead | Phase::Archived);
        !active || c.standing.mode.keeps_turns()
    }),
    ("a channel is in phase archived exactly when it was archived", |c| {
        c.standing.archived.is_some() == (c.floor.phase == Phase::Archived)
    }),
    ("a channel is in phase dead exactly in mode report", |c| {
        let report = c.standing.mode == Mode::Report && c.standing.archived.is_none();
        report == (c.floor.phase == Phase::Dead)
    }),
    ("a stopped channel has no speaker", |c| {
        let has_none = matches!(c.floor.phase, Phase::Dormant | Phase::Disabled | Phase::Dead);
        !c.standing.is_stopped() || has_none
    }),
    ("only a discussion has an initiator", |c| {
        c.standing.initiator.is_some() == c.standing.is_discussion()
    }),
    ("a permit is the initiator's and only while dormant", |c| {
        let initiator = c.standing.initiator.filter(|_| c.floor.phase == Phase::Dormant);
        c.reminders.permit().is_none_or(|permit| initiator == Some(permit.agent))
    }),
    ("while the phase is Refreshing, a member list is requested", |c| {
        !matches!(c.floor.phase, Phase::Refreshing(_)) || c.roster.refresh.is_some()
    }),
    ("a list is read only where turns are kept", |c| {
        c.roster.refresh.is_none() || c.standing.keeps_turns()
    }),
    ("no agent is granted while the list is read", |c| {
        c.roster.refresh.is_none() || c.floor.speaker().is_none()
    }),
    ("remembered messages ascend", |c| {
        c.seen.messages().is_sorted_by(|a, b| a < b)
            && c.seen.messages().all(|id| Some(id) <= c.seen.newest)
    }),
    ("the pieces of a reply ascend", |c| {
        c.delivery.as_ref().is_none_or(|it| it.pieces.is_sorted_by(|a, b| a.id < b.id))
    }),
    ("a reply that is confirmed is looked for", |c| {
        !matches!(c.floor.phase, Phase::Confirming { .. }) || c.delivery.is_some()
    }),
    ("the members are unknown only while no list was ever read", |c| {
        let Phase::Unknown { ask_at, .. } = c.floor.phase else {
            return true;
        };
        let asks = ask_at.is_some() != c.roster.refresh.is_some();
        asks && c.roster.read_at.is_none() && c.roster.list.len() == 0 && !c.standing.is_stopped()
    }),
    ("agents stand in the list only once it was read", |c| {
        c.roster.list.len() == 0 || c.roster.read_at.is_some()
    }),
    ("a list that was never read does not disable", |c| {
        let by_count = c.floor.phase == Phase::Disabled && c.standing.mode.keeps_turns();
        !by_count || c.roster.read_at.is_some()
    }),
    ("a reply has no time limit", |c| {
        let TurnTerms { until, slow_at, .. } = c.floor.terms.value();
        !c.floor.has_replied() || (until.is_none() && slow_at.is_none())
    }),
    ("no agent has a start deadline while the chat is away", |c| {
        let waits = matches!(
            c.floor.phase,
            Phase::Granted(Grant { until: Some(_), .. }) | Phase::Continuing { until: Some(_), .. }
        );
        !waits || !c.standing.is_chat_away()
    }),
    ("the last completer completed a turn of this cycle", |c| {
        let slot = c.cycle.last_completer.and_then(|agent| c.roster.list.slot(agent));
        slot.is_none_or(|slot| matches!(slot.turn, SeatTurn::Passed | SeatTurn::Spoke))
    }),
    ("outside a cycle nothing of one is remembered", |c| {
        let is_requested = c.words.cycle_requested || c.words.returned;
        let is_empty = !is_requested && c.cycle.last_completer.is_none();
        let ahead = |slot: &Slot| slot.turn == SeatTurn::Ahead;
        c.is_in_cycle() || (is_empty && c.roster.list.slots().iter().all(ahead))
    }),
    ("a channel that was never given a mode has none", |c| {
        c.standing.created || c.standing.mode == Mode::None
    }),
    ("no word is unserved in an idle channel", |c| {
        !c.words.wake_unserved || !c.floor.phase.is_idle()
    }),
    ("a turn waits exactly while an answer is waited for", |c| {
        matches!(c.floor.phase, Phase::Waiting(_)) == c.floor.waiting.is_some()
    }),
    ("an end is kept only of a run", |c| {
        let ended = c.floor.waiting.as_ref().filter(|waiting| waiting.end.is_some());
        ended.is_none_or(|waiting| matches!(waiting.from, WaitingFrom::Running { .. }))
    }),
    ("an agent that is asked to go on has spoken", |c| {
        let continues = matches!(c.floor.phase, Phase::Continuing { .. });
        let waiting = c.floor.waiting.as_ref();
        let waits = waiting.is_some_and(|waiting| waiting.from == WaitingFrom::Continuing);
        c.floor.has_spoken() || !(waits || continues)
    }),
    ("what a turn has been through is forgotten with it", |c| {
        c.floor.speaker().is_some() || c.floor.terms.value() == TurnTerms::default()
    }),
    ("ranges of messages do not end before they begin", |c| {
        let waiting = c.floor.waiting.iter().flat_map(|waiting| waiting.everything_open());
        waiting.chain([c.words.queued()]).flatten().all(|span| span.first <= span.last)
    }),
    ("those who may not write ascend", |c| {
        c.roster.may_not_write().is_sorted_by(|a, b| a.agent < b.agent)
    }),
    ("those who are away ascend", |c| {
        c.roster.attendance.value().away.is_sorted_by(|a, b| a.agent < b.agent)
    }),
    ("the addressed ascend", |c| {
        let Plans { round, next_round, .. } = c.cycle.plans.value();
        [round, next_round].iter().all(|round| round.is_sorted_by(|a, b| a < b))
    }),
    ("a cycle for the addressed is a cycle", |c| c.is_in_cycle() || !c.cycle.is_round()),
    ("nothing is planned for a channel at rest", |c| {
        let plans: Plans = c.cycle.plans.value();
        // A planned round stays with the wake that is pending for it.
        let has_round = !plans.next_round.is_empty() && !c.words.wake_pending;
        let is_planned = plans.chosen.is_some() || plans.handed_to.is_some() || has_round;
        !c.floor.phase.is_idle() || !is_planned
    }),
    ("the agent that has the floor is not chosen again", |c| {
        c.floor.speaker().is_none() || c.cycle.chosen() != c.floor.speaker()
    }),
    ("a person is awaited only while no agent has the floor", |c| {
        c.floor.phase == Phase::Dormant || !c.words.awaits_human
    }),
    ("people's messages are held only where turns are kept", |c| {
        c.standing.keeps_turns() || !c.words.has_queued()
    }),
    ("a wake that waits for quiet is pending, in a dormant channel that may wake", |c| {
        let waits = c.floor.phase == Phase::Dormant && c.words.wake_pending;
        let is_bounded = |it: Settling| it.until <= it.latest;
        c.cycle.settling().is_none_or(|it| waits && is_bounded(it) && !c.standing.is_stopped())
    }),
    ("queued messages of an idle channel leave a wake pending", |c| {
        !c.floor.phase.is_idle() || c.words.wake_pending || !c.words.has_queued()
    }),
];

/// All invariants that concern more than one topic.
const WHOLE_RULES: &[WholeRule] = &[
    ("a list that is read is pending", |c| {
        c.state.roster.refresh.is_none_or(|refresh| c.pending.contains(refresh.ticket))
    }),
    ("a list is pending only while it is read", |c| {
        let asked = |it: &&PendingEffect| matches!(it.effect, Effect::FetchMembers { .. });
        let read = c.state.roster.refresh.map(|refresh| refresh.ticket);
        c.pending.effects.iter().filter(asked).all(|it| it.effect.ticket() == read)
    }),
    ("tickets ascend", |c| {
        let tickets = c.pending.effects.iter().filter_map(|it| it.effect.ticket());
        tickets.is_sorted_by(|a, b| a < b)
    }),
    ("no ticket is from the future", |c| {
        let is_past = |ticket: Ticket| ticket.get() < c.pending.next_ticket;
        c.pending.effects.iter().all(|it| it.effect.ticket().is_some_and(is_past))
    }),
    ("an open poll is pending", |c| {
        let delivery = c.state.delivery.as_ref();
        let confirms = matches!(c.state.floor.phase, Phase::Confirming { .. });
        let open = delivery.filter(|_| confirms).and_then(|delivery| delivery.polls.open);
        open.is_none_or(|ticket| c.pending.contains(ticket))
    }),
    ("an outage is counted from its beginning or from later, and neither lies ahead", |c| {
        let outage = c.state.standing.outage.as_ref();
        outage.is_none_or(|outage| (outage.since..=c.now).contains(&outage.counted_from))
    }),
    ("the counters have room to rise", |c| {
        let counters = [c.pending.next_ticket, c.state.floor.turn.get(), c.revision];
        counters.into_iter().all(|count| count < u64::MAX / 2)
    }),
    ("an orchestrator is asked only while its answer is waited for", |c| {
        let asked = |it: &&PendingEffect| matches!(it.effect, Effect::Consult { .. });
        let open = c.state.floor.waiting.as_ref().map(|waiting| waiting.consult);
        c.pending.effects.iter().filter(asked).all(|it| it.effect.ticket() == open)
    }),
    ("an answer that is waited for was asked for", |c| {
        let consult = c.state.floor.waiting.as_ref().map(|waiting| waiting.consult);
        consult.is_none_or(|ticket| ticket.get() < c.pending.next_ticket)
    }),
];

impl State {
    /// Returns the slot of the agent that has the floor.
    fn speaker_slot(&self) -> Option<&Slot> {
        self.floor.speaker().and_then(|agent| self.roster.list.slot(agent))
    }

    /// Returns true during a cycle: from its first grant to the end of the boundary behind its last turn.
    fn is_in_cycle(&self) -> bool {
        let at_boundary = self.floor.phase == Phase::Refreshing(Purpose::Boundary);
        self.floor.speaker().is_some() || at_boundary
    }
}

impl Snapshot {
    /// Checks all invariants.
    pub(crate) fn audit(&self) -> Result<(), Breach> {
        let broken = RULES.iter().find(|(_, holds)| !holds(&self.state)).map(|rule| rule.0);
        let broken = broken
            .or_else(|| WHOLE_RULES.iter().find(|(_, holds)| !holds(self)).map(|rule| rule.0));
        broken.map_or(Ok(()), |invariant| Err(Breach { invariant }))
    }
}

impl TurnMachine {
    /// Checks all invariants. You may call it after each input in a test, for example in a fuzzer.
    ///
    /// # Errors
    ///
    /// Returns the first invariant that is broken. If the channel was only ever changed through
    /// [`handle`](Self::handle), this is a bug of the library.
    pub fn audit(&self) -> Result<(), Breach> {
        self.snapshot.audit()
    }
}
