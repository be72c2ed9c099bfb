//! What the fuzzers run: total functions on bytes that panic only when a promise is broken.
//!
//! `cargo test` replays the committed corpora through the same functions, so that a machine
//! without a fuzzer notices too.

mod floor;
mod reader;
mod snapshot;
mod tools;

use std::sync::Arc;

use dirigent_core::{Input, Settlement, Snapshot, Timestamp, TurnMachine};

use crate::check::{Step, check, config_from_bytes};
use reader::Reader;

pub use tools::tools;

/// Bytes to a sequence of inputs: machine against model.
///
/// # Panics
///
/// When the two differ or an invariant is broken.
///
/// ```
/// dirigent_verify::fuzzing::inputs(b"any bytes will do, and none as well");
/// ```
#[expect(clippy::panic, reason = "that is how a fuzzer is told")]
pub fn inputs(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let config = Arc::new(config_from_bytes(reader.number().to_le_bytes()));
    let seed = reader.number();
    if config.validate().is_err() {
        return;
    }
    let steps = Step::sequence_from_bytes(reader.rest());
    if let Err(failure) = check(&config, seed, &steps) {
        panic!("{failure}");
    }
}

/// Bytes to a snapshot, sound or not: it is refused, or the channel keeps every internal invariant
/// whatever happens next.
///
/// # Panics
///
/// When a snapshot was taken that should have been refused.
///
/// ```
/// dirigent_verify::fuzzing::snapshots(b"any bytes will do, and none as well");
/// ```
pub fn snapshots(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let config = Arc::new(config_from_bytes(reader.number().to_le_bytes()));
    let snapshot = snapshot::read(&mut reader);
    let Ok(mut channel) = TurnMachine::restore(config, &snapshot) else {
        return;
    };
    assert_eq!(channel.audit(), Ok(()), "a snapshot that contradicts itself was taken");
    let twin = TurnMachine::restore(Arc::clone(channel.config()), channel.snapshot());
    assert!(twin.is_ok(), "what a channel wrote was refused");
    live_on(&mut channel, &mut reader);
}

/// A snapshot from bytes, sound or not, to test a store of snapshots with.
///
/// ```
/// let snapshot = dirigent_verify::fuzzing::forged_snapshot(b"any bytes will do");
/// assert!(snapshot.version >= 1);
/// ```
pub fn forged_snapshot(bytes: &[u8]) -> Snapshot {
    snapshot::read(&mut Reader::new(bytes))
}

/// Gives the channel whatever the bytes say.
fn live_on(channel: &mut TurnMachine, reader: &mut Reader<'_>) {
    let mut effects = Vec::new();
    let mut now = channel.next_deadline().map_or(Timestamp::default(), |deadline| deadline.at);
    for step in Step::sequence_from_bytes(reader.rest()).into_iter().take(64) {
        let Step::Input { input, .. } = step else {
            continue;
        };
        let _ = channel.handle(now, &input, &mut effects);
        assert_eq!(channel.audit(), Ok(()), "after {input:?}");
        let newest = effects.drain(..).filter_map(|effect| effect.ticket()).next_back();
        if let Some(ticket) = newest {
            let settlement = Settlement::Doubtful;
            let _ = channel.handle(now, &Input::Settled { ticket, settlement }, &mut effects);
        }
        now = channel.next_deadline().map_or(now, |deadline| deadline.at);
    }
}
