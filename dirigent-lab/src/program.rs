//! The commands of this crate for the program `dirigent`, with their arguments and their output.

mod compare;
mod file;
mod lint;
mod prove;
mod replay;
mod what_if;

use std::io::Write;
use std::path::Path;

use clap::Subcommand;

pub use compare::compare;
pub use file::recording;
pub use lint::LintFlags;
pub use prove::ProveFlags;
pub use replay::ReplayFlags;
pub use what_if::WhatIfFlags;

/// The commands of the laboratory. You can flatten them into the commands of your own program.
#[derive(Clone, Debug, Subcommand)]
#[non_exhaustive]
pub enum LabCommand {
    /// Play a recording again under other rules. Prints the scores above each other, and the differences in numbers.
    WhatIf(WhatIfFlags),
    /// Look for a counterexample to a claim about your rules, in every order of events and in worlds drawn by chance. Ends with 1 if it
    /// finds one.
    Prove(ProveFlags),
    /// Look for settings that have no effect, contradict each other or are known to hurt. Ends with 1 if it finds one.
    Lint(LintFlags),
    /// Print a recording as one HTML page that shows it step by step and needs no network. With `--set`, the page also shows the
    /// evening under other rules.
    Replay(ReplayFlags),
}

impl LabCommand {
    /// Runs the command, and returns true if it found no trouble. `config` is the moderator's file of your program, for example
    /// `dirigent.toml`. A command that names no file itself reads that one.
    ///
    /// # Errors
    ///
    /// Returns an error in words for people, which names the file or the setting that is wrong.
    pub fn run(&self, config: &Path, out: &mut dyn Write) -> Result<bool, file::Error> {
        match self {
            Self::WhatIf(flags) => flags.run(out).map(|()| true),
            Self::Prove(flags) => flags.run(config, out),
            Self::Lint(flags) => flags.run(config, out),
            Self::Replay(flags) => flags.run(out).map(|()| true),
        }
    }
}
