//! A room of agents around one channel: the language in which the stories of these tests are told.
//!
//! A [`Room`] gives the channel its inputs, keeps the clock and counts ids, and hands back what the
//! channel did as a [`Step`]. Around every single input it also checks what must always hold: the
//! channel's own invariants, that at most one agent may speak, that a refused input changed nothing,
//! and that a copy restored from the snapshot before the input reacts in exactly the same way.
#![cfg(test)]
#![allow(dead_code, reason = "each file of tests uses its own part of the language")]

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::snapshot::Phase;
use dirigent_core::{
    AgentKey, Answer, Config, Creation, Effect, Input, Mode, Outcome, PhaseKind, Refusal, RunId,
    Snapshot, Tail, Ticket, Timestamp, TurnMachine,
};

mod answers;
mod inputs;
mod looking;
mod step;
mod turns;

pub(crate) use inputs::{ended, gate, message};
pub(crate) use step::Step;

pub(crate) const A: AgentKey = AgentKey::new(1);
pub(crate) const B: AgentKey = AgentKey::new(2);
pub(crate) const C: AgentKey = AgentKey::new(3);
pub(crate) const D: AgentKey = AgentKey::new(4);
/// An agent of the registry that is in no channel.
pub(crate) const STRANGER: AgentKey = AgentKey::new(99);

/// When every story begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// The seed of chance of most stories.
pub(crate) const SEED: u64 = 7;

/// More inputs than any story needs: a room that never comes to rest fails instead of hanging.
const INPUTS_MAX: usize = 20_000;

/// So many seconds.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// So many milliseconds.
pub(crate) const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The first `count` agents: A, B, C and so on.
pub(crate) fn agents(count: usize) -> Vec<AgentKey> {
    (1..).map(AgentKey::new).take(count).collect()
}

/// A, B, C … for the first agents, the number for others.
pub(crate) fn name(agent: AgentKey) -> String {
    match agent.get() {
        number @ 1..=26 => char::from(b'A' + u8::try_from(number - 1).unwrap()).to_string(),
        number => format!("#{number}"),
    }
}

/// A reply that says something.
pub(crate) fn spoke(text: &str) -> Outcome {
    Outcome::Spoke { tail: Tail::of(text) }
}

/// The snapshot before, with everything of the snapshot after that a host may lose: what it reads
/// again from the channel after a restart. That is which messages were seen, counted and collected,
/// when the next poll is due, and what a run was answered.
fn forgettable(before: &Snapshot, after: &Snapshot) -> Snapshot {
    let open_poll = |of: &Snapshot| of.state.delivery.as_ref().and_then(|it| it.polls.open);
    let is_confirming = |of: &Snapshot| matches!(of.state.floor.phase, Phase::Confirming { .. });
    let polls_alike = open_poll(before) == open_poll(after) || !is_confirming(before);
    changed(before.clone(), |it| {
        it.now = after.now;
        it.state.quota.limits.turns = after.state.quota.limits.turns;
        it.state.seen = after.state.seen.clone();
        it.state.floor.last_activity_at = after.state.floor.last_activity_at;
        if polls_alike {
            it.state.delivery.clone_from(&after.state.delivery);
        }
    })
}

/// A snapshot, changed by hand.
pub(crate) fn changed(snapshot: Snapshot, change: impl FnOnce(&mut Snapshot)) -> Snapshot {
    let mut changed = snapshot;
    change(&mut changed);
    changed
}

/// One channel, its clock, and whoever is in it.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// The channel under test.
    pub(crate) channel: TurnMachine,
    /// The time.
    pub(crate) now: Timestamp,
    /// Who is found when the members are fetched.
    pub(crate) present: Vec<AgentKey>,
    /// The newest message id.
    pub(crate) message: u64,
    /// The newest run id.
    run: u64,
    /// Inputs given so far.
    inputs: usize,
    /// The newest run of each agent that was allowed or denied.
    runs: Vec<(AgentKey, RunId)>,
    /// The member fetch that waits for an answer.
    pub(crate) fetch: Option<Ticket>,
    /// The trigger asked for last.
    pub(crate) trigger: Option<Ticket>,
    /// The poll asked for last.
    pub(crate) poll: Option<Ticket>,
    /// The consultation asked for last.
    pub(crate) consult: Option<Ticket>,
    /// Effects since the room was opened.
    pub(crate) log: Vec<Effect>,
}

impl Room {
    /// A channel never seen before.
    pub(crate) fn unknown() -> Self {
        Self::with(Config::default(), SEED)
    }

    /// A channel never seen before with these rules and this seed of chance.
    pub(crate) fn with(config: Config, seed: u64) -> Self {
        Self {
            channel: TurnMachine::new(Arc::new(config), seed),
            now: START,
            present: Vec::new(),
            message: 1_000,
            run: 0,
            inputs: 0,
            runs: Vec::new(),
            fetch: None,
            trigger: None,
            poll: None,
            consult: None,
            log: Vec::new(),
        }
    }

    /// A chat of so many agents that just was created: dormant from two on.
    pub(crate) fn chat(count: usize) -> Self {
        Self::chat_with(count, |_| ())
    }

    /// A chat of so many agents under other rules.
    pub(crate) fn chat_with(count: usize, change: impl FnOnce(&mut Config)) -> Self {
        Self::created(Mode::Chat, count, None, change)
    }

