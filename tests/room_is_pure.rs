//! A room, and what decides which action may start, are values: they read no clock, wait for nothing,
//! lock nothing. The compiler does not say so, therefore this does.

use std::fs;
use std::path::{Path, PathBuf};

/// What a value has no use for.
const FORBIDDEN: [&str; 9] =
    ["async", "await", "tokio", "Mutex", "RwLock", "Notify", "oneshot", "Instant", "SystemTime"];

/// The sources below this folder or file, without those of tests.
fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        if path.ends_with("tests") || path.ends_with("simulation") {
            return;
        }
        for entry in fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
        return;
    }
    let is_test = path.file_stem().is_some_and(|stem| stem == "tests" || stem == "simulation");
    let is_source = path.extension().is_some_and(|extension| extension == "rs");
    if is_source && !is_test {
        found.push(path.to_path_buf());
    }
}

/// The forbidden words in this source, each with its line: comments and the tests at its end excepted.
fn impurities(source: &str) -> Vec<(usize, &'static str)> {
    let lines = (1..).zip(source.lines());
    let code = lines.take_while(|(_, line)| line.trim() != "mod tests {");
    let words = code.flat_map(|(at, line)| {
        let code = line.split("//").next().unwrap_or_default();
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.map(move |word| (at, word))
    });
    let known = |(at, word)| Some((at, *FORBIDDEN.iter().find(|known| **known == word)?));
    words.filter_map(known).collect()
}

fn nothing_impure_in(places: &[&str], least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let mut found = Vec::new();
    for place in places {
        sources(&root.join(place), &mut found);
    }
    assert!(found.len() >= least, "the sources have moved: {found:?}");
    for path in found {
        let source = fs::read_to_string(&path).unwrap();
        assert_eq!(impurities(&source), [], "{}", path.display());
    }
}

#[test]
fn a_room_reads_no_clock_waits_for_nothing_and_locks_nothing() {
    nothing_impure_in(&["room.rs", "room"], 20);
}

#[test]
fn what_decides_which_action_may_start_is_a_value_too() {
    nothing_impure_in(&["admission.rs", "admission"], 6);
}

#[test]
fn an_impurity_is_found_wherever_it_stands() {
    let source = "use tokio::sync;\n// a Mutex\nlet now = Instant::now(); // async\nrun().await;\n\
                  struct Instantly;\nmod tests {\nasync fn test() {}\n";
    assert_eq!(impurities(source), [(1, "tokio"), (3, "Instant"), (4, "await")]);
}
