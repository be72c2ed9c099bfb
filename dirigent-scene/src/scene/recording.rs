//! The event log of a scene that runs, its transcript, and the few things that the log does not show: answers of the host, and
//! whose journal was written.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use dirigent_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::director::Direction;
use crate::event::{EventKind, SceneEvent};
use crate::files::{
    Appender, FileError, create_folder, folder_of, is_there, lock, read_if_there, remove, replace,
    replace_over,
};
use crate::log::{LogError, SceneLog};
use crate::machine::replay::{HostAnswers, JournalEntry};
use crate::scene::folder::{SceneFolder, add_section};
use crate::slug::Slug;
use crate::transcript::Transcript;

/// Writes the log.
#[derive(Debug)]
pub(super) struct Recording {
    folder: SceneFolder,
    log: Appender,
    answers: Appender,
    /// All events that are written, or wait to be.
    events: Vec<SceneEvent>,
    /// Lines that wait to be written.
    lines: Vec<u8>,
    transcript: Growing,
    /// Whose journal entry was begun.
    entries: BTreeMap<Slug, JournalEntry>,
}

/// The transcript of a scene that runs.
#[derive(Debug)]
struct Growing {
    transcript: Transcript,
    /// The file, from the first speech on.
    file: Option<Appender>,
    /// How many events are in it, or concern it not.
    events: usize,
    /// Whether someone came since what stands above its lines was written.
    is_old: bool,
}

impl Growing {
    fn new(transcript: &Transcript) -> Self {
        Self { transcript: transcript.clone(), file: None, events: 0, is_old: false }
    }

    /// Writes what was said since the last time.
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
        replace(path, text.as_bytes())?;
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
    /// The journal with this character's entry is written next, and has this many bytes then.
    Entering {
        slug: Slug,
        length: u64,
    },
    /// It is written.
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
            replace(&folder.host_answers(), &first)?;
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

    /// Reads what a killed scene left.
    pub(super) fn read(folder: &SceneFolder) -> Result<(SceneLog, HostAnswers), ReadError> {
        let bytes = read_if_there(&folder.host_answers()).map_err(ReadError::File)?;
        let answers = bytes.as_deref().and_then(read_answers);
        let path = folder.running_events();
        let log = if answers.is_none() || is_there(&path).map_err(ReadError::File)? {
            SceneLog::read(path)
        } else if is_there(&folder.events()).map_err(ReadError::File)? {
            // It was killed when the array had taken the place of the lines.
            SceneLog::read(folder.events())
        } else {
            // It was killed before its first event.
            Ok(SceneLog::default())
        };
        let mut log = log.map_err(ReadError::Log)?;
        log.drop_lone_thought();
        Ok((log, answers.ok_or(ReadError::Answers)?))
    }

    /// Goes on with the log of a killed scene: what was cut in the middle is taken away.
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
        // Written by the same hand, so the lines are a beginning of the file; what another wrote is written anew.
        if !whole.starts_with(&lines) {
            replace(&folder.running_events(), &lines)?;
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

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> Result<(), FileError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.log.append(&self.lines)?;
        self.lines.clear();
        self.transcript.grow(&self.folder.transcript(), &self.events)
    }

    /// Sees to it that a section stands in a character's journal, once, whenever the scene is killed: what is going to be written is
    /// noted before, and that it is written afterwards. Between the two the journal itself says it.
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
        // A link to a journal stays a link.
        let journal = fs::canonicalize(journal).unwrap_or_else(|_| journal.to_owned());
        let folder = folder_of(&journal);
        create_folder(folder)?;
        // Another scene may write to this journal, too.
        let lock = lock(folder);
        let mut content = read_if_there(&journal)?.unwrap_or_default();
        let end = begun.and_then(|length| usize::try_from(length).ok());
        let until = end.and_then(|end| content.get(..end)).unwrap_or_default();
        if !until.ends_with(section.as_bytes()) {
            add_section(&mut content, section);
            let length = content.len() as u64;
            self.note(&Answer::Entering { slug: slug.clone(), length })?;
            self.entries.insert(slug.clone(), JournalEntry::Begun(length));
            match lock {
                Some(_) => replace(&journal, &content)?,
                // Two scenes that write at once must not share the file beside the journal.
                None => replace_over(&folder.join(part_of(&self.folder)), &journal, &content)?,
            }
        }
        self.note(&Answer::Entered { slug: slug.clone() })?;
        self.entries.insert(slug.clone(), JournalEntry::Written);
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
        // The events before it are written before it.
        self.flush()?;
        let mut line = Vec::new();
        write_line(answer, &mut line);
        self.answers.append(&line)
    }

    pub(super) fn events(&self) -> &[SceneEvent] {
        &self.events
    }

    /// Makes the log an array, in place of the lines.
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
        replace(&self.folder.events(), &array)
    }

    /// Makes the transcript final.
    pub(super) fn write_transcript(&self) -> Result<(), FileError> {
        let text = self.transcript.transcript.render(&self.events);
        replace(&self.folder.transcript(), text.as_bytes())
    }

    /// The scene is over and its files are written: what only a running one has is removed.
    pub(super) fn end(&self) -> Result<(), FileError> {
        remove(&self.folder.running_events())?;
        remove(&self.folder.host_answers())
    }
}

fn write_line(value: &impl Serialize, lines: &mut Vec<u8>) {
    // Neither a map with keys that are no text nor a writer that fails is in it.
    let _ = serde_json::to_writer(&mut *lines, value);
    lines.push(b'\n');
}

/// The name of a file beside a journal that no other scene uses.
fn part_of(folder: &SceneFolder) -> String {
    let path = fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    format!(".scene-{:016x}.part", hasher.finish())
}

/// What the lines say that are whole. None where there is no first line of this version.
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

/// What a killed scene left cannot be read.
#[derive(Debug)]
pub(super) enum ReadError {
    Log(LogError),
    File(FileError),
    Answers,
}
