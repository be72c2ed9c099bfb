//! Temporary files: how they are named, and what interrupted writes left.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Action, StoreError};

/// What the names of our temporary files begin with; the name of their file follows.
const PREFIX: &str = ".dirigent-";

/// What the names of our temporary files end with.
const SUFFIX: &str = ".tmp";

/// A new file beside the one that it is to replace; gone when dropped.
pub(super) fn temporary(folder: &Path, name: &OsStr) -> io::Result<tempfile::NamedTempFile> {
    // For the owner alone, which is how the crate makes its files on Unix.
    tempfile::Builder::new().prefix(&prefix_of(name)).suffix(SUFFIX).tempfile_in(folder)
}

/// The beginning of the names of a file's temporary files. It holds the file's name, so that two
/// stores in one folder leave each other's alone.
fn prefix_of(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(PREFIX);
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes what interrupted writes left in a folder: of one file, or, in a folder that is wholly
/// ours, of all. The caller holds the lock, so no other store is writing them. Returns how many it removed.
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
