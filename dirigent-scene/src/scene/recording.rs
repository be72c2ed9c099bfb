//! Writes the event log of a running scene, its transcript, and the few facts that the log does not contain: answers of
//! director and judge, and which journals were written.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use dirigent_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::director::Direction;
use crate::entries::JournalFile;
use crate::event::{EventKind, SceneEvent};
use crate::files::{
    Appender, FileError, create_folder, folder_of, is_there, lock, read_if_there, remove, renew,
    replace,
};
use crate::log::{LogError, SceneLog};
use crate::machine::replay::{HostAnswers, JournalEntry};
use crate::scene::folder::{SceneFolder, between};
use crate::slug::Slug;
use crate::transcript::Transcript;

/// Writes the log.
#[derive(Debug)]
pub(super) struct Recording {
    folder: SceneFolder,
    log: Appender,
    answers: Appender,
    /// All events that were written or wait for it.
    events: Vec<SceneEvent>,
    /// Lines that wait to be written.
    lines: Vec<u8>,
    transcript: Growing,
    /// The journal entries that were begun.
    entries: BTreeMap<Slug, JournalEntry>,
}

/// The transcript of a running scene.
#[derive(Debug)]
struct Growing {
    transcript: Transcript,
    /// The file, once there is a first speech.
    file: Option<Appender>,
    /// The number of events that it has processed.
    events: usize,
    /// True if a character entered after the heading was written.
    is_old: bool,
}

impl Growing {
    fn new(transcript: &Transcript) -> Self {
        Self { transcript: transcript.clone(), file: None, events: 0, is_old: false }
    }

    /// Writes the speeches since the last time.
    fn grow(&mut self, path: &Path, events: &[SceneEvent]) -> Result<(), FileError> {
        let mut lines = String::new();
        for event in events.get(self.events..).unwrap_or_default() {
            self.is_old |= event.kind == EventKind::Spawn;
            self.transcript.write_line(event, &mut lines);
        }
        self.events = events.len();
        if lines.is_empty() {
            return Ok(());
        }
        if let Some(file) = self.file.as_mut().filter(|_| !self.is_old) {
            return file.append(lines.as_bytes());
        }
        let text = self.transcript.render_running(events);
        renew(path, text.as_bytes())?;
        self.file = Some(Appender::cut_at(path.to_owned(), text.len() as u64)?);
        self.is_old = false;
        Ok(())
    }
}

/// A line of `resume.jsonl`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    Scene {
        version: u32,
        started_ms: u64,
    },
    Directions {
        moment: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<Given>,
    },
    Ended {
        speech: u32,
    },
    /// This character's entry is written next, and its journal will then have this many bytes.
    Entering {
        slug: Slug,
        length: u64,
    },
    /// The entry is written.
    Entered {
        slug: Slug,
    },
}

/// A direction as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Given {
    Enter(Slug),
    Leave(Slug),
    Stop,
}

const VERSION: u32 = 3;

impl Recording {
    /// Begins the log of a new scene.
    pub(super) fn begin(
        folder: &SceneFolder,
        started: Timestamp,
        transcript: &Transcript,
    ) -> Result<Self, FileError> {
        let started_ms = started.as_millis();
        let mut first = Vec::new();
        write_line(&Answer::Scene { version: VERSION, started_ms }, &mut first);
        let begin = || {
            // From here on the scene can be resumed.
            renew(&folder.host_answers(), &first)?;
            let answers = Appender::cut_at(folder.host_answers(), first.len() as u64)?;
            Ok(Self {
                folder: folder.clone(),
                log: Appender::create(folder.running_events())?,
                answers,
                events: Vec::new(),
                lines: Vec::new(),
                transcript: Growing::new(transcript),
                entries: BTreeMap::new(),
            })
        };
        begin().inspect_err(|_| {
            let _ = remove(&folder.host_answers());
            let _ = remove(&folder.running_events());
        })
    }

