//! Tests of the crate, as one program.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests, which may panic as tests may"
)]

#[cfg(feature = "acp")]
mod acp;
mod aggregation;
mod cli;
mod config;
mod driver;
mod events;
mod examples;
mod execution;
mod fixture;
mod guard;
mod llm;
mod prompt;
#[cfg(feature = "serve")]
mod real_opencode;
mod routing;
#[cfg(feature = "serve")]
mod serve;
