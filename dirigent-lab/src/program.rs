//! The commands of the program `dirigent` that this crate carries out: their arguments, and what they print.

mod what_if;

use std::io::Write;

use clap::Subcommand;

pub use what_if::WhatIfFlags;

/// The commands, for a program that has others beside them.
#[derive(Clone, Debug, Subcommand)]
#[non_exhaustive]
pub enum LabCommand {
    /// Play a recording again under other rules: scores above each other, and what differs in numbers.
    WhatIf(WhatIfFlags),
}

impl LabCommand {
    /// Carries the command out. Says whether all is well.
    ///
    /// # Errors
    ///
    /// In words for people, with the file or the setting that is wrong.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool, Error> {
        match self {
            Self::WhatIf(flags) => flags.run(out).map(|()| true),
        }
    }
}

/// An error for people: its text names the file or the setting.
type Error = Box<dyn std::error::Error + Send + Sync>;