    /// Reads the files of a killed scene.
    pub(super) fn read(folder: &SceneFolder) -> Result<(SceneLog, HostAnswers), ReadError> {
        let bytes = read_if_there(&folder.host_answers()).map_err(ReadError::File)?;
        let answers = bytes.as_deref().and_then(read_answers);
        let path = folder.running_events();
        let log = if answers.is_none() || is_there(&path).map_err(ReadError::File)? {
            SceneLog::read(path)
        } else if is_there(&folder.events()).map_err(ReadError::File)? {
            // The scene was killed after the array had replaced the lines.
            SceneLog::read(folder.events())
        } else {
            // The scene was killed before its first event.
            Ok(SceneLog::default())
        };
        let mut log = log.map_err(ReadError::Log)?;
        log.drop_lone_thought();
        Ok((log, answers.ok_or(ReadError::Answers)?))
    }

    /// Continues the log of a killed scene. A line that was cut in the middle is removed.
    pub(super) fn go_on(
        folder: SceneFolder,
        log: SceneLog,
        answers: HostAnswers,
        transcript: &Transcript,
    ) -> Result<Self, FileError> {
        let entries = answers.entries;
        let events = log.into_events();
        let mut lines = Vec::new();
        for event in &events {
            write_line(event, &mut lines);
        }
        let whole = read_if_there(&folder.running_events())?.unwrap_or_default();
        // The lines begin the file if this program wrote it. Otherwise they are written anew.
        if !whole.starts_with(&lines) {
            // If there are none, `events.json` has them.
            let write = if whole.is_empty() { renew } else { replace };
            write(&folder.running_events(), &lines)?;
        }
        let log = Appender::cut_at(folder.running_events(), lines.len() as u64)?;
        lines.clear();
        let answers = read_if_there(&folder.host_answers())?.unwrap_or_default();
        let end = answers.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let answers = Appender::cut_at(folder.host_answers(), end as u64)?;
        let transcript = Growing::new(transcript);
        Ok(Self { folder, log, answers, events, lines, transcript, entries })
    }

    pub(super) fn record(&mut self, event: SceneEvent) {
        write_line(&event, &mut self.lines);
        self.events.push(event);
    }

