//! After the scene: the report, and interviews.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;

use crate::actor::{ActorError, CastRole};
use crate::cue::Cue;
use crate::event::{CloseReason, EventKind, SceneEvent};
use crate::files::FileError;
use crate::lines::write_marked;
use crate::log::SceneLog;
use crate::log::comparison::SceneSummary;
use crate::machine::Plan;
use crate::machine::journal::written;
use crate::scene::deadlines::{Late, SceneDeadlines, within};
use crate::scene::folder::{SceneFolder, append_section};
use crate::scene::setup::{Actors, Setup};
use crate::slug::Slug;

/// The report of a scene.
///
/// ```
/// fn tell(report: &dirigent_scene::Report) -> String {
///     format!("{} after {} speeches, {} corrections", report.reason, report.summary.turns(), report.summary.corrections())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Why the scene ended.
    pub reason: CloseReason,
    /// The time until its close.
    pub duration: Duration,
    /// Turns, words and corrections by character.
    pub summary: SceneSummary,
    /// Characters without a journal entry, with the reason if the actor gave one.
    pub missing_entries: Vec<(Slug, Option<String>)>,
    /// The numbers of the speeches that the judge did not judge, with the reason: it failed, or did not answer in time.
    /// The scene went on.
    pub unjudged: Vec<(u32, String)>,
    /// Entries of fewer than 200 or more than 500 words, with their number of words. They are stored unchanged.
    pub unusual_entries: Vec<(Slug, usize)>,
    /// The folder of the files.
    pub folder: SceneFolder,
}

/// The number of words that an entry should have.
const ENTRY_WORDS: std::ops::RangeInclusive<usize> = 200..=500;

impl Report {
    pub(super) fn of(
        events: &[SceneEvent],
        reason: Option<CloseReason>,
        scene: &Setup,
        missing_entries: Vec<(Slug, Option<String>)>,
        unjudged: Vec<(u32, String)>,
    ) -> Self {
        let close = events.iter().find(|event| event.kind == EventKind::Close);
        let entries = events.iter().filter(|event| event.kind == EventKind::Journal);
        let unusual_entries = entries.filter_map(|event| {
            let words = event.text.split_whitespace().count();
            let slug = event.from.character().filter(|_| !ENTRY_WORDS.contains(&words))?;
            Some((slug.clone(), words))
        });
        Self {
            reason: reason.unwrap_or(CloseReason::Aborted),
            duration: close.map_or(Duration::ZERO, |close| close.at),
            unjudged,
            unusual_entries: unusual_entries.collect(),
            summary: SceneSummary::of(&SceneLog::of(events.to_vec())),
            missing_entries,
            folder: scene.folder.clone(),
        }
    }
}

/// A scene that has ended, with its actors. You can interview each actor that has written its journal, until you drop
/// the epilogue or call [`Epilogue::close`].
///
/// ```no_run
/// # async fn example(scene: dirigent_scene::Scene) -> Result<(), Box<dyn std::error::Error>> {
/// let mut epilogue = scene.run().await?;
/// let answer = epilogue.interview("maria", "What did you think of Sam?").await?;
/// println!("{answer}");
/// epilogue.close();
/// # Ok(())
/// # }
/// ```
pub struct Epilogue {
    report: Report,
    actors: Actors,
    plan: Arc<Plan>,
    /// The characters that wrote an entry.
    wrote: Vec<Slug>,
    clock: Arc<dyn Clock>,
    deadlines: SceneDeadlines,
}

impl Epilogue {
    pub(super) fn new(
        report: Report,
        actors: Actors,
        plan: &Arc<Plan>,
        (clock, deadlines): (Arc<dyn Clock>, SceneDeadlines),
    ) -> Self {
        let parts = report.summary.characters.iter().filter(|(_, part)| part.journals > 0);
        let wrote = parts.map(|(slug, _)| slug.clone()).collect();
        Self { report, actors, plan: Arc::clone(plan), wrote, clock, deadlines }
    }

    /// Returns the report of the scene.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Asks the actor of a character a question after the scene. Question and answer are appended to the character's
    /// `interview.md`, and appear in no event or transcript. The question is in your own words, and only this actor
    /// reads it.
    ///
    /// # Errors
    ///
    /// Returns an [`InterviewError`]. Unless it is about the file, no file has changed.
    pub async fn interview(
        &mut self,
        slug: &str,
        question: &str,
    ) -> Result<Arc<str>, InterviewError> {
        let slug = Slug::new(slug).map_err(|_| InterviewError::Unknown)?;
        let seat = self.plan.seat(&slug).ok_or(InterviewError::Unknown)?;
        if !self.wrote.contains(&slug) {
            return Err(InterviewError::NoEntry);
        }
        let Self { actors, clock, deadlines, .. } = &mut *self;
        let actor = actors.get_mut(&seat).ok_or(InterviewError::Gone)?;
        let limit = if actor.is_person() { deadlines.person } else { deadlines.answer };
        let answer = within(&**clock, limit, actor.respond(Cue::interview(question))).await;
        let answer = answer.map_err(|Late(after)| InterviewError::TimedOut { after })?;
        let output = answer.map_err(InterviewError::Actor)?;
        let answer = written(&output).ok_or(InterviewError::NoAnswer)?;
        let name = self.plan.role(seat).map_or(slug.as_str(), CastRole::name);
        let mut section = String::from("**Question:** ");
        // Writing to a string cannot fail.
        let _ = write_marked(&mut section, question);
        let _ = write!(section, "\n\n**{}:** ", name.to_uppercase());
        let _ = write_marked(&mut section, &answer);
        section.push('\n');
        append_section(&self.report.folder.interview(&slug), &section)
            .map_err(InterviewError::File)?;
        Ok(answer)
    }

    /// Ends the actors, and returns the report of the scene.
    pub fn close(self) -> Report {
        self.report
    }
}

impl fmt::Debug for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epilogue").field("report", &self.report).finish_non_exhaustive()
    }
}

/// Why an interview failed.
///
/// ```
/// assert!(dirigent_scene::InterviewError::NoEntry.to_string().contains("journal"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterviewError {
    /// No character has this slug.
    #[error("no character of the scene has this slug")]
    Unknown,
    /// The character has written no journal entry, which must come before an interview.
    #[error("the character has written no journal entry, after which an interview comes")]
    NoEntry,
    /// The actor was not restored, because when the scene was resumed only its files were unfinished.
    #[error("the actor is gone: the scene was resumed after its end")]
    Gone,
    /// The actor failed.
    #[error("the actor gave no answer: {0}")]
    Actor(#[source] ActorError),
    /// The actor did not answer in time ([`SceneDeadlines`]). You can ask it again.
    #[error("the actor gave no answer within {} s", after.as_secs_f64())]
    TimedOut {
        /// The time that was waited.
        after: Duration,
    },
    /// The answer is blank, or has tags but does not follow the protocol.
    #[error("the answer is blank, or has tags without keeping the protocol")]
    NoAnswer,
    /// The actor answered, but the answer could not be written.
    #[error(transparent)]
    File(FileError),
}
