//! Files as nobody should write them.

use std::fs;

use dirigent::{Certainty, ChannelRecord, ChannelStore, Revision};
use dirigent_store::{Action, BadFile, ParsedChannel, StoreError, parse_channel};

use crate::place::{HERE, Place, THERE, cause, fact, failure, marked, request, stored, turn};
use crate::record::with_checksum;

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

/// Bad files by name.
fn bad_files() -> Vec<(&'static str, Vec<u8>)> {
    let deep = "[".repeat(10_000);
    let field = |json: &str| with("\"mode\": \"none\"", json);
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
        ("a field given twice", field("\"mode\": \"none\", \"mode\": \"chat\"")),
        ("a trailing comma", spoilt("\"mode\": \"none\",", "\"mode\": \"none\",,")),
        ("trailing garbage", format!("{}x", file()).into_bytes()),
        ("two files in one", format!("{0}{0}", file()).into_bytes()),
        ("not a number", spoilt("\"revision\": 8", "\"revision\": NaN")),
        ("a number too large for a float", spoilt("\"revision\": 8", "\"revision\": 1e999")),
        ("minus nothing", spoilt("\"revision\": 8", "\"revision\": -0")),
        ("a negative number", spoilt("\"revision\": 8", "\"revision\": -8")),
        ("a fraction", spoilt("\"revision\": 8", "\"revision\": 8.5")),
        ("more than 64 bits", spoilt("\"revision\": 8", "\"revision\": 18446744073709551616")),
        (
            "the last of all revisions",
            with("\"revision\": 8", "\"revision\": 18446744073709551615"),
        ),
        ("an id as a number", spoilt("\"channel\": \"100000000000000001\"", "\"channel\": 7")),
        ("a wrong type", field("\"mode\": 7")),
        ("null for what is required", field("\"mode\": null")),
        ("an unknown name", field("\"mode\": \"Chat\"")),
        ("without a field", field("\"node\": \"none\"")),
        ("an array", b"[]".to_vec()),
        ("a string", b"\"record\"".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("another channel's", with("\"channel\": \"100000000000000001\"", "\"channel\": \"9\"")),
        ("another's checksum", spoilt("\"none\"", "\"chat\"")),
        ("not ours at all", b"#!/bin/sh\necho hello\n".to_vec()),
    ]
}

/// F26
#[tokio::test]
async fn whatever_is_wrong_with_a_file_it_is_kept_aside_and_the_rest_loads() {
    for (name, bytes) in bad_files() {
        let place = Place::new();
        let store = place.lazy();
        fact(&store, HERE, 0, 1).await;
        fact(&store, THERE, 0, 2).await;
        store.close().await.unwrap();
        let path = place.main(HERE);
        fs::write(&path, &bytes).unwrap();

        let store = place.lazy();
        assert_eq!(stored(&store, HERE).await, None, "{name}");
        assert_eq!(stored(&store, THERE).await, Some((1, 2)), "{name}");
        let problems = store.problems();
        let [problem] = &problems[..] else { panic!("{name}: {problems:?}") };
        assert_eq!(problem.channel, Some(HERE));
        assert_eq!(fs::read(&problem.kept).unwrap(), bytes, "{name}");
        assert!(problem.kept.to_str().unwrap().ends_with(".json.corrupt-1"), "{name}");
        assert!(problem.to_string().starts_with("a file of channel 100000000000000001 is kept as"));
        // The channel begins anew, and what was kept stays.
        fact(&store, HERE, 0, 3).await;
        assert_eq!(stored(&store, HERE).await, Some((1, 3)), "{name}");
        assert_eq!(fs::read(&problem.kept).unwrap(), bytes, "{name}");
        assert_eq!(store.channels().await.unwrap(), [HERE, THERE]);
    }
}

/// D77, F26
#[tokio::test]
async fn whatever_is_wrong_with_a_turn_the_channel_falls_back_to_what_was_synced() {
    let another = ParsedChannel::new(THERE, Revision::new(9), marked(9)).to_json().unwrap();
    for (name, bytes) in bad_files().into_iter().chain([("a turn of another channel", another)]) {
        let place = Place::new();
        let store = place.lazy();
        fact(&store, HERE, 0, 1).await;
        store.close().await.unwrap();
        let path = place.main(HERE).with_file_name(format!("{HERE}.turn.json"));
        fs::write(&path, &bytes).unwrap();
        let store = place.lazy();
        assert_eq!(stored(&store, HERE).await, Some((1, 1)), "{name}");
        let problems = store.problems();
        let [problem] = &problems[..] else { panic!("{name}: {problems:?}") };
        assert_eq!(fs::read(&problem.kept).unwrap(), bytes, "{name}");
        assert!(problem.kept.to_str().unwrap().ends_with(".turn.json.corrupt-1"), "{name}");
        turn(&store, HERE, 1, 2).await;
    }
}

/// F26
#[cfg(unix)]
#[tokio::test]
async fn what_is_no_file_is_told_and_left_alone() {
    use std::os::unix::fs::symlink;

    for kind in ["folder", "pipe", "device", "a link to itself"] {
        let place = Place::new();
        let store = place.lazy();
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
        let store = place.lazy();
        let error = store.load(HERE).await.unwrap_err();
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
async fn a_file_beyond_the_limit_is_kept_aside_unread() {
    let place = Place::new();
    let store = place.lazy();
    fact(&store, HERE, 0, 1).await;
    store.close().await.unwrap();
    fs::OpenOptions::new().write(true).open(place.main(HERE)).unwrap().set_len(100 << 20).unwrap();
    let store = place.lazy();
    assert_eq!(stored(&store, HERE).await, None);
    let problem = store.problems().remove(0);
    assert_eq!(problem.reason, BadFile::TooLarge { limit: 64 << 20 });
    assert_eq!(fs::metadata(problem.kept).unwrap().len(), 100 << 20);
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
    let damaged = file().replace("\"version\": 1,\n  \"ch", "\"version\": 3,\n  \"ch");
    assert_eq!(parse_channel(damaged.as_bytes()), Err(BadFile::Checksum));
    let newer = with_checksum(&damaged);
    assert_eq!(parse_channel(newer.as_bytes()), Err(BadFile::OtherVersion { found: 3 }));
    let stranger = br#"{"version": 2, "channels": ["in another way"]}"#;
    assert_eq!(parse_channel(stranger), Err(BadFile::OtherVersion { found: 2 }));
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
    for (name, bytes) in bad_files() {
        let Err(error) = parse_channel(&bytes) else { continue };
        let said = format!("{error} {error:?}");
        for word in ["none", "Chat", "chat", "\u{1f914}", "hello"] {
            assert!(!said.contains(word), "{name}: {said}");
        }
    }
}
