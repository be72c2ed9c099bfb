//! The tests of the crate, one program.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests, which may panic as tests may"
)]

mod audience;
mod bad_input;
mod choices;
mod corpus;
mod deadlines;
mod ending;
mod fixture;
mod isolation;
mod journals;
mod killed;
mod lines;
mod models;
mod people;
mod playing;
mod protocol;
mod reading;
mod record;
mod simulation;
mod slugs;
