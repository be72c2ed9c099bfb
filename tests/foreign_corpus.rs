//! The fuzzers' corpora of foreign bytes, replayed without a fuzzer; cut and bent as well.

use std::fs;
use std::path::Path;

#[path = "../fuzz/bodies/channel_file.rs"]
mod channel_file;
#[path = "../fuzz/bodies/ego_file.rs"]
mod ego_file;
#[path = "../fuzz/bodies/identity_file.rs"]
mod identity_file;
#[path = "../fuzz/bodies/requests.rs"]
mod requests;

/// Runs every file of a corpus as it is, cut short, and with a byte changed here and there.
fn replay(name: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        let bytes = fs::read(file).unwrap();
        body(&bytes);
        let step = bytes.len() / 64 + 1;
        for at in (0..bytes.len()).step_by(step) {
            body(&bytes[..at]);
            let mut bent = bytes.clone();
            bent[at] ^= 1 << (at % 8);
            body(&bent);
        }
    }
}

/// F26, F27
#[test]
fn the_corpus_of_channel_files_finds_nothing() {
    replay("channel_file", channel_file::channel_file);
}

/// R003, R007
#[test]
fn the_corpus_of_registries_finds_nothing() {
    replay("identity_file", identity_file::identity_file);
}

/// R023, R024
#[test]
fn the_corpus_of_ego_files_finds_nothing() {
    replay("ego_file", ego_file::ego_file);
}

/// What another process writes.
#[test]
fn the_corpus_of_requests_finds_nothing() {
    replay("requests", requests::requests);
}
