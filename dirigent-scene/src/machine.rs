//! The scene as a value: inputs and their times go in, and effects come out. It has no clock, file, actor or task.
//!
//! A driver performs the effects in order. At most one of them needs an answer, and that one is always the last. The
//! answer is the next input. [`Scene`](crate::Scene) is such a driver. The turn order and the ceiling come from
//! `dirigent-core`, which the machine contains.
//!
//! ```
//! use dirigent_core::Timestamp;
//! use dirigent_scene::machine::{SceneEffect, SceneInput, Machine, Plan};
//! use dirigent_scene::{Audience, Judgement, Output, CastRole, Slug};
//!
//! let role = |name: &str| CastRole::new(Slug::of_name(name).unwrap(), name);
//! let mut machine = Machine::new(Plan::new([role("Maria"), role("Sam")]).into());
//! let mut lines = ["Hello.", "I should head out.", "Good-bye."].into_iter();
//! let mut waiting = vec![SceneInput::Start];
//! let (mut now, mut log) = (Timestamp::from_millis(0), Vec::new());
//! while let Some(input) = waiting.pop() {
//!     let mut effects = Vec::new();
//!     machine.handle(now, input, &mut effects).expect("it was asked for");
//!     for effect in effects {
//!         match effect {
//!             SceneEffect::Record(event) => log.push(event),
//!             SceneEffect::Spawn(_) | SceneEffect::Brief(_) | SceneEffect::Show(_) => waiting.push(SceneInput::Done),
//!             SceneEffect::Direct(_) => waiting.push(SceneInput::Directed(Vec::new())),
//!             SceneEffect::Ask { .. } => waiting.push(SceneInput::Answered(Output::speech(lines.next().unwrap_or("Dear diary.")))),
//!             SceneEffect::Hear { .. } => waiting.push(SceneInput::Heard(Audience::Everyone)),
//!             SceneEffect::Judge(_) => waiting.push(SceneInput::Judged(Judgement::GoesOn)),
//!             SceneEffect::Refused { .. } | SceneEffect::Journal { .. } | SceneEffect::NoEntry { .. } | SceneEffect::Finish => {}
//!         }
//!     }
//!     now = now + std::time::Duration::from_millis(100);
//! }
//! assert_eq!(machine.reason().unwrap().as_str(), "natural");
//! assert_eq!(log.iter().filter(|event| event.kind.as_str() == "speak").count(), 3);
//! ```

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use dirigent_core::Timestamp;

use crate::director::{BadDirection, Direction};
use crate::event::{CloseReason, EventKind};
use crate::judge::Judgement;

mod effect;
mod ending;
mod events;
mod floor;
pub(crate) mod journal;
mod plan;
pub(crate) mod replay;
mod seat;
mod speaking;
mod stage;
mod time;

pub use self::effect::{AbortCause, SceneEffect, SceneInput, UnexpectedInput};
pub use self::plan::{CastPlace, FrameRule, Plan};

use self::ending::Ending;
use self::events::Events;
use self::floor::Floor;
use self::seat::{Presence, SeatState, Seats};
use self::stage::{AwaitedAnswer, Next, Task};
use self::time::SceneTime;

/// One scene. See the [module](self).
#[derive(Clone, Debug)]
pub struct Machine {
    plan: Arc<Plan>,
    /// The floor: the core's rotation and ceiling.
    floor: Floor,
    seats: Seats,
    /// The answer that the scene waits for.
    stage: AwaitedAnswer,
    /// Characters that must enter or leave before the scene goes on.
    tasks: VecDeque<Task>,
    /// The next step once no task is left.
    next: Next,
    time: SceneTime,
    /// The number of speeches so far.
    speeches: u32,
    ending: Ending,
}

impl Machine {
    /// Creates a scene that has not begun.
    pub fn new(plan: Arc<Plan>) -> Self {
        Self {
            floor: Floor::new(&plan),
            seats: Seats::new(&plan),
            stage: AwaitedAnswer::NotStarted,
            tasks: VecDeque::new(),
            next: Next::Open,
            time: SceneTime::default(),
            speeches: 0,
            ending: Ending::default(),
            plan,
        }
    }

