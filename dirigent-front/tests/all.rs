//! The front as a program sees it: over HTTP, in a Discord in memory.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod asks;
mod door;
#[cfg(feature = "mcp")]
mod mcp;
mod seats;
mod stage;
