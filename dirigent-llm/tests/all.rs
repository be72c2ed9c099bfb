//! An agent and a scripted model on loopback.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests, which may panic as tests may"
)]

mod agent;
mod budget;
mod chat;
mod corpus;
mod examples;
mod failures;
mod fixture;
mod hostile;
mod meanwhile;
#[cfg(feature = "program")]
mod program;
mod room;
mod secrets;
mod tools;
mod worlds;
