//! Evenings under other rules, and rules explored.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "these are tests"
)]

mod commands;
mod evenings;
mod lint;
mod prove;
mod what_if;
