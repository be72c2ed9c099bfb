//! What must hold of every channel at every moment, in one readable list.

use core::fmt;

use crate::channel::{Channel, Grant, Phase, Purpose};
use crate::steering::{Rested, Span, Steering, TurnTerms};
use crate::{AgentKey, Debt, Effect, Mode, Rest, SeatTurn, Slot};

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

/// An invariant: its sentence, and whether it holds.
type Rule = (&'static str, fn(&Channel) -> bool);

/// Every invariant of a channel.
const RULES: &[Rule] = &[
    ("the speaker is in the list", |c| {
        c.speaker().is_none_or(|agent| c.list.position(agent).is_some())
    }),
    ("the speaker can be given the floor", |c| {
        // A reply that is made still goes out when its agent is away, and is waited for.
        let away = c.has_replied() || matches!(c.phase, Phase::Confirming { .. });
        let listed = |agent| c.list.slot(agent).is_some_and(|slot| !slot.left);
        c.speaker().is_none_or(|agent| {
            c.is_available(agent) || (away && listed(agent) && !c.is_muted(agent))
        })
    }),
    ("the speaker's turn is not over", |c| {
        c.speaker()
            .and_then(|agent| c.list.slot(agent))
            .is_none_or(|slot| slot.turn == SeatTurn::Ahead)
    }),
    ("every slot before the speaker is done and every slot after it is ahead", |c| {
        let Some(at) = c.speaker().and_then(|agent| c.list.position(agent)) else {
            return true;
        };
        c.list
            .slots()
            .iter()
            .enumerate()
            .all(|(i, slot)| (slot.turn == SeatTurn::Ahead) == (i >= at))
    }),
    ("no agent is listed twice", |c| {
        let slots = c.list.slots();
        slots.iter().enumerate().all(|(i, slot)| c.list.position(slot.agent) == Some(i))
    }),
    ("the mute list ascends", |c| c.muted.is_sorted_by(|a, b| a < b)),
    ("turns are kept only in chat and discussion", |c| {
        let active = !matches!(c.phase, Phase::Disabled | Phase::Dead | Phase::Archived);
        !active || c.mode.keeps_turns()
    }),
    ("a channel is in phase archived exactly when it was archived", |c| {
        c.archived.is_some() == (c.phase == Phase::Archived)
    }),
    ("a channel is in phase dead exactly in mode report", |c| {
        let report = c.mode == Mode::Report && c.archived.is_none();
        report == (c.phase == Phase::Dead)
    }),
    ("a stopped channel has no speaker", |c| {
        !matches!(c.rest, Some(Rest::Stopped | Rest::Finished))
            || matches!(c.phase, Phase::Dormant | Phase::Disabled | Phase::Dead)
    }),
    ("only a discussion has an initiator", |c| {
        c.initiator.is_some() == (c.mode == Mode::Discussion)
    }),
    ("a permit is the initiator's and only while dormant", |c| {
        c.permit.is_none_or(|p| c.phase == Phase::Dormant && c.initiator == Some(p.agent))
    }),
    ("while the list is read somebody is asked for it", |c| {
        !matches!(c.phase, Phase::Refreshing(_)) || c.refresh.is_some()
    }),
    ("a list that is read is owed", |c| {
        c.refresh.is_none_or(|r| c.debts().iter().any(|d| d.effect.ticket() == Some(r.ticket)))
    }),
    ("a list is owed only while it is read", |c| {
        let asked = |debt: &Debt| matches!(debt.effect, Effect::FetchMembers { .. });
        let read = c.refresh.map(|refresh| refresh.ticket);
        c.debts().iter().filter(|debt| asked(debt)).all(|debt| debt.effect.ticket() == read)
    }),
    ("a list is read only where turns are kept", |c| {
        c.refresh.is_none() || (c.mode.keeps_turns() && c.archived.is_none())
    }),
    ("nobody is granted while the list is read", |c| c.refresh.is_none() || c.speaker().is_none()),
    ("tickets ascend", |c| {
        let tickets = c.debts().iter().filter_map(|debt| debt.effect.ticket());
        tickets.is_sorted_by(|a, b| a < b)
    }),
    ("no ticket is from the future", |c| {
        c.debts().iter().all(|d| d.effect.ticket().is_some_and(|t| t.get() < c.next_ticket))
    }),
    ("an open poll is owed", |c| {
        c.polls()
            .and_then(|polls| polls.open)
            .is_none_or(|ticket| c.debts().iter().any(|debt| debt.effect.ticket() == Some(ticket)))
    }),
    ("remembered messages ascend", |c| {
        c.seen.messages().is_sorted_by(|a, b| a < b)
            && c.seen.messages().all(|id| Some(id) <= c.seen.newest())
    }),
    ("the members are unknown only while no list was ever read", |c| {
        let Phase::Unknown { ask_at, .. } = c.phase else {
            return true;
        };
        let asks = ask_at.is_some() != c.refresh.is_some();
        asks && c.list_at.is_none() && c.list.len() == 0 && !c.is_stopped()
    }),
    ("agents stand in the list only once it was read", |c| {
        c.list.len() == 0 || c.list_at.is_some()
    }),
    ("a list that was never read does not disable", |c| {
        let by_count = c.phase == Phase::Disabled && c.mode.keeps_turns();
        !by_count || c.list_at.is_some()
    }),
    ("a reply has no time limit", |c| {
        !c.has_replied() || (c.terms().until.is_none() && c.terms().slow_at.is_none())
    }),
    ("an outage is counted from its beginning or from later, and neither lies ahead", |c| {
        c.outage().is_none_or(|outage| (outage.since..=c.now).contains(&outage.counted_from))
    }),
    ("no agent has a start deadline while the chat is away", |c| {
        let waits = matches!(
            c.phase,
            Phase::Granted(Grant { until: Some(_), .. }) | Phase::Continuing { until: Some(_), .. }
        );
        !waits || !c.is_chat_away()
    }),
    ("the last completer completed a turn of this cycle", |c| {
        c.last_completer
            .and_then(|agent| c.list.slot(agent))
            .is_none_or(|slot| matches!(slot.turn, SeatTurn::Passed | SeatTurn::Spoke))
    }),
    ("outside a cycle nothing of one is remembered", |c| {
        let in_cycle = matches!(
            c.phase,
            Phase::Granted(_)
                | Phase::Running { .. }
                | Phase::Delivering { .. }
                | Phase::Confirming { .. }
                | Phase::Continuing { .. }
                | Phase::Waiting(_)
                | Phase::Refreshing(Purpose::Boundary)
        );
        let ahead = |slot: &Slot| slot.turn == SeatTurn::Ahead;
        in_cycle || (!c.vetoed && c.last_completer.is_none() && c.list.slots().iter().all(ahead))
    }),
    ("the counters have room to rise", |c| {
        [c.next_ticket, c.turn.get(), c.revision].into_iter().all(|count| count < u64::MAX / 2)
    }),
    ("a channel that was never given a mode has none", |c| c.created || c.mode == Mode::None),
    ("no word is unheard in an idle channel", |c| !c.unheard || !c.phase.is_idle()),
    ("a turn rests exactly while an answer is waited for", |c| {
        matches!(c.phase, Phase::Waiting(_)) == c.waiting().is_some()
    }),
    ("an end is kept only of a run", |c| {
        c.waiting().is_none_or(|waiting| {
            waiting.end.is_none() || matches!(waiting.rested, Rested::Running { .. })
        })
    }),
    ("an orchestrator is asked only while its answer is waited for", |c| {
        let asked = |debt: &&Debt| matches!(debt.effect, Effect::Consult { .. });
        let open = c.waiting().map(|waiting| waiting.consult);
        c.debts().iter().filter(asked).all(|debt| debt.effect.ticket() == open)
    }),
    ("an answer that is waited for was asked for", |c| {
        c.waiting().is_none_or(|waiting| waiting.consult.get() < c.next_ticket)
    }),
    ("whoever is asked to go on has spoken", |c| {
        let rested = c.waiting().is_some_and(|waiting| waiting.rested == Rested::Continuing);
        c.terms().spoken || !(rested || matches!(c.phase, Phase::Continuing { .. }))
    }),
    ("what a turn has been through is forgotten with it", |c| {
        c.speaker().is_some() || c.terms() == TurnTerms::default()
    }),
    ("ranges of messages do not end before they begin", |c| {
        let waiting = c.waiting().copied();
        let asked = waiting.into_iter().flat_map(|w| [Some(w.asked), w.more, w.unanswered]);
        let held = c.steering.iter().map(|steering| steering.held);
        asked.chain(held).flatten().all(|Span { first, last }| first <= last)
    }),
    ("those who are away ascend", |c| {
        steered(c, |s| s.away.is_sorted_by(|a, b| a.agent < b.agent))
    }),
    ("the addressed ascend", |c| {
        let ascends = |round: &[AgentKey]| round.is_sorted_by(|a, b| a < b);
        steered(c, |s| ascends(&s.round) && ascends(&s.next_round))
    }),
    ("a cycle for the addressed is a cycle", |c| {
        let in_cycle = c.speaker().is_some() || c.phase == Phase::Refreshing(Purpose::Boundary);
        in_cycle || steered(c, |s| s.round.is_empty())
    }),
    ("nothing is planned for a channel at rest", |c| {
        !c.phase.is_idle() || steered(c, |s| s.chosen.is_none() && s.next_round.is_empty())
    }),
    ("whoever has the floor is not chosen again", |c| {
        c.speaker().is_none() || steered(c, |s| s.chosen != c.speaker())
    }),
    ("a person is awaited only while nobody has the floor", |c| {
        c.phase == Phase::Dormant || steered(c, |s| !s.awaits_human)
    }),
    ("people's messages are held only where turns are kept", |c| {
        let kept = c.mode.keeps_turns() && c.archived.is_none();
        kept || steered(c, |s| s.held.is_none())
    }),
    ("what is held for an idle channel is kept in mind", |c| {
        !c.phase.is_idle() || c.missed || steered(c, |s| s.held.is_none())
    }),
];

/// Whether this holds of what is beyond the plain rotation, where there is any.
fn steered(channel: &Channel, holds: impl Fn(&Steering) -> bool) -> bool {
    channel.steering.as_deref().is_none_or(holds)
}

impl Channel {
    /// Checks every internal invariant.
    ///
    /// # Errors
    ///
    /// Names the first that does not hold; for a channel that was only ever given inputs this is a
    /// bug of the library.
    pub fn audit(&self) -> Result<(), Breach> {
        match RULES.iter().find(|(_, holds)| !holds(self)) {
            Some((invariant, _)) => Err(Breach { invariant }),
            None => Ok(()),
        }
    }
}
