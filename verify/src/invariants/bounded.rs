//! I13, the core's part: a channel stays small.

use std::mem::{size_of, size_of_val};

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::snapshot::{
    Delivery, PendingEffect, Piece, Recent, Slot, SpokenTurn, StaleTrigger, State,
};
use dirigent_core::view::{Away, MayNotWrite};
use dirigent_core::{AgentKey, MessageId, Snapshot, TurnMachine};

use super::{Invariant, Observation, Observer};

/// The most pending effects at a time (rule 42).
const PENDING_MAX: usize = 32;
/// The most bytes that a channel of usual size (sixteen agents) owns.
const BYTES_MAX: usize = 8 * 1024;
/// Agents in a channel of usual size; each more may cost a slot and a mute.
const USUAL_AGENTS: usize = 16;

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I13",
    promise: 0,
    requirements: "D78, rules 10, 21, 42",
    sentence: "a channel owns at most 8 KB and has at most 32 pending effects",
    observer: || Box::new(Bounded),
};

#[derive(Debug)]
struct Bounded;

impl Observer for Bounded {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let after = seen.after;
        if after.pending.len() > PENDING_MAX {
            return Err(format!("{} effects are pending", after.pending.len()));
        }
        if after.seats.len() > AGENTS_MAX {
            return Err(format!("{} agents are listed", after.seats.len()));
        }
        let Some(restored) = seen.restored else {
            return Ok(());
        };
        let original = restored.original;
        let roster = &original.state.roster;
        let extra = roster.list.slots.len().saturating_sub(USUAL_AGENTS) * size_of::<Slot>()
            + roster.muted.get().map_or(0, Vec::len) * size_of::<AgentKey>()
            + agents_bytes(&original.state);
        let cap = usize::from(seen.rules.budget.agent_turns_per_hour.unwrap_or(0));
        let spoken = original.state.quota.hourly.get().map_or(0, |hourly| hourly.spoken.len());
        if spoken > after.seats.len() * cap {
            return Err(format!("{spoken} turns are remembered"));
        }
        let bytes = owned_bytes(original);
        if bytes > BYTES_MAX + extra {
            return Err(format!("the channel owns {bytes} bytes"));
        }
        Ok(())
    }
}

/// What grows with the agents that are away, addressed or capped.
fn agents_bytes(state: &State) -> usize {
    let State { roster, cycle, quota, .. } = state;
    let agents = cycle.plans.get().map_or(0, |it| it.round.len() + it.next_round.len());
    let spoken = quota.hourly.get().map_or(0, |hourly| hourly.spoken.len());
    agents * size_of::<AgentKey>()
        + roster.attendance.get().map_or(0, |it| it.away.len()) * size_of::<Away>()
        + roster.attendance.get().map_or(0, |it| it.may_not_write.len()) * size_of::<MayNotWrite>()
        + spoken * size_of::<SpokenTurn>()
}

/// What a channel with this snapshot owns, itself included.
fn owned_bytes(snapshot: &Snapshot) -> usize {
    let Snapshot { state, pending, .. } = snapshot;
    let State { standing, floor, roster, cycle, words, quota, reminders, seen, delivery, .. } =
        state;
    let recent = |it: &Recent| {
        size_of::<Recent>()
            + it.messages.len() * size_of::<MessageId>()
            + size_of_val(it.runs.as_slice())
    };
    let delivered = |_: &Delivery| size_of::<Delivery>() + 8 * size_of::<Piece>();
    size_of::<TurnMachine>()
        + roster.list.slots.len() * size_of::<Slot>()
        + roster.muted.get().map_or(0, Vec::len) * size_of::<AgentKey>()
        + pending.effects.len() * size_of::<PendingEffect>()
        + pending.stale.get().map_or(0, Vec::len) * size_of::<StaleTrigger>()
        + seen.recent.as_deref().map_or(0, recent)
        + delivery.as_deref().map_or(0, delivered)
        + agents_bytes(state)
        + boxed(standing.archived.as_deref())
        + boxed(standing.outage.as_deref())
        + boxed(floor.terms.get())
        + boxed(floor.waiting.as_deref())
        + boxed(roster.attendance.get())
        + boxed(cycle.plans.get())
        + boxed(words.queue.get())
        + boxed(quota.budget.get())
        + boxed(quota.hourly.get())
        + boxed(reminders.get())
}

/// What a value owns that is kept only while it is used.
fn boxed<T>(value: Option<&T>) -> usize {
    value.map_or(0, size_of_val)
}

#[cfg(test)]
mod tests {
    use dirigent_core::snapshot::Hourly;

    use super::super::forged::{Forged, fresh};
    use super::*;

    #[test]
    fn too_many_pending_effects_are_caught() {
        let mut step = Forged::default();
        let effect = (dirigent_core::Ticket::default(), dirigent_core::Timestamp::default());
        step.after.pending = vec![effect; PENDING_MAX + 1];
        step.rejected(fresh(&INVARIANT).as_mut(), "are pending");
    }

    #[test]
    fn turns_remembered_without_a_cap_are_caught() {
        let turn = SpokenTurn { agent: AgentKey::new(1), at: dirigent_core::Timestamp::default() };
        let mut kept = Snapshot::default();
        kept.state.quota.hourly = Hourly { spoken: vec![turn] }.into();
        let mut step = Forged { restored: Some((kept, Snapshot::default())), ..Forged::default() };
        step.rejected(fresh(&INVARIANT).as_mut(), "are remembered");
        step.rules.budget.agent_turns_per_hour = Some(1);
        step.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_fat_channel_is_caught() {
        let messages = (0..2_000).map(MessageId::new).collect();
        let mut fat = Snapshot::default();
        fat.state.seen.recent = Some(Box::new(Recent { messages, ..Recent::default() }));
        let step = Forged { restored: Some((fat, Snapshot::default())), ..Forged::default() };
        step.rejected(fresh(&INVARIANT).as_mut(), "bytes");
    }
}
