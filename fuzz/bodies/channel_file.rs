//! What the fuzzer does with a channel's file. A total function that panics only when a promise is broken; the
//! tests replay the corpus through it.

use std::sync::Arc;

use dirigent_core::{Config, TurnMachine};
use dirigent_store::parse_channel;

/// A channel's file: refused, or written again to something that says the same; and whatever its
/// record says, a channel is brought back from it whole or not at all.
pub(crate) fn channel_file(bytes: &[u8]) {
    read_channel(bytes);
    // Chance does not find a checksum, so the bytes are also taken as a record that has one.
    let Ok(record) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut sum = crc32fast::Hasher::new();
    sum.update(format!("2 123456789012345678 1 {record}").as_bytes());
    let sum = sum.finalize();
    let file = format!(
        r#"{{"version":2,"channel":"123456789012345678","revision":1,"checksum":"{sum:08x}","record":{record}}}"#
    );
    read_channel(file.as_bytes());
}

fn read_channel(bytes: &[u8]) {
    let Ok(channel) = parse_channel(bytes) else {
        return;
    };
    if let Ok(restored) =
        TurnMachine::restore(Arc::new(Config::default()), &channel.record.snapshot)
    {
        assert_eq!(restored.audit(), Ok(()), "a record that contradicts itself was taken");
    }
    let written = channel.to_json().expect("what was read can be written");
    let again = parse_channel(&written).expect("what was written can be read");
    assert!(again == channel, "the file changed its meaning when it was written again");
    assert_eq!(again.to_json().ok(), Some(written), "writing twice gives the same");
}
