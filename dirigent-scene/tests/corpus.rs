//! The fuzzers' corpora of scenes, replayed without a fuzzer; cut and bent as well.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/bodies/scene_log.rs"]
mod scene_log;
#[path = "../../fuzz/bodies/scene_output.rs"]
mod scene_output;

/// Runs every file of a corpus as it is, cut at every byte, and with a bit changed in every byte.
fn replay(name: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        let bytes = fs::read(file).unwrap();
        body(&bytes);
        for at in 0..bytes.len() {
            body(&bytes[..at]);
            let mut bent = bytes.clone();
            bent[at] ^= 1_u8 << (at % 8);
            body(&bent);
        }
    }
}

/// R208
#[test]
fn the_corpus_of_outputs_finds_nothing() {
    replay("scene_output", scene_output::scene_output);
}

/// R236, R244
#[test]
fn the_corpus_of_logs_finds_nothing() {
    replay("scene_log", scene_log::scene_log);
}
