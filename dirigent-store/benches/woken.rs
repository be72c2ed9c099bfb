//! From a person's word to the first agent's call, where ten thousand channels that rest are spoken to within
//! one second.
//!
//! `cargo bench -p dirigent-store --features sqlite --bench woken -- --channels 10000 --store sqlite` prints one
//! line of JSON. `--store memory` keeps nothing, `--store json` (the default) keeps files; `--folder PATH` says on
//! which disk; `--spread-ms N` is the time in which the words are said, `--think-ms N` what an agent thinks before
//! it passes; `--in-order 1` lets each word wait until the one before was taken in, as the feed of one shard does.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod common;
#[path = "measured/woken.rs"]
mod measured;

fn main() {
    measured::main();
}
