//! What must hold of every channel at every moment, in one readable list.

use core::fmt;

use crate::channel::Channel;
use crate::state::{
    Cycle, Delivery, Floor, Grant, Pending, Phase, Plans, Purpose, Rare, Reminders, Roster, Seen,
    Standing, State, Words,
};
use crate::{
    AgentKey, Debt, Effect, Mode, Rested, SeatTurn, Slot, Span, Ticket, Timestamp, TurnTerms,
};

/// An invariant of ours that does not hold: a bug of the library, or a forged snapshot.
///
/// ```
/// use dirigent_core::{Channel, Config};
/// assert!(Channel::new(Config::default().into(), 1).audit().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breach {
    /// What should hold.
    pub invariant: &'static str,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.invariant)
    }
}

impl core::error::Error for Breach {}

/// Everything that invariants are about.
struct Topics<'a> {
    standing: &'a Standing,
    floor: &'a Floor,
    roster: &'a Roster,
    cycle: &'a Cycle,
    words: &'a Words,
    reminders: &'a Rare<Reminders>,
    seen: &'a Seen,
    delivery: Option<&'a Delivery>,
    pending: &'a Pending,
    now: Timestamp,
    revision: u64,
}

impl<'a> Topics<'a> {
    fn of(channel: &'a Channel) -> Self {
        let Channel { state, pending, now, revision, .. } = channel;
        let State { standing, floor, roster, cycle, words, reminders, seen, .. } = state;
        let (delivery, now, revision) = (state.delivery.as_deref(), *now, *revision);
        #[rustfmt::skip]
        let topics = Self {
            standing, floor, roster, cycle, words, reminders, seen, delivery, pending, now, revision,
        };
        topics
    }

    /// The poll under way.
    fn open_poll(&self) -> Option<Ticket> {
        let confirms = matches!(self.floor.phase, Phase::Confirming { .. });
        self.delivery.filter(|_| confirms).and_then(|delivery| delivery.polls.open)
    }
}

/// An invariant: its sentence, and whether it holds.
type Rule = (&'static str, fn(&Topics<'_>) -> bool);

