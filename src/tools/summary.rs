//! Where a summary is: inside `{workspace}/discussion-summary/`, as itself.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::ToolError;
use crate::plain::disturbs;

#[cfg(unix)]
mod beneath;
#[cfg(not(unix))]
mod portable;

#[cfg(unix)]
use beneath::look_up;
#[cfg(not(unix))]
use portable::look_up;

/// The folder for summaries, in the workspace.
const FOLDER: &str = "discussion-summary";
/// The longest path.
const PATH_CHARS_MAX: usize = 1_000;

/// A summary that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// Its absolute path, in one line without backticks, ready to be posted.
    pub(super) path: String,
    /// Whether there is nothing in it.
    pub(super) is_empty: bool,
}

/// What is at the end of a path.
struct Found {
    bytes: u64,
}

/// Finds the summary. The workspace is the host's word and may be reached through links; below it
/// none is followed.
pub(super) fn find(workspace: &Path, summary: &str) -> Result<Summary, ToolError> {
    if !is_printable(summary) {
        return Err(ToolError::SummaryPath);
    }
    if !workspace.is_absolute() {
        return Err(ToolError::NoWorkspace);
    }
    let root = workspace.canonicalize().map_err(|_| ToolError::NoWorkspace)?;
    let names = names_below(&[workspace, &root], Path::new(summary))?;
    let path: PathBuf = root.iter().chain(names.iter().copied()).collect();
    let path = path.to_str().filter(|path| is_printable(path)).ok_or(ToolError::SummaryPath)?;
    let Found { bytes } = look_up(&root, &names)?;
    Ok(Summary { path: path.to_owned(), is_empty: bytes == 0 })
}

/// The folders and the file on the way from the workspace to the summary.
fn names_below<'a>(roots: &[&Path], summary: &'a Path) -> Result<Vec<&'a OsStr>, ToolError> {
    let below = if summary.is_absolute() {
        roots.iter().find_map(|root| summary.strip_prefix(root).ok())
    } else {
        Some(summary)
    };
    let mut names = Vec::new();
    for component in below.ok_or(ToolError::SummaryOutside)?.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(ToolError::SummaryOutside);
            }
        }
    }
    match names.as_slice() {
        [folder] if *folder == FOLDER => Err(ToolError::SummaryNotAFile),
        [folder, ..] if *folder == FOLDER => Ok(names),
        _ => Err(ToolError::SummaryOutside),
    }
}

/// Whether the path can be posted in one line of code.
fn is_printable(path: &str) -> bool {
    let is_short = path.chars().nth(PATH_CHARS_MAX).is_none();
    is_short && !path.trim().is_empty() && !path.chars().any(|c| c == '`' || disturbs(c))
}
