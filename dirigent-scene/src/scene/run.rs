//! The driver. It performs the effects of the machine one after the other, and makes no decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::actor::{ActorError, Output, Restored};
use crate::cue::Cue;
use crate::files::{FileError, renew};
use crate::judge::{JudgeError, Judgement, SpokenLine};
use crate::machine::{AbortCause, CastPlace, Machine, SceneEffect, SceneInput};
use crate::picture::Picture;
use crate::scene::deadlines::{Late, within};
use crate::scene::epilogue::{Epilogue, Report};
use crate::scene::error::{Doing, SceneError};
use crate::scene::recording::Recording;
use crate::scene::setup::{Actors, Hands, Setup};
use crate::slug::Slug;
use crate::transcript::Transcript;

/// A scene that is being played.
pub(super) struct Run {
    scene: Setup,
    machine: Machine,
    recording: Recording,
    actors: Actors,
    /// Actors' answers from before the kill that were not recorded.
    given: BTreeMap<CastPlace, Output>,
    /// The number of moments at which the director was asked.
    pub(super) moments: u32,
    /// True if the next speech may have been shown before the kill.
    may_be_shown: bool,
    /// Characters without an entry, with the reason if it is known.
    missing: Vec<(Slug, Option<String>)>,
    /// Speeches that the judge did not judge, with the reason.
    unjudged: Vec<(u32, String)>,
    /// The newest failure of an actor.
    failure: Option<SceneError>,
}

impl Run {
    pub(super) fn new(scene: Setup, machine: Machine, recording: Recording) -> Self {
        Self {
            scene,
            machine,
            recording,
            actors: Actors::new(),
            given: BTreeMap::new(),
            moments: 0,
            may_be_shown: false,
            missing: Vec::new(),
            unjudged: Vec::new(),
            failure: None,
        }
    }

    /// Plays from the beginning.
    pub(super) async fn start(mut self) -> Result<Epilogue, SceneError> {
        let mut effects = Vec::new();
        self.tell(SceneInput::Start, &mut effects);
        self.play(effects).await
    }

    /// Continues from the state of a killed scene.
    pub(super) async fn go_on(mut self, effects: Vec<SceneEffect>) -> Result<Epilogue, SceneError> {
        self.may_be_shown = effects.iter().any(|effect| matches!(effect, SceneEffect::Show(_)));
        self.play(effects).await
    }

    /// Adds a restored actor.
    pub(super) fn seat(&mut self, seat: CastPlace, restored: Restored, has_answer: bool) {
        let Restored { actor, last, .. } = restored;
        self.actors.insert(seat, actor);
        if let Some(last) = last.filter(|_| has_answer) {
            self.given.insert(seat, last);
        }
    }

