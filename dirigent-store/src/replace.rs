//! Files that are whole at any moment: replaced, never written in place.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dirigent::Durability;

use crate::error::{Action, BadFile, StoreError};

/// What the names of our temporary files begin with; the name of their file follows.
const PREFIX: &str = ".dirigent-";

/// What the names of our temporary files end with.
const SUFFIX: &str = ".tmp";

/// Puts new content in the place of a file. A reader finds the old or the new, whole.
///
/// [`Durability::Fact`]: survives a power cut when this returns, for which the folder's entry is
/// synced as well. [`Durability::Turn`]: survives the end of the process only, and costs no wait
/// for the disk. When it fails the old file is untouched, unless the error says that it is
/// unknown, and no temporary file is left.
pub(crate) fn replace(
    path: &Path,
    content: &[u8],
    durability: Durability,
) -> Result<(), StoreError> {
    let mut new = Replacement::write(path, content)?;
    if durability == Durability::Fact {
        new.sync()?;
    }
    new.put()?;
    match durability {
        Durability::Fact => sync_folder(place_of(path)?.0),
        Durability::Turn => Ok(()),
    }
}

/// As [`replace`] with [`Durability::Fact`], for a file that people share: it keeps its mode, its group, and its owner
/// where the system allows that. Where the group cannot be kept, no group may use the file.
pub(crate) fn replace_shared(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let mut new = Replacement::write(path, content)?;
    #[cfg(unix)]
    new.share_as(path).map_err(|source| StoreError::not_done(Action::Write, path, source))?;
    new.sync()?;
    new.put()?;
    sync_folder(place_of(path)?.0)
}

/// New content beside its file, not yet in its place; gone when dropped.
#[derive(Debug)]
pub(crate) struct Replacement<'a> {
    /// What it is to replace.
    path: &'a Path,
    file: tempfile::NamedTempFile,
}

impl<'a> Replacement<'a> {
    /// Writes it.
    pub(crate) fn write(path: &'a Path, content: &[u8]) -> Result<Self, StoreError> {
        let (folder, name) = place_of(path)?;
        let file = temporary(folder, name)
            .and_then(|mut file| file.write_all(content).map(|()| file))
            .map_err(|source| StoreError::not_done(Action::Write, path, source))?;
        Ok(Self { path, file })
    }

    /// Lets those use it who may use the file that is there, if there is one.
    #[cfg(unix)]
    fn share_as(&self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

        let old = match fs::metadata(path) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let file = self.file.as_file();
        let new = file.metadata()?;
        let mut mode = old.permissions().mode() & 0o777;
        if new.uid() != old.uid() {
            // Only the superuser may give a file away.
            let _ = fchown(file, Some(old.uid()), None);
        }
        if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
            mode &= !0o070;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))
    }

    /// Waits until the disk has it.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        #[cfg(test)]
        steps::note(steps::Step::SyncFile(self.path.to_owned()));
        let synced = self.file.as_file_mut().sync_all();
        synced.map_err(|source| StoreError::not_done(not_synced(&source), self.path, source))
    }

    /// Puts it in its place. The folder's entry is not synced.
    pub(crate) fn put(self) -> Result<(), StoreError> {
        #[cfg(test)]
        steps::note(steps::Step::Put(self.path.to_owned()));
        let put = self.file.persist(self.path).map(drop);
        put.map_err(|refused| StoreError::not_done(Action::Replace, self.path, refused.error))
    }
}

/// What failed where new content could not be synced. On a disk that is full it is as if it could not be written:
/// it is thrown away, and nothing hangs on it.
fn not_synced(source: &io::Error) -> Action {
    let is_full =
        matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    if is_full { Action::Write } else { Action::Sync }
}

