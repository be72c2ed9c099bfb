//! Scenes drawn from a number, and played by the machine and by the model beside one another.
//!
//! `DIRIGENT_SCENES` sets how many are played (default: enough for CI), `DIRIGENT_SEED` the first. A scene that fails is
//! named by its number.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent_scene::machine::{CastPlace, Machine, Plan, SceneEffect, SceneInput};
use dirigent_scene::{Audience, CastRole, CueKind, Direction, Judgement, Moment, Output, Slug};
use dirigent_testkit::{Random, told};

mod model;

use self::model::{Answer, Model};

const SCENES: u64 = 15_000;

fn slug(at: usize) -> Slug {
    Slug::new(&format!("c{at}")).unwrap()
}

fn plan(random: &mut Random) -> Plan {
    let cast = 2 + random.place(4);
    let all = cast + random.place(3);
    let mut plan = Plan::new((0..all).map(|at| CastRole::new(slug(at), format!("C{at}"))));
    plan.present = cast;
    plan.first_speaker = CastPlace::new(u8::try_from(random.place(cast)).unwrap());
    plan.hard_cap = 1 + u32::try_from(random.below(5)).unwrap();
    plan.soft_cap = u32::try_from(random.below(u64::from(plan.hard_cap) + 1)).unwrap();
    plan.closing_replies = u32::try_from(random.below(3)).unwrap();
    plan.corrections_max = u32::try_from(random.below(3)).unwrap();
    plan.seed = random.draw();
    plan
}

/// What an actor answers to this cue.
fn answer(random: &mut Random, kind: CueKind, number: usize) -> Answer {
    let odds = random.below(100);
    match kind {
        CueKind::Journal if odds < 5 => Answer::Nothing,
        _ if odds < 6 => Answer::Malformed,
        _ if odds < 7 && kind == CueKind::Turn => Answer::Nothing,
        _ if odds < 10 => Answer::Says(String::new()),
        _ if odds < 12 => Answer::Says("I should head out.".to_owned()),
        _ if odds < 13 => Answer::Says("*[exits]*".to_owned()),
        _ if odds < 14 => Answer::Says("*[the scene ends here]*".to_owned()),
        _ => Answer::Says(format!("words {number}")),
    }
}

fn directions(random: &mut Random, moment: &Moment, all: usize) -> Vec<Direction> {
    let mut directions = Vec::new();
    while random.one_in(8) {
        directions.push(match random.below(20) {
            0 => Direction::Stop,
            1..=9 => Direction::Enter(slug(random.place(all + 1))),
            _ => Direction::Leave(random.pick(&moment.present).unwrap()),
        });
    }
    directions
}

fn audience(random: &mut Random, moment: &Moment) -> Audience {
    if random.one_in(6) {
        let meant = moment.present.iter().filter(|_| random.one_in(2)).cloned();
        Audience::Only(meant.collect())
    } else {
        Audience::Everyone
    }
}

/// Plays one scene; gives how many speeches there were.
fn play(seed: u64) -> u32 {
    let mut random = Random::new(seed);
    let plan = plan(&mut random);
    let mut model = Model::new(plan.clone());
    let mut machine = Machine::new(Arc::new(plan.clone()));
    let mut now = Timestamp::from_millis(1_000);
    let mut input = SceneInput::Start;
    let mut effects = Vec::new();
    for step in 0.. {
        assert!(step < 5_000, "scene {seed} does not end");
        machine.handle(now, input.clone(), &mut effects).unwrap();
        // What was not asked for is refused, and changes nothing.
        let before = (step < 3).then(|| format!("{machine:?}"));
        let wrong = if matches!(effects.last(), Some(SceneEffect::Hear { .. })) {
            SceneInput::Done
        } else {
            SceneInput::Heard(Audience::Everyone)
        };
        assert!(machine.handle(now, wrong, &mut effects).is_err(), "scene {seed}");
        if let Some(before) = before {
            assert_eq!(format!("{machine:?}"), before);
        }
        let expected = model.step(&input, &effects);
        let found: Vec<String> = effects.iter().map(model::told).collect();
        assert_eq!(found, expected, "scene {seed}, step {step}, after {input:?}");
        let Some(last) = effects.pop() else { panic!("scene {seed} stalls after {input:?}") };
        effects.clear();
        input = match last {
            SceneEffect::Finish => break,
            SceneEffect::Spawn(_) | SceneEffect::Brief(_) | SceneEffect::Show(_)
                if random.one_in(200) =>
            {
                SceneInput::Failed
            }
            SceneEffect::Spawn(_) | SceneEffect::Brief(_) | SceneEffect::Show(_) => {
                SceneInput::Done
            }
            SceneEffect::Direct(moment) => {
                SceneInput::Directed(directions(&mut random, &moment, plan.roles.len()))
            }
            SceneEffect::Ask { cue, .. } => match answer(&mut random, cue.kind(), step) {
                Answer::Nothing => SceneInput::Failed,
                Answer::Malformed => SceneInput::Answered(Output::text("<speech>")),
                Answer::Says(words) => SceneInput::Answered(Output::text(format!(
                    "<thinking>t{step}</thinking><speech>{words}</speech>"
                ))),
            },
            SceneEffect::Hear { moment, .. } => SceneInput::Heard(audience(&mut random, &moment)),
            SceneEffect::Judge(_) if random.one_in(40) => SceneInput::Judged(Judgement::Ended),
            SceneEffect::Judge(_) => SceneInput::Judged(Judgement::GoesOn),
            other => panic!("scene {seed} stalls at {other:?}"),
        };
        now = now + Duration::from_millis(random.below(50));
    }
    assert!(machine.is_finished() && machine.reason().is_some());
    assert!(machine.handle(now, SceneInput::Start, &mut effects).is_err() && effects.is_empty());
    model.speeches()
}

/// R205, R206, R211, R214, R215, R221, R223, R224, R226, R232, R239
#[test]
fn machine_and_model_play_every_scene_alike() {
    let first = told("DIRIGENT_SEED").unwrap_or(1);
    let count = told("DIRIGENT_SCENES").unwrap_or(SCENES);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let speeches: u64 = thread::scope(|scope| {
        let share = |core: usize| {
            (first..first + count)
                .skip(core)
                .step_by(cores)
                .map(|seed| u64::from(play(seed)))
                .sum::<u64>()
        };
        let shares: Vec<_> = (0..cores).map(|core| scope.spawn(move || share(core))).collect();
        shares.into_iter().map(|share| share.join().unwrap()).sum()
    });
    println!("{count} scenes from {first} on: {speeches} speeches");
    assert!(speeches > count * 2, "hardly anything was said");
}
