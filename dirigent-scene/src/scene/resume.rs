//! Continues or ends a killed scene.

use std::sync::Arc;

use dirigent_core::Timestamp;

use crate::actor::{ActorError, Restored};
use crate::judge::Judgement;
use crate::log::SceneLog;
use crate::machine::replay::{HostAnswers, Replayed, replay};
use crate::machine::{CastPlace, Machine, SceneEffect, SceneInput};
use crate::scene::deadlines::{Late, within};
use crate::scene::epilogue::{Epilogue, Report};
use crate::scene::error::{ResumeError, SceneError};
use crate::scene::recording::{ReadError, Recording};
use crate::scene::run::Run;
use crate::scene::setup::{Hands, Setup};
use crate::transcript::date;

impl From<ReadError> for SceneError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Log(error) => ResumeError::NoScene(error).into(),
            ReadError::Answers => ResumeError::NoAnswers.into(),
            ReadError::File(error) => error.into(),
        }
    }
}

/// The content of a killed scene's folder.
struct Killed {
    replayed: Replayed,
    log: SceneLog,
    answers: HostAnswers,
}

fn read(scene: &mut Setup) -> Result<Killed, SceneError> {
    let (log, answers) = Recording::read(&scene.folder)?;
    let machine = Machine::new(Arc::clone(&scene.plan));
    let replayed = replay(machine, log.events(), &answers)
        .map_err(|diverged| ResumeError::OtherScene { event: diverged.0 })?;
    scene.transcript.date = date(answers.started);
    Ok(Killed { replayed, log, answers })
}

/// A restored actor, and whether it has an answer that was not recorded.
enum Seated {
    Restored(Restored, bool),
    /// It has answered no cue, so it is created and briefed anew.
    Anew,
    /// It was created but not briefed, so it is briefed next.
    Unbriefed,
}

pub(super) async fn resume(mut scene: Setup) -> Result<Epilogue, SceneError> {
    let Killed { replayed, log, answers } = read(&mut scene)?;
    let Replayed { mut machine, mut effects, entries, mut moments } = replayed;
    let now = scene.hands.clock.now();
    let is_over = matches!(effects.as_slice(), [SceneEffect::Finish]);
    let mut seated = Vec::new();
    let plan = Arc::clone(&scene.plan);
    // Restore all actors before any file changes.
    for (seat, role) in plan.seats().zip(&plan.roles) {
        if is_over || !machine.is_in_play(seat) {
            continue;
        }
        if effects.contains(&SceneEffect::Brief(seat)) {
            seated.push((seat, Seated::Unbriefed));
            continue;
        }
        let logged = machine.answered(seat);

        let slug = role.slug().clone();
        let Hands { factory, clock, deadlines, .. } = &mut scene.hands;
        let restored = within(&**clock, deadlines.ready, factory.restore(role)).await;
        let restored = restored.unwrap_or_else(|Late(after)| {
            Err(ActorError::new(format!("nothing within {} s", after.as_secs_f64())))
        });
        let restored =
            restored.map_err(|source| ResumeError::Actor { slug: slug.clone(), source })?;
        seated.push((
            seat,
            match restored {
                None if logged == 0 => Seated::Anew,
                None => return Err(ResumeError::NoSavedState { slug }.into()),
                Some(restored) if restored.answered == logged => Seated::Restored(restored, false),
                Some(restored)
                    if restored.answered == logged + 1
                        && restored.last.is_some()
                        && leads_to(&mut machine, now, seat, &mut effects, &mut moments) =>
                {
                    Seated::Restored(restored, true)
                }
                Some(Restored { answered: saved, .. }) => {
                    return Err(ResumeError::OutOfStep { slug, saved, logged }.into());
                }
            },
        ));
    }
    let recording = Recording::go_on(scene.folder.clone(), log, answers, &scene.transcript)?;
    let mut run = Run::new(scene, machine, recording);
    run.moments = moments;
    for (seat, entry) in &entries {
        run.write_entry(*seat, entry)?;
    }
    for (seat, how) in seated {
        match how {
            Seated::Restored(restored, has_answer) => run.seat(seat, restored, has_answer),
            Seated::Anew => run.seat_anew(seat, true).await?,
            Seated::Unbriefed => run.seat_anew(seat, false).await?,
        }
    }
    run.go_on(effects).await
}

/// Returns true if the scene waits for this actor's answer, or will do so if director and judge answer as usual. Any
/// other answer of theirs would have been noted before the actor was asked.
fn leads_to(
    machine: &mut Machine,
    now: Timestamp,
    seat: CastPlace,
    effects: &mut Vec<SceneEffect>,
    moments: &mut u32,
) -> bool {
    loop {
        let input = match effects.last() {
            Some(SceneEffect::Ask { seat: asked, .. }) => return *asked == seat,
            Some(SceneEffect::Judge(_)) => SceneInput::Judged(Judgement::GoesOn),
            Some(SceneEffect::Direct(_)) => {
                *moments += 1;
                SceneInput::Directed(Vec::new())
            }
            _ => return false,
        };
        effects.pop();
        if machine.handle(now, input, effects).is_err() {
            return false;
        }
    }
}

pub(super) fn abandon(mut scene: Setup) -> Result<Report, SceneError> {
    let Killed { replayed: Replayed { mut machine, mut effects, entries, .. }, log, answers } =
        read(&mut scene)?;
    let now = scene.hands.clock.now();
    let mut recording = Recording::go_on(scene.folder.clone(), log, answers, &scene.transcript)?;
    if !effects.contains(&SceneEffect::Finish) {
        // Events that the machine considers recorded stay recorded.
        effects.retain(|effect| matches!(effect, SceneEffect::Record(_)));
        // The machine accepts a stop, because the scene waits for an answer.
        let _ = machine.handle(now, SceneInput::Stop, &mut effects);
    }
    for effect in effects {
        if let SceneEffect::Record(event) = effect {
            recording.record(event);
        }
    }
    let mut run = Run::new(scene, machine, recording);
    for (seat, entry) in &entries {
        run.write_entry(*seat, entry)?;
    }
    Ok(run.finalise()?)
}
