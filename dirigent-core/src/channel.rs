//! One channel's turn keeping: the state, the way in, and the questions that may be asked.

mod advance;
mod away;
mod budget;
mod choice;
mod expire;
mod gate;
mod interrupts;
mod members;
mod message;
mod operate;
mod outage;
mod permit;
mod phase;
mod reply;
mod run;
mod settle;
mod signal;
mod step;
mod unknown;
mod wake;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub(crate) use gate::silence;
pub use members::Refresh;
pub use operate::Archived;
pub use permit::{Permit, PermitRun};
pub(crate) use phase::{Grant, Phase, Polls, Purpose, Start, TurnRun};
pub(crate) use settle::LITTER_MAX;
pub use settle::Litter;
use step::Step;

use crate::debts::Debts;
use crate::delivery::Delivery;
use crate::limits::Limits;
use crate::rng::Rng;
use crate::seen::Seen;
use crate::speaker_list::SpeakerList;
use crate::steering::{Rested, Steering, TurnTerms, Waiting};
use crate::{
    AgentKey, AgentState, Answer, Config, Deadline, DeadlineReason, Debt, Effect, Input, MessageId,
    Mode, PhaseKind, Reason, Refusal, Rest, Ticket, Timestamp, TurnId, TurnState, View,
};

/// The end of time.
const NEVER: Timestamp = Timestamp::from_millis(u64::MAX);

/// The most agents that a channel's list and its mute list hold.
pub const AGENTS_MAX: usize = 64;

/// Who speaks when in one channel.
///
/// A value: it is given inputs with their time, writes effects, and touches nothing else. The rules
/// it follows are written down in the project's `docs/rules.md`.
///
/// ```
/// use dirigent_core::{
///     AgentKey, Author, Channel, Config, Effect, Input, Message, MessageId, MessageKind, Mode,
///     Tail, Timestamp,
/// };
///
/// let mut channel = Channel::new(Config::default().into(), 1);
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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Channel {
    /// The rules.
    pub(crate) config: Arc<Config>,
    /// The time of the last input.
    pub(crate) now: Timestamp,
    /// What the channel is for.
    pub(crate) mode: Mode,
    /// Whether a mode was ever given.
    pub(crate) created: bool,
    /// How it was archived, if it was.
    pub(crate) archived: Option<Box<Archived>>,
    /// Who opened the discussion.
    pub(crate) initiator: Option<AgentKey>,
    /// Stopped or on hold.
    pub(crate) rest: Option<Rest>,
    /// A qualifying message is kept in mind: no agent has heard it.
    pub(crate) missed: bool,
    /// The channel woke for a word that no agent has heard yet.
    pub(crate) unheard: bool,
    /// A message after the cycle began wants another cycle.
    pub(crate) vetoed: bool,
    /// Who has the floor, and how far it got.
    pub(crate) phase: Phase,
    /// The newest turn.
    pub(crate) turn: TurnId,
    /// Who speaks after whom.
    pub(crate) list: SpeakerList,
    /// When the list was read.
    pub(crate) list_at: Option<Timestamp>,
    /// Who completed a turn last in this cycle.
    pub(crate) last_completer: Option<AgentKey>,
    /// Who has no turns, ascending.
    pub(crate) muted: Vec<AgentKey>,
    /// The member list that is being read.
    pub(crate) refresh: Option<Refresh>,
    /// When the member list was asked for last.
    pub(crate) asked_at: Option<Timestamp>,
    /// The initiator's one run after a reminder.
    pub(crate) permit: Option<Permit>,
    /// When the last reminder was sent, or the run that it led to ended in vain.
    pub(crate) reminded_at: Option<Timestamp>,
    /// When the next reminder is due, while dormant.
    pub(crate) reminder_due: Option<Timestamp>,
    /// The ceilings' counters.
    pub(crate) limits: Limits,
    /// Nothing is due before: what the last look at the deadlines found.
    pub(crate) quiet_until: Timestamp,
    /// What is due then, if anything is.
    pub(crate) due: Option<DeadlineReason>,
    /// What was seen before.
    pub(crate) seen: Seen,
    /// When the phase changed or something was last remembered.
    pub(crate) stirred_at: Timestamp,
    /// What is waited for and what has arrived of a reply; kept between turns so that only the first
    /// such reply allocates. None where every reply is confirmed by a receipt.
    pub(crate) delivery: Option<Box<Delivery>>,
    /// What was asked for and not settled.
    pub(crate) debts: Debts,
    /// The next ticket.
    pub(crate) next_ticket: u64,
    /// Trigger messages to be removed, and when.
    pub(crate) litter: Vec<Litter>,
    /// Chance.
    pub(crate) rng: Rng,
    /// What the rules beyond the plain rotation need; nothing while none is used.
    pub(crate) steering: Option<Box<Steering>>,
    /// Rises with every change that a restart must not lose.
    pub(crate) revision: u64,
}

