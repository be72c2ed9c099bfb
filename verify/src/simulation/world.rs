//! The world of one seed: time, the channel under watch, and everybody around it.

use std::sync::Arc;

use dirigent_core::{
    Answer, Config, Creation, Effect, Input, MessageId, Mode, PhaseKind, Reason, RunId, Snapshot,
    Timestamp,
};
use dirigent_testkit::Random;

use super::agenda::Agenda;
use super::cast::Agent;
use super::room::Room;
use super::{Faults, Profile, Report, rules};
use crate::invariants::{Violation, Watched};

/// When the world begins: late enough for the clock to go back a good while.
const BEGINNING: u64 = 1_750_000_000_000;
/// How many steps before a crash the state begins to be stored with every change.
const ARMED_BEFORE: u64 = 64;
/// How many steps an archived or unmanaged channel is watched before another is opened.
const AFTERLIFE: u32 = 120;

/// One channel and the world around it, made from one number.
///
/// ```
/// use dirigent_testkit::worlds::World as _;
/// use dirigent_verify::simulation::{Profile, World};
///
/// let mut world = World::new(7, &Profile::default());
/// (0..500).try_for_each(|_| world.step()).expect("no invariant breaks");
/// assert!(world.report().steps >= 500);
/// ```
#[derive(Debug)]
pub struct World {
    pub(super) dice: Random,
    pub(super) profile: Profile,
    pub(super) faults: Faults,
    pub(super) watched: Watched,
    pub(super) agenda: Agenda,
    pub(super) cast: Vec<Agent>,
    pub(super) room: Room,
    /// Real time, in milliseconds. Only rises.
    pub(super) time: u64,
    /// How far the host's clock is off.
    pub(super) clock_off: i64,
    /// How often the process has started.
    pub(super) epoch: u32,
    pub(super) stored: Snapshot,
    /// Steps until the process dies.
    pub(super) crash_in: u64,
    pub(super) next_run: u64,
    /// The rules before or after a change of them.
    pub(super) other_rules: Arc<Config>,
    pub(super) tally: Report,
    /// Effects by which a channel moves: transitions and messages handed over.
    pub(super) moves: u64,
    /// Turns granted and messages handed over.
    pub(super) answers: u64,
    idle_steps: u32,
    /// Whether the channel waits for people to be quiet, people delete what they said, and agents hand over to each other.
    pub(super) is_quiet: bool,
    /// Every input, if it is to be told.
    story: Option<Vec<String>>,
}

/// Whether the world of this number has what [`World::is_quiet`] says. Not drawn by the dice, so that older worlds stay what
/// they were.
const fn is_quiet(seed: u64) -> bool {
    matches!(seed % 10, 1 | 5 | 9)
}

impl World {
    /// The world of this number.
    pub fn new(seed: u64, profile: &Profile) -> Self {
        let mut dice = Random::new(seed);
        let config = rules::choose(&mut dice);
        let other_rules = rules::choose(&mut dice);
        let config = if is_quiet(seed) { rules::quiet(&config, seed) } else { config };
        let channel_seed = dice.draw();
        let mut world = Self {
            watched: Watched::new(config, channel_seed).with_diligence(profile.diligence),
            dice,
            profile: *profile,
            faults: profile.faults,
            agenda: Agenda::default(),
            cast: Vec::new(),
            room: Room::default(),
            time: BEGINNING,
            clock_off: 0,
            epoch: 0,
            stored: Snapshot::default(),
            crash_in: u64::MAX,
            next_run: 1,
            other_rules,
            tally: Report::default(),
            moves: 0,
            answers: 0,
            idle_steps: 0,
            is_quiet: is_quiet(seed),
            story: None,
        };
        world.plan_crash();
        world
    }

    /// Writes every input down from here on.
    #[must_use]
    pub fn recorded(self) -> Self {
        Self { story: Some(Vec::new()), ..self }
    }

    /// What was lived through so far.
    pub fn report(&self) -> Report {
        let simulated = std::time::Duration::from_millis(self.time - BEGINNING);
        Report { simulated, ..self.tally }
    }

    /// Lets the next thing happen, in a channel that is there.
    fn live(&mut self) -> Result<(), Violation> {
        if self.tally.channels == 0 {
            self.open_channel()?;
        }
        if self.idle_steps >= AFTERLIFE {
            self.replace_channel()?;
        }
        self.go_on()
    }

