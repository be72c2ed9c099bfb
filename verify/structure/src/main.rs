//! `cargo run -p structure` prints how large each published crate is, and fails when the code has lost its direction.
//!
//! The table has, for each crate, lines of code without tests, comments and blanks; types (structs, enums, unions and
//! traits, private ones included); public items (types, functions that are no methods, constants, aliases); settings (public
//! fields of structs named `Settings`, `…Config`, `…Limits` or `…Options`); and the largest circle of modules that all name
//! one another. Methods and items that a macro writes are not counted.
//!
//! It fails when a folder names one above it (the table is in `order.rs`), when a folder of such a crate is not in the table, and when a circle is larger than 3. Code for tests alone is not looked at.
#![expect(clippy::print_stdout, reason = "the table is the output")]

mod circles;
mod imports;
mod order;
mod source;

use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, Command};

use crate::circles::largest_circle;
use crate::imports::Imports;
use crate::source::{Source, sources};

/// The crates that are published, with their folders.
const CRATES: [(&str, &str); 16] = [
    ("dirigent-core", "dirigent-core/src"),
    ("dirigent", "src"),
    ("dirigent-store", "dirigent-store/src"),
    ("dirigent-discord", "dirigent-discord/src"),
    ("dirigent-testkit", "dirigent-testkit/src"),
    ("dirigent-loopback", "dirigent-loopback/src"),
    ("dirigent-llm", "dirigent-llm/src"),
    ("dirigent-delegate", "dirigent-delegate/src"),
    ("dirigent-relay", "dirigent-relay/src"),
    ("dirigent-cluster", "dirigent-cluster/src"),
    ("dirigent-scene", "dirigent-scene/src"),
    ("dirigent-control", "dirigent-control/src"),
    ("dirigent-front", "dirigent-front/src"),
    ("dirigent-mcp", "dirigent-mcp/src"),
    ("dirigent-lab", "dirigent-lab/src"),
    ("dirigent-bot", "dirigent-bot/src"),
];

/// Modules that may all name one another: a type, its parts and its errors. More of them are one module in pieces.
const CIRCLE_MAX: usize = 3;

