//! Turns as a score. You see when each agent spoke, and why the others were silent.

use std::collections::BTreeMap;

use dirigent::AgentId;
use dirigent::operate::{Cause, Reason, Transition};
use dirigent::ports::Timestamp;
use dirigent::replay::{TraceEntry, TraceEvent};
use dirigent::snapshot::{AgentKey, PhaseKind};

use crate::drawing::axis::Axis;

/// The turns of a channel, drawn like a musical score.
///
/// ```
/// use dirigent_control::drawing::Score;
///
/// let score = Score::of(&[], |_| None, None);
/// assert!(score.staves.is_empty());
/// assert!(score.file().starts_with("<svg "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Score {
    /// The staves, one for each agent that took part, in the order of their keys.
    pub staves: Vec<AgentLine>,
    /// The times at which people wrote.
    pub words: Vec<Timestamp>,
    /// The ends of cycles, and the times at which the channel fell silent.
    pub barlines: Vec<Barline>,
    /// The end of the score, if the channel still runs.
    pub until: Option<Timestamp>,
}

/// The part of one agent.
///
/// ```
/// use dirigent::snapshot::AgentKey;
/// use dirigent_control::drawing::AgentLine;
/// let mut stave = AgentLine::new(AgentKey::new(0), "poet");
/// assert!(stave.notes.is_empty());
/// stave.name = "Poet".to_owned();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentLine {
    /// The key of the agent.
    pub agent: AgentKey,
    /// The agent's name.
    pub name: String,
    /// The notes in order of time.
    pub notes: Vec<Note>,
}

/// A part of a stave, for example one reply of the agent.
///
/// ```
/// use dirigent::ports::Timestamp;
/// use dirigent_control::drawing::{Note, NoteKind};
/// let (from, to) = (Timestamp::from_millis(1), Timestamp::from_millis(9));
/// let note = Note { from, to, kind: NoteKind::Speech };
/// assert_eq!(note.kind.words(), "speaks");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Note {
    /// The time at which the note began.
    pub from: Timestamp,
    /// The time at which the note ended. It equals `from` if the note took no time.
    pub to: Timestamp,
    /// The kind of note.
    pub kind: NoteKind,
}

/// The kind of a [`Note`].
///
/// ```
/// use dirigent_control::drawing::NoteKind;
/// assert_eq!(NoteKind::Rest("passed".to_owned()).words(), "silent: passed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// The agent ran and said something.
    Speech,
    /// The agent is running.
    Running,
    /// The agent was silent in its turn, or was skipped, for this reason.
    Rest(String),
    /// The agent asked for a run and was denied, for this reason.
    Denied(String),
}

impl NoteKind {
    /// Returns the kind in words.
    pub fn words(&self) -> String {
        match self {
            Self::Speech => "speaks".to_owned(),
            Self::Running => "is thinking".to_owned(),
            Self::Rest(why) => format!("silent: {why}"),
            Self::Denied(why) => format!("denied: {why}"),
        }
    }
}

/// A line through all staves.
///
/// ```
/// use dirigent::ports::Timestamp;
/// use dirigent_control::drawing::Barline;
/// let end = Barline { at: Timestamp::from_millis(1), is_end: true, why: "all passed".to_owned() };
/// assert!(end.is_end);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Barline {
    /// The time of the line.
    pub at: Timestamp,
    /// True if no agent has the floor after this line.
    pub is_end: bool,
    /// The cause, in words.
    pub why: String,
}

impl AgentLine {
    /// Creates an empty stave.
    pub fn new(agent: AgentKey, name: impl Into<String>) -> Self {
        Self { agent, name: name.into(), notes: Vec::new() }
    }
}

impl Score {
    /// Creates the score of a [`Trace`](dirigent::replay::Trace). `name` returns the names of agents. Set `now` for a
    /// channel that still runs, so that its current run is drawn up to that time.
    pub fn of(
        entries: &[TraceEntry],
        name: impl Fn(AgentKey) -> Option<AgentId>,
        now: Option<Timestamp>,
    ) -> Self {
        let mut reading = Reading::default();
        for entry in entries {
            reading.read(entry);
        }
        if let Some((agent, from, has_spoken)) = reading.open.take() {
            let to = now.unwrap_or(reading.newest).max(from);
            let kind = if has_spoken { NoteKind::Speech } else { NoteKind::Running };
            reading.note(agent, Note { from, to, kind });
        }
        let stave = |(agent, notes): (AgentKey, Vec<Note>)| {
            let name = name(agent).map(String::from);
            let name = name.unwrap_or_else(|| format!("agent {}", agent.get()));
            AgentLine { agent, name, notes }
        };
        let Reading { notes, words, barlines, newest, .. } = reading;
        let until = now.map(|now| now.max(newest));
        Self { staves: notes.into_iter().map(stave).collect(), words, barlines, until }
    }

    /// Returns the SVG as part of a page. Your stylesheet must contain [`STYLE`](crate::drawing::STYLE).
    pub fn svg(&self) -> String {
        crate::drawing::draw::svg(self, &self.axis(), None)
    }

    /// Returns HTML for an element that scrolls. It has the SVG, and the names once more beside it. So the names stay
    /// visible on a narrow page while you scroll the score.
    pub fn sheet(&self) -> String {
        crate::drawing::draw::sheet(self, &self.axis())
    }

