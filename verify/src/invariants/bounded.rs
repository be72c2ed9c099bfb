//! I13, the core's part: a channel stays small.

use std::mem::size_of;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::snapshot::{
    DeliveryData, PendingEffect, Piece, RunFate, Slot, SpokenTurn, StaleTrigger, Steering,
};
use dirigent_core::view::Away;
use dirigent_core::{AgentKey, MessageId, RunId, Snapshot, TurnMachine};

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
        if after.pending > PENDING_MAX {
            return Err(format!("{} effects are pending", after.pending));
        }
        if after.seats.len() > AGENTS_MAX {
            return Err(format!("{} agents are listed", after.seats.len()));
        }
        let Some(restored) = seen.restored else {
            return Ok(());
        };
        let bytes = owned_bytes(restored.original);
        let extra = restored.original.list.len().saturating_sub(USUAL_AGENTS) * size_of::<Slot>()
            + restored.original.muted.len() * size_of::<AgentKey>()
            + restored.original.steering.as_deref().map_or(0, list_bytes);
        let cap = usize::from(seen.rules.budget.agent_turns_per_hour.unwrap_or(0));
        let spoken = restored.original.steering.as_deref().map_or(0, |it| it.spoken.len());
        if spoken > after.seats.len() * cap {
            return Err(format!("{spoken} turns are remembered"));
        }
        if bytes > BYTES_MAX + extra {
            return Err(format!("the channel owns {bytes} bytes"));
        }
        Ok(())
    }
}

/// What the rules beyond the plain rotation own.
fn steering_bytes(steering: &Steering) -> usize {
    size_of::<Steering>() + list_bytes(steering)
}

/// What grows of it with the agents that are away, addressed or capped.
fn list_bytes(steering: &Steering) -> usize {
    let agents = steering.round.len() + steering.next_round.len();
    agents * size_of::<AgentKey>()
        + steering.away.len() * size_of::<Away>()
        + steering.spoken.len() * size_of::<SpokenTurn>()
}

/// What a channel with this snapshot owns, itself included.
fn owned_bytes(snapshot: &Snapshot) -> usize {
    let pieces = |_: &DeliveryData| size_of::<DeliveryData>() + 8 * size_of::<Piece>();
    size_of::<TurnMachine>()
        + snapshot.list.len() * size_of::<Slot>()
        + snapshot.muted.len() * size_of::<AgentKey>()
        + snapshot.messages.len() * size_of::<MessageId>()
        + snapshot.runs.len() * size_of::<(RunId, RunFate)>()
        + snapshot.pending.len() * size_of::<PendingEffect>()
        + snapshot.stale_triggers.len() * size_of::<StaleTrigger>()
        + snapshot.delivery.as_deref().map_or(0, pieces)
        + snapshot.steering.as_deref().map_or(0, steering_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::forged::{Forged, fresh};
    use super::*;

    #[test]
    fn too_many_pending_effects_are_caught() {
        let mut step = Forged::default();
        step.after.pending = PENDING_MAX + 1;
        step.rejected(fresh(&INVARIANT).as_mut(), "are pending");
    }

    #[test]
    fn turns_remembered_without_a_cap_are_caught() {
        let turn = SpokenTurn { agent: AgentKey::new(1), at: dirigent_core::Timestamp::default() };
        let steering = Steering { spoken: vec![turn], ..Steering::default() };
        let kept = Snapshot { steering: Some(Box::new(steering)), ..Snapshot::default() };
        let mut step = Forged { restored: Some((kept, Snapshot::default())), ..Forged::default() };
        step.rejected(fresh(&INVARIANT).as_mut(), "are remembered");
        step.rules.budget.agent_turns_per_hour = Some(1);
        step.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_fat_channel_is_caught() {
        let fat =
            Snapshot { messages: (0..2_000).map(MessageId::new).collect(), ..Snapshot::default() };
        let step = Forged { restored: Some((fat, Snapshot::default())), ..Forged::default() };
        step.rejected(fresh(&INVARIANT).as_mut(), "bytes");
    }
}