fn main() -> ExitCode {
    let folder = Arg::new("folder").value_name("FOLDER").default_value(".");
    let matches = Command::new("structure")
        .about("Measures the structure of the workspace")
        .arg(folder.help("Where the workspace is"))
        .get_matches();
    let root = matches.get_one::<String>("folder").map_or(".", String::as_str);
    println!("| crate | lines | types | public items | settings | largest circle of modules |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let mut total = Measured::default();
    for (name, folder) in CRATES {
        match sources(&Path::new(root).join(folder)) {
            Ok(sources) => total.add(print_crate(name, &sources)),
            Err(error) => {
                eprintln!("{folder}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    println!(
        "| all | {} | {} | {} | {} | |",
        total.lines, total.types, total.public, total.settings
    );
    for fault in &total.faults {
        eprintln!("{fault}");
    }
    if total.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The figures of a crate, and the rules that it breaks.
#[derive(Default)]
struct Measured {
    lines: usize,
    types: usize,
    public: usize,
    settings: usize,
    /// The modules of the largest circle.
    circle: Vec<String>,
    faults: Vec<String>,
}

impl Measured {
    fn of(name: &str, sources: &[Source]) -> Self {
        let product = || sources.iter().filter(|source| !source.is_test);
        let imports = Imports::of(product());
        let circle = largest_circle(&imports);
        let mut faults = order::faults(name, &imports);
        if circle.len() > CIRCLE_MAX {
            let modules = circle.join(", ");
            faults.push(format!("more than {CIRCLE_MAX} modules name one another: {modules}"));
        }
        Self {
            lines: product().map(|source| source.items.lines).sum(),
            types: product().map(|source| source.items.types).sum(),
            public: product().map(|source| source.items.public).sum(),
            settings: product().map(|source| source.items.settings).sum(),
            circle,
            faults: faults.into_iter().map(|fault| format!("{name}: {fault}")).collect(),
        }
    }

    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.types += other.types;
        self.public += other.public;
        self.settings += other.settings;
        self.faults.extend(other.faults);
    }
}

fn print_crate(name: &str, sources: &[Source]) -> Measured {
    let measured = Measured::of(name, sources);
    let Measured { lines, types, public, settings, circle, .. } = &measured;
    let circle = if circle.is_empty() { "none".to_owned() } else { circle.join(", ") };
    println!("| {name} | {lines} | {types} | {public} | {settings} | {circle} |");
    measured
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A crate of these files, measured under this name.
    fn measured(name: &str, files: &[(&str, &str)]) -> Measured {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Measured::of(name, &sources(folder.path()).unwrap())
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod state; mod machine; mod values;");

    #[test]
    fn a_folder_may_name_those_below_it() {
        let machine = ("machine.rs", "use crate::state::Floor; use crate::values::Id;");
        let state = ("state.rs", "use crate::values::Id; pub(crate) struct Floor(Id);");
        let files = [ROOT, machine, state, ("values.rs", "pub struct Id;")];
        assert_eq!(measured("dirigent-core", &files).faults, <[String; 0]>::default());
    }

    #[test]
    fn a_folder_that_names_one_above_it_is_a_fault() {
        let floor = ("state/floor.rs", "use crate::machine::runs::Run;");
        let run = ("machine/runs.rs", "pub(crate) struct Run;");
        let files =
            [ROOT, floor, run, ("state.rs", "mod floor;"), ("machine.rs", "pub(crate) mod runs;")];
        let faults = measured("dirigent-core", &files).faults;
        assert_eq!(faults, ["dirigent-core: state::floor names machine::runs, which is above it"]);
    }

    #[test]
    fn a_re_export_does_not_hide_the_folder_above() {
        let root = ("lib.rs", "mod machine; mod state; pub use machine::Run;");
        let files = [root, ("machine.rs", "pub struct Run;"), ("state.rs", "use crate::Run;")];
        let faults = measured("dirigent-core", &files).faults;
        assert_eq!(faults, ["dirigent-core: state names machine, which is above it"]);
    }

    #[test]
    fn what_only_tests_name_may_be_above() {
        let state = "#[cfg(test)] mod tests { use crate::machine::Run; }";
        let files = [ROOT, ("machine.rs", "pub(crate) struct Run;"), ("state.rs", state)];
        assert_eq!(measured("dirigent-core", &files).faults, <[String; 0]>::default());
    }

    #[test]
    fn a_folder_that_stands_in_no_order_is_a_fault() {
        let files = [("lib.rs", "mod cellar;"), ("cellar.rs", "use crate::values::Id;")];
        let faults = measured("dirigent-core", &files).faults;
        assert_eq!(faults, ["dirigent-core: the order of folders lacks cellar"]);
    }

    #[test]
    fn a_circle_of_four_is_a_fault_and_one_of_three_is_none() {
        let next = |to: &str| format!("use super::{to}::Of{to};");
        let [a, b, c, back] = ["b", "c", "d", "a"].map(next);
        let three = [("a.rs", &*a), ("b.rs", &*b), ("c.rs", &*back)];
        let three = measured("a-crate", &three);
        assert_eq!((three.circle.len(), three.faults.len()), (3, 0));
        let four =
            measured("a-crate", &[("a.rs", &*a), ("b.rs", &*b), ("c.rs", &*c), ("d.rs", &*back)]);
        assert_eq!(four.faults, ["a-crate: more than 3 modules name one another: a, b, c, d"]);
    }

    #[test]
    fn what_is_counted_is_the_product() {
        let text = "//! A module.\n\npub struct LineLimits {\n    /// Most.\n    pub most: u8,\n    least: u8,\n}\n\
                    enum Private {}\npub fn function() {}\nimpl LineLimits {\n    pub fn method() {}\n}\n\
                    #[cfg(test)]\nmod tests {\n    pub struct OnlyHere;\n}\n";
        let seen = measured("a-crate", &[("limits.rs", text)]);
        assert_eq!((seen.lines, seen.types, seen.public, seen.settings), (9, 2, 2, 1));
    }
}
