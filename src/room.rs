//! One channel in memory: its machine, what is to be done for it, and what of it is stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent_core::{
    AgentKey, Answer, Cause, Channel, Effect, Input, MessageId, PhaseKind, Refusal, RunId,
    Timestamp, Transition, TurnId,
};
use tokio::sync::{Notify, oneshot};

use crate::agent::TurnLink;
use crate::deferral::Deferred;
use crate::held::Held;
use crate::outbox::{Outbox, is_archiving};
use crate::shared::Shared;
use crate::store::Outgoing;
use crate::{ChannelId, ChatMessage, Discussion, Durability, LetterKind, Revision};

/// A channel that is awake. Inputs are taken in under its lock, one after the other; what they ask
/// for is done by at most one worker, in order, each batch after the state that leads to it was
/// stored.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) id: ChannelId,
    /// Somebody waits for the store while the worker is busy with something else.
    pub(crate) told: Notify,
    state: Mutex<RoomState>,
}

#[derive(Debug)]
pub(crate) struct RoomState {
    pub(crate) channel: Channel,
    /// What was agreed when the discussion was opened.
    pub(crate) discussion: Option<Arc<Discussion>>,
    /// Transitions that are not stored yet, for a store that keeps a history.
    pub(crate) transitions: Vec<Transition>,
    /// What is to be done once the state is stored.
    pub(crate) work: VecDeque<Work>,
    /// Who waits until the state is stored.
    pub(crate) tells: Vec<oneshot::Sender<()>>,
    /// The machine's revision that was stored last.
    pub(crate) stored_machine: Option<u64>,
    /// The store's revision of it.
    pub(crate) stored: Revision,
    /// How much the next commit must survive.
    pub(crate) durability: Durability,
    /// Whether a worker has the room, or will have it.
    pub(crate) busy: bool,
    /// The deadline that the timers know.
    pub(crate) due: Option<Timestamp>,
    /// Another process has the channel now: nothing is done here any more.
    pub(crate) abandoned: bool,
    /// The channel comes from the store: what was said before is not in memory.
    pub(crate) forgot: bool,
    /// Everything before this was heard, or is none of ours.
    pub(crate) heard: MissedFrom,
    /// What only an active channel has; given back when it rests.
    pub(crate) active: Option<Box<Active>>,
}

/// What only an active channel has.
#[derive(Debug, Default)]
pub(crate) struct Active {
    /// A hosted reply that is being posted.
    pub(crate) outgoing: Option<Arc<Outgoing>>,
    /// The call of a hosted agent that is under way.
    pub(crate) call: Option<Call>,
    /// The run whose permission a guard holds.
    pub(crate) guarded: Option<Guarded>,
    /// From where on something was missed, until that is read.
    pub(crate) missed_from: Option<MissedFrom>,
    /// What was said of late, oldest first.
    pub(crate) recent: VecDeque<Arc<ChatMessage>>,
    /// Up to where each agent was given what it missed.
    pub(crate) given: Vec<Given>,
    /// What a discussion still has to post.
    pub(crate) outbox: Outbox,
    /// What people said and whoever has the floor is handed.
    pub(crate) held: Option<Held>,
    /// Whether it was; what was not is handed to whoever is next.
    pub(crate) is_held_given: bool,
    /// The orchestrator's answer that is waited for.
    pub(crate) consulting: Option<Arc<TurnLink>>,
    /// Who is to be called back when its turn comes.
    pub(crate) deferred: Vec<Deferred>,
    /// Until when they wait, if nothing happens.
    pub(crate) deferred_until: Option<Timestamp>,
    /// What agents answered too late.
    pub(crate) late: Vec<(AgentKey, Arc<str>)>,
}

/// From where on something may have been said that was not heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissedFrom {
    /// The newest message that was surely heard.
    pub(crate) newest: Option<MessageId>,
    /// Where there is none: what was said before then is none of ours.
    pub(crate) at: Timestamp,
}

/// What an agent was given with its last turn: the messages after one and up to another.
#[derive(Debug)]
pub(crate) struct Given {
    agent: AgentKey,
    turn: TurnId,
    after: Option<MessageId>,
    until: Option<MessageId>,
    /// Older ones that it was given too, since they were heard of late.
    late: Vec<MessageId>,
    /// Older ones that were heard of only after it was given the others.
    later: Vec<MessageId>,
}

/// A run of the host's for which a guard was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guarded {
    pub(crate) agent: AgentKey,
    /// `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: Option<RunId>,
}

