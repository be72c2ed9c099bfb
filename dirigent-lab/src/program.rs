//! The commands of the program `dirigent` that this crate carries out: their arguments, and what they print.

mod file;
mod lint;
mod prove;
mod what_if;

use std::io::Write;

use clap::Subcommand;

pub use lint::LintFlags;
pub use prove::ProveFlags;
pub use what_if::WhatIfFlags;

/// The commands, for a program that has others beside them.
#[derive(Clone, Debug, Subcommand)]
#[non_exhaustive]
pub enum LabCommand {
    /// Play a recording again under other rules: scores above each other, and what differs in numbers.
    WhatIf(WhatIfFlags),
    /// Look for a way on which a claim about your rules breaks: in every order of events, or in worlds drawn by chance. Ends with 1 if
    /// one is found.
    Prove(ProveFlags),
    /// Look for settings that can never take effect, contradict each other or are known to hurt. Ends with 1 if there is one.
    Lint(LintFlags),
}

impl LabCommand {
    /// Carries the command out. Says whether all is well.
    ///
    /// # Errors
    ///
    /// In words for people, with the file or the setting that is wrong.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool, file::Error> {
        match self {
            Self::WhatIf(flags) => flags.run(out).map(|()| true),
            Self::Prove(flags) => flags.run(out),
            Self::Lint(flags) => flags.run(out),
        }
    }
}
