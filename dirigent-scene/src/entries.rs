//! A journal on disk, to which the scenes of a character append. It is the character's for good, so what stands in it is never
//! written again: an entry is appended. A kill can tear it, and two scenes can write entries that are alike to the last letter. So
//! an extended attribute of the file says which entry is being written, from where on, and how it begins. The next scene that writes
//! there, or the same one when it is resumed, settles that first: an entry that is whole is remembered, and one that is torn is cut.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files::{FileAction, FileError, failed, folder_of, step, sync_folder, write_all};

/// The attribute of the entry that is being written.
const BEGUN: &str = "user.dirigent.begun";
/// The attribute with the newest entries that were whole when another scene came, as their scenes may not know it.
const WHOLE: &str = "user.dirigent.whole";
const WHOLE_MAX: usize = 16;
/// The most of an entry's text in the attribute, in bytes: file systems allow little more.
const OPENING_MAX: usize = 1_024;

/// An entry that is being written.
#[derive(Serialize, Deserialize)]
struct Pending {
    id: String,
    start: u64,
    end: u64,
    /// How its text begins, so that a person's words are not taken for a part of it.
    opening: String,
}

/// A journal that is open. Other scenes must be locked out meanwhile.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    path: PathBuf,
    pub(crate) content: Vec<u8>,
    /// `None` if the file has no attributes: nothing is known then, for example on a file system without them.
    whole: Option<Vec<String>>,
}

impl JournalFile {
    /// Opens a journal, or creates it, and settles what a killed scene left.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        step();
        let open = || {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let mut content = Vec::new();
            file.read_to_end(&mut content)?;
            let whole = attribute(&file, WHOLE);
            let mut journal = Self { file, path: path.to_owned(), content, whole };
            if let Some(pending) = attribute::<Pending>(&journal.file, BEGUN) {
                journal.settle(pending)?;
            }
            Ok(journal)
        };
        open().map_err(failed(FileAction::Write, path))
    }

    fn settle(&mut self, pending: Pending) -> io::Result<()> {
        let (Ok(start), Ok(end)) = (usize::try_from(pending.start), usize::try_from(pending.end))
        else {
            return Ok(());
        };
        let opening = pending.opening.as_bytes();
        let tail = self.content.get(start..).unwrap_or_default();
        let is_ours = tail.starts_with(opening) || opening.starts_with(tail);
        let whole = self.whole.get_or_insert_default();
        whole.retain(|id| *id != pending.id);
        if is_ours && self.content.len() >= end {
            whole.push(pending.id);
        } else if is_ours && self.content.len() > start {
            step();
            self.file.set_len(pending.start)?;
            self.content.truncate(start);
        }
        step();
        self.remember()?;
        step();
        remove_attribute(&self.file, BEGUN);
        Ok(())
    }

    /// Cuts what a kill left of this section, which would have ended here. For a file that cannot tell by itself.
    pub(crate) fn cut(&mut self, section: &str, end: u64) -> Result<(), FileError> {
        for between in ["", "\n", "\n\n"] {
            let text = format!("{between}{section}");
            let start = usize::try_from(end).ok().and_then(|end| end.checked_sub(text.len()));
            let Some((start, tail)) = start.and_then(|at| Some((at, self.content.get(at..)?)))
            else {
                continue;
            };
            if !tail.is_empty() && text.as_bytes().starts_with(tail) {
                step();
                let cut = self.file.set_len(start as u64);
                cut.map_err(failed(FileAction::Write, &self.path))?;
                self.content.truncate(start);
                break;
            }
        }
        Ok(())
    }

    /// Returns whether an entry was written, or `None` if the file cannot tell.
    pub(crate) fn has(&self, id: &str) -> Option<bool> {
        self.whole.as_ref().map(|whole| whole.iter().any(|whole| whole == id))
    }

    /// Says that an entry with this text is written next. A file system without attributes does without.
    pub(crate) fn begin(&mut self, id: &str, text: &str) {
        let start = self.content.len() as u64;
        let most = (0..=OPENING_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let opening = text.get(..most.unwrap_or_default()).unwrap_or_default().to_owned();
        let end = start + text.len() as u64;
        let pending = Pending { id: id.to_owned(), start, end, opening };
        if let Some(whole) = &mut self.whole {
            whole.retain(|whole| whole != id);
            let _ = self.remember();
        }
        step();
        let _ = set_attribute(&self.file, BEGUN, &pending);
    }

    /// Appends an entry. When it returns, the disk has it.
    pub(crate) fn append(&mut self, text: &str) -> Result<(), FileError> {
        step();
        let written = write_all(&mut self.file, text.as_bytes()).and_then(|()| {
            step();
            self.file.sync_all()?;
            sync_folder(folder_of(&self.path))
        });
        written.map_err(|error| {
            // If this fails too, the next writer cuts it.
            let _ = self.file.set_len(self.content.len() as u64);
            failed(FileAction::Write, &self.path)(error)
        })
    }

    /// The scene has noted that its entry is written.
    pub(crate) fn end(self) {
        step();
        remove_attribute(&self.file, BEGUN);
    }

    fn remember(&mut self) -> io::Result<()> {
        let Some(whole) = &mut self.whole else { return Ok(()) };
        whole.drain(..whole.len().saturating_sub(WHOLE_MAX));
        set_attribute(&self.file, WHOLE, whole)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn attribute<T: DeserializeOwned>(file: &File, name: &str) -> Option<T> {
    let length = rustix::fs::fgetxattr_query(file, name).ok()?;
    let mut value = vec![0; length];
    let length = rustix::fs::fgetxattr(file, name, &mut *value).ok()?;
    serde_json::from_slice(value.get(..length)?).ok()
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn set_attribute(file: &File, name: &str, value: &impl Serialize) -> io::Result<()> {
    let value = serde_json::to_vec(value)?;
    Ok(rustix::fs::fsetxattr(file, name, &value, rustix::fs::XattrFlags::empty())?)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn remove_attribute(file: &File, name: &str) {
    let _ = rustix::fs::fremovexattr(file, name);
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn attribute<T: DeserializeOwned>(_: &File, _: &str) -> Option<T> {
    None
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn set_attribute(_: &File, _: &str, _: &impl Serialize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn remove_attribute(_: &File, _: &str) {}