impl Channel {
    /// A channel never seen before: mode none, no members. The seed decides every shuffle.
    pub fn new(config: Arc<Config>, seed: u64) -> Self {
        Self {
            config,
            now: Timestamp::default(),
            mode: Mode::None,
            created: false,
            archived: None,
            initiator: None,
            rest: None,
            missed: false,
            unheard: false,
            vetoed: false,
            phase: Phase::Disabled,
            turn: TurnId::default(),
            list: SpeakerList::default(),
            list_at: None,
            last_completer: None,
            muted: Vec::new(),
            refresh: None,
            asked_at: None,
            permit: None,
            reminded_at: None,
            reminder_due: None,
            limits: Limits::default(),
            quiet_until: Timestamp::default(),
            due: None,
            seen: Seen::default(),
            stirred_at: Timestamp::default(),
            delivery: None,
            debts: Debts::default(),
            next_ticket: 0,
            litter: Vec::new(),
            rng: Rng(seed),
            steering: None,
            revision: 0,
        }
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
        self.set_now(now);
        let before = effects.len();
        let is_due = now >= self.quiet_until;
        let mut step = Step { channel: self, effects };
        if is_due {
            step.expire();
        }
        let answer = step.consider(input);
        step.expire();
        self.drop_unused();
        self.revision += u64::from(effects.len() > before);
        debug_assert_eq!(self.audit(), Ok(()), "after {input:?}");
        answer
    }

    /// When something is due next, and why. It always lies ahead of the last input's time.
    pub fn next_deadline(&self) -> Option<Deadline> {
        self.due.map(|reason| Deadline { at: self.quiet_until, reason })
    }

    /// Finds what is due next. It changes only with an input, and is asked for more often.
    pub(crate) fn find_deadline(&mut self) -> Option<Deadline> {
        let next = expire::next_deadline(self);
        self.quiet_until = next.map_or(NEVER, |deadline| deadline.at);
        self.due = next.map(|deadline| deadline.reason);
        next
    }

