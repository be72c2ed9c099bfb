//! Files that an operator should look at.

use std::fmt;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::store::Barred;

use crate::error::BadFile;
use crate::problems::Problems;

/// A file that could not be read. It stays unchanged.
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
    /// The channel of the file, or `None` for the file of the agents.
    pub channel: Option<ChannelId>,
    /// The path of the file now. A file that makes its channel unusable stays in its place, and any
    /// other gets a new name. Once an operator's commit has replaced it, this is the path of its copy.
    pub kept: PathBuf,
    /// What is wrong with it.
    pub reason: BadFile,
    /// Why the channel cannot be used. `None` if the store could read everything else without this
    /// file, or if the file was replaced.
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

/// Notes that a channel's damaged record was replaced, so that only the copy is left.
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