/// Reads a file of at most this many bytes. `None`: there is none.
///
/// Only ordinary files are read: opening a pipe would wait for ever.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, ReadError> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not an ordinary file").into());
    }
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // Room for all of it, so that it is read at once, and for seeing the end.
    let size = usize::try_from(found.len().min(bound)).unwrap_or(0);
    let mut content = Vec::with_capacity(size.saturating_add(64));
    File::open(path)?.take(bound).read_to_end(&mut content)?;
    if content.len() > limit {
        return Err(ReadError::Bad(BadFile::TooLarge { limit }));
    }
    Ok(Some(content))
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The system refused.
    Io(io::Error),
    /// There is something, but it cannot be taken in.
    Bad(BadFile),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Renames a corrupt file to `<name>.corrupt-N` with the first number that is free, and says where
/// it is now. It never overwrites: the name is taken by making it before the file moves there.
pub(crate) fn keep_aside(path: &Path) -> Result<PathBuf, StoreError> {
    with_free_name(path, |kept| {
        private(OpenOptions::new().write(true).create_new(true)).open(kept)?;
        fs::rename(path, kept).inspect_err(|_| {
            let _ = fs::remove_file(kept);
        })
    })
}

/// Copies a damaged file to `<name>.corrupt-N` with the first number that is free, and says which. The file also stays
/// where it is, so that at no moment nothing is there. It never overwrites. No second name: what is erased in the file
/// later stays in the copy.
pub(crate) fn keep_copy(path: &Path) -> Result<PathBuf, StoreError> {
    with_free_name(path, |kept| copy_new(path, kept))
}

/// Keeps bytes as `<path>.corrupt-N` with the first number that is free, and returns that name.
pub(crate) fn keep_bytes(path: &Path, content: &[u8]) -> Result<PathBuf, StoreError> {
    with_free_name(path, |kept| {
        let mut file = private(OpenOptions::new().write(true).create_new(true)).open(kept)?;
        file.write_all(content).and_then(|()| file.sync_all()).inspect_err(|_| {
            let _ = fs::remove_file(kept);
        })
    })
}

/// Has a file take `<name>.corrupt-N` with the first number that is free, and returns that name once
/// the folder is synced. `take` fails with `AlreadyExists` where the name is not free; any other error
/// ends the search.
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

/// Copies a file to a name that is free, and waits until the disk has the copy.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(from)?;
    let mut copy = private(OpenOptions::new().write(true).create_new(true)).open(to)?;
    io::copy(&mut file, &mut copy).and_then(|_| copy.sync_all()).inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
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

/// Whether a file of this name in a folder that is wholly ours is what an interrupted write left.
pub(crate) fn is_stray(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Makes a folder and those above it that are missing, for the owner alone, and syncs each into the
/// one above.
pub(crate) fn create_folder(folder: &Path) -> Result<(), StoreError> {
    let missing: Vec<_> = folder
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .collect();
    for path in missing.into_iter().rev() {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::not_done(Action::CreateFolder, path, error));
            }
            Ok(()) | Err(_) => {}
        }
        if let Some(above) = path.parent() {
            sync_folder(if above.as_os_str().is_empty() { Path::new(".") } else { above })?;
        }
    }
    Ok(())
}

/// Waits until the disk has what was appended to a file.
pub(crate) fn sync_data(path: &Path, file: &File) -> Result<(), StoreError> {
    #[cfg(test)]
    steps::note(steps::Step::SyncFile(path.to_owned()));
    let synced = file.sync_data();
    synced.map_err(|source| StoreError::not_done(Action::Sync, path, source))
}

/// Waits until the disk has the folder's entries. Without it, a file that was synced and renamed
/// can be gone after a power cut.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    #[cfg(test)]
    steps::note(steps::Step::SyncFolder(folder.to_owned()));
    // Windows opens no folders as files; its renames are in the journal.
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| StoreError::unknown(Action::Sync, folder, source))?;
    }
    Ok(())
}

/// The folder of a file and its name in it.
pub(crate) fn place_of(path: &Path) -> Result<(&Path, &OsStr), StoreError> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => Ok((Path::new("."), name)),
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
            Err(StoreError::not_done(Action::Find, path, source))
        }
    }
}

/// Where a path leads, so that two ways to a file find the same lock, and a link stays a link.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let (folder, name) = place_of(path)?;
    let lost = |source| StoreError::not_done(Action::Find, path, source);
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            fs::canonicalize(folder).map(|folder| folder.join(name)).map_err(lost)
        }
        found => found.map_err(lost),
    }
}

