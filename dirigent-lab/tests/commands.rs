//! The commands in a program that has others beside them.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};
use dirigent_control::drawing::WhatIfAsked;
use dirigent_core::{AgentKey, Input};
use dirigent_lab::program::{LabCommand, compare};

/// As the program `dirigent` has them.
#[derive(Parser)]
struct Program {
    #[command(subcommand)]
    command: Command,
    #[arg(long, short, global = true, default_value = "dirigent.toml")]
    config: PathBuf,
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Trace {
        file: PathBuf,
    },
    #[command(flatten)]
    Lab(LabCommand),
}

fn run(given: &[&str]) -> (bool, String) {
    let program = Program::try_parse_from([&["dirigent"], given].concat()).unwrap();
    let Command::Lab(command) = program.command else { panic!("{given:?}") };
    let mut out = Vec::new();
    let is_well = command.run(&program.config, &mut out).unwrap();
    (is_well, String::from_utf8(out).unwrap())
}

#[test]
fn they_stand_beside_others_and_beside_flags_for_all() {
    Program::command().debug_assert();
    let trace = Program::try_parse_from(["dirigent", "trace", "a.jsonl"]).unwrap();
    assert!(matches!(trace.command, Command::Trace { file } if file.ends_with("a.jsonl")));
    let hello = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/pm_and_dev/hello.jsonl");
    let (is_well, told) = run(&["what-if", hello, "--set", "order.skip_passed=true"]);
    assert!(
        is_well && told.starts_with("as recorded\n") && told.contains("\norder.skip_passed=true\n")
    );
    let claim =
        ["prove", "--claim", "addressed-next", "--turns", "2", "--seconds", "3600", "--set"];
    let (is_well, told) = run(&[&claim[..], &["people.mentions=ignored"]].concat());
    assert!(!is_well && told.starts_with("addressed-next: broken; the shortest way:\n"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.toml");
    std::fs::write(&file, "[rules.people]\nsettle = \"9s\"\n").unwrap();
    let (is_well, told) = run(&["lint", file.to_str().unwrap()]);
    assert!(!is_well && told.starts_with("people.settle has no effect: "));
}

#[test]
fn prove_and_lint_read_the_configuration_of_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, other, missing) = (path("bot.toml"), path("other.toml"), path("missing.toml"));
    let text = "[rules.people]\nmentions = \"ignored\"\nsettle = \"9s\"\n\
        [[agents]]\nname = \"poet\"\n[[agents]]\nname = \"critic\"\n";
    std::fs::write(&file, text).unwrap();
    std::fs::write(&other, "").unwrap();
    let prove = ["prove", "--claim", "addressed-next", "--turns", "2", "--seconds", "3600"];
    for given in [[&["-c", &file], &prove[..]].concat(), [&prove[..], &["-c", &file]].concat()] {
        let (is_well, told) = run(&given);
        assert!(!is_well && told.contains("a person writes to critic"), "{told}");
        assert!(told.contains(&format!("explored under the rules of {file}, 2 agents")), "{told}");
    }
    let (is_well, told) = run(&["lint", "-c", &file]);
    assert!(!is_well && told.starts_with("people.settle has no effect: "), "{told}");
    // A file that a command names itself comes before it.
    let (_, told) = run(&["prove", &other, "-c", &file, "--claim", "rests", "--turns", "1"]);
    assert!(told.contains(&format!("explored under the rules of {other}, 2 agents")), "{told}");
    assert!(run(&["lint", &other, "-c", &file]).0);
    for command in [&["lint"][..], &prove] {
        let refused = refused(&[command, &["-c", &missing]].concat());
        assert!(refused.starts_with(&format!("{missing}: ")), "{refused}");
    }
}

fn refused(given: &[&str]) -> String {
    let program = Program::try_parse_from([&["dirigent"], given].concat()).unwrap();
    let Command::Lab(command) = program.command else { panic!("{given:?}") };
    command.run(&program.config, &mut Vec::new()).unwrap_err().to_string()
}