/// Every invariant of a channel.
const RULES: &[Rule] = &[
    ("the speaker is in the list", |c| {
        c.floor.speaker().is_none_or(|agent| c.roster.list.position(agent).is_some())
    }),
    ("the speaker can be given the floor", |c| {
        // A reply that is made still goes out when its agent is away, and is waited for.
        let away = c.floor.has_replied() || matches!(c.floor.phase, Phase::Confirming { .. });
        let listed = |agent| c.roster.list.slot(agent).is_some_and(|slot| !slot.left);
        c.floor.speaker().is_none_or(|agent| {
            c.roster.is_available(agent) || (away && listed(agent) && !c.roster.is_muted(agent))
        })
    }),
    ("the speaker's turn is not over", |c| {
        c.floor
            .speaker()
            .and_then(|agent| c.roster.list.slot(agent))
            .is_none_or(|slot| slot.turn == SeatTurn::Ahead)
    }),
    ("every slot before the speaker is done and every slot after it is ahead", |c| {
        let Some(at) = c.floor.speaker().and_then(|agent| c.roster.list.position(agent)) else {
            return true;
        };
        c.roster
            .list
            .slots()
            .iter()
            .enumerate()
            .all(|(i, slot)| (slot.turn == SeatTurn::Ahead) == (i >= at))
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
        !c.standing.is_stopped()
            || matches!(c.floor.phase, Phase::Dormant | Phase::Disabled | Phase::Dead)
    }),
    ("only a discussion has an initiator", |c| {
        c.standing.initiator.is_some() == (c.standing.mode == Mode::Discussion)
    }),
    ("a permit is the initiator's and only while dormant", |c| {
        c.reminders.permit().is_none_or(|p| {
            c.floor.phase == Phase::Dormant && c.standing.initiator == Some(p.agent)
        })
    }),
    ("while the list is read somebody is asked for it", |c| {
        !matches!(c.floor.phase, Phase::Refreshing(_)) || c.roster.refresh.is_some()
    }),
    ("a list that is read is owed", |c| {
        c.roster
            .refresh
            .is_none_or(|r| c.pending.effects.iter().any(|d| d.effect.ticket() == Some(r.ticket)))
    }),
    ("a list is owed only while it is read", |c| {
        let asked = |debt: &Debt| matches!(debt.effect, Effect::FetchMembers { .. });
        let read = c.roster.refresh.map(|refresh| refresh.ticket);
        c.pending.effects.iter().filter(|debt| asked(debt)).all(|debt| debt.effect.ticket() == read)
    }),
    ("a list is read only where turns are kept", |c| {
        c.roster.refresh.is_none()
            || (c.standing.mode.keeps_turns() && c.standing.archived.is_none())
    }),
    ("nobody is granted while the list is read", |c| {
        c.roster.refresh.is_none() || c.floor.speaker().is_none()
    }),
    ("tickets ascend", |c| {
        let tickets = c.pending.effects.iter().filter_map(|debt| debt.effect.ticket());
        tickets.is_sorted_by(|a, b| a < b)
    }),
    ("no ticket is from the future", |c| {
        c.pending
            .effects
            .iter()
            .all(|d| d.effect.ticket().is_some_and(|t| t.get() < c.pending.next_ticket))
    }),
    ("an open poll is owed", |c| {
        c.open_poll().is_none_or(|ticket| {
            c.pending.effects.iter().any(|debt| debt.effect.ticket() == Some(ticket))
        })
    }),
    ("remembered messages ascend", |c| {
        c.seen.messages().is_sorted_by(|a, b| a < b)
            && c.seen.messages().all(|id| Some(id) <= c.seen.newest())
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
        !c.floor.has_replied()
            || (c.floor.terms.value().until.is_none() && c.floor.terms.value().slow_at.is_none())
    }),
    ("an outage is counted from its beginning or from later, and neither lies ahead", |c| {
        c.standing
            .outage
            .as_ref()
            .is_none_or(|outage| (outage.since..=c.now).contains(&outage.counted_from))
    }),
    ("no agent has a start deadline while the chat is away", |c| {
        let waits = matches!(
            c.floor.phase,
            Phase::Granted(Grant { until: Some(_), .. }) | Phase::Continuing { until: Some(_), .. }
        );
        !waits || !c.standing.is_chat_away()
    }),
    ("the last completer completed a turn of this cycle", |c| {
        c.cycle
            .last_completer
            .and_then(|agent| c.roster.list.slot(agent))
            .is_none_or(|slot| matches!(slot.turn, SeatTurn::Passed | SeatTurn::Spoke))
    }),
    ("outside a cycle nothing of one is remembered", |c| {
        let in_cycle = matches!(
            c.floor.phase,
            Phase::Granted(_)
                | Phase::Running { .. }
                | Phase::Delivering { .. }
                | Phase::Confirming { .. }
                | Phase::Continuing { .. }
                | Phase::Waiting(_)
                | Phase::Refreshing(Purpose::Boundary)
        );
        let ahead = |slot: &Slot| slot.turn == SeatTurn::Ahead;
        in_cycle
            || (!c.cycle.requested
                && c.cycle.last_completer.is_none()
                && c.roster.list.slots().iter().all(ahead))
    }),
    ("the counters have room to rise", |c| {
        [c.pending.next_ticket, c.floor.turn.get(), c.revision]
            .into_iter()
            .all(|count| count < u64::MAX / 2)
    }),
    ("a channel that was never given a mode has none", |c| {
        c.standing.created || c.standing.mode == Mode::None
    }),
    ("no word is unheard in an idle channel", |c| {
        !c.words.wake_unserved || !c.floor.phase.is_idle()
    }),
    ("a turn rests exactly while an answer is waited for", |c| {
        matches!(c.floor.phase, Phase::Waiting(_)) == c.floor.waiting.as_ref().is_some()
    }),
    ("an end is kept only of a run", |c| {
        c.floor.waiting.as_ref().is_none_or(|waiting| {
            waiting.end.is_none() || matches!(waiting.rested, Rested::Running { .. })
        })
    }),
    ("an orchestrator is asked only while its answer is waited for", |c| {
        let asked = |debt: &&Debt| matches!(debt.effect, Effect::Consult { .. });
        let open = c.floor.waiting.as_ref().map(|waiting| waiting.consult);
        c.pending.effects.iter().filter(asked).all(|debt| debt.effect.ticket() == open)
    }),
    ("an answer that is waited for was asked for", |c| {
        c.floor.waiting.as_ref().is_none_or(|waiting| waiting.consult.get() < c.pending.next_ticket)
    }),
    ("whoever is asked to go on has spoken", |c| {
        let rested =
            c.floor.waiting.as_ref().is_some_and(|waiting| waiting.rested == Rested::Continuing);
        c.floor.terms.value().spoken
            || !(rested || matches!(c.floor.phase, Phase::Continuing { .. }))
    }),
    ("what a turn has been through is forgotten with it", |c| {
        c.floor.speaker().is_some() || c.floor.terms.value() == TurnTerms::default()
    }),
    ("ranges of messages do not end before they begin", |c| {
        let waiting = c.floor.waiting.as_deref().copied();
        let asked = waiting.into_iter().flat_map(|w| [Some(w.asked), w.more, w.unanswered]);
        let held = [c.words.queued()];
        asked.chain(held).flatten().all(|Span { first, last }| first <= last)
    }),
    ("those who are away ascend", |c| {
        c.roster.attendance.value().away.is_sorted_by(|a, b| a.agent < b.agent)
    }),
    ("the addressed ascend", |c| {
        let ascends = |round: &[AgentKey]| round.is_sorted_by(|a, b| a < b);
        planned(c, |it| ascends(&it.round) && ascends(&it.next_round))
    }),
    ("a cycle for the addressed is a cycle", |c| {
        let in_cycle =
            c.floor.speaker().is_some() || c.floor.phase == Phase::Refreshing(Purpose::Boundary);
        in_cycle || !c.cycle.is_round()
    }),
    ("nothing is planned for a channel at rest", |c| {
        !c.floor.phase.is_idle() || planned(c, |it| it.chosen.is_none() && it.next_round.is_empty())
    }),
    ("whoever has the floor is not chosen again", |c| {
        c.floor.speaker().is_none() || c.cycle.chosen() != c.floor.speaker()
    }),
    ("a person is awaited only while nobody has the floor", |c| {
        c.floor.phase == Phase::Dormant || !c.words.awaits_human
    }),
    ("people's messages are held only where turns are kept", |c| {
        let kept = c.standing.mode.keeps_turns() && c.standing.archived.is_none();
        kept || !c.words.has_queued()
    }),
    ("what is held for an idle channel is kept in mind", |c| {
        !c.floor.phase.is_idle() || c.words.wake_pending || !c.words.has_queued()
    }),
];

/// Whether this holds of what was chosen, where anything was.
fn planned(topics: &Topics<'_>, holds: impl Fn(&Plans) -> bool) -> bool {
    topics.cycle.plans.get().is_none_or(holds)
}

impl Channel {
    /// Checks every internal invariant.
    ///
    /// # Errors
    ///
    /// Names the first that does not hold; for a channel that was only ever given inputs this is a
    /// bug of the library.
    pub fn audit(&self) -> Result<(), Breach> {
        let topics = Topics::of(self);
        match RULES.iter().find(|(_, holds)| !holds(&topics)) {
            Some((invariant, _)) => Err(Breach { invariant }),
            None => Ok(()),
        }
    }
}