/// Lets only the owner read the file that is opened with it.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// A new file beside the one that it is to replace; gone when dropped.
fn temporary(folder: &Path, name: &OsStr) -> io::Result<tempfile::NamedTempFile> {
    // For the owner alone, which is how the crate makes its files on Unix.
    tempfile::Builder::new().prefix(&prefix_of(name)).suffix(SUFFIX).tempfile_in(folder)
}

/// The beginning of the names of a file's temporary files. It holds the file's name, so that two
/// stores in one folder leave each other's alone.
fn prefix_of(name: &OsStr) -> std::ffi::OsString {
    let mut prefix = std::ffi::OsString::from(PREFIX);
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// What was done to files, in order, so that a test sees a sync that was left out without a disk that
/// loses power.
#[cfg(test)]
pub(crate) mod steps {
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    /// One thing that was done, on the file or folder of this path.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) enum Step {
        SyncFile(PathBuf),
        Put(PathBuf),
        SyncFolder(PathBuf),
    }

    impl Step {
        fn path(&self) -> &Path {
            let (Self::SyncFile(path) | Self::Put(path) | Self::SyncFolder(path)) = self;
            path
        }
    }

    static STEPS: Mutex<Vec<Step>> = Mutex::new(Vec::new());

    pub(crate) fn note(step: Step) {
        STEPS.lock().unwrap().push(step);
    }

    /// Takes what was done below a folder since it was asked last.
    pub(crate) fn take(below: &Path) -> Vec<Step> {
        let mut steps = STEPS.lock().unwrap();
        let (taken, left) = steps.drain(..).partition(|step| step.path().starts_with(below));
        *steps = left;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// R006, R280
    #[test]
    fn a_file_is_replaced_as_a_whole_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        for durability in [Durability::Fact, Durability::Turn] {
            for content in ["long content", "short", ""] {
                replace(&path, content.as_bytes(), durability).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), content);
                assert_eq!(names(folder.path()), ["state.json"]);
            }
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
        for durability in [Durability::Fact, Durability::Turn] {
            let error = replace(&path, b"new", durability).unwrap_err();
            assert!(matches!(error, StoreError::Io { action: Action::Replace, .. }), "{error}");
            assert_eq!(error.certainty(), dirigent::Certainty::NotDone);
            assert_eq!(names(folder.path()), ["taken"]);
        }
        let nowhere = folder.path().join("nowhere/state.json");
        let error = replace(&nowhere, b"new", Durability::Fact).unwrap_err();
        assert!(matches!(error, StoreError::Io { action: Action::Write, .. }), "{error}");
    }

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
        replace(&path, b"sound", Durability::Fact).unwrap();
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
                        replace(path, content.as_bytes(), Durability::Turn).unwrap();
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

    #[test]
    fn new_content_for_which_a_full_disk_has_no_room_is_no_failed_sync() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert_eq!(not_synced(&kind.into()), Action::Write);
        }
        assert_eq!(not_synced(&io::ErrorKind::Other.into()), Action::Sync);
    }

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

    #[test]
    fn folders_are_made_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_folder(&deep).unwrap();
        create_folder(&deep).unwrap();
        #[cfg(unix)]
        for path in ["a", "a/b", "a/b/c"] {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join(path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{path}");
        }
        fs::write(folder.path().join("file"), "").unwrap();
        create_folder(&folder.path().join("file/below")).unwrap_err();
    }

    #[test]
    fn only_ordinary_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        assert!(read(&path, 3).unwrap().is_none());
        fs::write(&path, "123").unwrap();
        assert_eq!(read(&path, 3).unwrap().unwrap(), b"123");
        let too_large = ReadError::Bad(BadFile::TooLarge { limit: 2 });
        assert_eq!(format!("{:?}", read(&path, 2).unwrap_err()), format!("{too_large:?}"));
        assert!(matches!(read(folder.path(), 3), Err(ReadError::Io(_))));
        assert!(matches!(read(Path::new("/dev/null"), 3), Err(ReadError::Io(_))));
    }
}
