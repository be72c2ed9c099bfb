//! Looks up a file step by step from an open folder, so that no link can be inserted during the lookup.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use crate::tools::ToolError;

/// Looks up a regular, readable file. It looks up every name in the folder that it opened before, and follows no link.
/// Returns the number of bytes of the file.
pub(super) fn look_up(root: &Path, names: &[&OsStr]) -> Result<u64, ToolError> {
    let opened = openat(CWD, root, folder_flags(), Mode::empty());
    let mut folder = opened.map_err(|_| ToolError::NoWorkspace)?;
    let Some((file, folders)) = names.split_last() else {
        return Err(ToolError::SummaryNotAFile);
    };
    for name in folders {
        folder = enter(&folder, name)?;
    }
    // This check comes before the opening, because opening a device may already have an effect.
    if kind_of(&folder, file)? != FileType::RegularFile {
        return Err(ToolError::SummaryNotAFile);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&folder, *file, flags, Mode::empty()).map_err(refusal)?;
    let stat = fstat(&file).map_err(refusal)?;
    // The opened file is checked, too, because it may have been exchanged in between.
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(ToolError::SummaryNotAFile);
    }
    Ok(u64::try_from(stat.st_size).unwrap_or(0))
}

fn enter(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, ToolError> {
    let opened = openat(folder, name, folder_flags() | OFlags::NOFOLLOW, Mode::empty());
    opened.or_else(|error| {
        // The error for a link differs between systems.
        kind_of(folder, name)?;
        Err(refusal(error))
    })
}

/// Returns the kind of file with this name, and refuses a link.
fn kind_of(folder: impl AsFd, name: &OsStr) -> Result<FileType, ToolError> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(refusal)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind.is_symlink() { Err(ToolError::SummaryLink) } else { Ok(kind) }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

fn refusal(error: Errno) -> ToolError {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => ToolError::SummaryMissing,
        Errno::LOOP => ToolError::SummaryLink,
        _ => ToolError::SummaryUnreadable,
    }
}