    /// Writes the waiting lines.
    pub(super) fn flush(&mut self) -> Result<(), FileError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.log.append(&self.lines)?;
        self.lines.clear();
        self.transcript.grow(&self.folder.transcript(), &self.events)
    }

    /// Makes sure that a section is in a character's journal exactly once, even if the scene is killed at any point. A
    /// note before the write says what will be written, and a note after it that it was. In between, the journal itself
    /// tells.
    pub(super) fn write_entry(
        &mut self,
        slug: &Slug,
        journal: &Path,
        section: &str,
    ) -> Result<(), FileError> {
        let begun = match self.entries.get(slug) {
            Some(JournalEntry::Written) => return Ok(()),
            Some(JournalEntry::Begun(length)) => Some(*length),
            None => None,
        };
        // Scenes whose journals are links to one file lock the same folder.
        let path = fs::canonicalize(journal).unwrap_or_else(|_| journal.to_owned());
        create_folder(folder_of(&path))?;
        // Another scene may write to this journal at the same time.
        let _lock = lock(folder_of(&path));
        let id = entry_id(&self.folder, slug);
        let mut journal = JournalFile::open(&path)?;
        let is_written = begun.is_some_and(|length| {
            let end = usize::try_from(length).ok();
            let until = end.and_then(|end| journal.content.get(..end)).unwrap_or_default();
            journal.has(&id).unwrap_or_else(|| until.ends_with(section.as_bytes()))
        });
        if !is_written {
            if let (None, Some(end)) = (journal.has(&id), begun) {
                journal.cut(section, end)?;
            }
            let mut text = between(&journal.content).to_owned();
            text.push_str(section);
            // The file says it before the scene does, so that what the scene knows of can be looked up there.
            journal.begin(&id, &text);
            let length = (journal.content.len() + text.len()) as u64;
            self.note(&Answer::Entering { slug: slug.clone(), length })?;
            self.entries.insert(slug.clone(), JournalEntry::Begun(length));
            journal.append(&text)?;
        }
        self.note(&Answer::Entered { slug: slug.clone() })?;
        self.entries.insert(slug.clone(), JournalEntry::Written);
        journal.end();
        Ok(())
    }

    pub(super) fn note_directions(
        &mut self,
        moment: u32,
        directions: &[Direction],
    ) -> Result<(), FileError> {
        let given = directions.iter().map(|direction| match direction {
            Direction::Enter(slug) => Given::Enter(slug.clone()),
            Direction::Leave(slug) => Given::Leave(slug.clone()),
            Direction::Stop => Given::Stop,
        });
        self.note(&Answer::Directions { moment, given: given.collect() })
    }

    pub(super) fn note_ended(&mut self, speech: u32) -> Result<(), FileError> {
        self.note(&Answer::Ended { speech })
    }

    fn note(&mut self, answer: &Answer) -> Result<(), FileError> {
        // Write the events before it first.
        self.flush()?;
        let mut line = Vec::new();
        write_line(answer, &mut line);
        self.answers.append(&line)
    }

    pub(super) fn events(&self) -> &[SceneEvent] {
        &self.events
    }

    /// Replaces the log's lines by an array.
    pub(super) fn write_array(&self) -> Result<(), FileError> {
        let mut array = b"[".to_vec();
        for (at, event) in self.events.iter().enumerate() {
            array.extend_from_slice(if at == 0 { b"\n  " } else { b",\n  " });
            let line = array.len();
            write_line(event, &mut array);
            debug_assert!(array.len() > line);
            array.pop();
        }
        array.extend_from_slice(b"\n]\n");
        renew(&self.folder.events(), &array)
    }

    /// Makes the transcript final.
    pub(super) fn write_transcript(&self) -> Result<(), FileError> {
        let text = self.transcript.transcript.render(&self.events);
        renew(&self.folder.transcript(), text.as_bytes())
    }

    /// Removes the files that only a running scene needs, because the final ones are written.
    pub(super) fn end(&self) -> Result<(), FileError> {
        remove(&self.folder.running_events())?;
        remove(&self.folder.host_answers())
    }
}

fn write_line(value: &impl Serialize, lines: &mut Vec<u8>) {
    // This cannot fail: no map has a key that is not text, and a vector accepts every write.
    let _ = serde_json::to_writer(&mut *lines, value);
    lines.push(b'\n');
}

/// Returns a name for a character's entry that no other scene has.
fn entry_id(folder: &SceneFolder, slug: &Slug) -> String {
    let path = fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
    let mut hasher = DefaultHasher::new();
    (path, slug.as_str()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Reads the complete lines. Returns `None` unless the first line has this version.
fn read_answers(bytes: &[u8]) -> Option<HostAnswers> {
    let mut answers = HostAnswers::default();
    let mut is_known = false;
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        match serde_json::from_slice(line).ok()? {
            Answer::Scene { version: VERSION, started_ms } => {
                answers.started = Timestamp::from_millis(started_ms);
                is_known = true;
            }
            Answer::Scene { .. } => return None,
            Answer::Directions { moment, given } => {
                let given = given.into_iter().map(|given| match given {
                    Given::Enter(slug) => Direction::Enter(slug),
                    Given::Leave(slug) => Direction::Leave(slug),
                    Given::Stop => Direction::Stop,
                });
                answers.directions.insert(moment, given.collect());
            }
            Answer::Ended { speech } => {
                answers.ended.insert(speech);
            }
            Answer::Entering { slug, length } => {
                answers.entries.insert(slug, JournalEntry::Begun(length));
            }
            Answer::Entered { slug } => {
                answers.entries.insert(slug, JournalEntry::Written);
            }
        }
    }
    is_known.then_some(answers)
}

/// The files of a killed scene cannot be read.
#[derive(Debug)]
pub(super) enum ReadError {
    Log(LogError),
    File(FileError),
    Answers,
}
