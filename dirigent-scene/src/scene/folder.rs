//! The folder of one scene, with the place of each file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::choices::Choices;
use crate::files::{
    Appender, FileAction, FileError, create_folder, failed, folder_of, read_if_there, renew,
    replace,
};
use crate::slug::Slug;

/// The folder of a scene's files.
///
/// | file | what it is |
/// | --- | --- |
/// | `notes.md` | the two choices, then what stood there before |
/// | `events.jsonl` | the event log while the scene runs, or after it was killed |
/// | `resume.jsonl` | what the host and the judge answered, and whose journal was written, while the scene runs |
/// | `events.json` | the event log when it has ended |
/// | `transcript.md` | what was said, from the first speech on |
/// | `scene.html` | the picture, where one is wanted |
/// | `SLUG/journal.md`, `SLUG/interview.md` | a character's |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneFolder(PathBuf);

impl SceneFolder {
    /// Names a folder. It need not exist.
    ///
    /// ```
    /// use dirigent_scene::SceneFolder;
    /// assert!(SceneFolder::new("out").events().ends_with("events.json"));
    /// ```
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of the notes.
    pub fn notes(&self) -> PathBuf {
        self.0.join("notes.md")
    }

    /// Returns the path of the event log of a scene that has ended.
    pub fn events(&self) -> PathBuf {
        self.0.join("events.json")
    }

    /// Returns the path of the event log of a scene that runs or was killed.
    pub fn running_events(&self) -> PathBuf {
        self.0.join("events.jsonl")
    }

    pub(crate) fn host_answers(&self) -> PathBuf {
        self.0.join("resume.jsonl")
    }

    /// Returns the path of the transcript.
    pub fn transcript(&self) -> PathBuf {
        self.0.join("transcript.md")
    }

    /// Returns the path of the picture.
    pub fn picture(&self) -> PathBuf {
        self.0.join("scene.html")
    }

    /// Returns the path of a character's journal, unless you put it elsewhere.
    pub fn journal(&self, slug: &Slug) -> PathBuf {
        self.0.join(slug.as_str()).join("journal.md")
    }

    /// Returns the path of a character's interview after the scene.
    pub fn interview(&self, slug: &Slug) -> PathBuf {
        self.0.join(slug.as_str()).join("interview.md")
    }

    /// Returns a file of an earlier scene in this folder, if there is one.
    pub(super) fn earlier(&self) -> Result<Option<PathBuf>, FileError> {
        let files = [
            self.events(),
            self.running_events(),
            self.host_answers(),
            self.transcript(),
            self.picture(),
        ];
        for file in files {
            match fs::symlink_metadata(&file) {
                Ok(_) => return Ok(Some(file)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(FileAction::Read, &file)(error)),
            }
        }
        Ok(None)
    }

    /// Creates the folder and writes the notes. If that fails, a new folder is removed again.
    pub(super) fn begin(&self, choices: Choices) -> Result<(), FileError> {
        let was_there = self.0.exists();
        create_folder(&self.0)?;
        let written = self.write_notes(choices);
        if written.is_err() && !was_there {
            let _ = fs::remove_dir(&self.0);
        }
        written
    }

    fn write_notes(&self, choices: Choices) -> Result<(), FileError> {
        let path = self.notes();
        let before = read_if_there(&path)?.unwrap_or_default();
        let mut notes = choices.to_string().into_bytes();
        // Notes of a scene that could not begin already have these lines.
        let rest = before.strip_prefix(&*notes).unwrap_or(&before);
        if !rest.is_empty() && rest.first() != Some(&b'\n') {
            notes.push(b'\n');
        }
        notes.extend_from_slice(rest);
        // What stood there before is nowhere else.
        if rest.is_empty() { renew(&path, &notes) } else { replace(&path, &notes) }
    }
}

/// Appends a section to a file. The old content stays unchanged.
pub(crate) fn append_section(path: &Path, section: &str) -> Result<(), FileError> {
    let content = read_if_there(path)?.unwrap_or_default();
    create_folder(folder_of(path))?;
    let mut file = Appender::cut_at(path.to_owned(), content.len() as u64)?;
    file.append(format!("{}{section}", between(&content)).as_bytes())
}

/// Returns what makes a blank line between this content and a section behind it.
pub(super) fn between(content: &[u8]) -> &'static str {
    match content {
        [] | [.., b'\n', b'\n'] => "",
        [b'\n'] | [.., b'\n'] => "\n",
        _ => "\n\n",
    }
}
