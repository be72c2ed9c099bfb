//! One channel's turn keeping: the way in, and the questions that may be asked.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::machine::deadlines::next_deadline;
use crate::machine::look::Look;
use crate::machine::out::Out;
use crate::machine::step::Step;
use crate::machine::{gate, inputs};
use crate::state::{PendingEffect, Phase, Rng, Snapshot, State};
use crate::view::AgentState;
use crate::{
    AgentKey, Answer, Config, Deadline, DeadlineReason, Effect, Input, Reason, Refusal, Timestamp,
    View,
};

/// The end of time.
const NEVER: Timestamp = Timestamp::from_millis(u64::MAX);

/// Who speaks when in one channel.
///
/// A value: it is given inputs with their time, writes effects, and touches nothing else. The rules
/// it follows are written down in the project's `docs/rules.md`.
///
/// ```
/// use dirigent_core::{
///     AgentKey, Author, TurnMachine, Config, Effect, Input, Message, MessageId, MessageKind, Mode,
///     Tail, Timestamp,
/// };
///
/// let mut channel = TurnMachine::new(Config::default().into(), 1);
/// let mut effects = Vec::new();
/// let noon = Timestamp::from_millis(1_000);
/// channel.handle(noon, &Input::SetMode(Mode::Chat), &mut effects)?;
///
/// // The machine asks who is there; two agents are.
/// let Some(Effect::FetchMembers { ticket }) =
///     effects.iter().find(|effect| effect.ticket().is_some()).copied()
/// else { panic!() };
/// let agents = vec![AgentKey::new(1), AgentKey::new(2)];
/// channel.handle(noon, &Input::Members { ticket, agents }, &mut effects)?;
///
/// // A person writes, and the first agent is woken.
/// let hello = Message {
///     id: MessageId::new(1),
///     author: Author::Human,
///     kind: MessageKind::Conversation,
///     tail: Tail::of("hello"),
///     backfilled: false,
/// };
/// channel.handle(noon, &Input::Message(hello), &mut effects)?;
/// assert_eq!(channel.view().speaker(), Some(AgentKey::new(1)));
/// # Ok::<(), dirigent_core::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct TurnMachine {
    /// The rules.
    pub(crate) config: Arc<Config>,
    /// What the channel knows: all that survives a restart.
    pub(crate) snapshot: Snapshot,
    /// Nothing is due before: what the last look at the deadlines found.
    quiet_until: Timestamp,
    /// What is due then, if anything is.
    due: Option<DeadlineReason>,
}

impl TurnMachine {
    /// A channel never seen before: mode none, no members. The seed decides every shuffle.
    pub fn new(config: Arc<Config>, seed: u64) -> Self {
        let mut snapshot = Snapshot::default();
        snapshot.state.rng = Rng(seed);
        Self::of(config, snapshot)
    }

    /// A channel in this state.
    pub(crate) fn of(config: Arc<Config>, snapshot: Snapshot) -> Self {
        let (quiet_until, due) = (NEVER, None);
        let mut channel = Self { config, snapshot, quiet_until, due };
        let next = next_deadline(&channel.look());
        channel.keep_deadline(next);
        channel
    }

    /// Takes in what happened at `now` and appends what is to be done, in order.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] means that the input changed nothing. Deadlines that were due have expired all
    /// the same, and the effects appended count.
    pub fn handle(
        &mut self,
        now: Timestamp,
        input: &Input,
        effects: &mut Vec<Effect>,
    ) -> Result<Answer, Refusal> {
        let went_back = self.set_now(now);
        let before = effects.len();
        if went_back || now >= self.quiet_until {
            inputs::expire(&mut self.step(effects));
        }
        let taken =
            if let Input::Reconfigure(config) = input { self.reconfigure(config) } else { Ok(()) };
        let mut step = self.step(effects);
        let answer = taken.and_then(|()| inputs::consider(&mut step, input));
        let next = inputs::expire(&mut step);
        self.keep_deadline(next);
        self.snapshot.state.release_unused();
        self.snapshot.revision += u64::from(effects.len() > before);
        debug_assert_eq!(self.audit(), Ok(()), "after {input:?}");
        answer
    }

