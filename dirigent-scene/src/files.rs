//! Files on disk: a folder for each scene, files that are complete at any moment, and a log that only grows.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A failed operation on disk, with its file. The file's old content is unchanged.
///
/// ```
/// use dirigent_scene::FileError;
/// fn tell(error: &FileError) -> String {
///     format!("{error}; is the disk full?")
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct FileError {
    /// The operation that failed.
    pub action: FileAction,
    /// The file or folder.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

/// An operation on a file.
///
/// ```
/// assert_ne!(dirigent_scene::FileAction::Read, dirigent_scene::FileAction::Write);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileAction {
    /// Create a folder or a file.
    Create,
    /// Read a file.
    Read,
    /// Write a file, or append to it.
    Write,
    /// Remove a file.
    Remove,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            FileAction::Create => "create",
            FileAction::Read => "read",
            FileAction::Write => "write",
            FileAction::Remove => "remove",
        };
        write!(f, "cannot {action} {}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Adds the operation and the file to an error.
pub(crate) fn failed(action: FileAction, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { action, path: path.to_owned(), source }
}

/// Reads a file, or returns `None` if there is none.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(FileAction::Read, path)(error)),
    }
}

/// Creates a folder and its parents.
pub(crate) fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(failed(FileAction::Create, path))
}

/// Writes a whole file that the scene's log can be made into again, for example the transcript. The content is synced before it
/// has a name, and gets the file's own name, so a kill leaves no other file behind. If a kill comes between the removal of the old
/// file and that, there is none until the scene is resumed.
pub(crate) fn renew(path: &Path, content: &[u8]) -> Result<(), FileError> {
    match unnamed(path, content)? {
        Some(file) if link(&file, path).is_ok() => {
            step();
            sync_folder(folder_of(path)).map_err(failed(FileAction::Write, path))
        }
        _ => replace(path, content),
    }
}

/// Replaces a whole file that nothing else has the content of: there is the old one or the new one at any moment. The new content
/// has a name beside it until it takes the file's, always the same, so that the next writer reuses it if a kill comes then.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = folder_of(path).join(format!(".scene-{name}.part"));
    match unnamed(path, content)? {
        Some(file) if link(&file, &part).is_ok() => {}
        _ => write_part(&part, path, content)?,
    }
    install(&part, path).inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}

/// Writes a file without a name, synced, with the permissions of the file that it is for; `None` where the system has no such files.
#[cfg(target_os = "linux")]
fn unnamed(path: &Path, content: &[u8]) -> Result<Option<File>, FileError> {
    use rustix::fs::{Mode, OFlags};
    step();
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(folder_of(path), flags, Mode::from_raw_mode(0o666)) else {
        return Ok(None);
    };
    let mut file = File::from(file);
    fill(&mut file, path, content).map_err(failed(FileAction::Write, path))?;
    Ok(Some(file))
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: &[u8]) -> Result<Option<File>, FileError> {
    Ok(None)
}

/// Gives a file without a name this one. A file that has it is removed.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD};
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = || rustix::fs::linkat(CWD, &*nameless, CWD, path, AtFlags::SYMLINK_FOLLOW);
    step();
    match link() {
        Err(rustix::io::Errno::EXIST) => {
            step();
            fs::remove_file(path)?;
            step();
            Ok(link()?)
        }
        linked => Ok(linked?),
    }
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes a temporary file with the permissions of the file that it will replace. If that fails, it is removed.
fn write_part(part: &Path, path: &Path, content: &[u8]) -> Result<(), FileError> {
    let write = || {
        step();
        fill(&mut File::create(part)?, path, content)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(part);
        failed(FileAction::Write, path)(error)
    })
}

/// Writes the content of a new file, with the permissions of the file at this path if there is one.
fn fill(file: &mut File, path: &Path, content: &[u8]) -> io::Result<()> {
    if let Ok(metadata) = fs::metadata(path) {
        file.set_permissions(metadata.permissions())?;
    }
    write_all(file, content)?;
    file.sync_all()
}

/// Renames a temporary file to its final name. If that fails, both files are unchanged.
fn install(part: &Path, path: &Path) -> Result<(), FileError> {
    step();
    let renamed = fs::rename(part, path);
    step();
    renamed.and_then(|()| sync_folder(folder_of(path))).map_err(failed(FileAction::Write, path))
}

/// Locks a folder against other scenes of this machine until dropped, on Unix and if the file system supports it.
pub(crate) fn lock(folder: &Path) -> Option<File> {
    #[cfg(unix)]
    {
        let folder = File::open(folder).ok()?;
        rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive).ok()?;
        Some(folder)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Returns true if a file exists.
pub(crate) fn is_there(path: &Path) -> Result<bool, FileError> {
    path.try_exists().map_err(failed(FileAction::Read, path))
}

pub(crate) fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    if cfg!(test) {
        // A kill may come between the pages of one write.
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        file.write_all(first)?;
        step();
        file.write_all(rest)
    } else {
        file.write_all(bytes)
    }
}

/// Called before every change on disk, so that the tests of kills can end the scene here.
pub(crate) fn step() {
    #[cfg(test)]
    crate::kills::step();
}

/// Syncs the names in a folder to disk, if the system supports it.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), FileError> {
    step();
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed(FileAction::Remove, path)(error))
        }
        _ => Ok(()),
    }
}

/// A file that only grows by whole lines. An incomplete write is cut off again.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Appender {
    /// Creates a file. It fails if the file exists.
    pub(crate) fn create(path: PathBuf) -> Result<Self, FileError> {
        step();
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(failed(FileAction::Create, &path))?;
        Ok(Self { file, path, length: 0 })
    }

    /// Opens a file, and cuts it to this many bytes.
    pub(crate) fn cut_at(path: PathBuf, length: u64) -> Result<Self, FileError> {
        step();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.and_then(|file| file.set_len(length).map(|()| file));
        let file = file.map_err(failed(FileAction::Write, &path))?;
        Ok(Self { file, path, length })
    }

    /// Appends bytes. When it returns, the operating system has them, so they survive the end of the process.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        step();
        if let Err(error) = write_all(&mut self.file, bytes) {
            // If this fails too, readers ignore the last line.
            let _ = self.file.set_len(self.length);
            return Err(failed(FileAction::Write, &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}