    /// What the channel looks like.
    pub const fn view(&self) -> View<'_> {
        View::new(self)
    }

    /// Why this agent may, or may not, speak now.
    pub fn explain(&self, agent: AgentKey) -> Reason {
        gate::explain(self, agent)
    }

    /// What an agent is doing in this channel.
    ///
    /// ```
    /// use dirigent_core::{AgentKey, AgentState, Channel, Config};
    /// let channel = Channel::new(Config::default().into(), 1);
    /// assert_eq!(channel.agent_state(AgentKey::new(1)), AgentState::Idle);
    /// ```
    pub fn agent_state(&self, agent: AgentKey) -> AgentState {
        let turns = self.mode.keeps_turns() && self.archived.is_none();
        if self.away(agent) == Some(true) {
            AgentState::Offline
        } else if self.phase == Phase::Waiting(agent) {
            AgentState::Waiting
        } else if self.speaker() == Some(agent) {
            AgentState::Active
        } else if turns && self.is_available(agent) {
            AgentState::Queued
        } else {
            AgentState::Idle
        }
    }

    /// The effects that are owed, oldest first, with the moment each was asked for. After a restart
    /// the host carries them out again: with the same nonce, since they may have been done.
    pub fn debts(&self) -> &[Debt] {
        self.debts.as_slice()
    }

    /// Whether this effect is still wanted: a trigger is not when its turn is over, its agent runs
    /// already, or a newer one is owed; a poll is not when nothing is confirmed; a notice is while it is owed.
    pub fn wants(&self, effect: &Effect) -> bool {
        match *effect {
            Effect::Trigger { ticket, turn, .. } => {
                let waits = matches!(self.phase, Phase::Granted(_) | Phase::Continuing { .. })
                    && self.rest.is_none();
                waits && turn == self.turn && self.newest_trigger() == Some(ticket)
            }
            Effect::Poll { ticket, .. } => self.polls().is_some_and(|p| p.open == Some(ticket)),
            Effect::FetchMembers { ticket } => self.refresh.is_some_and(|r| r.ticket == ticket),
            Effect::Reminder { initiator, .. } => {
                matches!(self.phase, Phase::Dormant)
                    && self.initiator == Some(initiator)
                    && self.rest.is_none()
            }
            Effect::Inject { turn, .. } | Effect::Deliver { turn, .. } => turn == self.turn,
            Effect::Consult { ticket, .. } => self.waiting().is_some_and(|w| w.consult == ticket),
            Effect::Notice { ticket, .. } => {
                self.debts().iter().any(|debt| debt.effect.ticket() == Some(ticket))
            }
            Effect::Delete { .. } | Effect::CancelRun { .. } | Effect::Transition(_) => true,
        }
    }

    /// The trigger asked for last, while it is owed.
    fn newest_trigger(&self) -> Option<Ticket> {
        self.debts().iter().rev().find_map(|debt| {
            if let Effect::Trigger { ticket, .. } = debt.effect { Some(ticket) } else { None }
        })
    }

    /// Rises with every change that a restart must not lose. A host stores the channel when it
    /// differs from what was stored last.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// The rules that the channel follows.
    pub const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// How turns are kept, from mode, agents and archiving.
    pub(crate) fn turn_state(&self) -> TurnState {
        if self.archived.is_some() {
            TurnState::Archived
        } else {
            self.mode.turn_state(self.list.len())
        }
    }

    pub(crate) const fn phase_kind(&self) -> PhaseKind {
        self.phase.kind()
    }

    pub(crate) const fn speaker(&self) -> Option<AgentKey> {
        self.phase.speaker()
    }

    pub(crate) const fn anchor(&self) -> Option<MessageId> {
        match self.turn_run() {
            Some(run) => run.anchor,
            None => None,
        }
    }

    pub(crate) const fn polls(&self) -> Option<&Polls> {
        if let Phase::Confirming { polls, .. } = &self.phase { Some(polls) } else { None }
    }

    /// The run of the turn under way, whether the turn rests or not.
    pub(crate) const fn turn_run(&self) -> Option<TurnRun> {
        match (&self.phase, self.waiting()) {
            (Phase::Waiting(agent), Some(Waiting { rested, .. })) => match *rested {
                Rested::Running { run, anchor, .. } => {
                    Some(TurnRun { agent: *agent, id: run, anchor })
                }
                Rested::Granted { .. } | Rested::Continuing => None,
            },
            (phase, _) => phase.run().copied(),
        }
    }

    /// What the turn under way has been through.
    pub(crate) fn terms(&self) -> TurnTerms {
        self.steering.as_ref().map_or_else(TurnTerms::default, |steering| steering.terms)
    }

    /// The turn that rests.
    pub(crate) const fn waiting(&self) -> Option<&Waiting> {
        match &self.steering {
            Some(steering) => steering.waiting.as_ref(),
            None => None,
        }
    }

    /// What is beyond the plain rotation, to be changed.
    pub(crate) fn steering_mut(&mut self) -> &mut Steering {
        self.steering.get_or_insert_default()
    }

    /// An idle channel keeps no room for what it does not use.
    fn drop_unused(&mut self) {
        if let Some(steering) = &self.steering {
            if self.phase.is_idle() && steering.is_empty() {
                self.steering = None;
            }
        }
    }

    pub(crate) fn is_muted(&self, agent: AgentKey) -> bool {
        self.muted.binary_search(&agent).is_ok()
    }

    pub(crate) fn is_available(&self, agent: AgentKey) -> bool {
        self.list.slot(agent).is_some_and(|slot| !slot.left)
            && !self.is_muted(agent)
            && self.away(agent).is_none()
    }

    pub(crate) fn is_held(&self) -> bool {
        self.rest == Some(Rest::Held)
    }

    /// Stopped or finished.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.rest, Some(Rest::Stopped | Rest::Finished))
    }

    pub(crate) fn ceiling_reached(&self) -> bool {
        self.turns_reached() || self.limits.cycles_reached(&self.config, self.mode)
    }

    /// Whether no further turn is granted.
    pub(crate) fn turns_reached(&self) -> bool {
        self.limits.turns_reached(&self.config, self.mode) || self.is_time_up()
    }

    fn is_time_up(&self) -> bool {
        self.limits.time_up(&self.config, self.mode).is_some_and(|at| at <= self.now)
    }

    /// Sets the time. When it went back, everything remembered moves back with it, so that what
    /// remained of each deadline still remains.
    fn set_now(&mut self, now: Timestamp) {
        if now < self.now {
            let back = self.now.since(now);
            self.for_each_moment(|moment| *moment = moment.saturating_sub(back));
            self.quiet_until = Timestamp::default();
        }
        self.now = now;
    }

    /// Every moment in the state that is waited for or from. Not `now`, and not when a debt was made:
    /// that is no deadline but part of its name.
    fn for_each_moment(&mut self, mut visit: impl FnMut(&mut Timestamp)) {
        self.phase.for_each_moment(&mut visit);
        self.list.slots_mut().iter_mut().flat_map(|slot| &mut slot.grace_from).for_each(&mut visit);
        self.litter.iter_mut().flat_map(|litter| &mut litter.due).for_each(&mut visit);
        let optional =
            [&mut self.list_at, &mut self.asked_at, &mut self.reminded_at, &mut self.reminder_due];
        optional.into_iter().flatten().for_each(&mut visit);
        self.refresh.iter_mut().for_each(|refresh| visit(&mut refresh.until));
        self.permit.iter_mut().filter_map(Permit::until_mut).for_each(&mut visit);
        if let Some(archived) = &mut self.archived {
            visit(&mut archived.at);
            archived.bot_notice_at.iter_mut().for_each(&mut visit);
        }
        if let Some(delivery) = &mut self.delivery {
            visit(&mut delivery.last_seen);
            delivery.arrivals_mut().iter_mut().for_each(&mut visit);
        }
        if let Some(steering) = &mut self.steering {
            steering.for_each_moment(&mut visit);
        }
        visit(&mut self.stirred_at);
        visit(&mut self.limits.since);
    }
}
