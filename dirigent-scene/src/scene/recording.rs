//! The event log of a scene that runs, and the few answers of its host that the log does not show.

use dirigent_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::director::Direction;
use crate::event::SceneEvent;
use crate::files::{Appender, FileError, read_if_there, remove, replace};
use crate::log::{LogError, SceneLog};
use crate::machine::replay::HostAnswers;
use crate::scene::folder::SceneFolder;
use crate::slug::Slug;

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
}

/// A direction as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Given {
    Enter(Slug),
    Leave(Slug),
    Stop,
}

const VERSION: u32 = 1;

impl Recording {
    /// Begins the log of a new scene.
    pub(super) fn begin(folder: &SceneFolder, started: Timestamp) -> Result<Self, FileError> {
        let answers = Appender::create(folder.host_answers())?;
        let log = Appender::create(folder.running_events());
        let begun = log.and_then(|log| {
            let (events, lines) = (Vec::new(), Vec::new());
            let mut recording = Self { folder: folder.clone(), log, answers, events, lines };
            let started_ms = started.as_millis();
            recording.note(&Answer::Scene { version: VERSION, started_ms })?;
            Ok(recording)
        });
        if begun.is_err() {
            let _ = remove(&folder.host_answers());
            let _ = remove(&folder.running_events());
        }
        begun
    }

    /// Reads what a killed scene left.
    pub(super) fn read(folder: &SceneFolder) -> Result<(SceneLog, HostAnswers), ReadError> {
        let mut log = SceneLog::read(folder.running_events()).map_err(ReadError::Log)?;
        log.drop_lone_thought();
        let bytes = read_if_there(&folder.host_answers()).map_err(ReadError::File)?;
        let answers = bytes.as_deref().and_then(read_answers).ok_or(ReadError::Answers)?;
        Ok((log, answers))
    }

    /// Goes on with the log of a killed scene: what was cut in the middle is taken away.
    pub(super) fn go_on(folder: SceneFolder, log: SceneLog) -> Result<Self, FileError> {
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
        Ok(Self { folder, log, answers, events, lines })
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
        let mut line = serde_json::to_vec(answer).unwrap_or_default();
        line.push(b'\n');
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

    /// The scene is over and its files are written: what only a running one has is removed.
    pub(super) fn end(&self) -> Result<(), FileError> {
        remove(&self.folder.running_events())?;
        remove(&self.folder.host_answers())
    }
}

fn write_line(event: &SceneEvent, lines: &mut Vec<u8>) {
    // Neither a map with keys that are no text nor a writer that fails is in it.
    let _ = serde_json::to_writer(&mut *lines, event);
    lines.push(b'\n');
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