    /// Lets the next thing happen.
    pub(super) fn go_on(&mut self) -> Result<(), Violation> {
        if self.fault(self.faults.clock_jump) {
            self.jump_clock();
            return self.feed(&Input::Tick).map(drop);
        }
        if self.dice.hits(self.profile.background_events) {
            return self.background_events();
        }
        let due = self.due();
        match (self.agenda.next_at(), due) {
            (None, None) => {
                self.time += self.dice.between(1_000, 1_200_000);
                self.background_events()
            }
            (next, Some(due)) if next.is_none_or(|next| due <= next) => {
                if self.agenda.len() > 0 && self.fault(self.faults.timer_late) {
                    self.happen()
                } else {
                    self.time = self.time.max(due);
                    self.feed(&Input::Tick).map(drop)
                }
            }
            _ => self.happen(),
        }
    }

    fn happen(&mut self) -> Result<(), Violation> {
        let Some((at, happening)) = self.agenda.pop() else {
            return Ok(());
        };
        self.time = self.time.max(at);
        self.occur(happening)
    }

    /// Gives the channel an input, stores its state, and carries out what it asks for. `None` when
    /// the process died over it, or the input was refused.
    pub(super) fn feed(&mut self, input: &Input) -> Result<Option<Answer>, Violation> {
        let dies = self.crash_comes();
        if dies && !self.dice.hits(self.faults.crash_amid_effects) {
            self.restart()?;
            return Ok(None);
        }
        let revision = self.watched.glance().revision;
        let now = self.now();
        let answer = self.watched.handle(now, input);
        self.note(now, input, &answer);
        let answer = answer?;
        if self.crash_in <= ARMED_BEFORE && self.watched.glance().revision != revision {
            self.stored.clone_from(self.watched.channel().snapshot());
        }
        let asked = self.watched.effects().len();
        let done = if dies {
            usize::try_from(self.dice.between(0, u64::try_from(asked).unwrap_or(0))).unwrap_or(0)
        } else {
            asked
        };
        for at in 0..done {
            if let Some(effect) = self.watched.effects().get(at).copied() {
                self.perform(&effect);
            }
        }
        if dies {
            self.restart()?;
            return Ok(None);
        }
        Ok(answer.ok())
    }

    /// Counts and writes down a step.
    fn note(
        &mut self,
        now: Timestamp,
        input: &Input,
        answer: &Result<Result<Answer, dirigent_core::Refusal>, Violation>,
    ) {
        self.tally.steps += 1;
        let glance = self.watched.glance();
        let idle = !glance.keeps_turns() && glance.phase != PhaseKind::Disabled;
        let aimless = idle || !glance.mode.keeps_turns();
        self.idle_steps = if aimless { self.idle_steps + 1 } else { 0 };
        let sign = glance.revision ^ glance.turn.get().rotate_left(32) ^ now.as_millis();
        self.tally.digest = (self.tally.digest ^ sign).wrapping_mul(0x0000_0100_0000_01b3);
        if let Some(story) = &mut self.story {
            story.push(describe(self.tally.steps, now, input, answer, &self.watched));
        }
    }