    /// Returns the names of the lines, from top to bottom.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let agents = self.staves.iter().map(|stave| stave.name.as_str());
        std::iter::once(crate::drawing::draw::PEOPLE).chain(agents)
    }

    /// Returns the SVG as a file with its own style, in plain colours on white. So it looks the same in a browser and
    /// in programs without custom properties, for example librsvg.
    pub fn file(&self) -> String {
        crate::drawing::draw::svg(self, &self.axis(), Some(&crate::drawing::style::file_style()))
    }

    /// Returns the place of a moment in the SVG, from the left.
    pub fn place(&self, at: Timestamp) -> f64 {
        self.axis().place(at)
    }

    pub(crate) fn axis(&self) -> Axis {
        let notes = self.staves.iter().flat_map(|stave| &stave.notes);
        let moments = notes.flat_map(|note| [note.from, note.to]);
        let moments = moments.chain(self.words.iter().copied());
        let moments = moments.chain(self.barlines.iter().map(|line| line.at)).chain(self.until);
        Axis::of(moments.collect())
    }
}

/// A score that is being built from a trace.
#[derive(Default)]
struct Reading {
    notes: BTreeMap<AgentKey, Vec<Note>>,
    words: Vec<Timestamp>,
    barlines: Vec<Barline>,
    /// The current run: its agent, its start, and true if the agent has spoken.
    open: Option<(AgentKey, Timestamp, bool)>,
    newest: Timestamp,
}

impl Reading {
    fn read(&mut self, entry: &TraceEntry) {
        self.newest = self.newest.max(entry.at);
        match (&entry.event, entry.agent) {
            (TraceEvent::PersonWrote, _) => self.words.push(entry.at),
            (TraceEvent::Denied(reason), Some(agent)) => {
                let kind = NoteKind::Denied(denial(*reason).to_owned());
                self.note(agent, Note { from: entry.at, to: entry.at, kind });
            }
            (TraceEvent::Changed(change), _) => self.changed(change),
            _ => {}
        }
    }

    fn changed(&mut self, change: &Transition) {
        self.close(change);
        match (change.cause, change.agent) {
            (Cause::RunStarted, Some(agent)) => {
                self.notes.entry(agent).or_default();
                // A turn that continues after a first message is one bar.
                self.open = self.open.or(Some((agent, change.at, false)));
            }
            (cause, Some(agent)) if is_rest_without_run(cause) => {
                let kind = NoteKind::Rest(words(cause));
                self.note(agent, Note { from: change.at, to: change.at, kind });
            }
            (_, Some(agent)) => drop(self.notes.entry(agent).or_default()),
            (_, None) => {}
        }
        let is_end = change.to == PhaseKind::Dormant && change.from != PhaseKind::Dormant
            || matches!(
                change.cause,
                Cause::Stopped | Cause::Held | Cause::Concluded | Cause::Archived
            )
            || change.to == PhaseKind::Archived && change.from != PhaseKind::Archived;
        if is_end || change.cause == Cause::CycleBoundary {
            self.barlines.push(Barline { at: change.at, is_end, why: words(change.cause) });
        }
    }

    /// Ends the current run if this change does.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not named here ends no run by itself"
    )]
    fn close(&mut self, change: &Transition) {
        let Some((agent, from, has_spoken)) = self.open else { return };
        let is_own = change.agent == Some(agent);
        let leaves = !is_turn(change.to);
        let kind = match change.cause {
            Cause::Spoke | Cause::Unfinished | Cause::Replied if is_own => {
                self.open = Some((agent, from, true));
                return;
            }
            Cause::ReceiptGiven
            | Cause::TailMatched
            | Cause::QuietAfterMessage
            | Cause::DeliveryTimedOut => NoteKind::Speech,
            Cause::Passed
            | Cause::Repeated
            | Cause::RunFailed
            | Cause::RunTimedOut
            | Cause::RunLost
            | Cause::SignalMissing
            | Cause::Undelivered
                if is_own && !has_spoken =>
            {
                NoteKind::Rest(words(change.cause))
            }
            _ if has_spoken && leaves => NoteKind::Speech,
            _ if leaves || change.cause == Cause::NextInList => NoteKind::Rest(words(change.cause)),
            _ => return,
        };
        self.open = None;
        self.note(agent, Note { from, to: change.at.max(from), kind });
    }

    fn note(&mut self, agent: AgentKey, note: Note) {
        self.notes.entry(agent).or_default().push(note);
    }
}

/// Returns true if an agent has the floor and has begun.
const fn is_turn(phase: PhaseKind) -> bool {
    matches!(
        phase,
        PhaseKind::Running
            | PhaseKind::Delivering
            | PhaseKind::Confirming
            | PhaseKind::Continuing
            | PhaseKind::Waiting
    )
}

/// Returns true if an agent was skipped without a call.
const fn is_rest_without_run(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::NothingNew
            | Cause::NotMentioned
            | Cause::AgentCapped
            | Cause::AgentPassed
            | Cause::AgentLeft
            | Cause::AgentMuted
            | Cause::AgentMayNotWrite
            | Cause::AgentOffline
            | Cause::StartTimedOut
    )
}

fn words(cause: Cause) -> String {
    cause.as_str().replace('-', " ")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others are called by their names")]
const fn denial(reason: Reason) -> &'static str {
    match reason {
        Reason::NotYourTurn { .. } => "not its turn",
        other => other.as_str(),
    }
}
