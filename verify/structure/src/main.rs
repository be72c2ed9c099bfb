//! `cargo run -p structure` prints one table: how large types, files and functions are, and how modules import
//! one another in circles. It fails where one is larger than it may be. Code for tests alone is not looked at,
//! but counts as lines.
#![expect(clippy::print_stdout, reason = "the table is the output")]

mod circles;
mod imports;
mod source;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, Command};

use crate::circles::largest_circle;
use crate::imports::Imports;
use crate::source::{Source, sources};

/// The crates that are published, with their folders.
const CRATES: [(&str, &str); 13] = [
    ("dirigent-core", "dirigent-core/src"),
    ("dirigent", "src"),
    ("dirigent-store", "dirigent-store/src"),
    ("dirigent-discord", "dirigent-discord/src"),
    ("dirigent-testkit", "dirigent-testkit/src"),
    ("dirigent-loopback", "dirigent-loopback/src"),
    ("dirigent-llm", "dirigent-llm/src"),
    ("dirigent-llm-loopback", "dirigent-llm-loopback/src"),
    ("dirigent-delegate", "dirigent-delegate/src"),
    ("dirigent-relay", "dirigent-relay/src"),
    ("dirigent-scene", "dirigent-scene/src"),
    ("dirigent-control", "dirigent-control/src"),
    ("dirigent-viewer", "dirigent-viewer/src"),
];

/// Of these the lines are added up.
const ADDED_UP: usize = 4;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 60;
const TYPE_FUNCTIONS_MAX: usize = 42;
const FACADE_FUNCTIONS_MAX: usize = 42;
/// The types that are all of something for who uses the crate: the core's look at a channel, the driver, a channel, an agent's
/// turn, an account, the in-memory Discord.
const FACADES: [&str; 6] =
    ["View", "Dirigent", "Channel", "Turn", "DiscordAccount", "MemoryDiscord"];
const CIRCLE_MAX: usize = 3;
/// The driver is larger than the other crates.
const DRIVER_CIRCLE_MAX: usize = 5;

fn main() -> ExitCode {
    let folder = Arg::new("folder").value_name("FOLDER").default_value(".");
    let matches = Command::new("structure")
        .about("Measures the structure of the workspace")
        .arg(folder.help("Where the workspace is"))
        .get_matches();
    let root = matches.get_one::<String>("folder").map_or(".", String::as_str);
    println!(
        "| crate | lines of code | largest types (functions of their own, files) | modules in the largest circle | \
         of | files above {FILE_LINES_MAX} lines | functions above {FUNCTION_LINES_MAX} |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let (mut total, mut is_well) = (0, true);
    for (at, (name, folder)) in CRATES.into_iter().enumerate() {
        match sources(&Path::new(root).join(folder)) {
            Ok(sources) => {
                if at < ADDED_UP {
                    total += sources.iter().map(|source| source.code_lines).sum::<usize>();
                }
                is_well &= print_crate(name, &sources);
            }
            Err(error) => {
                eprintln!("{folder}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    println!("\n{total} lines without comments and blanks in the first {ADDED_UP} together.");
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a row; returns whether all is as small as it must be.
fn print_crate(name: &str, sources: &[Source]) -> bool {
    let code: usize = sources.iter().map(|source| source.code_lines).sum();
    let looked_at = || sources.iter().filter(|source| !source.is_test);
    let mut types: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in looked_at() {
        for (owner, functions) in &source.functions_of {
            let entry = types.entry(owner).or_default();
            *entry = (entry.0 + functions, entry.1 + 1);
        }
    }
    let mut largest: Vec<_> =
        types.into_iter().filter(|(_, (functions, _))| *functions > TYPE_FUNCTIONS_MAX).collect();
    largest.sort_by_key(|(_, (functions, _))| std::cmp::Reverse(*functions));
    let functions_max =
        |owner| if FACADES.contains(owner) { FACADE_FUNCTIONS_MAX } else { TYPE_FUNCTIONS_MAX };
    let mut exceeded: Vec<String> = largest
        .iter()
        .filter(|(owner, (functions, _))| *functions > functions_max(owner))
        .map(|(owner, _)| format!("{owner} has too many functions"))
        .collect();
    let largest: Vec<String> = largest
        .into_iter()
        .map(|(owner, (functions, files))| format!("{owner} {functions} in {files}"))
        .collect();
    let imports = Imports::of(looked_at());
    let circle = largest_circle(&imports);
    let long_files: Vec<String> = looked_at()
        .filter(|source| source.lines > FILE_LINES_MAX)
        .map(|source| format!("{} {}", source.module.join("::"), source.lines))
        .collect();
    let long = looked_at().flat_map(|source| &source.functions);
    let long = long.filter(|(_, lines)| *lines > FUNCTION_LINES_MAX);
    let long: Vec<String> = long.map(|(function, lines)| format!("{function} {lines}")).collect();
    println!(
        "| {name} | {code} | {} | {}{} | {} | {} | {} |",
        or_none(&largest),
        circle.len(),
        circle.first().map_or(String::new(), |first| format!(" ({first} …)")),
        imports.modules(),
        or_none(&long_files),
        or_none(&long),
    );
    let circle_max = if name == "dirigent" { DRIVER_CIRCLE_MAX } else { CIRCLE_MAX };
    let others =
        [(circle.len() > circle_max)
            .then(|| format!("more than {circle_max} modules in a circle"))];
    exceeded.extend(others.into_iter().flatten());
    for exceeded in &exceeded {
        eprintln!("{name}: {exceeded}");
    }
    exceeded.is_empty()
}

fn or_none(found: &[String]) -> String {
    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
}