    /// The host's clock.
    pub(super) const fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.time.saturating_add_signed(self.clock_off))
    }

    /// When the channel's next deadline comes, in real time.
    pub(super) fn due(&self) -> Option<u64> {
        let deadline = self.watched.glance().deadline?;
        Some(deadline.as_millis().saturating_add_signed(-self.clock_off))
    }

    /// Whether this fault happens now; counts it.
    pub(super) const fn fault(&mut self, per_million: u32) -> bool {
        let happens = self.dice.hits(per_million);
        if happens {
            self.tally.faults += 1;
        }
        happens
    }

    /// A new name for a run.
    pub(super) const fn name_run(&mut self) -> RunId {
        self.next_run += 1;
        RunId::new(self.next_run)
    }

    /// A message of this room that may or may not exist.
    pub(super) fn some_message(&mut self) -> MessageId {
        let newest = self.room.newest().map_or(0, MessageId::get);
        MessageId::new(newest.saturating_sub(self.dice.below(12)))
    }

    /// At most one run of the host holds a permission for a turn.
    pub(super) fn check_runs(&self) -> Result<(), Violation> {
        let allowed = self.cast.iter().filter(|agent| agent.run.is_some_and(|(_, turn)| turn));
        let count = allowed.count();
        if count > 1 {
            return Err(Violation::of(
                "I1",
                "at most one run of the host is allowed a turn",
                format!("{count} runs are under way"),
            ));
        }
        Ok(())
    }

    /// The world's clock jumps, at most a day in either direction.
    fn jump_clock(&mut self) {
        let most = if self.dice.hits(500_000) { 86_400_000 } else { 60_000 };
        let by = i64::try_from(self.dice.below(most)).unwrap_or(0);
        self.clock_off += if self.dice.hits(500_000) { by } else { -by };
    }

    /// A channel with another seed and other agents takes the place of one that is over.
    fn replace_channel(&mut self) -> Result<(), Violation> {
        let config = rules::choose(&mut self.dice);
        let seed = self.dice.draw();
        self.watched = Watched::new(config, seed).with_diligence(self.profile.diligence);
        self.agenda = Agenda::default();
        self.room = Room::default();
        self.epoch += 1;
        self.open_channel()
    }

    /// How a channel begins: by a mode, or by a tool.
    fn open_channel(&mut self) -> Result<(), Violation> {
        self.idle_steps = 0;
        self.tally.channels += 1;
        self.stored.clone_from(self.watched.channel().snapshot());
        let fewest = self.profile.agents_min.max(2);
        let count = self.dice.between(fewest, self.profile.agents_max.max(fewest));
        self.cast = (0..count).map(|number| Agent::new(number, &mut self.dice)).collect();
        let all: Vec<_> = self.cast.iter().map(|agent| agent.key).collect();
        let members = if self.dice.hits(500_000) { all.clone() } else { Vec::new() };
        let input = match self.dice.below(20) {
            0..=9 => Input::SetMode(Mode::Chat),
            10..=16 => {
                let initiator = self.dice.pick(&all);
                Input::Create(Creation { mode: Mode::Discussion, members, initiator })
            }
            17 => Input::Create(Creation { mode: Mode::Work, members, initiator: None }),
            18 => Input::SetMode(Mode::Report),
            _ => Input::Create(Creation { mode: Mode::Chat, members, initiator: None }),
        };
        self.feed(&input).map(drop)
    }

    /// Whether a verdict's reason gives the run a turn, and not only leave to speak.
    pub(super) const fn gives_turn(reason: Reason) -> bool {
        matches!(reason, Reason::YourTurn | Reason::InitiatorPermit)
    }

    /// Counts down to the death of the process.
    fn crash_comes(&mut self) -> bool {
        self.crash_in = self.crash_in.saturating_sub(1);
        if self.crash_in == ARMED_BEFORE {
            self.stored.clone_from(self.watched.channel().snapshot());
        }
        self.crash_in == 0
    }
}

/// A step is at least one input.
impl dirigent_testkit::worlds::World for World {
    fn step(&mut self) -> Result<(), String> {
        let lived = self.tally.steps;
        while self.tally.steps == lived {
            self.live().map_err(|violation| violation.to_string())?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        self.recover().map_err(|violation| violation.to_string())
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.dice)
    }

    fn story(&mut self) -> Vec<String> {
        self.story.take().unwrap_or_default()
    }
}

/// One step in one line: time, input, answer, effects, and where the channel stands.
fn describe(
    step: u64,
    now: Timestamp,
    input: &Input,
    answer: &Result<Result<Answer, dirigent_core::Refusal>, Violation>,
    watched: &Watched,
) -> String {
    let glance = watched.glance();
    let answer = match answer {
        Ok(Ok(Answer::Accepted)) => String::new(),
        Ok(Ok(Answer::Verdict(verdict))) => format!(" = {verdict:?}"),
        Ok(Err(refusal)) => format!(" = {refusal:?}"),
        Err(violation) => format!(" = BROKEN {}", violation.id),
    };
    let effects = watched.effects().iter().map(|effect| {
        if let Effect::Transition(told) = effect {
            format!("\n      {:?} > {:?} {:?} {:?}", told.from, told.to, told.agent, told.cause)
        } else {
            format!("\n      {effect:?}")
        }
    });
    format!(
        "{step}: {now:?} {input:?}{answer}{}\n      now {:?} {:?} rest {:?} {} turns {} cycles {} \
         due {:?}",
        effects.collect::<String>(),
        glance.phase,
        glance.speaker,
        glance.rest,
        glance.turn,
        glance.turns,
        glance.cycles,
        glance.deadline
    )
}
