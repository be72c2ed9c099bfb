//! Files as nobody should write them.

use std::fs;

use dirigent::ports::Certainty;
use dirigent::store::{Barred, ChannelRecord, ChannelStore, CommitError, Revision};
use dirigent_store::{Action, BadFile, ParsedChannel, StoreError, parse_channel};

use crate::channels::place::{
    HERE, Place, THERE, barred, cause, fact, failed, failure, marked, replacement, request, stored,
    turn, written,
};
use crate::channels::record::with_checksum;

/// A sound file.
fn file() -> String {
    let file = ParsedChannel::new(HERE, Revision::new(8), marked(7));
    String::from_utf8(file.to_json().unwrap()).unwrap()
}

/// A sound file in which this is written instead of that, with a right checksum.
fn with(old: &str, new: &str) -> Vec<u8> {
    let sound = file();
    assert_eq!(sound.matches(old).count(), 1, "{old}");
    with_checksum(&sound.replace(old, new)).into_bytes()
}

/// The same without a right checksum, where what stands there is no JSON.
fn spoilt(old: &str, new: &str) -> Vec<u8> {
    let sound = file();
    assert_eq!(sound.matches(old).count(), 1, "{old}");
    sound.replace(old, new).into_bytes()
}

fn utf16(text: &str) -> Vec<u8> {
    [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Damaged files by name.
fn bad_files() -> Vec<(&'static str, Vec<u8>)> {
    let deep = "[".repeat(10_000);
    vec![
        ("empty", Vec::new()),
        ("zeros", vec![0; 4_096]),
        ("only a byte order mark", b"\xef\xbb\xbf".to_vec()),
        ("a byte order mark in front", format!("\u{feff}{}", file()).into_bytes()),
        ("UTF-16", utf16(&file())),
        ("invalid UTF-8", spoilt("\"none\"", "\"none\"").into_iter().chain([0xff]).collect()),
        ("a lone surrogate", spoilt("\"none\"", "\"\\ud800\"")),
        ("NUL", spoilt("\"none\"", "\"no\0ne\"")),
        ("nested 10,000 deep", deep.clone().into_bytes()),
        ("a field nested 10,000 deep", spoilt("\"mode\"", &format!("\"x\": {deep}, \"mode\""))),
        ("a trailing comma", spoilt("\"mode\": \"none\",", "\"mode\": \"none\",,")),
        ("trailing garbage", format!("{}x", file()).into_bytes()),
        ("two files in one", format!("{0}{0}", file()).into_bytes()),
        ("not a number", spoilt("\"revision\": 8", "\"revision\": NaN")),
        ("a number too large for a float", spoilt("\"revision\": 8", "\"revision\": 1e999")),
        ("minus nothing", spoilt("\"revision\": 8", "\"revision\": -0")),
        ("a negative number", spoilt("\"revision\": 8", "\"revision\": -8")),
        ("a fraction", spoilt("\"revision\": 8", "\"revision\": 8.5")),
        ("more than 64 bits", spoilt("\"revision\": 8", "\"revision\": 18446744073709551616")),
        ("an id as a number", spoilt("\"channel\": \"100000000000000001\"", "\"channel\": 7")),
        ("an array", b"[]".to_vec()),
        ("a string", b"\"record\"".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("another channel's", with("\"channel\": \"100000000000000001\"", "\"channel\": \"9\"")),
        ("another's checksum", spoilt("\"none\"", "\"chat\"")),
        ("not ours at all", b"#!/bin/sh\necho hello\n".to_vec()),
    ]
}

/// Files that are as they were written, by a version that knows more; by name.
fn newer_files() -> Vec<(&'static str, Vec<u8>)> {
    let field = |json: &str| with("\"mode\": \"none\"", json);
    vec![
        ("a field given twice", field("\"mode\": \"none\", \"mode\": \"chat\"")),
        (
            "the last of all revisions",
            with("\"revision\": 8", "\"revision\": 18446744073709551615"),
        ),
        ("a wrong type", field("\"mode\": 7")),
        ("null for what is required", field("\"mode\": null")),
        ("an unknown name", field("\"mode\": \"Chat\"")),
        ("without a field", field("\"node\": \"none\"")),
        ("another version", with("\"version\": 2,\n  \"ch", "\"version\": 3,\n  \"ch")),
        ("another version of another shape", br#"{"version": 3, "all": ["elsewhere"]}"#.to_vec()),
    ]
}

/// A store of two channels, in the first one's file of which this stands.
async fn with_file(bytes: &[u8]) -> Place {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    fact(&store, THERE, 0, 2).await;
    store.close().await.unwrap();
    fs::write(place.main(HERE), bytes).unwrap();
    place
}

/// F26
#[tokio::test]
async fn whatever_is_wrong_with_a_file_it_bars_its_channel_across_restarts_and_the_rest_loads() {
    for (name, bytes) in bad_files() {
        let place = with_file(&bytes).await;
        for _ in 0..3 {
            let store = place.open();
            assert_eq!(barred(&store, HERE).await, Barred::Damaged, "{name}");
            assert_eq!(barred(&store, HERE).await, Barred::Damaged, "{name}");
            assert_eq!(stored(&store, THERE).await, Some((1, 2)), "{name}");
            assert_eq!(store.channels().await.unwrap(), [HERE, THERE], "{name}");
            let problems = store.problems();
            let [problem] = &problems[..] else { panic!("{name}: {problems:?}") };
            assert_eq!((problem.channel, problem.bars), (Some(HERE), Some(Barred::Damaged)));
            assert_eq!(problem.kept, place.main(HERE));
            assert!(problem.to_string().contains("gives the channel a mode"), "{problem}");
            assert_eq!(fs::read(place.main(HERE)).unwrap(), bytes, "{name}: it was touched");
            store.close().await.unwrap();
        }
    }
}

/// F26
#[tokio::test]
async fn an_operators_commit_replaces_a_damaged_record_and_keeps_what_is_left_of_it() {
    for (name, bytes) in bad_files() {
        let place = with_file(&bytes).await;
        let kept = place.main(HERE).with_extension("json.corrupt-1");
        let store = place.open();
        assert_eq!(store.commit(replacement(HERE, 3)).await.unwrap(), Revision::new(1), "{name}");
        assert_eq!(stored(&store, HERE).await, Some((1, 3)), "{name}");
        // It is a fact, whatever was asked for.
        assert_eq!(written(&place.main(HERE)), (1, 3), "{name}");
        let problems = store.problems();
        let [problem] = &problems[..] else { panic!("{name}: {problems:?}") };
        assert_eq!((&problem.kept, problem.bars), (&kept, None), "{name}");
        assert!(!problem.to_string().contains("gives the channel a mode"), "{problem}");
        turn(&store, HERE, 1, 4).await;
        store.close().await.unwrap();
        let store = place.open();
        assert_eq!(stored(&store, HERE).await, Some((2, 4)), "{name}");
        assert_eq!(store.problems(), [], "{name}");
        assert_eq!(fs::read(&kept).unwrap(), bytes, "{name}");
        assert_eq!(place.names().len(), 3, "{name}");
    }
}

/// F27
#[tokio::test]
async fn what_a_newer_version_wrote_bars_its_channel_and_is_left_alone() {
    for (name, bytes) in newer_files() {
        let place = with_file(&bytes).await;
        for _ in 0..2 {
            let store = place.open();
            assert_eq!(barred(&store, HERE).await, Barred::OtherVersion, "{name}");
            match store.commit(replacement(HERE, 3)).await {
                Err(CommitError::Barred(Barred::OtherVersion)) => {}
                other => panic!("{name}: {other:?}"),
            }
            assert_eq!(stored(&store, THERE).await, Some((1, 2)), "{name}");
            assert_eq!(store.problems()[0].bars, Some(Barred::OtherVersion), "{name}");
            store.close().await.unwrap();
            assert_eq!(fs::read(place.main(HERE)).unwrap(), bytes, "{name}: it was touched");
            assert_eq!(place.names().len(), 2, "{name}");
        }
        // The version that wrote it finds it as it was; for the test, ours.
        let sound = with("\"revision\": 8", "\"revision\": 9");
        fs::write(place.main(HERE), sound).unwrap();
        assert_eq!(stored(&place.open(), HERE).await, Some((9, 7)), "{name}");
    }
}

/// F26
#[cfg(unix)]
#[tokio::test]
async fn what_is_no_file_is_told_and_left_alone() {
    use std::os::unix::fs::symlink;

    for kind in ["folder", "pipe", "device", "a link to itself"] {
        let (place, store) = Place::opened();
        fact(&store, HERE, 0, 1).await;
        fact(&store, THERE, 0, 2).await;
        store.close().await.unwrap();
        let path = place.main(HERE);
        fs::remove_file(&path).unwrap();
        match kind {
            "folder" => fs::create_dir(&path).unwrap(),
            "pipe" => {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            }
            "device" => symlink("/dev/zero", &path).unwrap(),
            _ => symlink(&path, &path).unwrap(),
        }
        let store = place.open();
        let error = failed(store.load(HERE).await);
        let StoreError::Io { action: Action::Read, .. } = cause(&error) else {
            panic!("{kind}: {error:?}");
        };
        let error = failure(store.commit(request(HERE, 0, 3)).await);
        assert_eq!(error.certainty(), Certainty::NotDone, "{kind}");
        assert_eq!(stored(&store, THERE).await, Some((1, 2)), "{kind}");
        assert!(store.problems().is_empty(), "{kind}");
        assert!(path.symlink_metadata().is_ok(), "{kind}");
    }
}

/// F26
#[tokio::test]
async fn a_file_beyond_the_limit_bars_its_channel_unread() {
    let place = with_file(b"").await;
    fs::OpenOptions::new().write(true).open(place.main(HERE)).unwrap().set_len(100 << 20).unwrap();
    let store = place.open();
    assert_eq!(barred(&store, HERE).await, Barred::Damaged);
    let problem = store.problems().remove(0);
    assert_eq!(problem.reason, BadFile::TooLarge { limit: 64 << 20 });
    store.commit(replacement(HERE, 3)).await.unwrap();
    let kept = place.main(HERE).with_extension("json.corrupt-1");
    assert_eq!(fs::metadata(kept).unwrap().len(), 100 << 20);
}

/// F26
#[test]
fn a_file_cut_anywhere_is_refused() {
    let file = file();
    for at in 0..file.len() - 1 {
        assert!(parse_channel(&file.as_bytes()[..at]).is_err(), "cut at {at}");
    }
}

/// F26
#[test]
fn a_file_with_any_bit_flipped_is_refused() {
    let file = ParsedChannel::new(HERE, Revision::new(8), ChannelRecord::default());
    let file = file.to_json().unwrap();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut flipped = file.clone();
            flipped[at] ^= 1 << bit;
            assert!(parse_channel(&flipped).is_err(), "bit {bit} of byte {at}");
        }
    }
}

/// F27
#[test]
fn a_damaged_number_of_the_version_is_damage_and_no_other_version() {
    let damaged = file().replace("\"version\": 2,\n  \"ch", "\"version\": 3,\n  \"ch");
    assert_eq!(parse_channel(damaged.as_bytes()), Err(BadFile::Checksum));
    let newer = with_checksum(&damaged);
    assert_eq!(parse_channel(newer.as_bytes()), Err(BadFile::OtherVersion { found: 3, reads: 2 }));
    let stranger = br#"{"version": 1, "channels": ["in another way"]}"#;
    assert_eq!(parse_channel(stranger), Err(BadFile::OtherVersion { found: 1, reads: 2 }));
}

/// F26
#[test]
fn a_file_of_more_than_is_ever_written_is_refused_unread() {
    let huge = vec![b' '; (64 << 20) + 1];
    assert_eq!(parse_channel(&huge), Err(BadFile::TooLarge { limit: 64 << 20 }));
}

/// What a file says is no part of what is said about it.
#[test]
fn no_word_of_a_file_is_in_an_error() {
    for (name, bytes) in bad_files().into_iter().chain(newer_files()) {
        let Err(error) = parse_channel(&bytes) else { continue };
        let said = format!("{error} {error:?}");
        for word in ["none", "Chat", "chat", "\u{1f914}", "hello"] {
            assert!(!said.contains(word), "{name}: {said}");
        }
    }
}