    /// A discussion of so many agents, opened by A, before its guide.
    pub(crate) fn discussion(count: usize) -> Self {
        Self::discussion_with(count, |_| ())
    }

    /// A discussion of so many agents under other rules.
    pub(crate) fn discussion_with(count: usize, change: impl FnOnce(&mut Config)) -> Self {
        Self::created(Mode::Discussion, count, Some(A), change)
    }

    fn created(
        mode: Mode,
        count: usize,
        initiator: Option<AgentKey>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = Config::default();
        change(&mut config);
        config.validate().unwrap();
        let mut room = Self::with(config, SEED);
        room.present = agents(count);
        let members = room.present.clone();
        room.tell(Input::Create(Creation { mode, members, initiator }));
        room
    }

    /// Gives one input, and checks everything that must always hold.
    #[track_caller]
    pub(crate) fn give(&mut self, input: impl Into<Input>) -> Step {
        let input = input.into();
        self.inputs += 1;
        assert!(self.inputs < INPUTS_MAX, "a story without an end");
        let before = self.snapshot();
        let mut twin = TurnMachine::restore(self.channel.config().clone(), &before)
            .expect("every state can be restored");
        let (mut effects, mut echoes) = (Vec::new(), Vec::new());
        let nothing_due = self.channel.next_deadline().is_none_or(|due| due.at > self.now);
        let answer = self.channel.handle(self.now, &input, &mut effects);
        let echo = twin.handle(self.now, &input, &mut echoes);
        let after = self.snapshot();
        assert_eq!((&answer, &effects), (&echo, &echoes), "a restored twin reacts alike");
        assert_eq!(&after, twin.snapshot(), "a restored twin changes alike");
        if answer.is_err() && nothing_due && before.now == self.now {
            assert_eq!(before, after, "a refusal changes nothing");
            assert!(effects.is_empty(), "a refusal has no effect: {effects:?}");
        }
        let forwards = before.now <= after.now;
        if forwards && forgettable(&before, &after) != after {
            assert_ne!(before.revision, after.revision, "a change is worth storing: {input:?}");
        }
        self.check();
        self.remember(&effects);
        Step { answer, effects }
    }

    /// Gives one input that is accepted.
    #[track_caller]
    pub(crate) fn tell(&mut self, input: impl Into<Input> + Debug) -> Step {
        let step = self.give(input);
        if let Err(refusal) = step.answer {
            panic!("refused: {refusal}");
        }
        step
    }

    /// Gives one input that is refused, and says why.
    #[track_caller]
    pub(crate) fn refusal(&mut self, input: impl Into<Input>) -> Refusal {
        self.give(input).answer.expect_err("must be refused")
    }

    /// What holds at every moment.
    #[track_caller]
    fn check(&self) {
        if let Err(breach) = self.channel.audit() {
            panic!("broken invariant: {breach}");
        }
        let view = self.channel.view();
        let managed = !matches!(self.phase(), PhaseKind::Disabled);
        let everybody = agents(30).into_iter().chain([STRANGER]);
        let allowed = everybody.filter(|agent| self.channel.explain(*agent).allows());
        assert!(!managed || allowed.count() <= 1, "two agents may speak");
        let rests = matches!(
            view.phase(),
            PhaseKind::Dormant
                | PhaseKind::Disabled
                | PhaseKind::Dead
                | PhaseKind::Archived
                | PhaseKind::Delivering
        );
        let switched_off = self.config().deadlines.start.is_none()
            || self.config().deadlines.run.is_none()
            || view.pause().is_some();
        assert!(
            rests || switched_off || self.channel.next_deadline().is_some(),
            "a channel under way always has a deadline"
        );
        let ahead = self.channel.next_deadline().is_none_or(|due| due.at > self.now);
        assert!(ahead, "the next deadline lies ahead");
    }

    fn remember(&mut self, effects: &[Effect]) {
        for effect in effects {
            match *effect {
                Effect::FetchMembers { ticket } => self.fetch = Some(ticket),
                Effect::Trigger { ticket, .. } => self.trigger = Some(ticket),
                Effect::Poll { ticket, .. } => self.poll = Some(ticket),
                Effect::Consult { ticket, .. } => self.consult = Some(ticket),
                Effect::Delete { .. }
                | Effect::Notice { .. }
                | Effect::Reminder { .. }
                | Effect::Inject { .. }
                | Effect::Deliver { .. }
                | Effect::CancelRun { .. }
                | Effect::Transition(_) => {}
            }
        }
        self.log.extend_from_slice(effects);
    }

    /// Lets so much time pass, as a host does: every deadline is met on the dot.
    #[track_caller]
    pub(crate) fn wait(&mut self, by: Duration) -> Step {
        let until = self.now + by;
        let mut effects = Vec::new();
        while let Some(due) = self.channel.next_deadline().filter(|due| due.at <= until) {
            self.now = due.at;
            effects.append(&mut self.tell(Input::Tick).effects);
        }
        self.now = until;
        effects.append(&mut self.tell(Input::Tick).effects);
        Step { answer: Ok(Answer::Accepted), effects }
    }

    /// Lets so much time pass unnoticed; the next input sees it all at once.
    pub(crate) fn sleep(&mut self, by: Duration) {
        self.now = self.now + by;
    }
}
