//! Scenes drawn from a number, and played by the machine and by the model beside one another.
//!
//! A scene that fails is named by its number.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent_scene::machine::{CastPlace, Machine, Plan, SceneEffect, SceneInput};
use dirigent_scene::{Audience, CastRole, CueKind, Direction, Judgement, Moment, Output, Slug};
use dirigent_testkit::Random;
use dirigent_testkit::worlds::{World, Worlds};

mod model;

use self::model::{Answer, Model};

const SCENES: u64 = 15_000;
/// No scene takes as many steps.
const STEPS: u64 = 5_000;

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

/// What was asked for cannot be had, or not in time.
fn failed(random: &mut Random) -> SceneInput {
    if random.one_in(2) { SceneInput::Failed } else { SceneInput::TimedOut }
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

/// One scene: the machine and the model beside one another.
struct Scene {
    random: Random,
    plan: Plan,
    model: Model,
    machine: Machine,
    now: Timestamp,
    input: SceneInput,
    effects: Vec<SceneEffect>,
    steps: usize,
    is_over: bool,
    story: Vec<String>,
}

impl Scene {
    fn new(number: u64) -> Self {
        let mut random = Random::new(number);
        let plan = plan(&mut random);
        let (model, machine) = (Model::new(plan.clone()), Machine::new(Arc::new(plan.clone())));
        let (now, input) = (Timestamp::from_millis(1_000), SceneInput::Start);
        let (effects, story) = (Vec::new(), Vec::new());
        Self { random, plan, model, machine, now, input, effects, steps: 0, is_over: false, story }
    }

    /// What the world answers to the last thing that the machine asks for; `None` where the scene is over.
    fn answer(&mut self, asked: SceneEffect) -> Option<SceneInput> {
        let Self { random, plan, steps, .. } = self;
        Some(match asked {
            SceneEffect::Finish => return None,
            SceneEffect::Spawn(_) | SceneEffect::Brief(_) | SceneEffect::Show(_)
                if random.one_in(200) =>
            {
                failed(random)
            }
            SceneEffect::Spawn(_) | SceneEffect::Brief(_) | SceneEffect::Show(_) => {
                SceneInput::Done
            }
            SceneEffect::Direct(moment) => {
                SceneInput::Directed(directions(random, &moment, plan.roles.len()))
            }
            SceneEffect::Ask { cue, .. } => match answer(random, cue.kind(), *steps) {
                Answer::Nothing => failed(random),
                Answer::Malformed => SceneInput::Answered(Output::text("<speech>")),
                Answer::Says(words) => SceneInput::Answered(Output::text(format!(
                    "<thinking>t{steps}</thinking><speech>{words}</speech>"
                ))),
            },
            SceneEffect::Hear { moment, .. } => SceneInput::Heard(audience(random, &moment)),
            SceneEffect::Judge(_) if random.one_in(40) => SceneInput::Judged(Judgement::Ended),
            SceneEffect::Judge(_) if random.one_in(40) => SceneInput::TimedOut,
            SceneEffect::Judge(_) => SceneInput::Judged(Judgement::GoesOn),
            other => panic!("the scene stalls at {other:?}"),
        })
    }
}

impl World for Scene {
    fn step(&mut self) -> Result<(), String> {
        let Self { machine, model, effects, input, now, .. } = self;
        machine.handle(*now, input.clone(), effects).unwrap();
        // What was not asked for is refused, and changes nothing.
        let before = (self.steps < 3).then(|| format!("{machine:?}"));
        let wrong = if matches!(effects.last(), Some(SceneEffect::Hear { .. })) {
            SceneInput::Done
        } else {
            SceneInput::Heard(Audience::Everyone)
        };
        assert!(machine.handle(*now, wrong, effects).is_err(), "it takes what it did not ask for");
        if let Some(before) = before {
            assert_eq!(format!("{machine:?}"), before);
        }
        let expected = model.step(input, effects);
        let found: Vec<String> = effects.iter().map(model::told).collect();
        self.story.push(format!("{input:?}: {found:?}"));
        assert_eq!(found, expected, "machine and model after {input:?}");
        let Some(last) = effects.pop() else { panic!("the scene stalls after {input:?}") };
        effects.clear();
        match self.answer(last) {
            Some(input) => self.input = input,
            None => self.is_over = true,
        }
        self.steps += 1;
        if !self.is_over {
            self.now = self.now + Duration::from_millis(self.random.below(50));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(&mut self) -> Result<(), String> {
        assert!(
            self.is_over || self.steps < usize::try_from(STEPS).unwrap(),
            "the scene does not end"
        );
        if self.is_over {
            let Self { machine, effects, now, .. } = self;
            assert!(machine.is_finished() && machine.reason().is_some());
            let again = machine.handle(*now, SceneInput::Start, effects);
            assert!(again.is_err() && effects.is_empty());
        }
        Ok(())
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.random)
    }

    fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }
}

/// R205, R206, R211, R214, R215, R221, R223, R224, R226, R232, R239, SC1
#[test]
fn machine_and_model_play_every_scene_alike() {
    let test = "-p dirigent-scene --test all machine_and_model_play_every_scene_alike";
    let worlds = Worlds::new(test, SCENES, STEPS);
    let begin = |number, _| Scene::new(number);
    let speeches = worlds.live(begin, |scene| u64::from(scene.model.speeches()));
    println!("{} scenes: {speeches} speeches", worlds.count());
    assert!(speeches > worlds.count() * 2 || !worlds.are_enough(), "hardly anything was said");
}
