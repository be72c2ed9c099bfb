//! Reads the tables of pages and the tests in the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where tests live: every `tests` folder of the workspace.
const HOMES: &[&str] = &[
    "",
    "dirigent-bot",
    "dirigent-cluster",
    "dirigent-control",
    "dirigent-core",
    "dirigent-delegate",
    "dirigent-front",
    "dirigent-lab",
    "dirigent-llm",
    "dirigent-loopback",
    "dirigent-mcp",
    "dirigent-relay",
    "dirigent-scene",
    "dirigent-testkit",
    "dirigent-discord",
    "dirigent-store",
    "examples",
    "examples/discord-bot",
    "examples/master-and-slave",
    "examples/poise-bot",
    "examples/quickstart",
    "examples/serenity-bot",
    "verify",
    "verify/openapi",
    "verify/self-test",
];

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the repository")
}

/// Reads a page of `docs/`.
pub(crate) fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// Reads a table of `verify/`.
pub(crate) fn table(name: &str) -> String {
    fs::read_to_string(root().join("verify").join(name)).unwrap()
}

/// The rows of the three-column tables in a text, with their headings and without the lines below them.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = [&str; 3]> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    lines.filter(|line| !line.starts_with("---")).map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        cells.try_into().unwrap_or_else(|_| panic!("not three cells: {line}"))
    })
}

/// Returns the tests that a cell names, each as `path::name`.
#[track_caller]
pub(crate) fn named_tests(cell: &str) -> Vec<String> {
    let named = cell.split(", ").map(|test| {
        let test = test.strip_prefix('`').and_then(|test| test.strip_suffix('`'));
        test.unwrap_or_else(|| panic!("not tests in backticks: {cell}")).to_owned()
    });
    let named: Vec<String> = named.collect();
    let unique: BTreeSet<_> = named.iter().collect();
    assert_eq!(unique.len(), named.len(), "a test is named twice: {cell}");
    named
}

/// The words of a text without what stands between them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
}

/// Every Rust file below a folder; none when there is no such folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The sources of the library and of its crates.
pub(crate) fn sources() -> Vec<PathBuf> {
    let crates = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let of_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name == "src" || name.starts_with("dirigent-"))
    };
    crates.filter(of_ours).flat_map(|folder| rust_files(&folder)).collect()
}

/// The files that quote rules of a turn by their numbers: the machine, the model, all tests, and pages.
pub(crate) fn sources_of_turns() -> Vec<PathBuf> {
    let folders = ["dirigent-core", "verify", "tests", "fuzz", "src"];
    let mut files: Vec<PathBuf> =
        folders.into_iter().flat_map(|folder| rust_files(&root().join(folder))).collect();
    for folder in ["docs", "docs/rules", "verify"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let pages = entries.map(|entry| entry.unwrap().path());
        files.extend(pages.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    files.push(root().join("CHANGELOG.md"));
    files
}

/// The name of the function that a line declares.
fn function(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    let name = line.strip_prefix("fn ")?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The tests of a source text, each with its doc comment.
fn tests_in(source: &str) -> Vec<(String, String)> {
    let mut tests = Vec::new();
    let (mut docs, mut is_test) = (String::new(), false);
    for line in source.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
        } else if line.starts_with("#[") {
            is_test |= line.contains("test");
        } else if !line.starts_with("//") {
            let docs = std::mem::take(&mut docs);
            if let Some(name) = function(line).filter(|_| is_test) {
                tests.push((name.to_owned(), docs));
            }
            is_test = false;
        }
    }
    tests
}

/// Every test in a `tests` folder as `path::name`, with its doc comment.
pub(crate) fn all_tests() -> BTreeMap<String, String> {
    let homes = HOMES.iter().map(|home| root().join(home).join("tests"));
    let mut tests = BTreeMap::new();
    for file in homes.flat_map(|home| rust_files(&home)) {
        let source = fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        for (name, docs) in tests_in(&source) {
            tests.insert(format!("{place}::{name}"), docs);
        }
    }
    tests
}

/// Fails unless each of these tests exists, in a `tests` folder or beside the code.
pub(crate) fn all_exist(named: impl IntoIterator<Item = (String, Vec<String>)>) {
    let known = all_tests();
    for (row, tests) in named {
        for test in tests {
            let (place, name) = test.split_once("::").expect("written as path::name");
            let is_beside_the_code = || {
                let source = fs::read_to_string(root().join(place)).unwrap_or_default();
                tests_in(&source).iter().any(|(other, _)| other == name)
            };
            let exists = known.contains_key(&test) || is_beside_the_code();
            assert!(exists, "{row} names {test}, which does not exist");
        }
    }
}

#[test]
fn a_function_that_is_no_test_does_not_count() {
    let source = "/// P1\n#[test]\n#[ignore = \"P4: later\"]\nfn a() {}\n/// P2\nfn b() {}\n\
                  #[tokio::test]\n// Why.\n/// R001\nasync fn c<T>() {}";
    let expected = [("a", " P1"), ("c", " R001")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(tests_in(source), expected);
}
