//! A channel under watch: every step is shown to every invariant.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Answer, Config, Effect, Input, Refusal, RunId, Snapshot, Timestamp, TurnMachine,
};

use super::{ALL, Asked, Glance, Invariant, Observation, Observer, Restored, TwinStep, Violation};
use crate::portrait::Portrait;

/// After how many steps everybody is asked.
const ASKS_EVERY: u32 = 8;
/// How long after the step: at once, after a start, after a run, and when an hour of turns is over.
const ASKED_AFTER: [u64; 4] = [0, 45, 900, 3_700];
/// An agent that no channel knows.
const STRANGER: AgentKey = AgentKey::new(u32::MAX);

/// How often a channel is restored from its snapshot to live beside itself for a while.
///
/// ```
/// use dirigent_verify::invariants::TwinSchedule;
/// assert!(TwinSchedule::default().twin_every > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TwinSchedule {
    /// After how many steps a twin is restored; 0: never.
    pub twin_every: u32,
    /// How many steps a twin lives.
    pub twin_lives: u32,
}

impl Default for TwinSchedule {
    fn default() -> Self {
        Self { twin_every: 64, twin_lives: 16 }
    }
}

/// A channel whose every step is shown to every invariant.
///
/// ```
/// use dirigent_core::{Config, Input, Mode, PhaseKind, Timestamp};
/// use dirigent_verify::invariants::Watched;
///
/// let mut channel = Watched::new(Config::default().into(), 1);
/// let noon = Timestamp::from_millis(1_000_000);
/// let answer = channel.handle(noon, &Input::SetMode(Mode::Chat)).expect("no invariant breaks");
/// assert!(answer.is_ok());
/// assert_eq!(channel.glance().phase, PhaseKind::Dormant);
/// assert!(!channel.effects().is_empty());
/// ```
#[derive(Debug)]
pub struct Watched {
    channel: TurnMachine,
    twin: Option<TurnMachine>,
    watch: Vec<(&'static Invariant, Box<dyn Observer>)>,
    before: Glance,
    after: Glance,
    now: Timestamp,
    effects: Vec<Effect>,
    twin_effects: Vec<Effect>,
    asked: Vec<Asked>,
    diligence: TwinSchedule,
    steps: u32,
}

impl Watched {
    /// A new channel under watch.
    pub fn new(config: Arc<Config>, seed: u64) -> Self {
        Self::of(TurnMachine::new(config, seed))
    }

    /// This channel, under watch from now on. It should be new: observers have seen nothing of
    /// what it went through before.
    pub fn of(channel: TurnMachine) -> Self {
        let mut after = Glance::default();
        after.refill(&channel);
        Self {
            channel,
            twin: None,
            watch: ALL.iter().map(|invariant| (invariant, (invariant.observer)())).collect(),
            before: after.clone(),
            after,
            now: Timestamp::default(),
            effects: Vec::new(),
            twin_effects: Vec::new(),
            asked: Vec::new(),
            diligence: TwinSchedule::default(),
            steps: 0,
        }
    }

    /// The same, with another diligence.
    #[must_use]
    pub const fn with_diligence(mut self, diligence: TwinSchedule) -> Self {
        self.diligence = diligence;
        self
    }

    /// The channel.
    pub const fn channel(&self) -> &TurnMachine {
        &self.channel
    }

    /// The channel after the last step.
    pub const fn glance(&self) -> &Glance {
        &self.after
    }

    /// What the last step asked for.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Gives the channel an input, and shows the step to every invariant.
    ///
    /// # Errors
    ///
    /// The first invariant that does not hold.
    pub fn handle(
        &mut self,
        now: Timestamp,
        input: &Input,
    ) -> Result<Result<Answer, Refusal>, Violation> {
        let due = self.after.deadline.is_some_and(|deadline| deadline <= now);
        let undisturbed = !due && now >= self.now;
        let elapsed = now.since(self.now);
        self.now = now;
        let changes_rules = matches!(input, Input::Reconfigure(_));
        let rules_before = changes_rules.then(|| Arc::clone(self.channel.config()));
        core::mem::swap(&mut self.before, &mut self.after);
        self.effects.clear();
        let answer = self.channel.handle(now, input, &mut self.effects);
        self.after.refill(&self.channel);
        let twin_answer = self.twin.as_mut().map(|twin| {
            self.twin_effects.clear();
            twin.handle(now, input, &mut self.twin_effects)
        });
        let compared = self.restore_now_and_then()?;
        self.ask_now_and_then();
        self.show(&Step {
            now,
            elapsed,
            undisturbed,
            input,
            answer,
            twin_answer,
            compared,
            rules_before,
        })?;
        Ok(answer)
    }

