//! The control page over an in-memory Discord, asked as browsers and programs ask.
#![allow(
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::unused_async,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests, which may panic as tests may"
)]

mod access;
mod acting;
mod agents;
mod api;
mod attacks;
mod drawing;
mod escaping;
mod fixture;
mod live;
mod metrics;
mod orders;
mod pages;
mod peers;
mod seeing;
mod slave;
mod what_if;
