//! The command-line options of a bench.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// The flags of a bench: all are `--name value`, but for what cargo adds. `--help` is answered on standard output,
/// and a flag that is not known ends the process with 2.
pub(crate) struct Options {
    command: Command,
    /// What the numbers are unless they are given.
    usual: Vec<(&'static str, usize)>,
}

impl Options {
    pub(crate) fn new(bench: &'static str, about: &'static str) -> Self {
        let cargos = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
        };
        let command = Command::new(bench)
            .about(about)
            .arg(cargos("test", "Runs once, with numbers of 200 at most unless they are given"))
            .arg(cargos("bench", "Cargo says so, and it changes nothing"));
        Self { command, usual: Vec::new() }
    }

    /// Takes a number.
    pub(crate) fn number(mut self, name: &'static str, usual: usize, help: &str) -> Self {
        let flag = Arg::new(name).long(name).value_name("N").value_parser(value_parser!(usize));
        self.command = self.command.arg(flag.help(format!("{help} [usually {usual}]")));
        self.usual.push((name, usual));
        self
    }

    /// Takes one of these words; the first unless another is given.
    pub(crate) fn word(
        mut self,
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        let flag = Arg::new(name).long(name).value_name("WORD").help(help);
        let flag = flag.value_parser(PossibleValuesParser::new(words));
        let usual = words.first().copied().unwrap_or_default();
        self.command = self.command.arg(flag.default_value(usual));
        self
    }

    /// Takes a folder.
    pub(crate) fn folder(mut self, name: &'static str, help: &'static str) -> Self {
        self.command = self.command.arg(Arg::new(name).long(name).value_name("FOLDER").help(help));
        self
    }

    pub(crate) fn read(self) -> Given {
        Given { matches: self.command.get_matches(), usual: self.usual }
    }
}

/// What was given.
pub(crate) struct Given {
    matches: ArgMatches,
    usual: Vec<(&'static str, usize)>,
}

impl Given {
    /// Whether cargo runs the bench as a test: then once, and small.
    pub(crate) fn is_test(&self) -> bool {
        self.matches.get_flag("test")
    }

    pub(crate) fn number(&self, name: &str) -> usize {
        self.matches.get_one(name).copied().unwrap_or_else(|| {
            let (_, usual) = self.usual.iter().find(|(known, _)| *known == name).unwrap();
            if self.is_test() { (*usual).min(200) } else { *usual }
        })
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.matches.get_one::<String>(name).map(String::as_str)
    }
}
