//! Counts what happens in a scene, and compares two.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::event::{CloseReason, EventKind, Source};
use crate::log::SceneLog;
use crate::slug::Slug;

/// The counts of a scene.
///
/// ```
/// use dirigent_scene::{SceneLog, SceneSummary};
///
/// let log = SceneLog::parse(br#"[
///   {"t": 0.0, "from": "sam", "type": "think", "text": "Hm."},
///   {"t": 2.0, "from": "sam", "type": "speak", "text": "Hello you."}
/// ]"#)?;
/// let summary = SceneSummary::of(&log);
/// assert_eq!((summary.turns(), summary.duration.as_secs()), (1, 2));
/// # Ok::<(), dirigent_scene::LogError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SceneSummary {
    /// The number of events.
    pub events: usize,
    /// The time from the first event to the last.
    pub duration: Duration,
    /// Why the scene ended, or `None` if it has not.
    pub reason: Option<CloseReason>,
    /// The counts of each character.
    pub characters: BTreeMap<Slug, CharacterSummary>,
}

/// The counts of one character.
///
/// ```
/// assert_eq!(dirigent_scene::CharacterSummary::default().words_a_turn(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CharacterSummary {
    /// Turns, including those without a word.
    pub turns: usize,
    /// Whispered turns.
    pub whispers: usize,
    /// Spoken words, separated by white space.
    pub words: usize,
    /// Words of thinking.
    pub thought_words: usize,
    /// Correction prompts that the actor got.
    pub corrections: usize,
    /// Journal entries.
    pub journals: usize,
    /// The time that the actor took for its turns, from the event before a turn to its speech.
    pub speaking_time: Duration,
}

impl CharacterSummary {
    /// Returns the mean number of words in a turn, rounded down.
    pub const fn words_a_turn(&self) -> usize {
        match self.words.checked_div(self.turns) {
            Some(words) => words,
            None => 0,
        }
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

impl SceneSummary {
    /// Counts the events of a log.
    pub fn of(log: &SceneLog) -> Self {
        let events = log.events();
        let mut summary = Self { events: events.len(), reason: log.reason(), ..Self::default() };
        summary.duration = events.last().map_or(Duration::ZERO, |event| event.at);
        // The time at which the next speaker got its turn, which is that of the last event from
        // another source.
        let mut asked = Duration::ZERO;
        for event in events {
            let whose = match &event.from {
                Source::Character(slug) => Some(slug),
                Source::Coordinator => event.target.as_ref(),
            };
            let mut nothing = CharacterSummary::default();
            let part = match whose {
                Some(slug) => summary.characters.entry(slug.clone()).or_default(),
                None => &mut nothing,
            };
            match event.kind {
                EventKind::Speak => {
                    part.turns += 1;
                    part.whispers += usize::from(event.audience.is_some());
                    part.words += words(&event.text);
                    part.speaking_time += event.at.saturating_sub(asked);
                }
                EventKind::Think => part.thought_words += words(&event.text),
                EventKind::Correct => part.corrections += 1,
                EventKind::Journal => part.journals += 1,
                EventKind::Spawn | EventKind::Brief | EventKind::Route | EventKind::Close => {}
            }
            // A correction is part of its turn.
            if !matches!(event.kind, EventKind::Think | EventKind::Correct) {
                asked = event.at;
            }
        }
        summary
    }

    /// Returns the number of turns of all characters.
    pub fn turns(&self) -> usize {
        self.characters.values().map(|part| part.turns).sum()
    }

    /// Returns the number of correction prompts to all characters.
    pub fn corrections(&self) -> usize {
        self.characters.values().map(|part| part.corrections).sum()
    }

    fn reason_name(&self) -> &'static str {
        self.reason.map_or("not ended", CloseReason::as_str)
    }
}

/// Two scenes side by side. `Display` writes a table.
///
/// ```
/// use dirigent_scene::{Comparison, SceneLog};
/// let table = Comparison::of(&SceneLog::default(), &SceneLog::default()).to_string();
/// assert!(table.starts_with("| |"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The first scene.
    pub first: SceneSummary,
    /// The second scene.
    pub second: SceneSummary,
}

impl Comparison {
    /// Counts both scenes.
    pub fn of(first: &SceneLog, second: &SceneLog) -> Self {
        Self { first: SceneSummary::of(first), second: SceneSummary::of(second) }
    }

    /// Returns true if both scenes have equal counts, apart from their times.
    pub fn is_same(&self) -> bool {
        let timeless = |summary: &SceneSummary| {
            let mut summary = summary.clone();
            summary.duration = Duration::ZERO;
            summary.characters.values_mut().for_each(|part| part.speaking_time = Duration::ZERO);
            summary
        };
        timeless(&self.first) == timeless(&self.second)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        writeln!(f, "| | first | second |\n| --- | --- | --- |")?;
        let mut row =
            |name: &str, one: String, other: String| writeln!(f, "| {name} | {one} | {other} |");
        row("close reason", first.reason_name().into(), second.reason_name().into())?;
        row("duration", seconds(first.duration), seconds(second.duration))?;
        row("events", first.events.to_string(), second.events.to_string())?;
        row("turns", first.turns().to_string(), second.turns().to_string())?;
        let corrections = [first, second].map(|summary| summary.corrections().to_string());
        let [one, other] = corrections;
        row("corrections", one, other)?;
        let mut slugs: Vec<&Slug> = first.characters.keys().collect();
        slugs.extend(second.characters.keys().filter(|slug| !first.characters.contains_key(slug)));
        for slug in slugs {
            let parts = [first, second].map(|summary| summary.characters.get(slug));
            let mut of = |name: &str, count: &dyn Fn(&CharacterSummary) -> String| {
                let [one, other] = parts.map(|part| part.map_or_else(|| "absent".into(), count));
                row(&format!("{slug}: {name}"), one, other)
            };
            of("turns", &|part| part.turns.to_string())?;
            of("whispers", &|part| part.whispers.to_string())?;
            of("words a turn", &|part| part.words_a_turn().to_string())?;
            of("corrections", &|part| part.corrections.to_string())?;
            of("journal entries", &|part| part.journals.to_string())?;
            of("speaking time", &|part| seconds(part.speaking_time))?;
        }
        Ok(())
    }
}
