//! Replaces whole files. They are never written in place, so a file is complete at every moment.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::folder::{place_of, sync_folder};
#[cfg(test)]
use super::steps::{Step, note};
use super::stray::temporary;
use crate::error::{Action, StoreError};

/// Replaces the content of a file. The new content survives a power cut when this returns. The content is synced before
/// the rename, so a reader sees the old or the new content as a whole, and so does a disk that lost power. The folder
/// is synced after the rename, because otherwise a power cut could bring back the old content. If this fails, the old
/// file is unchanged, unless the error says that this is unknown, and no temporary file is left.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    replace_as(path, content, |_| Ok(()))
}

/// Like [`replace`], but for a file that people share. The file keeps its mode and its group, and it keeps its owner if
/// the system allows that. If the group cannot be preserved, no group may use the file.
pub(crate) fn replace_shared(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    replace_as(path, content, |new| share_as(path, new))
}

/// The new file is removed if this fails.
fn replace_as(
    path: &Path,
    content: &[u8],
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let (folder, name) = place_of(path)?;
    let mut new = temporary(folder, name)
        .and_then(|mut new| new.write_all(content).map(|()| new))
        .and_then(|new| prepare(new.as_file()).map(|()| new))
        .map_err(|source| StoreError::not_done(Action::Write, path, source))?;
    let failed = |source| StoreError::not_done(not_synced(&source), path, source);
    #[cfg(test)]
    note(Step::SyncFile(path.to_owned())).map_err(failed)?;
    new.as_file_mut().sync_all().map_err(failed)?;
    let failed = |source| StoreError::not_done(Action::Replace, path, source);
    #[cfg(test)]
    note(Step::Put(path.to_owned())).map_err(failed)?;
    new.persist(path).map_err(|refused| failed(refused.error))?;
    sync_folder(folder)
}

/// Gives the new file the permissions of the old one, if there is an old one.
#[cfg(unix)]
fn share_as(path: &Path, file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let old = match fs::metadata(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let new = file.metadata()?;
    let mut mode = old.permissions().mode() & 0o777;
    if new.uid() != old.uid() {
        // Only the superuser can give a file to another owner.
        let _ = fchown(file, Some(old.uid()), None);
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        mode &= !0o070;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn share_as(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

/// Returns the action that failed when new content could not be synced. A full disk counts as a failed write, because
/// the new content is thrown away and no other file depends on it.
fn not_synced(source: &io::Error) -> Action {
    let is_full =
        matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    if is_full { Action::Write } else { Action::Sync }
}

/// Makes a file that is opened with these options readable for its owner only.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::super::names;
    use super::*;

    /// R006, R280
    #[test]
    fn a_file_is_replaced_as_a_whole_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        for content in ["long content", "short", ""] {
            replace(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(names(folder.path()), ["state.json"]);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_replacement_that_fails_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        let error = replace(&path, b"new").unwrap_err();
        assert!(matches!(error, StoreError::Io { action: Action::Replace, .. }), "{error}");
        assert_eq!(error.certainty(), dirigent::ports::Certainty::NotDone);
        assert_eq!(names(folder.path()), ["taken"]);
        let nowhere = folder.path().join("nowhere/state.json");
        let error = replace(&nowhere, b"new").unwrap_err();
        assert!(matches!(error, StoreError::Io { action: Action::Write, .. }), "{error}");
    }

    #[test]
    fn new_content_for_which_a_full_disk_has_no_room_is_no_failed_sync() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert_eq!(not_synced(&kind.into()), Action::Write);
        }
        assert_eq!(not_synced(&io::ErrorKind::Other.into()), Action::Sync);
    }
}
