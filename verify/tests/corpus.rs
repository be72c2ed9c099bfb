//! The fuzzers' corpora, replayed without a fuzzer; and some random bytes on top.

use std::fs;
use std::path::{Path, PathBuf};

use dirigent_testkit::Random;
use dirigent_verify::fuzzing;

/// Every file of a corpus; the test would mean nothing without any.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn the_corpus_of_inputs_finds_nothing() {
    for bytes in corpus("inputs") {
        fuzzing::inputs(&bytes);
    }
}

#[test]
fn the_corpus_of_snapshots_finds_nothing() {
    for bytes in corpus("snapshots") {
        fuzzing::snapshots(&bytes);
    }
}

#[test]
fn the_corpus_of_tool_calls_finds_nothing() {
    for bytes in corpus("tools") {
        fuzzing::tools(&bytes);
    }
}

#[test]
fn random_bytes_find_nothing() {
    for seed in 0..2_000 {
        let bytes = Random::new(seed).bytes(400);
        fuzzing::inputs(&bytes);
        fuzzing::snapshots(&bytes);
    }
}
