//! The driver: carries out what the machine asks for, one thing after the other. It decides nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use dirigent_core::Timestamp;

use crate::actor::{ActorError, Output, Restored};
use crate::cue::Cue;
use crate::files::{FileError, replace};
use crate::judge::{Judgement, SpokenLine};
use crate::machine::{AbortCause, CastPlace, Machine, SceneEffect, SceneInput};
use crate::picture::Picture;
use crate::scene::epilogue::{Epilogue, Report};
use crate::scene::error::{Doing, SceneError};
use crate::scene::folder::ensure_section;
use crate::scene::recording::Recording;
use crate::scene::setup::{Actors, Setup};
use crate::slug::Slug;
use crate::transcript::Transcript;

/// A scene that is played.
pub(super) struct Run {
    scene: Setup,
    machine: Machine,
    recording: Recording,
    actors: Actors,
    /// Answers that actors gave before the scene was killed, and that were not recorded.
    given: BTreeMap<CastPlace, Output>,
    /// The moments at which the host was asked.
    pub(super) moments: u32,
    /// Whether what is shown next may have been shown before the scene was killed.
    may_be_shown: bool,
    /// Characters without an entry, with what is known of why.
    missing: Vec<(Slug, Option<String>)>,
    /// Why an actor failed last.
    failure: Option<SceneError>,
}

impl Run {
    pub(super) fn new(
        mut scene: Setup,
        machine: Machine,
        recording: Recording,
        started: Timestamp,
    ) -> Self {
        scene.transcript = scene.transcript.date(started);
        Self {
            scene,
            machine,
            recording,
            actors: Actors::new(),
            given: BTreeMap::new(),
            moments: 0,
            may_be_shown: false,
            missing: Vec::new(),
            failure: None,
        }
    }

    /// Plays from the beginning.
    pub(super) async fn start(mut self) -> Result<Epilogue, SceneError> {
        let mut effects = Vec::new();
        self.tell(SceneInput::Start, &mut effects);
        self.play(effects).await
    }

    /// Plays on from where a killed scene stood.
    pub(super) async fn go_on(mut self, effects: Vec<SceneEffect>) -> Result<Epilogue, SceneError> {
        self.may_be_shown = effects.iter().any(|effect| matches!(effect, SceneEffect::Show(_)));
        self.play(effects).await
    }

    /// Takes up an actor.
    pub(super) fn seat(&mut self, seat: CastPlace, restored: Restored, has_answer: bool) {
        let Restored { actor, last, .. } = restored;
        self.actors.insert(seat, actor);
        if let Some(last) = last.filter(|_| has_answer) {
            self.given.insert(seat, last);
        }
    }

