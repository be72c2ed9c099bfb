//! Measures the time from a person's message to the first call of an agent, when people speak in ten thousand
//! resting channels within one second.
//!
//! `cargo bench -p dirigent-store --features sqlite --bench woken -- --channels 10000 --store sqlite` prints one
//! line of JSON. You can also choose `--store json` (the default), which keeps files, or `--store memory`, which
//! keeps nothing. `--folder PATH` chooses the disk. `--spread-ms N` is the time in which the messages arrive, and
//! `--think-ms N` is the time that an agent thinks before it passes. With `--in-order 1` each message waits until
//! the one before was processed, as in the feed of one shard.
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
