//! The command `dirigent lint`, which prints settings that deserve a second look.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::file::{Error, File};
use crate::{RuleChoices, lint};

/// The arguments of `dirigent lint`.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct LintFlags {
    /// The moderator's file, for its rules and its number of agents. Without it, the file of `--config` counts.
    #[arg(value_name = "CONFIG")]
    pub file: Option<PathBuf>,
    /// A rule that differs from the file, for example `people.mentions=only`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<RuleChoices>,
}

impl LintFlags {
    /// Prints each setting that has no effect, contradicts another one or is known to hurt. Returns true if there is none. `config` is the
    /// file to read if the arguments name none.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, if a rule does not exist, or if the writer fails.
    pub fn run(&self, config: &Path, out: &mut dyn Write) -> Result<bool, Error> {
        let path = self.file.as_deref().unwrap_or(config);
        let mut file = File::read(path)?;
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
