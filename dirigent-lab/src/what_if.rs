//! A recorded evening played again under other rules.

// `evening` takes a recording apart: what people did at which time, and what each agent did when it was asked. `stage` gives both to a
// machine with other rules, `figures` counts, and `played` is what comes out.

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
