//! The turn machine of one channel: how you feed it, and the questions that you may ask it.

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

/// The end of time, which no deadline reaches.
const NEVER: Timestamp = Timestamp::from_millis(u64::MAX);

/// Decides who speaks when in one channel.
///
/// It is a value: you give it inputs with their time, it appends effects to your buffer, and it has no other contact
/// with the world. The project's `docs/rules.md` has the rules that it follows.
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
    /// The rules that the channel follows.
    pub(crate) config: Arc<Config>,
    /// The state of the channel, which is all that survives a restart.
    pub(crate) snapshot: Snapshot,
    /// The moment before which no deadline is due, as the last look at the deadlines found it.
    quiet_until: Timestamp,
    /// The reason for that deadline, if there is one.
    due: Option<DeadlineReason>,
}

impl TurnMachine {
    /// Creates a channel that was never seen before: its mode is none, and it has no members. The seed decides every
    /// shuffle, so the same seed and the same inputs give the same orders.
    pub fn new(config: Arc<Config>, seed: u64) -> Self {
        let mut snapshot = Snapshot::default();
        snapshot.state.rng = Rng(seed);
        Self::of(config, snapshot)
    }

    /// Creates a channel in this state.
    pub(crate) fn of(config: Arc<Config>, snapshot: Snapshot) -> Self {
        let (quiet_until, due) = (NEVER, None);
        let mut channel = Self { config, snapshot, quiet_until, due };
        let next = next_deadline(&channel.look());
        channel.keep_deadline(next);
        channel
    }

    /// Processes what happened at `now`, and appends to `effects` what you must do, in order.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] means that the input changed nothing. Deadlines that were due have fired nevertheless, so carry
    /// out the appended effects.
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

    /// Stores the next deadline, because it changes only with an input and is read more often.
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

    /// Returns when something is due next, and why. It always lies ahead of the last input's time. Call
    /// [`handle`](Self::handle) then, for example with [`Input::Tick`].
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.due.map(|reason| Deadline { at: self.quiet_until, reason })
    }

    /// Returns a read-only view of the channel.
    pub const fn view(&self) -> View<'_> {
        View::new(self)
    }

    /// Returns why this agent may or may not speak. It is the answer that a gate call of a new run would have got at
    /// the time of the last input. Asking leaves the channel as it is.
    pub fn explain(&self, agent: AgentKey) -> Reason {
        gate::explain(&self.look(), agent)
    }

    /// Returns what an agent is doing in this channel.
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

    /// Returns the pending effects, oldest first, with the moment at which each was requested. After a restart you
    /// carry them out again. Use the same nonce for each, because it may have been done already.
    pub fn pending(&self) -> &[PendingEffect] {
        &self.snapshot.pending.effects
    }

    /// Returns true if this effect is still wanted. Ask before each attempt, because your store or a rate limit may
    /// have held it up.
    ///
    /// A trigger is not wanted if its turn is over, if its agent runs already, or if a newer trigger is pending. A poll
    /// is wanted only while its reply is being confirmed. A notice is wanted as long as it is pending.
    pub fn wants(&self, effect: &Effect) -> bool {
        self.look().wants(effect)
    }

    /// Returns a number that rises with every change that a restart must not lose. Store the channel when it differs
    /// from the number that you stored last.
    pub const fn revision(&self) -> u64 {
        self.snapshot.revision
    }

    /// Returns the rules that the channel follows.
    pub const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Sets the time, and returns true if the clock went back. In that case every remembered moment moves back by the
    /// same amount, because otherwise the channel would freeze for as long as the step was.
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