#[test]
fn replay_prints_one_page_with_the_evening_under_the_rules_to_try() {
    let hello = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/pm_and_dev/hello.jsonl");
    let (_, plain) = run(&["replay", hello]);
    assert!(plain.starts_with("<!doctype html>") && !plain.contains("Under other rules"));
    assert_eq!(plain.matches("id=\"replay-data\"").count(), 1);
    let sets = ["--set", "ceilings.chat.turns=1", "--set", "order.skip_passed=true"];
    let (_, page) = run(&[&["replay", hello], &sets[..]].concat());
    let names = ["as recorded", "ceilings.chat.turns=1", "order.skip_passed=true"];
    let places = names.map(|name| page.find(&format!("<h2>{name}</h2>")).unwrap());
    assert!(places.is_sorted(), "above each other, in this order");
    assert_eq!(page.matches("<svg ").count(), 3);
    assert!(page.contains("<th scope=\"row\">model calls</th>"));
    assert!(refused(&["replay", "no-such.jsonl"]).starts_with("no-such.jsonl: "));
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("7.json");
    std::fs::write(&store, "{\n  \"checksum\": 1\n}\n").unwrap();
    for command in ["replay", "what-if"] {
        let told = refused(&[command, store.to_str().unwrap()]);
        assert!(told.ends_with(
            "this needs a recording, and this is a channel's file: see `dirigent trace`"
        ));
    }
}

/// The page of the bot calls it.
#[test]
fn a_visitor_compares_up_to_four_rule_sets_and_reads_what_is_wrong_with_one() {
    let recorded = crate::evenings::hello();
    let name = |key: AgentKey| Some(["pm", "dev"][usize::try_from(key.get()).unwrap()].into());
    let ask = |set: &str, assume: &str| {
        let asked = WhatIfAsked { set: set.to_owned(), assume: assume.to_owned() };
        compare(&recorded, &name, &asked)
    };
    let compared = ask("ceilings.chat.turns=1\n\n order.skip_passed=true \n", "").unwrap();
    let names: Vec<_> = compared.evenings.iter().map(|evening| evening.name.as_str()).collect();
    assert_eq!(names, ["as recorded", "ceilings.chat.turns=1", "order.skip_passed=true"]);
    assert!(compared.evenings.iter().all(|evening| evening.score.contains("<svg ")));
    let calls = compared.figures.iter().find(|figure| figure.name == "model calls").unwrap();
    assert_eq!((calls.values.len(), calls.values[1].as_str()), (3, "2"));
    let cut = &compared.evenings[1].ways;
    assert!(cut.iter().any(|way| way.contains(" does not say what it said after ")), "{cut:?}");
    assert!(ask("people.mentoins=only", "").unwrap_err().starts_with("people.mentoins: unknown"));
    assert_eq!(ask("order.skip_passed=true", "sings").unwrap_err(), "write pass or next");
    assert!(ask("order.skip_passed=true", "next").is_ok());
    assert!(ask(&"order.skip_passed=true\n".repeat(4), "").is_ok());
    let many = ask(&"order.skip_passed=true\n".repeat(5), "").unwrap_err();
    assert_eq!(many, "these are more than 4 rule sets");
    let mut long = recorded.clone();
    long.inputs.resize(20_001, (dirigent_core::Timestamp::default(), Input::Tick));
    let refused = compare(&long, &name, &WhatIfAsked::default()).unwrap_err();
    assert!(refused.starts_with("the recording has more than 20000 inputs"), "{refused}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_visitor_reads_at_which_points_the_evening_takes_another_way_and_what_is_assumed() {
    let held = crate::evenings::hold("labelled/13-zuo-you.txt", dirigent::Config::default()).await;
    for (assume, expected) in [
        ("", "is asked, as it was not then: it is assumed to pass"),
        ("pass", "is asked, as it was not then: it is assumed to pass"),
        ("next", "is asked, as it was not then: it is assumed to say what it said next"),
    ] {
        let asked =
            WhatIfAsked { set: "ceilings.chat.turns=8".to_owned(), assume: assume.to_owned() };
        let compared = compare(&held.recorded, &|_| None, &asked).unwrap();
        assert!(compared.evenings[0].ways.is_empty());
        let ways = &compared.evenings[1].ways;
        assert!(
            ways.iter().any(|way| way.starts_with("after ") && way.ends_with(expected)),
            "{assume}: {ways:?}"
        );
    }
}