    /// Creates an actor anew that has answered nothing yet, and briefs it, unless that is done next.
    pub(super) async fn seat_anew(
        &mut self,
        seat: CastPlace,
        is_briefed: bool,
    ) -> Result<(), SceneError> {
        let is_there = self.spawn(seat).await && (!is_briefed || self.brief(seat).await);
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

    /// Gives the machine what it waits for.
    fn tell(&mut self, input: SceneInput, effects: &mut Vec<SceneEffect>) {
        let now = self.scene.hands.clock.now();
        let answer = self.machine.handle(now, input, effects);
        debug_assert!(answer.is_ok(), "the driver answers what was asked");
    }

    /// Carries an effect out; gives the answer that the machine waits for, if it waits for one.
    async fn perform(&mut self, effect: SceneEffect) -> Result<Option<SceneInput>, FileError> {
        Ok(Some(match effect {
            SceneEffect::Spawn(seat) => {
                self.recording.flush()?;
                done_if(self.spawn(seat).await)
            }
            SceneEffect::Brief(seat) => {
                self.recording.flush()?;
                done_if(self.brief(seat).await)
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

    async fn spawn(&mut self, seat: CastPlace) -> bool {
        let Some(role) = self.scene.plan.role(seat) else {
            return false;
        };
        match self.scene.hands.factory.spawn(role).await {
            Ok(actor) => {
                self.actors.insert(seat, actor);
                true
            }
            Err(source) => self.fail(seat, Doing::Spawn, source),
        }
    }

    async fn brief(&mut self, seat: CastPlace) -> bool {
        let (Some(actor), Some(part)) = (self.actors.get_mut(&seat), self.scene.part(seat)) else {
            return false;
        };
        match actor.brief(part.briefing.clone()).await {
            Ok(()) => true,
            Err(source) => self.fail(seat, Doing::Brief, source),
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
        match actor.respond(cue).await {
            Ok(output) => SceneInput::Answered(output),
            Err(source) => {
                tracing::warn!(character = %self.slug(seat), ?kind, "an actor gave no answer");
                done_if(self.fail(seat, Doing::Respond, source))
            }
        }
    }

    async fn show(&mut self, line: &SpokenLine) -> Result<SceneInput, FileError> {
        let is_repeat = std::mem::take(&mut self.may_be_shown);
        let Some(outlet) = self.scene.hands.outlet.as_mut().filter(|_| !line.speech.is_empty())
        else {
            return Ok(SceneInput::Done);
        };
        self.recording.flush()?;
        Ok(match outlet.show(line, is_repeat).await {
            Ok(()) => SceneInput::Done,
            Err(source) => {
                let slug = line.speaker.slug().clone();
                self.failure = Some(SceneError::Show { slug, source });
                SceneInput::Failed
            }
        })
    }

    async fn judge(&mut self, line: &SpokenLine) -> Result<SceneInput, FileError> {
        let Some(judge) = self.scene.hands.judge.as_mut() else {
            return Ok(SceneInput::Judged(Judgement::GoesOn));
        };
        self.recording.flush()?;
        let judgement = judge.has_ended(line).await.unwrap_or_else(|error| {
            tracing::warn!(speech = line.number, %error, "the scene goes on");
            Judgement::GoesOn
        });
        if judgement == Judgement::Ended {
            self.recording.note_ended(line.number)?;
        }
        Ok(SceneInput::Judged(judgement))
    }

    /// Remembers why an actor failed.
    fn fail(&mut self, seat: CastPlace, doing: Doing, source: ActorError) -> bool {
        self.failure = Some(SceneError::Actor { slug: self.slug(seat), doing, source });
        false
    }

    fn slug(&self, seat: CastPlace) -> Slug {
        self.scene.plan.slug(seat).clone()
    }

    /// Sees to it that an entry stands at the end of its journal.
    pub(super) fn write_entry(&self, seat: CastPlace, entry: &Arc<str>) -> Result<(), FileError> {
        let Some(part) = self.scene.part(seat) else {
            return Ok(());
        };
        let Transcript { title, date, .. } = &self.scene.transcript;
        ensure_section(&part.journal_file, &format!("## {date} — {title}\n\n{entry}\n"))
    }

    fn finish(mut self) -> Result<Epilogue, SceneError> {
        let report = self.finalise()?;
        let plan = &self.scene.plan;
        match self.machine.abort_cause() {
            None => Ok(Epilogue::new(report, self.actors, plan)),
            Some(AbortCause::Protocol(seat)) => Err(SceneError::Protocol {
                slug: plan.slug(seat).clone(),
                outputs: plan.corrections_max.saturating_add(1),
            }),
            Some(AbortCause::Failed) => Err(self.failure.take().unwrap_or(SceneError::Stopped)),
            Some(AbortCause::Stopped) => Err(SceneError::Stopped),
        }
    }

    /// Makes the files final.
    pub(super) fn finalise(&mut self) -> Result<Report, FileError> {
        self.recording.flush()?;
        let report = self.report();
        let Self { scene, recording, .. } = &self;
        recording.write_array()?;
        let transcript = scene.transcript.render(recording.events());
        replace(&scene.folder.transcript(), transcript.as_bytes())?;
        if scene.draws_picture {
            let picture = Picture::new(&scene.transcript.title, &scene.plan.roles);
            replace(&scene.folder.picture(), picture.render(recording.events()).as_bytes())?;
        }
        recording.end()?;
        Ok(report)
    }

    fn report(&self) -> Report {
        let reason = self.machine.reason();
        Report::of(self.recording.events(), reason, &self.scene, self.missing.clone())
    }
}

fn done_if(is_done: bool) -> SceneInput {
    if is_done { SceneInput::Done } else { SceneInput::Failed }
}
