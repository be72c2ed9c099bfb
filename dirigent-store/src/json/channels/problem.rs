//! Files that an operator should look at.

use std::fmt;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::store::Barred;

use crate::error::BadFile;
use crate::problems::Problems;

/// A file that could not be read. It is kept, unchanged.
///
/// ```
/// use dirigent_store::{BadFile, ChannelProblem, JsonChannels};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("agents.json"), "no JSON")?;
/// let channels = JsonChannels::open(folder.path())?;
/// let [ChannelProblem { kept, reason, .. }] = &channels.problems()[..] else { panic!() };
/// assert_eq!(std::fs::read_to_string(kept)?, "no JSON");
/// assert!(matches!(reason, BadFile::NotJson { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelProblem {
    /// Whose file it was; `None` for the file of the agents.
    pub channel: Option<ChannelId>,
    /// Where it is now: aside, or in its place while it bars the channel. Once an operator's commit has
    /// replaced it, where its copy is.
    pub kept: PathBuf,
    /// What is wrong with it.
    pub reason: BadFile,
    /// What bars the channel because of it; `None` when everything else was read without it, or it was
    /// replaced.
    pub bars: Option<Barred>,
}

impl fmt::Display for ChannelProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.channel {
            Some(channel) => write!(f, "a file of channel {channel}")?,
            None => f.write_str("the file of the agents")?,
        }
        write!(f, " is kept as {}: {}", self.kept.display(), self.reason)?;
        match self.bars {
            Some(barred) => write!(f, "; {barred}"),
            None => Ok(()),
        }
    }
}

/// A channel's damaged record was replaced, and what is left of it is the copy.
pub(super) fn replaced(problems: &Problems<ChannelProblem>, channel: ChannelId, copy: &Path) {
    problems.change(|all| {
        let is_it = |problem: &&mut ChannelProblem| {
            problem.channel == Some(channel) && problem.bars == Some(Barred::Damaged)
        };
        for problem in all.iter_mut().filter(is_it) {
            copy.clone_into(&mut problem.kept);
            problem.bars = None;
        }
    });
}