/// The call of a hosted agent.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) agent: AgentKey,
    /// `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: RunId,
    pub(crate) link: Arc<TurnLink>,
}

/// Something to be done for a room once its state is stored.
#[derive(Debug)]
pub(crate) enum Work {
    /// What the machine asked for.
    Effect(Effect),
    /// A hosted agent was allowed to run: call it.
    Call { agent: AgentKey, turn: Option<TurnId>, run: RunId, attempt: u8 },
    /// A hosted reply was stored: post its next part.
    Post {
        /// The part may be in the channel since then: nobody could tell.
        in_doubt: Option<Timestamp>,
    },
    /// A restart cut a hosted reply off: see what of it has arrived, then go on.
    TakeUpReply {
        /// When it was last stored.
        stored: Timestamp,
    },
    /// A letter was stored: take it one step further.
    Letter(LetterKind),
}

impl Room {
    pub(crate) fn new(
        id: ChannelId,
        channel: Channel,
        discussion: Option<Arc<Discussion>>,
        stored: Revision,
        heard: MissedFrom,
    ) -> Self {
        let stored_machine = Some(channel.revision());
        let forgot = stored > Revision::default() && channel.view().newest().is_some();
        let state = RoomState {
            channel,
            discussion,
            transitions: Vec::new(),
            work: VecDeque::new(),
            tells: Vec::new(),
            stored_machine,
            stored,
            durability: Durability::Turn,
            busy: false,
            due: None,
            abandoned: false,
            forgot,
            heard,
            active: None,
        };
        Self { id, told: Notify::new(), state: Mutex::new(state) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RoomState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an input in, now. What it asks for is queued, and a worker called if there is none.
    pub(crate) fn submit(
        self: &Arc<Self>,
        shared: &Shared,
        input: &Input,
    ) -> Result<Answer, Refusal> {
        self.submit_with(shared, input, |_, _| {})
    }

    /// The same, with something more to be done under the lock, when the answer is known.
    pub(crate) fn submit_with(
        self: &Arc<Self>,
        shared: &Shared,
        input: &Input,
        then: impl FnOnce(&mut RoomState, &Result<Answer, Refusal>),
    ) -> Result<Answer, Refusal> {
        let mut state = self.lock();
        let now = shared.clock.now();
        let mut effects = shared.take_buffer();
        let answer = state.channel.handle(now, input, &mut effects);
        if let Some(recorder) = &shared.recorder {
            recorder.recorded(self.id, now, input);
        }
        state.retry_letters(now);
        state.expire_deferrals(shared, now);
        let archived = effects.iter().any(is_archiving);
        state.take_effects(&mut effects, shared.history_max);
        then(&mut state, &answer);
        if archived {
            state.owe_result(self, shared, now);
        }
        if matches!(input, Input::SetMode(_)) {
            // What was said under another mode is nothing that was missed.
            state.heard = MissedFrom { newest: state.channel.view().newest(), at: now };
        }
        self.settle_down(shared, &mut state);
        drop(state);
        shared.give_back(effects);
        answer
    }

    /// Calls a worker if there is something to do, and moves the channel's deadline.
    pub(crate) fn settle_down(self: &Arc<Self>, shared: &Shared, state: &mut RoomState) {
        if state.abandoned {
            state.work.clear();
            state.tells.clear();
            return;
        }
        let due = state.due();
        shared.timers.set(self.id, state.due, due);
        state.due = due;
        if state.busy && !state.tells.is_empty() {
            self.told.notify_one();
        }
        if state.has_work() && !state.busy {
            state.busy = true;
            shared.call_worker(Arc::clone(self));
        }
    }
}

impl RoomState {
    /// Whether something is to be stored or done.
    pub(crate) fn has_work(&self) -> bool {
        !self.work.is_empty() || !self.tells.is_empty() || self.is_dirty()
    }

    /// Whether the machine changed since it was stored.
    pub(crate) fn is_dirty(&self) -> bool {
        self.stored_machine != Some(self.channel.revision())
    }

    /// Queues what the machine asks for, and keeps what changed for the history.
    fn take_effects(&mut self, effects: &mut Vec<Effect>, history_max: usize) {
        for effect in effects.drain(..) {
            if let Effect::Deliver { agent, turn, first, last } = effect {
                self.hold(Held { agent, turn, first, last });
            }
            if let Effect::Inject { agent, turn, message } = effect {
                self.hold(Held { agent, turn, first: message, last: message });
            }
            if let Effect::Transition(transition) = effect {
                self.tell_calls(&transition);
                if self.transitions.len() < history_max {
                    self.transitions.push(transition);
                }
            }
            self.work.push_back(Work::Effect(effect));
        }
        if self.active.as_ref().is_some_and(|active| active.held.is_some()) {
            self.let_go_of_held();
        }
    }

    /// Those that run are told when their turn rests, goes on, or takes long.
    fn tell_calls(&mut self, transition: &Transition) {
        let Some(active) = &mut self.active else {
            return;
        };
        let (was, rests) =
            (transition.from == PhaseKind::Waiting, transition.to == PhaseKind::Waiting);
        if was && !rests {
            if let Some(asked) = active.consulting.take() {
                asked.cancel();
            }
        }
        let Some(call) = &active.call else {
            return;
        };
        if was != rests {
            call.link.pause(rests);
        }
        if transition.cause == Cause::RunSlow && transition.agent == Some(call.agent) {
            call.link.hurry();
        }
    }

    /// When something is due: a deadline of the machine, or a letter that is tried again.
    fn due(&self) -> Option<Timestamp> {
        let active = self.active.as_ref();
        let letter = active.and_then(|active| active.outbox.due());
        let deferred = active.and_then(|active| active.deferred_until);
        let deadline = self.channel.next_deadline().map(|deadline| deadline.at);
        [deadline, letter, deferred].into_iter().flatten().min()
    }

    /// From now on it is as if nothing had happened here, and that is stored over whatever was.
    pub(crate) fn forget_all(&mut self, machine: Channel) {
        self.channel = machine;
        self.discussion = None;
        self.transitions.clear();
        self.work.clear();
        self.stored_machine = None;
        if let Some(call) = self.active.take().and_then(|active| active.call) {
            call.link.cancel();
        }
    }

    pub(crate) fn active(&mut self) -> &mut Active {
        self.active.get_or_insert_default()
    }

    /// Whether nothing is under way, so that the room may leave memory: its record says it all.
    pub(crate) fn is_at_rest(&self) -> bool {
        let idle = self.active.as_ref().is_none_or(|active| {
            active.outgoing.is_none() && active.call.is_none() && active.missed_from.is_none()
        });
        idle && !self.busy
            && !self.has_work()
            && self.due().is_none()
            && self.channel.debts().is_empty()
    }
}

impl Active {
    /// Keeps a message for agents that missed it; the oldest goes when there are too many.
    pub(crate) fn remember(&mut self, message: Arc<ChatMessage>, most: usize) {
        if most == 0 {
            return;
        }
        let at = self.recent.partition_point(|known| known.id < message.id);
        if self.recent.get(at).is_some_and(|known| known.id == message.id) {
            return;
        }
        let id = message.id;
        self.recent.insert(at, message);
        for given in self.given.iter_mut().filter(|given| Some(id) <= given.until) {
            given.later.push(id);
        }
        if self.recent.len() > most {
            self.recent.pop_front();
        }
    }

    /// What the agent was not given in an earlier turn, but for its own words. The same turn again is
    /// given the same again: the call before may not have reached its agent.
    pub(crate) fn missed(
        &mut self,
        agent: AgentKey,
        turn: TurnId,
        own: Option<crate::UserId>,
    ) -> Vec<Arc<ChatMessage>> {
        let known = self.given.iter().position(|given| given.agent == agent);
        let given = known.map(|at| self.given.swap_remove(at));
        // After a restart nobody knows any more what it was given: it knew what it answered.
        let answered = || self.recent.iter().rev().find(|message| Some(message.author) == own);
        let (after, late) = match given {
            Some(mut given) if given.turn == turn => {
                given.late.append(&mut given.later);
                (given.after, given.late)
            }
            Some(given) => (given.until, given.later),
            None => (answered().map(|message| message.id), Vec::new()),
        };
        let from = after.map_or(0, |id| self.recent.partition_point(|message| message.id <= id));
        let looked_through = if late.is_empty() { 0 } else { from };
        let earlier = self.recent.range(..looked_through);
        let first = earlier.filter(|message| late.contains(&message.id));
        let missed = first.chain(self.recent.range(from..));
        let missed = missed.filter(|message| Some(message.author) != own).cloned().collect();
        let until = self.recent.back().map(|message| message.id).or(after);
        self.given.push(Given { agent, turn, after, until, late, later: Vec::new() });
        missed
    }
}
