//! Finds a summary's file inside `{workspace}/discussion-summary/`, without following links.

use std::ffi::OsStr;
use std::path::{Component, Path};

use super::ToolError;
use crate::text::plain::{is_plain, is_visible, literal};

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
/// The longest path that is posted, in characters.
const PATH_CHARS_MAX: usize = 1_000;

/// A summary's file that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path in the workspace, in one line without backticks, with slashes.
    pub(super) path: String,
    /// `true` if the file is empty.
    pub(super) is_empty: bool,
}

/// Finds the summary. The host names the workspace, and its path may contain links. Below it no link is followed.
pub(super) fn find(workspace: &Path, summary: &str) -> Result<Found, ToolError> {
    if !is_printable(summary) {
        return Err(ToolError::SummaryPath);
    }
    // A relative path would depend on the folder in which the process was started.
    if !workspace.is_absolute() {
        return Err(ToolError::NoWorkspace);
    }
    let root = workspace.canonicalize().map_err(|_| ToolError::NoWorkspace)?;
    // An absolute path may name the workspace with its links or without them.
    let names = names_below(&[workspace, &root], Path::new(summary))?;
    let path: Option<Vec<_>> = names.iter().map(|name| name.to_str()).collect();
    let path = path.ok_or(ToolError::SummaryPath)?.join("/");
    let bytes = look_up(&root, &names)?;
    Ok(Found { path, is_empty: bytes == 0 })
}

/// Returns the names of the folders and the file on the way from the workspace to the summary.
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

/// Returns whether the path can be posted in one line.
fn is_printable(path: &str) -> bool {
    let is_short = literal(path).chars().nth(PATH_CHARS_MAX).is_none();
    is_short && is_visible(path) && is_plain(path) && !path.contains('`')
}