    /// Brings the channel back from a snapshot, as after a crash.
    ///
    /// # Errors
    ///
    /// When the snapshot is not accepted: the machine wrote it itself.
    pub fn restart(&mut self, snapshot: &Snapshot) -> Result<(), Violation> {
        let config = Arc::clone(self.channel.config());
        self.channel =
            TurnMachine::restore(config, snapshot).map_err(|error| not_restored(&error))?;
        self.twin = None;
        self.after.refill(&self.channel);
        // What the clock did since then is not known any more.
        self.now = snapshot.now;
        for (_, observer) in &mut self.watch {
            observer.restarted(&self.after);
        }
        Ok(())
    }

    /// Now and then, a twin is made from the snapshot, or one that has lived long is taken out. Gives it to be compared.
    fn restore_now_and_then(&mut self) -> Result<Option<TurnMachine>, Violation> {
        self.steps = self.steps.wrapping_add(1);
        let TwinSchedule { twin_every, twin_lives } = self.diligence;
        if twin_every == 0 {
            return Ok(None);
        }
        let phase = self.steps % twin_every;
        if phase == twin_lives % twin_every {
            if let Some(twin) = self.twin.take() {
                return Ok(Some(twin));
            }
        }
        if phase == 0 {
            let config = Arc::clone(self.channel.config());
            let twin = TurnMachine::restore(config, self.channel.snapshot())
                .map_err(|error| not_restored(&error))?;
            self.twin = Some(twin.clone());
            return Ok(Some(twin));
        }
        Ok(None)
    }

    /// Now and then, everybody's explanation and the gate's answer are looked at, in copies of the channel.
    fn ask_now_and_then(&mut self) {
        self.asked.clear();
        if self.steps % ASKS_EVERY != 0 {
            return;
        }
        let round = self.steps / ASKS_EVERY;
        let after = ASKED_AFTER.iter().cycle().nth(round as usize % ASKED_AFTER.len());
        let at = self.now + Duration::from_secs(after.copied().unwrap_or_default());
        let (run, latest) = (Some(RunId::new(u64::MAX - u64::from(round))), None);
        let mut explaining = self.channel.clone();
        let _ = explaining.handle(at, &Input::Tick, &mut Vec::new());
        let Portrait { seats, away, may_not_write, permit, initiator, .. } = &self.after.portrait;
        let listed = seats.iter().map(|seat| seat.agent);
        let marked = away.iter().map(|(agent, _)| *agent);
        let barred = may_not_write.iter().map(|(agent, _)| *agent);
        let known = listed.chain(marked).chain(barred).chain(*permit).chain(*initiator);
        for agent in known.chain([STRANGER]) {
            let (mut asking, gate) =
                (self.channel.clone(), Input::Gate { agent: Some(agent), run, latest });
            let answer = asking.handle(at, &gate, &mut Vec::new());
            if let Some(verdict) = answer.ok().and_then(Answer::verdict) {
                let explained = explaining.explain(agent);
                self.asked.push(Asked { agent, at, explained, verdict: verdict.reason() });
            }
        }
    }

    fn show(&mut self, step: &Step<'_>) -> Result<(), Violation> {
        let rules: &Config = self.channel.config();
        let explained = if let Input::Gate { agent: Some(agent), .. } = step.input {
            Some(self.channel.explain(*agent))
        } else {
            None
        };
        let twin_effects = &self.twin_effects;
        let seen = Observation {
            now: step.now,
            elapsed: step.elapsed,
            undisturbed: step.undisturbed,
            input: step.input,
            answer: step.answer,
            effects: &self.effects,
            before: &self.before,
            after: &self.after,
            rules_before: step.rules_before.as_deref().unwrap_or(rules),
            rules,
            explained,
            asked: &self.asked,
            audit: self.channel.audit(),
            twin: step.twin_answer.map(|answer| TwinStep { answer, effects: twin_effects }),
            restored: step
                .compared
                .as_ref()
                .map(|twin| Restored { original: self.channel.snapshot(), copy: twin.snapshot() }),
        };
        for (invariant, observer) in &mut self.watch {
            observer.observe(&seen).map_err(|detail| Violation::new(invariant, detail))?;
        }
        Ok(())
    }
}

/// What `handle` knows of a step when it shows it.
struct Step<'a> {
    now: Timestamp,
    elapsed: Duration,
    undisturbed: bool,
    input: &'a Input,
    answer: Result<Answer, Refusal>,
    twin_answer: Option<Result<Answer, Refusal>>,
    /// A twin whose state must be the channel's.
    compared: Option<TurnMachine>,
    rules_before: Option<Arc<Config>>,
}

fn not_restored(error: &dirigent_core::snapshot::RestoreError) -> Violation {
    Violation::of("I11", "a snapshot that the machine wrote is accepted", error.to_string())
}
