//! The examples end by themselves and show what they promise.
//!
//! `cargo test` builds them before it runs this; `cargo test --test all` does not.

use std::path::Path;
use std::process::Output;

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use serde_json::{Value, json};
use tokio::process::Command;

/// An example with these arguments and a model.
fn example(name: &str, arguments: &[&str]) -> Command {
    let me = std::env::current_exe().unwrap();
    let target = me.ancestors().nth(2).unwrap_or(Path::new(""));
    let path = target.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
    let mut command = Command::new(path);
    command.args(arguments).kill_on_drop(true);
    command
}

#[track_caller]
fn said(output: &Output) -> String {
    let (said, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "it failed: {errors}\n{said}");
    said.into_owned()
}

#[tokio::test]
async fn the_quickstart_talks_with_a_model_in_less_than_forty_lines() {
    assert!(include_str!("../examples/llm_quickstart.rs").lines().count() < 40);
    let model = LoopbackLlm::start().await.unwrap();
    model.script(["The sea, the sea.", "Too short."].map(ScriptedAnswer::text));
    let mut quickstart = example("llm_quickstart", &[]);
    quickstart.env("DIRIGENT_LLM_URL", model.url()).env("DIRIGENT_LLM_MODEL", "small");
    // A proxy is for what lies outside.
    quickstart.env("http_proxy", "http://127.0.0.1:1").env("HTTP_PROXY", "http://127.0.0.1:1");
    let said = said(&quickstart.output().await.unwrap());
    let words: Vec<&str> =
        said.lines().filter_map(|line| line.split_once(": ")).map(|(_, words)| words).collect();
    let expected = [
        "A line about the sea, please. And what do you think of it?",
        "The sea, the sea.",
        "Too short.",
    ];
    assert_eq!(words, expected);
}

#[tokio::test]
async fn the_round_table_stands_all_that_a_model_does_wrong() {
    let model = LoopbackLlm::start().await.unwrap();
    model.cycle(ScriptedAnswer::evening());
    let url = model.url();
    let record = std::env::temp_dir().join(format!("evening-{}.jsonl", std::process::id()));
    let flags = ["--url", &url, "--model", "small", "--turns", "24", "--record"];
    let mut table = example("llm_roundtable", &flags);
    let said = said(&table.arg(&record).output().await.unwrap());
    let recorded = std::fs::read_to_string(&record).unwrap();
    std::fs::remove_file(&record).unwrap();
    assert!(recorded.lines().count() > 24 && recorded.contains("optimist"), "{recorded}");
    assert!(!recorded.contains("hidden-thought"), "{recorded}");
    assert!(!said.contains("hidden-thought"), "reasoning was said: {said}");
    let counted: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&counted["turns"], &counted["ended"]), (&24.into(), &"turns".into()), "{counted}");
    assert_eq!(
        (&counted["reasoning_leaks"], &counted["lost"]),
        (&0.into(), &0.into()),
        "{counted}"
    );
    assert!(
        counted["passes"].as_u64() > Some(0) && counted["posted"].as_u64() > Some(0),
        "{counted}"
    );
    let mut words = said.lines().filter_map(|line| line.split_once(": ")).map(|(_, words)| words);
    assert!(words.any(|words| words == "A week is short."), "names were taken off: {said}");
}

#[tokio::test]
async fn a_table_at_which_all_agents_fail_says_so_and_one_that_passes_once_does_not() {
    for (answers, sleeps) in [
        ([401, 401].map(ScriptedAnswer::refusal), json!({ "all-failed": 1 })),
        (
            [ScriptedAnswer::refusal(401), ScriptedAnswer::text("NO_REPLY")],
            json!({ "all-passed": 1 }),
        ),
        ([ScriptedAnswer::text("NO_REPLY"), ScriptedAnswer::text("")], json!({ "all-passed": 1 })),
    ] {
        let model = LoopbackLlm::start().await.unwrap();
        model.script(answers);
        let url = model.url();
        let flags =
            ["--url", &url, "--model", "small", "--agents", "2", "--turns", "2", "--every", "9"];
        let said = said(&example("llm_roundtable", &flags).output().await.unwrap());
        let counted: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        assert_eq!((&counted["turns"], &counted["sleeps"]), (&2.into(), &sleeps), "{said}");
    }
}

#[tokio::test]
async fn help_is_output_and_an_unknown_flag_is_refused() {
    let helped = example("llm_roundtable", &["--help"]).output().await.unwrap();
    assert!(said(&helped).contains("Usage: "));
    let refused = example("llm_roundtable", &["--no-such-flag"]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
