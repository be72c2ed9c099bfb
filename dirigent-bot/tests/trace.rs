//! `dirigent trace` and `dirigent replay`.

use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::hooks::TurnId;
use dirigent::operate::{Cause, Transition};
use dirigent::ports::Timestamp;
use dirigent::snapshot::AgentKey;
use dirigent::snapshot::PhaseKind;
use dirigent::store::{ChannelRecord, ChannelStore, Commit, Durability, Revision};
use dirigent_store::JsonChannels;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/pm_and_dev")
}

/// How the tool ends, and what it writes to its output and to the errors.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut tool = std::process::Command::new(crate::stage::PROGRAM);
    let ran = tool.current_dir(folder()).arg("trace").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

/// What the laboratory prints stands in its own tests.
#[test]
fn the_tool_plays_an_evening_under_other_rules_proves_claims_and_looks_at_settings() {
    let ran = |arguments: &[&str]| {
        let mut tool = std::process::Command::new(crate::stage::PROGRAM);
        let ran = tool.current_dir(folder()).args(arguments).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
    };
    let (code, told) = ran(&["what-if", "hello.jsonl", "--set", "order.skip_passed=true"]);
    assert_eq!(code, Some(0));
    assert!(told.starts_with("as recorded\n") && told.contains("\norder.skip_passed=true\n"));
    let claim =
        ["prove", "--claim", "addressed-next", "--turns", "2", "--seconds", "3600", "--set"];
    let ignored = [&claim[..], &["people.mentions=ignored"]].concat();
    let (code, told) = ran(&ignored);
    assert_eq!(code, Some(1));
    assert!(told.starts_with("addressed-next: broken; the shortest way:\n  a person writes to"));
    let (code, told) = ran(&["lint", "no-such.toml"]);
    assert_eq!((code, told.as_str()), (Some(1), ""));
}

/// F10: the tool itself, and that it says what is wrong and ends with a failure.
#[test]
fn the_tool_tells_a_recording_from_a_file_and_what_is_wrong_with_one() {
    let told = |file| {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        (Some(0), text, String::new())
    };
    assert_eq!(run(&["hello.jsonl"]), told("hello.txt"));
    assert_eq!(run(&["--mermaid", "hello.jsonl"]), told("hello.mmd"));
    for (file, error) in
        [("nowhere.jsonl", "nowhere.jsonl: "), ("hello.txt", "hello.txt: "), (".", ".: ")]
    {
        let (code, told, refused) = run(&[file]);
        assert_eq!((code, told.as_str()), (Some(1), ""), "{file}");
        assert!(refused.starts_with(error), "{file}: {refused}");
    }
}

#[test]
fn help_is_output_and_arguments_that_are_not_known_are_an_error_of_usage() {
    for flag in ["--help", "-h"] {
        let (code, help, errors) = run(&[flag]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        for word in ["Usage: dirigent trace", "<RECORDING|CHANNEL>", "--mermaid"] {
            assert!(help.contains(word), "{help}");
        }
    }
    for (arguments, word) in [
        (&[][..], "<RECORDING|CHANNEL>"),
        (&["--svg", "hello.jsonl"], "--svg"),
        (&["hello.jsonl", "-x"], "-x"),
        (&["hello.jsonl", "hello.jsonl"], "hello.jsonl"),
    ] {
        let (code, told, refused) = run(arguments);
        assert_eq!((code, told.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(refused.contains(word) && refused.contains("Usage: "), "{refused}");
    }
}

const HERE: ChannelId = ChannelId::new(123_456_789_012_345_678);

/// A store with one channel whose first commit is a fact and whose second is a turn, with two transitions.
async fn stored(root: &Path) -> JsonChannels {
    let store = JsonChannels::open(root).unwrap();
    let pm = store.add_agent("pm".into()).await.unwrap();
    let mut record = ChannelRecord::default();
    record.snapshot.state.standing.mode = dirigent::Mode::Chat;
    record.snapshot.state.standing.created = true;
    record.snapshot.state.roster.read_at = Some(Timestamp::from_millis(1_000));
    let change = |at: u64, cause: Cause, from, to, agent: Option<AgentKey>| {
        let at = Timestamp::from_millis(at);
        Transition { at, from, to, agent, turn: TurnId::new(1), cause }
    };
    let (dormant, granted) = (PhaseKind::Dormant, PhaseKind::Granted);
    let changes = [
        change(1_000, Cause::HumanMessage, dormant, granted, Some(pm)),
        change(3_500, Cause::Passed, granted, dormant, Some(pm)),
    ];
    let kinds = [Durability::Fact, Durability::Turn];
    for ((change, durability), expected) in changes.into_iter().zip(kinds).zip(0..) {
        let commit = Commit {
            channel: HERE,
            expected: Revision::new(expected),
            record: record.clone().into(),
            durability,
            transitions: vec![change].into(),
            replaces_damaged: false,
        };
        store.commit(commit).await.unwrap();
    }
    store
}

#[tokio::test]
async fn the_tool_tells_the_newest_state_and_the_transitions_that_the_json_store_has() {
    let folder = tempfile::tempdir().unwrap();
    // It is open meanwhile.
    let store = stored(folder.path()).await;
    let file = folder.path().join(format!("channels/{HERE}.json"));
    let (code, told, errors) = run(&[file.to_str().unwrap()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    for part in [
        "channel 123456789012345678, commit 2\n",
        "  mode        chat\n",
        "  turns       disabled\n",
        "  floor       no agent\n",
        "  list        empty\n",
        "The last 2 transitions that are stored:\n",
        "     0.000     1  pm     dormant -> granted - human-message\n",
        "     2.500     1  pm     granted -> dormant - passed\n",
        "Not stored: what was said, who asked to speak, who was denied, and why.",
        "`ChannelRecording::save`",
    ] {
        assert!(told.contains(part), "{part:?} is not in\n{told}");
    }
    store.close().await.unwrap();
    // A copy by itself tells what stands in it.
    let copy = folder.path().join("copy.json");
    std::fs::copy(&file, &copy).unwrap();
    let (code, told, _) = run(&[copy.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    assert!(told.contains("commit 2\n") && told.contains("No transitions are stored"), "{told}");
}

#[tokio::test]
async fn the_tool_says_what_a_channels_file_cannot_give() {
    let folder = tempfile::tempdir().unwrap();
    stored(folder.path()).await.close().await.unwrap();
    let file = folder.path().join(format!("channels/{HERE}.json"));
    let refused = |arguments: &[&str], word: &str| {
        let (code, told, errors) = run(arguments);
        assert_eq!((code, told.as_str()), (Some(1), ""));
        assert!(errors.contains(word), "{errors}");
    };
    refused(&[file.to_str().unwrap(), "--mermaid"], "a diagram needs a recording");
    refused(&[file.with_extension("history.jsonl").to_str().unwrap()], "<id>.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("chat", "talk")).unwrap();
    refused(&[file.to_str().unwrap()], "checksum");
}