    /// Creates an actor that has answered no cue yet, and briefs it, unless that is the next effect.
    pub(super) async fn seat_anew(
        &mut self,
        seat: CastPlace,
        is_briefed: bool,
    ) -> Result<(), SceneError> {
        let is_there = self.spawn(seat).await == SceneInput::Done
            && (!is_briefed || self.brief(seat).await == SceneInput::Done);
        match self.failure.take().filter(|_| !is_there) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    async fn play(mut self, mut effects: Vec<SceneEffect>) -> Result<Epilogue, SceneError> {
        let mut next = Vec::new();
        loop {
            for effect in effects.drain(..) {
                match effect {
                    SceneEffect::Record(event) => self.recording.record(event),
                    SceneEffect::Finish => return self.finish(),
                    effect @ (SceneEffect::Spawn(_)
                    | SceneEffect::Brief(_)
                    | SceneEffect::Direct(_)
                    | SceneEffect::Ask { .. }
                    | SceneEffect::Hear { .. }
                    | SceneEffect::Show(_)
                    | SceneEffect::Judge(_)
                    | SceneEffect::Journal { .. }
                    | SceneEffect::NoEntry { .. }
                    | SceneEffect::Refused { .. }) => {
                        if let Some(input) = self.perform(effect).await? {
                            self.tell(input, &mut next);
                        }
                    }
                }
            }
            std::mem::swap(&mut effects, &mut next);
            debug_assert!(!effects.is_empty(), "a scene that has not finished waits for something");
            if effects.is_empty() {
                return self.finish();
            }
        }
    }

    /// Gives the machine the input that it waits for.
    fn tell(&mut self, input: SceneInput, effects: &mut Vec<SceneEffect>) {
        let now = self.scene.hands.clock.now();
        let answer = self.machine.handle(now, input, effects);
        debug_assert!(answer.is_ok(), "the driver answers what was asked");
    }

    /// Performs an effect, and returns the machine's next input if the effect needs an answer.
    async fn perform(&mut self, effect: SceneEffect) -> Result<Option<SceneInput>, FileError> {
        Ok(Some(match effect {
            SceneEffect::Spawn(seat) => {
                self.recording.flush()?;
                self.spawn(seat).await
            }
            SceneEffect::Brief(seat) => {
                self.recording.flush()?;
                self.brief(seat).await
            }
            SceneEffect::Direct(moment) => {
                self.moments += 1;
                let directions = self.scene.hands.director.before_turn(&moment);
                if !directions.is_empty() {
                    self.recording.note_directions(self.moments, &directions)?;
                }
                SceneInput::Directed(directions)
            }
            SceneEffect::Ask { seat, cue } => {
                self.recording.flush()?;
                self.ask(seat, cue).await
            }
            SceneEffect::Hear { line, moment } => {
                SceneInput::Heard(self.scene.hands.director.audience(&line, &moment))
            }
            SceneEffect::Show(line) => self.show(&line).await?,
            SceneEffect::Judge(line) => self.judge(&line).await?,
            SceneEffect::Journal { seat, entry } => {
                self.recording.flush()?;
                self.write_entry(seat, &entry)?;
                return Ok(None);
            }
            SceneEffect::NoEntry { seat } => {
                let why = self.failure.take().map(|failure| failure.to_string());
                self.missing.push((self.slug(seat), why));
                return Ok(None);
            }
            SceneEffect::Refused { direction, why } => {
                self.scene.hands.director.refused(&direction, why);
                return Ok(None);
            }
            SceneEffect::Record(_) | SceneEffect::Finish => return Ok(None),
        }))
    }

    async fn spawn(&mut self, seat: CastPlace) -> SceneInput {
        let Some(role) = self.scene.plan.role(seat) else {
            return SceneInput::Failed;
        };
        let Hands { factory, clock, deadlines, .. } = &mut self.scene.hands;
        match within(&**clock, deadlines.ready, factory.spawn(role)).await {
            Ok(Ok(actor)) => {
                self.actors.insert(seat, actor);
                SceneInput::Done
            }
            Ok(Err(source)) => self.fail(seat, Doing::Spawn, source),
            Err(late) => self.time_out(self.slug(seat), Doing::Spawn, late),
        }
    }

    async fn brief(&mut self, seat: CastPlace) -> SceneInput {
        let (Some(actor), Some(part)) = (self.actors.get_mut(&seat), self.scene.part(seat)) else {
            return SceneInput::Failed;
        };
        let Hands { clock, deadlines, .. } = &self.scene.hands;
        match within(&**clock, deadlines.ready, actor.brief(part.briefing.clone())).await {
            Ok(Ok(())) => SceneInput::Done,
            Ok(Err(source)) => self.fail(seat, Doing::Brief, source),
            Err(late) => self.time_out(self.slug(seat), Doing::Brief, late),
        }
    }

    async fn ask(&mut self, seat: CastPlace, cue: Cue) -> SceneInput {
        if let Some(given) = self.given.remove(&seat) {
            return SceneInput::Answered(given);
        }
        let Some(actor) = self.actors.get_mut(&seat) else {
            return SceneInput::Failed;
        };
        let kind = cue.kind();
        let Hands { clock, deadlines, .. } = &self.scene.hands;
        let limit = if actor.is_person() { deadlines.person } else { deadlines.answer };
        let answer = within(&**clock, limit, actor.respond(cue)).await;
        if !matches!(answer, Ok(Ok(_))) {
            let is_late = answer.is_err();
            tracing::warn!(character = %self.slug(seat), ?kind, is_late, "an actor gave no answer");
        }
        match answer {
            Ok(Ok(output)) => SceneInput::Answered(output),
            Ok(Err(source)) => self.fail(seat, Doing::Respond, source),
            Err(late) => self.time_out(self.slug(seat), Doing::Respond, late),
        }
    }

    async fn show(&mut self, line: &SpokenLine) -> Result<SceneInput, FileError> {
        let is_repeat = std::mem::take(&mut self.may_be_shown);
        let Hands { outlet, clock, deadlines, .. } = &mut self.scene.hands;
        let Some(outlet) = outlet.as_mut().filter(|_| !line.speech.is_empty()) else {
            return Ok(SceneInput::Done);
        };
        self.recording.flush()?;
        let slug = line.speaker.slug().clone();
        Ok(match within(&**clock, deadlines.show, outlet.show(line, is_repeat)).await {
            Ok(Ok(())) => SceneInput::Done,
            Ok(Err(source)) => {
                self.failure = Some(SceneError::Show { slug, source });
                SceneInput::Failed
            }
            Err(late) => self.time_out(slug, Doing::Show, late),
        })
    }

    async fn judge(&mut self, line: &SpokenLine) -> Result<SceneInput, FileError> {
        let Hands { judge, clock, deadlines, .. } = &mut self.scene.hands;
        let Some(judge) = judge.as_mut() else {
            return Ok(SceneInput::Judged(Judgement::GoesOn));
        };
        self.recording.flush()?;
        let (input, why) = match within(&**clock, deadlines.judge, judge.has_ended(line)).await {
            Ok(Ok(judgement)) => {
                if judgement == Judgement::Ended {
                    self.recording.note_ended(line.number)?;
                }
                return Ok(SceneInput::Judged(judgement));
            }
            Ok(Err(error)) => (SceneInput::Judged(Judgement::GoesOn), error),
            Err(Late(after)) => {
                let why = format!("nothing within {} s", after.as_secs_f64());
                (SceneInput::TimedOut, JudgeError::new(why))
            }
        };
        tracing::warn!(speech = line.number, error = %why, "the scene goes on");
        self.unjudged.push((line.number, why.to_string()));
        Ok(input)
    }

    /// Remembers why an actor failed.
    fn fail(&mut self, seat: CastPlace, doing: Doing, source: ActorError) -> SceneInput {
        self.failure = Some(SceneError::Actor { slug: self.slug(seat), doing, source });
        SceneInput::Failed
    }

    /// Remembers a task that did not finish in time.
    fn time_out(&mut self, slug: Slug, doing: Doing, Late(after): Late) -> SceneInput {
        self.failure = Some(SceneError::TimedOut { slug, doing, after });
        SceneInput::TimedOut
    }

    fn slug(&self, seat: CastPlace) -> Slug {
        self.scene.plan.slug(seat).clone()
    }

    /// Makes sure that an entry is in its journal exactly once.
    pub(super) fn write_entry(
        &mut self,
        seat: CastPlace,
        entry: &Arc<str>,
    ) -> Result<(), FileError> {
        let slug = self.slug(seat);
        let Some(part) = self.scene.part(seat) else {
            return Ok(());
        };
        let Transcript { title, date, .. } = &self.scene.transcript;
        let section = format!("## {date} — {title}\n\n{entry}\n");
        self.recording.write_entry(&slug, &part.journal_file, &section)
    }

    fn finish(mut self) -> Result<Epilogue, SceneError> {
        let report = self.finalise()?;
        let plan = &self.scene.plan;
        match self.machine.abort_cause() {
            None => {
                let Hands { clock, deadlines, .. } = &self.scene.hands;
                let time = (Arc::clone(clock), deadlines.clone());
                Ok(Epilogue::new(report, self.actors, plan, time))
            }
            Some(AbortCause::Protocol(seat)) => Err(SceneError::Protocol {
                slug: plan.slug(seat).clone(),
                outputs: plan.corrections_max.saturating_add(1),
            }),
            Some(AbortCause::Failed | AbortCause::TimedOut) => {
                Err(self.failure.take().unwrap_or(SceneError::Stopped))
            }
            Some(AbortCause::Stopped) => Err(SceneError::Stopped),
        }
    }

    /// Makes the files final.
    pub(super) fn finalise(&mut self) -> Result<Report, FileError> {
        self.recording.flush()?;
        let report = self.report();
        let Self { scene, recording, .. } = &self;
        recording.write_array()?;
        recording.write_transcript()?;
        if scene.draws_picture {
            let picture = Picture::new(&scene.transcript.title, &scene.plan.roles);
            renew(&scene.folder.picture(), picture.render(recording.events()).as_bytes())?;
        }
        recording.end()?;
        Ok(report)
    }

    fn report(&self) -> Report {
        let reason = self.machine.reason();
        let unjudged = self.unjudged.clone();
        Report::of(self.recording.events(), reason, &self.scene, self.missing.clone(), unjudged)
    }
}
