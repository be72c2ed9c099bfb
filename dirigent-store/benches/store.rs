//! Measures what a store of channels costs: opening and loading many channels, saving a turn, saving
//! a fact, and many channels that save at the same time.
//!
//! `cargo bench -p dirigent-store --bench store -- --channels 100000` prints one line of JSON. You
//! choose the disk with `--folder PATH`. With `--store sqlite` (and the feature `sqlite`) the bench
//! measures the database instead of the files. With `--durability none` it measures saving without
//! the wait for the disk. The files that it opens are warm, because they were written just before.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
#![allow(clippy::indexing_slicing, reason = "a bench indexes what it just filled")]

mod common;
#[path = "measured/store.rs"]
mod measured;

fn main() {
    measured::main();
}
