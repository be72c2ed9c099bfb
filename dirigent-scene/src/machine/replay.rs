//! A killed scene's machine, brought back from its event log. The log and the few answers of the host that it does not
//! show are all that the machine was ever told, so they bring it to where it was; what it wants next is then done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dirigent_core::Timestamp;

use crate::actor::Output;
use crate::director::{Audience, Direction};
use crate::event::{CloseReason, EventKind, SceneEvent};
use crate::judge::Judgement;
use crate::machine::{CastPlace, Machine, Plan, SceneEffect, SceneInput};
use crate::protocol::{Parsed, Speech, Thoughts};
use crate::slug::Slug;

/// What the host and the judge answered, and which journals were written, as far as the log does not show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostAnswers {
    /// When the scene began.
    pub(crate) started: Timestamp,
    /// Directions, by the number of the moment at which they were given, from 1.
    pub(crate) directions: BTreeMap<u32, Vec<Direction>>,
    /// The speeches with which the judge found that the scene had ended.
    pub(crate) ended: BTreeSet<u32>,
    /// Whose journal entry was begun.
    pub(crate) entries: BTreeMap<Slug, JournalEntry>,
}

/// How far the writing of a journal entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalEntry {
    /// It is in the journal if it ends there at this byte.
    Begun(u64),
    /// It is in the journal, whatever became of that.
    Written,
}

/// Where a scene stands whose log is read to its end.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) machine: Machine,
    /// What is to be done now.
    pub(crate) effects: Vec<SceneEffect>,
    /// Entries that were recorded, and may not have reached their journals.
    pub(crate) entries: Vec<(CastPlace, Arc<str>)>,
    /// How many moments the host was asked at.
    pub(crate) moments: u32,
}

/// The log is not that of this scene, from this event on (counted from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Diverged(pub(crate) usize);

/// Brings a machine that was not started to where the log ends.
pub(crate) fn replay(
    mut machine: Machine,
    events: &[SceneEvent],
    answers: &HostAnswers,
) -> Result<Replayed, Diverged> {
    let mut reading = Reading { events, at: 0, answers, moments: 0 };
    let mut entries = Vec::new();
    let mut effects = Vec::new();
    let diverged = |at: usize| Diverged(at + 1);
    machine.handle(reading.now(), SceneInput::Start, &mut effects).map_err(|_| diverged(0))?;
    let mut queue = VecDeque::from(effects);
    while let Some(effect) = queue.pop_front() {
        match effect {
            SceneEffect::Record(event) => match reading.next() {
                Some(logged) if logged.says_the_same(&event) => reading.at += 1,
                Some(_) => return Err(diverged(reading.at)),
                None => {
                    queue.push_front(SceneEffect::Record(event));
                    break;
                }
            },
            SceneEffect::Journal { seat, entry } => entries.push((seat, entry)),
            SceneEffect::NoEntry { .. } | SceneEffect::Refused { .. } => {}
            SceneEffect::Finish => {
                queue.push_front(SceneEffect::Finish);
                break;
            }
            answered @ (SceneEffect::Spawn(_)
            | SceneEffect::Brief(_)
            | SceneEffect::Direct(_)
            | SceneEffect::Ask { .. }
            | SceneEffect::Hear { .. }
            | SceneEffect::Show(_)
            | SceneEffect::Judge(_)) => {
                let Some(input) = reading.answer(machine.plan(), &answered) else {
                    queue.push_front(answered);
                    break;
                };
                let mut next = Vec::new();
                let is_taken = machine.handle(reading.now(), input, &mut next);
                is_taken.map_err(|_| diverged(reading.at))?;
                queue.extend(next);
            }
        }
    }
    let moments = reading.moments;
    if reading.next().is_some() {
        return Err(diverged(reading.at));
    }
    Ok(Replayed { machine, effects: queue.into(), entries, moments })
}

/// A log that is read.
struct Reading<'a> {
    events: &'a [SceneEvent],
    at: usize,
    answers: &'a HostAnswers,
    moments: u32,
}

impl<'a> Reading<'a> {
    fn next(&self) -> Option<&'a SceneEvent> {
        self.events.get(self.at)
    }

    /// When what is read next happened.
    fn now(&self) -> Timestamp {
        let event = self.next().or_else(|| self.events.last());
        self.answers.started + event.map_or(std::time::Duration::ZERO, |event| event.at)
    }

    /// What was answered to an effect, as what follows in the log shows it. None at the log's end.
    fn answer(&mut self, plan: &Plan, effect: &SceneEffect) -> Option<SceneInput> {
        let is_moment = matches!(effect, SceneEffect::Direct(_));
        let directions = self.answers.directions.get(&(self.moments + 1)).filter(|_| is_moment);
        if let Some(directions) = directions {
            self.moments += 1;
            return Some(SceneInput::Directed(directions.clone()));
        }
        if let SceneEffect::Judge(line) = effect {
            if self.answers.ended.contains(&line.number) {
                return Some(SceneInput::Judged(Judgement::Ended));
            }
            // The host was asked after the judge had said that it goes on.
            if self.answers.directions.contains_key(&(self.moments + 1)) {
                return Some(SceneInput::Judged(Judgement::GoesOn));
            }
        }
        let next = self.next()?;
        // Where a scene was aborted, what it waited for has failed or did not come in time.
        let is_late = next.reason == Some(CloseReason::TimedOut);
        let is_aborted = next.reason == Some(CloseReason::Aborted);
        Some(match effect {
            SceneEffect::Direct(_) => {
                self.moments += 1;
                SceneInput::Directed(Vec::new())
            }
            SceneEffect::Judge(_) => SceneInput::Judged(Judgement::GoesOn),
            _ if is_aborted => SceneInput::Failed,
            _ if is_late => SceneInput::TimedOut,
            SceneEffect::Ask { seat, .. } => self.answer_of(plan.role(*seat)?.slug(), next)?,
            SceneEffect::Hear { .. } => {
                let audience = self.events.get(self.at + 1)?.audience.as_deref();
                let only = |slugs: &[Slug]| Audience::Only(slugs.to_vec());
                SceneInput::Heard(audience.map_or(Audience::Everyone, only))
            }
            SceneEffect::Spawn(_) | SceneEffect::Brief(_) | SceneEffect::Show(_) => {
                SceneInput::Done
            }
            SceneEffect::Record(_)
            | SceneEffect::Journal { .. }
            | SceneEffect::NoEntry { .. }
            | SceneEffect::Refused { .. }
            | SceneEffect::Finish => return None,
        })
    }

    /// What an actor answered: a turn, something malformed, an entry; or nothing, where the log goes on with another.
    fn answer_of(&self, slug: &Slug, next: &SceneEvent) -> Option<SceneInput> {
        let is_its_own = next.from.character() == Some(slug) || next.target.as_ref() == Some(slug);
        Some(match next.kind {
            _ if !is_its_own => SceneInput::Failed,
            EventKind::Think => {
                let speech = self.events.get(self.at + 1)?;
                let parsed = Parsed {
                    thinking: Thoughts::from_event(&next.text),
                    speech: Speech::from_event(&speech.text),
                };
                SceneInput::Answered(Output::replayed(parsed))
            }
            EventKind::Correct => SceneInput::Answered(Output::text("<speech>")),
            EventKind::Journal => SceneInput::Answered(Output::speech(&*next.text)),
            EventKind::Spawn
            | EventKind::Brief
            | EventKind::Speak
            | EventKind::Route
            | EventKind::Close => SceneInput::Failed,
        })
    }
}
