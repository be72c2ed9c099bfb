//! Files on disk: a folder for each scene, files that are whole at any moment, and a log that is only ever appended to.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What failed on disk, and with which file. What stood there before is unchanged.
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
    /// What was to be done.
    pub action: FileAction,
    /// With which file or folder.
    pub path: PathBuf,
    /// Why it was not.
    pub source: io::Error,
}

/// What was to be done with a file.
///
/// ```
/// assert_ne!(dirigent_scene::FileAction::Read, dirigent_scene::FileAction::Write);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileAction {
    /// To create a folder.
    Create,
    /// To read a file.
    Read,
    /// To write it, or append to it.
    Write,
    /// To remove it.
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

/// Names what was to be done when it fails.
pub(crate) fn failed(action: FileAction, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { action, path: path.to_owned(), source }
}

/// Reads a file; none where there is no such file.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(FileAction::Read, path)(error)),
    }
}

/// Creates a folder and those above it.
pub(crate) fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(failed(FileAction::Create, path))
}

/// Replaces a file as a whole: the new content stands on the disk beside the old one before it takes its name. The file beside
/// always has the same name, so one that a kill left is taken by the next that writes.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    replace_over(&folder_of(path).join(format!(".scene-{name}.part")), path, content)
}

/// Replaces a file by way of this one beside it.
pub(crate) fn replace_over(part: &Path, path: &Path, content: &[u8]) -> Result<(), FileError> {
    write_part(part, path, content)?;
    install(part, path).inspect_err(|_| {
        let _ = fs::remove_file(part);
    })
}

/// The folder that a file lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes the file that is to take another one's name, with the rights of that one. Where it fails, it is not there.
fn write_part(part: &Path, path: &Path, content: &[u8]) -> Result<(), FileError> {
    let write = || {
        step();
        let mut file = File::create(part)?;
        if let Ok(metadata) = fs::metadata(path) {
            file.set_permissions(metadata.permissions())?;
        }
        write_all(&mut file, content)?;
        file.sync_all()
    };
    write().map_err(|error| {
        let _ = fs::remove_file(part);
        failed(FileAction::Write, path)(error)
    })
}

/// Gives a file that was written beside another one that one's name. Where it fails, both are as they were.
fn install(part: &Path, path: &Path) -> Result<(), FileError> {
    step();
    let renamed = fs::rename(part, path);
    step();
    renamed.and_then(|()| sync_folder(folder_of(path))).map_err(failed(FileAction::Write, path))
}

/// Keeps the other scenes of this machine from the files of a folder while it lives, on Unix and where the file system can.
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

/// Whether a file is there.
pub(crate) fn is_there(path: &Path) -> Result<bool, FileError> {
    path.try_exists().map_err(failed(FileAction::Read, path))
}

fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
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

/// Stands before every change on disk. The tests of kills end the scene here.
fn step() {
    #[cfg(test)]
    crate::kills::step();
}

/// The names in a folder are on the disk, where a folder can be asked for that.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), FileError> {
    step();
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed(FileAction::Remove, path)(error))
        }
        _ => Ok(()),
    }
}

/// A file that lines are appended to. What could not be written whole is taken away again.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Appender {
    /// Opens a file that must not be there.
    pub(crate) fn create(path: PathBuf) -> Result<Self, FileError> {
        step();
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(failed(FileAction::Create, &path))?;
        Ok(Self { file, path, length: 0 })
    }

    /// Opens a file, and cuts what stands behind this many bytes.
    pub(crate) fn cut_at(path: PathBuf, length: u64) -> Result<Self, FileError> {
        step();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.and_then(|file| file.set_len(length).map(|()| file));
        let file = file.map_err(failed(FileAction::Write, &path))?;
        Ok(Self { file, path, length })
    }

    /// Appends. The operating system has it when this returns, so that it survives the end of the process.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        step();
        if let Err(error) = write_all(&mut self.file, bytes) {
            // If this fails too, the reader leaves the last line out.
            let _ = self.file.set_len(self.length);
            return Err(failed(FileAction::Write, &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}
