//! The commands in a program that has others beside them.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};
use dirigent_lab::program::LabCommand;

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
    assert!(program.config.ends_with("dirigent.toml") && !program.verbose);
    let Command::Lab(command) = program.command else { panic!("{given:?}") };
    let mut out = Vec::new();
    let is_well = command.run(&mut out).unwrap();
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