    fn step<'a>(&'a mut self, effects: &'a mut Vec<Effect>) -> Step<'a> {
        let Self { config, snapshot, .. } = self;
        let Snapshot { now, revision, state, pending, .. } = snapshot;
        Step { state, out: Out { now: *now, config, effects, pending, revision } }
    }

    pub(crate) fn look(&self) -> Look<'_> {
        let Snapshot { now, state, pending, .. } = &self.snapshot;
        Look { state, pending, config: &self.config, now: *now }
    }

    /// The deadline changes only with an input, and is asked for more often.
    fn keep_deadline(&mut self, next: Option<Deadline>) {
        self.quiet_until = next.map_or(NEVER, |deadline| deadline.at);
        self.due = next.map(|deadline| deadline.reason);
    }

    fn reconfigure(&mut self, config: &Arc<Config>) -> Result<(), Refusal> {
        config.validate().map_err(|_| Refusal::BadConfig)?;
        self.config = Arc::clone(config);
        let State { roster, quota, .. } = &mut self.snapshot.state;
        quota.recount_spoken(config, |agent| roster.list.position(agent).is_some());
        self.snapshot.revision += 1;
        Ok(())
    }

    /// When something is due next, and why. It always lies ahead of the last input's time.
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.due.map(|reason| Deadline { at: self.quiet_until, reason })
    }

    /// What the channel looks like.
    pub const fn view(&self) -> View<'_> {
        View::new(self)
    }

    /// Why this agent may, or may not, speak: what a gate call of a new run would be told at the moment of the last input.
    pub fn explain(&self, agent: AgentKey) -> Reason {
        gate::explain(&self.look(), agent)
    }

    /// What an agent is doing in this channel.
    ///
    /// ```
    /// use dirigent_core::view::AgentState;
    /// use dirigent_core::{AgentKey, TurnMachine, Config};
    /// let channel = TurnMachine::new(Config::default().into(), 1);
    /// assert_eq!(channel.agent_state(AgentKey::new(1)), AgentState::Idle);
    /// ```
    pub fn agent_state(&self, agent: AgentKey) -> AgentState {
        let State { standing, floor, roster, .. } = &self.snapshot.state;
        if roster.away(agent) == Some(true) {
            AgentState::Offline
        } else if floor.phase == Phase::Waiting(agent) {
            AgentState::Waiting
        } else if floor.speaker() == Some(agent) {
            AgentState::Active
        } else if standing.keeps_turns() && roster.is_available(agent) {
            AgentState::Queued
        } else {
            AgentState::Idle
        }
    }

    /// The effects that are pending, oldest first, with the moment each was asked for. After a restart
    /// the host carries them out again: with the same nonce, since they may have been done.
    pub fn pending(&self) -> &[PendingEffect] {
        &self.snapshot.pending.effects
    }

    /// Whether this effect is still wanted: a trigger is not when its turn is over, its agent runs
    /// already, or a newer one is pending; a poll is not when nothing is confirmed; a notice is while it is pending.
    pub fn wants(&self, effect: &Effect) -> bool {
        self.look().wants(effect)
    }

    /// Rises with every change that a restart must not lose. A host stores the channel when it
    /// differs from what was stored last.
    pub const fn revision(&self) -> u64 {
        self.snapshot.revision
    }

    /// The rules that the channel follows.
    pub const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Sets the time. When it went back, everything remembered moves back with it, so that what
    /// remained of each deadline still remains. Gives whether it did.
    fn set_now(&mut self, now: Timestamp) -> bool {
        let snapshot = &mut self.snapshot;
        let went_back = now < snapshot.now;
        if went_back {
            let back = snapshot.now.since(now);
            let mut move_back = |moment: &mut Timestamp| *moment = moment.saturating_sub(back);
            snapshot.state.for_each_moment(&mut move_back);
            snapshot.pending.for_each_moment(&mut move_back);
        }
        snapshot.now = now;
        went_back
    }
}
