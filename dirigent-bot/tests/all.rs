//! The program, run as a person runs it: in a Discord on this machine, with a scripted model.

#![expect(clippy::unwrap_used, reason = "tests")]

mod check;
#[expect(clippy::indexing_slicing, reason = "tests")]
mod cluster;
mod demo;
mod init;
#[expect(clippy::indexing_slicing, reason = "tests")]
mod kinds;
mod mcp;
mod real_delegation;
#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "an evening with figures"
)]
mod real_openclaw;
mod run;
mod stage;
mod trace;
mod wrong;