    /// Takes an input, and appends the effects that follow from it, in order.
    ///
    /// # Errors
    ///
    /// Returns [`UnexpectedInput`] if the scene waits for another input. The scene is then unchanged.
    pub fn handle(
        &mut self,
        now: Timestamp,
        input: SceneInput,
        effects: &mut Vec<SceneEffect>,
    ) -> Result<(), UnexpectedInput> {
        self.time.advance(now);
        let stage = mem::replace(&mut self.stage, AwaitedAnswer::Finished);
        match (stage, input) {
            (AwaitedAnswer::NotStarted, SceneInput::Start) => {
                self.tasks.extend(self.plan.cast().map(Task::Enter));
                self.go_on(effects);
            }
            (AwaitedAnswer::Spawning(seat), SceneInput::Done) => self.on_spawned(seat, effects),
            (AwaitedAnswer::Briefing(seat), SceneInput::Done) => self.on_briefed(seat, effects),
            (AwaitedAnswer::Directing, SceneInput::Directed(directions)) => {
                self.on_directed(directions, effects);
            }
            (AwaitedAnswer::Asking(asking), SceneInput::Answered(output)) => {
                self.on_answered(asking, &output, effects);
            }
            (AwaitedAnswer::Hearing(seat, parsed), SceneInput::Heard(audience)) => {
                self.on_heard(seat, parsed, &audience, effects);
            }
            (AwaitedAnswer::Showing(said), SceneInput::Done) => self.on_shown(said, effects),
            (AwaitedAnswer::Judging, SceneInput::Judged(judgement)) => {
                self.on_judged(judgement, effects);
            }
            (AwaitedAnswer::Writing(asking), SceneInput::Answered(output)) => {
                self.on_entry(asking, &output, effects);
            }
            (AwaitedAnswer::Judging, SceneInput::TimedOut) => {
                self.on_judged(Judgement::GoesOn, effects);
            }
            (AwaitedAnswer::Writing(asking), SceneInput::Failed | SceneInput::TimedOut) => {
                self.end_entry(asking.seat, None, effects);
            }
            (AwaitedAnswer::NotStarted | AwaitedAnswer::Finished, _) => {
                return Err(UnexpectedInput);
            }
            (_, SceneInput::Failed) => self.abort(AbortCause::Failed, effects),
            (_, SceneInput::TimedOut) => self.abort(AbortCause::TimedOut, effects),
            (_, SceneInput::Stop) => self.abort(AbortCause::Stopped, effects),
            (stage, _) => {
                self.stage = stage;
                return Err(UnexpectedInput);
            }
        }
        Ok(())
    }

    /// Begins the next task, or the next step if no task is left.
    fn go_on(&mut self, effects: &mut Vec<SceneEffect>) {
        match self.tasks.pop_front() {
            Some(Task::Enter(seat)) => {
                self.stage = AwaitedAnswer::Spawning(seat);
                effects.push(SceneEffect::Spawn(seat));
            }
            Some(Task::Leave(seat)) => self.ask_for_entry(seat, effects),
            None => match self.next {
                Next::Open => self.open(effects),
                Next::Ask => self.ask(effects),
                Next::Finish => effects.push(SceneEffect::Finish),
            },
        }
    }

    fn on_spawned(&mut self, seat: CastPlace, effects: &mut Vec<SceneEffect>) {
        self.time.begin();
        self.seats.of(seat).is_spawned = true;
        let text = format!("Spawning actor for character {}", self.plan.slug(seat));
        effects.push(self.events().to(EventKind::Spawn, seat, text));
        self.stage = AwaitedAnswer::Briefing(seat);
        effects.push(SceneEffect::Brief(seat));
    }

    fn on_briefed(&mut self, seat: CastPlace, effects: &mut Vec<SceneEffect>) {
        let text = "Sent actor system prompt + profile + journal + scene perspective";
        effects.push(self.events().to(EventKind::Brief, seat, text));
        self.seats.of(seat).presence = Presence::Present;
        self.go_on(effects);
    }

