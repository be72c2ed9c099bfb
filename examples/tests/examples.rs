//! The examples end by themselves, without an error, and show what their pages promise.
//!
//! `cargo test` builds them before it runs this; `cargo test --test examples` does not.

use std::path::Path;
use std::process::{Command, Output};

/// How an example ends, and what it prints.
#[expect(clippy::unwrap_used, reason = "a test's helper")]
fn run(example: &str, arguments: &[&str]) -> Output {
    let me = std::env::current_exe().unwrap();
    let target = me.ancestors().nth(2).unwrap_or(Path::new(""));
    let path = target.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
    Command::new(path).args(arguments).output().unwrap()
}

/// What an example prints.
fn output_of(example: &str, arguments: &[&str]) -> String {
    let output = run(example, arguments);
    let (said, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{example} failed: {errors}\n{said}");
    said.into_owned()
}

/// Fails unless these stand in the text, in this order.
#[track_caller]
fn assert_in_order(text: &str, expected: &[&str]) {
    let mut rest = text;
    for words in expected {
        let Some((_, after)) = rest.split_once(words) else {
            panic!("\"{words}\" is missing, or in another place:\n{text}");
        };
        rest = after;
    }
}

#[test]
fn the_round_table_plays_its_evening_to_the_end() {
    let said = output_of("roundtable", &["--fast"]);
    assert_in_order(
        &said,
        &[
            "You: Should we build the new search?",
            "optimist speaks (a person wrote)",
            "Optimist: Let us build it.",
            "new cycle, shuffled",
            "dormant: no agent had anything to add",
            "Poet: A search is a question",
            "You: stop",
            "stopped: no agent may speak",
            "You: resume",
            "Optimist: In short: one who stays",
            "optimist concludes: archived for good",
            "Moderator: This discussion is closed.",
            "Moderator: This channel is archived and no longer active.",
        ],
    );
}

/// R143, R144, R154
#[test]
fn a_discussion_survives_its_process_and_ends_in_a_result() {
    let data = tempfile::tempdir().unwrap();
    let said =
        output_of("discussion", &["--fast", "--data", data.path().to_str().unwrap_or_default()]);
    assert_in_order(
        &said,
        &[
            "planner calls create-discussion-channel",
            "moderator: Which database do we take",
            "planner has the floor: the guide was posted",
            "builder: SQLite: one file",
            "--- The process is killed",
            "--- It starts again",
            "sceptic was speaking when the process died",
            "sceptic: Who writes to it?",
            "dormant: no agent had anything to add",
            "planner calls discussion-complete",
            "moderator: Discussion #discussion is concluded. Summary: ",
            "moderator: This discussion is closed.",
            "messages, none twice",
        ],
    );
    let registry = std::fs::read_to_string(data.path().join("dirigent-identity.json")).unwrap();
    assert!(registry.contains("\"agentName\": \"sceptic\""), "{registry}");
}

/// R276, R277, R278
#[test]
fn a_pm_and_a_developer_hand_over_with_a_signal_until_the_work_is_approved() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("hello.jsonl");
    let said = output_of("pm_and_dev", &["--fast", "--record", record.to_str().unwrap()]);
    assert_in_order(
        &said,
        &[
            "You: Build a /hello command",
            "pm has the floor (human-message)",
            "dev asks too, and is denied: another agent has the floor",
            "dev may not speak: pm has the floor.",
            "PM: The spec",
            "dev has not finished, and goes on",
            "Dev: Got it, I write it now.",
            "You: In English and in German, please",
            "Dev: In English and in German, please: noted.",
            "PM: Looks good, approved!",
            "finished: no agent is active",
        ],
    );
    assert!(!said.contains("TURN_COMPLETE"), "the signal is not posted");
    let text = std::fs::read_to_string(record).unwrap();
    let recording = dirigent_store::ChannelRecording::parse(&text).unwrap();
    let told = recording.trace().unwrap().to_string();
    assert_in_order(&told, &["pm     your turn", "dev    denied - not-your-turn (pm)", "finished"]);
}

#[test]
fn the_round_table_tells_every_change_if_asked() {
    let said = output_of("roundtable", &["--fast", "--verbose"]);
    assert_in_order(&said, &["[dormant -> granted: human-message (", "[granted -> running: "]);
}

#[test]
fn denied_runs_call_no_model() {
    let said = output_of("hooks", &[]);
    let expected = [
        "You: The build is red.",
        "builder runs: it has the floor",
        "tester denied: another agent has the floor",
        "its model is out of order",
        "trigger: @reviewer",
        "Revert, and we look at it tomorrow.",
        "19 runs, 6 model calls, 13 saved",
    ];
    assert_in_order(&said, &expected);
}

#[test]
fn the_machine_alone_passes_over_an_agent_that_never_starts() {
    let said = output_of("core_only", &[]);
    let expected =
        ["Which colour?", "retriggered      Eve", "start-timed-out  Eve", "all-passed", "dormant"];
    assert_in_order(&said, &expected);
}

#[test]
fn agents_talk_in_a_chat_that_is_not_discord() {
    let said = output_of("custom_adapter", &[]);
    assert_in_order(&said, &["<you>", "<alice>", "<bert>", "* no agent has anything to add"]);
}

/// EZ1: its ids are words, it knows no nonce, and its messages are longer than Discord's.
#[test]
fn the_chat_that_is_not_discord_keeps_the_contract() {
    let said = output_of("custom_adapter", &["--contract"]);
    let kept = [
        "the id of a message says when it was sent",
        "a lost answer leaves doubt and the nonce ends it",
    ];
    assert_in_order(&said, &[kept[0], kept[1], "the table of ids is kept"]);
    assert!(!said.contains("left out"), "{said}");
}

#[test]
fn help_is_output_and_an_unknown_flag_is_refused() {
    for example in
        ["core_only", "custom_adapter", "discussion", "hooks", "pm_and_dev", "roundtable"]
    {
        assert!(output_of(example, &["--help"]).contains("Usage: "), "{example}");
        let refused = run(example, &["--no-such-flag"]);
        assert_eq!(refused.status.code(), Some(2), "{example}");
        assert!(refused.stdout.is_empty(), "{example}");
    }
}
