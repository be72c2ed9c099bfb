//! Restores the machine of a killed scene from its event log. The log, and the few answers that it does not contain,
//! are all the inputs that the machine ever had. So they bring it back to its last state, and its next effects are
//! performed.

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

/// The answers of director and judge, and the journals that were written, as far as the log does not contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostAnswers {
    /// The time at which the scene began.
    pub(crate) started: Timestamp,
    /// Directions, by the number of their moment, from 1.
    pub(crate) directions: BTreeMap<u32, Vec<Direction>>,
    /// The speeches at which the judge found that the scene had ended.
    pub(crate) ended: BTreeSet<u32>,
    /// The journal entries that were begun, by character.
    pub(crate) entries: BTreeMap<Slug, JournalEntry>,
}

/// The progress of writing a journal entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalEntry {
    /// The entry is in the journal if it ends there at this byte.
    Begun(u64),
    /// The entry is in the journal, whatever happened to that file later.
    Written,
}

/// The state of a scene at the end of its log.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) machine: Machine,
    /// The effects to perform now.
    pub(crate) effects: Vec<SceneEffect>,
    /// Entries that were recorded but may not have reached their journals.
    pub(crate) entries: Vec<(CastPlace, Arc<str>)>,
    /// The number of moments at which the director was asked.
    pub(crate) moments: u32,
}

/// The log belongs to another scene, from this event on (counted from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Diverged(pub(crate) usize);

/// Brings a fresh machine to the end of the log.
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

/// A log that is being read.
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

    /// Returns the time of the next event.
    fn now(&self) -> Timestamp {
        let event = self.next().or_else(|| self.events.last());
        self.answers.started + event.map_or(std::time::Duration::ZERO, |event| event.at)
    }

    /// Returns the answer to an effect, as the following events show it. Returns `None` at the end of the log.
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
            // The director is asked only after the judge has said that the scene goes on.
            if self.answers.directions.contains_key(&(self.moments + 1)) {
                return Some(SceneInput::Judged(Judgement::GoesOn));
            }
        }
        let next = self.next()?;
        // If the scene was aborted, the effect failed or did not finish in time.
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

    /// Returns an actor's answer: a turn, a malformed output or an entry. If the log goes on with another character,
    /// the actor failed.
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
