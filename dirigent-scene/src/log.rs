//! Reads an event log of a scene that has ended, still runs or was killed. `playback` replays one, and `comparison`
//! compares two.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::event::{CloseReason, EventKind, SceneEvent};
use crate::slug::Slug;

pub(crate) mod comparison;
pub(crate) mod playback;

/// The event log of one scene. A scene that has ended has a JSON array. One that runs or was killed has JSON Lines, and
/// the last line may be cut anywhere.
///
/// ```
/// use dirigent_scene::SceneLog;
///
/// let log = SceneLog::parse(br#"{"t": 0.0, "from": "coordinator", "type": "spawn", "target": "sam", "text": "Spawning actor for character sam"}
/// {"t": 0.4, "from": "coordi"#)?;
/// assert_eq!((log.events().len(), log.is_cut()), (1, true));
/// # Ok::<(), dirigent_scene::LogError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SceneLog {
    events: Vec<SceneEvent>,
    is_cut: bool,
}

impl SceneLog {
    /// Reads a log from bytes.
    ///
    /// # Errors
    ///
    /// Returns a [`LogError`] if an element, or a line before the last, is no event. The same happens if a time goes
    /// back, or if anything but a journal follows a close.
    pub fn parse(bytes: &[u8]) -> Result<Self, LogError> {
        let begins = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let log = if begins == Some(&b'[') { Self::array(bytes)? } else { Self::lines(bytes)? };
        log.check()?;
        Ok(log)
    }

    /// Reads a log from a file.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Unreadable`] if the file cannot be read, and otherwise the errors of [`SceneLog::parse`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let failed = |source| LogError::Unreadable { path: path.to_owned(), source };
        Self::parse(&fs::read(path).map_err(failed)?)
    }

    pub(crate) fn of(events: Vec<SceneEvent>) -> Self {
        Self { events, is_cut: false }
    }

    fn array(bytes: &[u8]) -> Result<Self, LogError> {
        // Read them one by one, so that the error can name the wrong element.
        let elements: Vec<&serde_json::value::RawValue> =
            serde_json::from_slice(bytes).map_err(|_| LogError::NotALog)?;
        let events = elements.iter().enumerate().map(|(at, element)| {
            serde_json::from_str(element.get()).map_err(|_| LogError::BadEvent { number: at + 1 })
        });
        let events = events.collect::<Result<_, _>>()?;
        Ok(Self { events, is_cut: false })
    }

    fn lines(bytes: &[u8]) -> Result<Self, LogError> {
        let mut log = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let behind = end.map_or(rest.len(), |end| end + 1);
            match serde_json::from_slice(line) {
                Ok(event) if end.is_some() => log.events.push(event),
                _ if end.is_none() => log.is_cut = true,
                _ if line.trim_ascii().is_empty() => {}
                _ => return Err(LogError::BadEvent { number: log.events.len() + 1 }),
            }
            rest = rest.get(behind..).unwrap_or_default();
        }
        Ok(log)
    }

    fn check(&self) -> Result<(), LogError> {
        let mut last = None;
        let mut is_closed = false;
        for (number, event) in (1..).zip(&self.events) {
            if last.is_some_and(|last| event.at < last) {
                return Err(LogError::TimeGoesBack { number });
            }
            if is_closed && !matches!(event.kind, EventKind::Journal | EventKind::Correct) {
                return Err(LogError::AfterClose { number });
            }
            is_closed |= event.kind == EventKind::Close;
            last = Some(event.at);
        }
        Ok(())
    }

    /// Returns the events, oldest first.
    pub fn events(&self) -> &[SceneEvent] {
        &self.events
    }

    /// Returns true if the log ends within a line, because its writer was killed there. That line is left out.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns why the scene ended, if it has.
    pub fn reason(&self) -> Option<CloseReason> {
        self.events.iter().rev().find_map(|event| event.reason)
    }

    /// Returns the characters, in the order of their actors' creation.
    pub fn characters(&self) -> Vec<Slug> {
        let spawned = self.events.iter().filter(|event| event.kind == EventKind::Spawn);
        spawned.filter_map(|event| event.target.clone()).collect()
    }

    /// Removes a final thought that has no speech. Returns true if there was one.
    pub(crate) fn drop_lone_thought(&mut self) -> bool {
        let is_lone = self.events.last().is_some_and(|event| event.kind == EventKind::Think);
        if is_lone {
            self.events.pop();
        }
        is_lone
    }

    pub(crate) fn into_events(self) -> Vec<SceneEvent> {
        self.events
    }
}

/// Why a file is no event log. `Display` and `Debug` show no word of it.
///
/// ```
/// use dirigent_scene::{SceneLog, LogError};
/// assert!(matches!(SceneLog::parse(b"{}\n"), Err(LogError::BadEvent { number: 1 })));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file begins like a JSON array but is not one.
    NotALog,
    /// An entry is not an event.
    BadEvent {
        /// The number of the entry, from 1.
        number: usize,
    },
    /// An event is earlier than the one before it.
    TimeGoesBack {
        /// The number of the event, from 1.
        number: usize,
    },
    /// An event follows the close of the scene.
    AfterClose {
        /// The number of the event, from 1.
        number: usize,
    },
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, source } => {
                write!(f, "cannot read the event log {}: {source}", path.display())
            }
            Self::NotALog => f.write_str("the file is no JSON array of events"),
            Self::BadEvent { number } => write!(f, "event {number} of the log is no event"),
            Self::TimeGoesBack { number } => {
                write!(f, "event {number} of the log is earlier than the one before it")
            }
            Self::AfterClose { number } => {
                write!(f, "event {number} of the log comes after the scene was closed")
            }
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            Self::NotALog
            | Self::BadEvent { .. }
            | Self::TimeGoesBack { .. }
            | Self::AfterClose { .. } => None,
        }
    }
}
