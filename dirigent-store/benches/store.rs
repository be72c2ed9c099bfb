//! What a store of channels costs: opening and loading many, saving a turn, saving a fact, and many
//! channels that save at once.
//!
//! `cargo bench -p dirigent-store --bench store -- --channels 100000` prints one line of JSON;
//! `--folder PATH` says on which disk, `--store sqlite` (with the feature `sqlite`) measures the
//! database in the place of the files, `--durability none` what saving costs without waiting for the
//! disk. What is opened is warm: it was written just before.
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
