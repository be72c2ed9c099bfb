//! What a store of channels costs, as the bench of `dirigent-store` has it, on a PostgreSQL server of its own.
//!
//! `cargo bench -p dirigent-cluster --features postgres --bench store -- --channels 1000` prints one line of JSON.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
#![allow(clippy::indexing_slicing, reason = "a bench indexes what it just filled")]

mod common;
#[path = "../../dirigent-store/benches/measured/store.rs"]
mod measured;

fn main() {
    measured::main();
}
