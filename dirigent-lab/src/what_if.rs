//! Plays a recorded evening again under other rules.

// `evening` divides a recording into the acts of people by their time, and the acts of agents by the occasion. `stage` gives both to a
// machine with other rules, `figures` counts, and `played` is the result.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not looked at here goes to the machine as it was recorded"
)]

pub(crate) mod evening;
pub(crate) mod figures;
mod message_ids;
pub(crate) mod played;
pub(crate) mod script;
mod stage;
