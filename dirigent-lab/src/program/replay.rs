//! The command `dirigent replay`, which prints a recording as an HTML page, with the evening under other rules below it.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dirigent_control::drawing::Replay;

use super::compare::{Compared, assumption};
use super::file::{Error, named, names, recording};
use crate::{Assumption, RuleChoices};

/// The arguments of `dirigent replay`.
#[derive(Clone, Debug, Args)]
#[non_exhaustive]
pub struct ReplayFlags {
    /// A file that `ChannelRecording::save` wrote.
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// A rule set to try, for example `ceilings.chat.turns=8,order.skip_passed=true`. Its score stands below the replay. Give it again
    /// for a further rule set.
    #[arg(long = "set", value_name = "NAME=VALUE,…")]
    pub set: Vec<RuleChoices>,
    /// The answer of an agent that is asked as it was not then: `pass`, or `next` if it says what it said next.
    #[arg(long, value_name = "pass|next", default_value = "pass", value_parser = assumption)]
    pub assume: Assumption,
}

impl ReplayFlags {
    /// Prints the page, which needs no network.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is no recording, if a rule does not exist, or if the writer fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let wrong = |error: &dyn std::fmt::Display| named(&self.recording, error);
        let file = recording(&self.recording).map_err(|error| wrong(&error))?;
        let name = names(&file);
        let replay = Replay::of(&file.recorded, &name).map_err(|error| wrong(&error))?;
        let title = format!("Channel {}", file.channel);
        let page = if self.set.is_empty() {
            replay.html(&title)
        } else {
            let compared = Compared::of(&file.recorded, self.set.iter().cloned(), self.assume)?;
            replay.html_beside(&title, &compared.drawn(&name)?)
        };
        Ok(out.write_all(page.as_bytes())?)
    }
}