    /// Gives the floor to the first speaker, because the cast is complete.
    fn open(&mut self, effects: &mut Vec<SceneEffect>) {
        self.next = Next::Ask;
        let order = self.plan.opening_order();
        let granted =
            self.floor.open(self.time.now(), &order, self.seats.turns_left(self.plan.hard_cap));
        self.direct(granted, effects);
    }

    /// Asks the director who enters and leaves before this turn. If no turn is left, the scene closes.
    fn direct(&mut self, granted: Option<CastPlace>, effects: &mut Vec<SceneEffect>) {
        let Some(seat) = granted else {
            return self.close(self.ending.reason_at_ceiling(), effects);
        };
        self.stage = AwaitedAnswer::Directing;
        effects.push(SceneEffect::Direct(self.seats.moment(&self.plan, self.speeches, seat)));
    }

    fn on_directed(&mut self, directions: Vec<Direction>, effects: &mut Vec<SceneEffect>) {
        let any = !directions.is_empty();
        for direction in directions {
            if direction == Direction::Stop {
                return self.abort(AbortCause::Stopped, effects);
            }
            if let Err(why) = self.take_direction(&direction) {
                effects.push(SceneEffect::Refused { direction, why });
            }
        }
        if any {
            let turns_left = self.seats.turns_left(self.plan.hard_cap);
            if turns_left == 0 {
                // The remaining characters have had all their turns. Those that were to leave still write, and those
                // that were to enter do not.
                let seats = &mut self.seats;
                self.tasks.retain(|task| !task.is_cancelled(seats));
                return self.close(self.ending.reason_at_ceiling(), effects);
            }
            self.floor.set_ceiling(self.time.now(), turns_left);
        }
        self.go_on(effects);
    }

    fn take_direction(&mut self, direction: &Direction) -> Result<(), BadDirection> {
        let now = self.time.now();
        match direction {
            Direction::Enter(slug) => {
                let seat = self.plan.seat(slug).ok_or(BadDirection::Unknown)?;
                let state = self.seats.of(seat);
                if state.presence != Presence::Waiting {
                    return Err(BadDirection::CannotEnter);
                }
                state.presence = Presence::Entering;
                self.floor.join(seat);
                self.tasks.push_back(Task::Enter(seat));
            }
            Direction::Leave(slug) => {
                let seat = self.plan.seat(slug).ok_or(BadDirection::Unknown)?;
                if self.seats.of(seat).presence != Presence::Present {
                    return Err(BadDirection::NotPresent);
                }
                if self.seats.staying() <= 2 {
                    return Err(BadDirection::TooFew);
                }
                self.seats.of(seat).presence = Presence::Leaving;
                self.floor.leave(now, seat);
                self.tasks.push_back(Task::Leave(seat));
            }
            Direction::Stop => {}
        }
        Ok(())
    }

    /// Returns a maker of events at the current time.
    fn events(&self) -> Events<'_> {
        Events { plan: &self.plan, at: self.time.elapsed() }
    }

    /// Returns the plan of the scene.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns why the scene ended, if it has.
    pub const fn reason(&self) -> Option<CloseReason> {
        self.ending.closed()
    }

    /// Returns what aborted the scene, if it was aborted.
    pub const fn abort_cause(&self) -> Option<AbortCause> {
        self.ending.cause
    }

    /// Returns true if the scene has ended and no effect is left.
    pub const fn is_finished(&self) -> bool {
        matches!(self.stage, AwaitedAnswer::Finished) && self.ending.closed().is_some()
    }

    /// Returns how many cues this character's actor has answered: turns, corrections and journal entries.
    pub fn answered(&self, seat: CastPlace) -> u32 {
        self.seats.get(seat).map_or(0, |state| state.answered)
    }

    /// Returns true if this character's actor was created and has not written its journal yet.
    pub fn is_in_play(&self, seat: CastPlace) -> bool {
        let plays = |state: &SeatState| state.is_spawned && state.presence != Presence::Gone;
        self.seats.get(seat).is_some_and(plays)
    }
}
