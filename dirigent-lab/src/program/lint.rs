//! `dirigent lint`: settings that deserve a second look.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::file::{Error, File};
use crate::{RuleChoices, lint};

/// What `dirigent lint` is given.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct LintFlags {
    /// The moderator's file; its rules are looked at, for as many agents as it has.
    #[arg(value_name = "CONFIG")]
    pub file: PathBuf,
    /// A rule that is other than in the file, for example `people.mentions=only`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<RuleChoices>,
}

impl LintFlags {
    /// Prints each setting that has no effect, contradicts another one or is known to hurt. Says whether there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, a rule that is none, or a writer that fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool, Error> {
        let mut file = File::read(&self.file)?;
        let mut choices = RuleChoices::default();
        choices.extend(self.set.iter().cloned());
        file.rules = choices.over_all(&file.rules)?;
        let found = lint(&file.rules, file.agents());
        for advice in &found {
            writeln!(out, "{} {}: {} ({})", advice.key, advice.kind, advice.what, advice.story)?;
        }
        if found.is_empty() {
            writeln!(out, "nothing deserves a second look")?;
        }
        Ok(found.is_empty())
    }
}
