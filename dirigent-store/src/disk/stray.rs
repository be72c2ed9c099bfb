//! Temporary files: their names, and how to remove the ones that interrupted writes left.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Action, StoreError};

/// The names of temporary files start with this. The name of the file that they replace follows.
const PREFIX: &str = ".dirigent-";

const SUFFIX: &str = ".tmp";

/// Creates a file beside the one that it will replace. The file is removed when it is dropped.
pub(super) fn temporary(folder: &Path, name: &OsStr) -> io::Result<tempfile::NamedTempFile> {
    // On Unix the crate `tempfile` makes its files for the owner alone.
    tempfile::Builder::new().prefix(&prefix_of(name)).suffix(SUFFIX).tempfile_in(folder)
}

/// Returns the start of the names of a file's temporary files. It contains the file's name, so that two
/// stores in one folder do not remove each other's files.
fn prefix_of(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(PREFIX);
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes the files that interrupted writes left in a folder, and returns how many. These are the files of
/// one name, or all of them in a folder that belongs to the store alone. The caller holds the lock, so no
/// other store is writing them.
pub(crate) fn remove_strays(folder: &Path, of: Option<&OsStr>) -> Result<usize, StoreError> {
    let refused = |source| StoreError::not_done(Action::RemoveStray, folder, source);
    let prefix = of.map_or_else(|| PREFIX.into(), prefix_of);
    let mut removed = 0;
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let ours = name.starts_with(prefix.as_encoded_bytes()) && name.ends_with(SUFFIX.as_bytes());
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::remove_file(entry.path()).map_err(refused)?;
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::super::names;
    use super::*;

    #[test]
    fn only_our_own_strays_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ours = [".dirigent-a.json.x1.tmp", ".dirigent-b.json.x2.tmp"];
        let others = ["a.json", ".dirigent-a.json", "x.tmp", ".dirigent.lock"];
        for name in ours.into_iter().chain(others) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join(".dirigent-a.json.folder.tmp")).unwrap();
        assert_eq!(remove_strays(folder.path(), Some("a.json".as_ref())).unwrap(), 1);
        assert!(folder.path().join(ours[1]).exists());
        assert_eq!(remove_strays(folder.path(), None).unwrap(), 1);
        assert_eq!(names(folder.path()).len(), others.len() + 1);
    }
}
