//! Looks up a file with only the standard library. It does not notice a link that is inserted between two steps, but it
//! reads no part of the file.

use std::ffi::OsStr;
use std::fs::{File, Metadata, symlink_metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::tools::ToolError;

/// Looks up a regular, readable file, and follows no link. Returns its number of bytes.
pub(super) fn look_up(root: &Path, names: &[&OsStr]) -> Result<u64, ToolError> {
    if !root.is_dir() {
        return Err(ToolError::NoWorkspace);
    }
    let mut path = PathBuf::from(root);
    let mut last = None;
    for name in names {
        path.push(name);
        last = Some(look(&path)?);
    }
    match last {
        Some(found) if found.is_file() => {
            File::open(&path).map_err(|_| ToolError::SummaryUnreadable)?;
            Ok(found.len())
        }
        _ => Err(ToolError::SummaryNotAFile),
    }
}

fn look(path: &Path) -> Result<Metadata, ToolError> {
    let found = symlink_metadata(path).map_err(|error| {
        if error.kind() == ErrorKind::PermissionDenied {
            ToolError::SummaryUnreadable
        } else {
            ToolError::SummaryMissing
        }
    })?;
    if found.is_symlink() { Err(ToolError::SummaryLink) } else { Ok(found) }
}
