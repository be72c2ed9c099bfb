//! Keeps damaged files under another name, so that an operator can look at them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::folder::{place_of, sync_folder};
use super::replace::private;
use crate::error::{Action, StoreError};

/// Renames a corrupt file to `<name>.corrupt-N`, with the first number that is free, and returns its new path. It
/// never overwrites a file, because it creates a file of that name before it renames.
pub(crate) fn keep_aside(path: &Path) -> Result<PathBuf, StoreError> {
    with_free_name(path, |kept| {
        private(OpenOptions::new().write(true).create_new(true)).open(kept)?;
        fs::rename(path, kept).inspect_err(|_| {
            let _ = fs::remove_file(kept);
        })
    })
}

/// Copies a damaged file to `<name>.corrupt-N`, with the first number that is free, and returns the path of the copy.
/// The file also stays where it is, so that there is a file at every moment. It never overwrites a file.
pub(crate) fn keep_copy(path: &Path) -> Result<PathBuf, StoreError> {
    with_free_name(path, |kept| copy_new(path, kept))
}

/// Makes a file named `<name>.corrupt-N`, with the first number that is free, and returns its path once the folder is
/// synced. `take` makes the file, and fails with `AlreadyExists` if the name is not free. Any other error ends the
/// search.
fn with_free_name(
    path: &Path,
    take: impl Fn(&Path) -> io::Result<()>,
) -> Result<PathBuf, StoreError> {
    let refused = |source| StoreError::not_done(Action::KeepAside, path, source);
    let (folder, name) = place_of(path)?;
    for number in 1_u32..=u32::MAX {
        let mut kept = name.to_owned();
        kept.push(format!(".corrupt-{number}"));
        let kept = folder.join(kept);
        match take(&kept) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(refused(error)),
        }
        sync_folder(folder)?;
        return Ok(kept);
    }
    Err(refused(io::ErrorKind::AlreadyExists.into()))
}

/// Copies a file to a name that is free, and waits until the copy is on the disk.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(from)?;
    let mut copy = private(OpenOptions::new().write(true).create_new(true)).open(to)?;
    io::copy(&mut file, &mut copy).and_then(|_| copy.sync_all()).inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
}

#[cfg(test)]
mod tests {
    use super::super::names;
    use super::super::replace::replace;
    use super::*;

    /// F26
    #[test]
    fn what_is_kept_aside_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::write(folder.path().join("state.json.corrupt-2"), "older").unwrap();
        for (content, number) in [("first", 1), ("second", 3)] {
            fs::write(&path, content).unwrap();
            let kept = keep_aside(&path).unwrap();
            assert_eq!(kept, folder.path().join(format!("state.json.corrupt-{number}")));
            assert_eq!(fs::read_to_string(kept).unwrap(), content);
            assert!(!path.exists());
        }
        let older = fs::read_to_string(folder.path().join("state.json.corrupt-2")).unwrap();
        assert_eq!(older, "older");
        keep_aside(&path).unwrap_err();
        assert_eq!(names(folder.path()).len(), 3, "a failure leaves a placeholder");
    }

    /// F26
    #[test]
    fn a_copy_that_is_kept_leaves_the_file_in_its_place_and_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::write(&path, "damaged").unwrap();
        fs::write(folder.path().join("state.json.corrupt-1"), "older").unwrap();
        let kept = keep_copy(&path).unwrap();
        assert_eq!(kept, folder.path().join("state.json.corrupt-2"));
        // Neither what takes its place changes the copy, nor what is written into it.
        fs::write(&path, "blank").unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "damaged");
        replace(&path, b"sound").unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "damaged");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
        }
        keep_copy(&folder.path().join("missing")).unwrap_err();
        let older = fs::read_to_string(folder.path().join("state.json.corrupt-1")).unwrap();
        assert_eq!((older.as_str(), names(folder.path()).len()), ("older", 3));
    }

    /// F26
    #[test]
    fn files_that_are_kept_aside_at_once_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let kept = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (path, kept) = (&path, &kept);
                scope.spawn(move || {
                    for round in 0..20 {
                        let content = format!("{thread} {round}");
                        replace(path, content.as_bytes()).unwrap();
                        // Another thread may have taken it away; then there is nothing to keep.
                        kept.lock().unwrap().extend(keep_aside(path));
                    }
                });
            }
        });
        let mut kept = kept.into_inner().unwrap();
        let count = kept.len();
        kept.sort();
        kept.dedup();
        assert_eq!(kept.len(), count, "a file that was kept aside was overwritten");
        assert_eq!(names(folder.path()).len(), count + usize::from(path.exists()));
        assert!(kept.iter().all(|kept| !fs::read(kept).unwrap().is_empty()));
    }
}
