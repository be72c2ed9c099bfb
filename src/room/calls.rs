//! Calls of hosted agents and questions to the orchestrator.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, RunId, Ticket, Timestamp, TurnId};

use super::action::ActionId;
use super::beside::Beside;
use super::commit::Stamp;
use crate::values::extras::Extras;

/// Runs of hosted agents are named by the ticket of the trigger that called for them, so that a turn
/// that is given again is another run. The upper half keeps them apart from the ids that hosts give: one in four billion
/// of those that are random, or made of a name, would look like one of these.
const HOSTED: u64 = 1 << 63;
const UPPER: u64 = u64::MAX << 32;

/// The run that the trigger, or the reminder, with this ticket starts.
pub(crate) const fn hosted_run(ticket: Ticket) -> RunId {
    RunId::new(HOSTED | ticket.get())
}

/// Whether the library named this run.
pub(crate) const fn is_hosted_run(run: RunId) -> bool {
    run.get() & UPPER == HOSTED
}

/// The run of a hosted agent that is permitted, and called once that is stored.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) agent: AgentKey,
    /// `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: RunId,
    pub(crate) attempt: u8,
    /// What must be committed before the agent is called.
    pub(crate) stamp: Stamp,
    /// Its trigger, which the machine owes until the agent is called.
    pub(crate) trigger: Option<Ticket>,
    /// Others are called first.
    pub(crate) is_in_line: bool,
    pub(crate) under_way: Option<ActionId>,
}

/// The question to the orchestrator that is owed.
#[derive(Debug)]
pub(crate) struct Consult {
    pub(crate) ticket: Ticket,
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
    pub(crate) stamp: Stamp,
    pub(crate) under_way: Option<ActionId>,
    /// When the machine asked: part of the nonces of the answer.
    pub(crate) since: Timestamp,
    /// What is to be posted of the answer, once there is one.
    pub(crate) parts: Vec<Arc<str>>,
    /// What the answer has besides.
    pub(crate) extras: Option<Arc<Extras>>,
    /// How many of the parts are posted.
    pub(crate) posted: usize,
    /// The first message of the answer.
    pub(crate) answer: Option<MessageId>,
}

impl Consult {
    /// What the machine asked at this moment, once the state of this stamp is stored.
    pub(crate) fn new(
        ticket: Ticket,
        (agent, turn): (AgentKey, TurnId),
        (first, last): (MessageId, MessageId),
        stamp: Stamp,
        since: Timestamp,
    ) -> Self {
        Self {
            ticket,
            agent,
            turn,
            first,
            last,
            stamp,
            under_way: None,
            since,
            parts: Vec::new(),
            extras: None,
            posted: 0,
            answer: None,
        }
    }

    /// What the next part of the answer has besides its text: the first one answers a message, the last one shows the
    /// embeds and has the files.
    pub(crate) fn beside(&self) -> Beside {
        let extras = self.extras.as_deref();
        let answered = extras.and_then(|extras| extras.reply_to).unwrap_or(self.last);
        let is_last = self.posted + 1 == self.parts.len();
        let files = extras.filter(|_| is_last).map(|extras| extras.files.iter());
        let at_hand = files.into_iter().flatten().filter(|file| file.is_at_hand());
        Beside {
            reply_to: (self.posted == 0).then_some(answered),
            extras: self.extras.clone().filter(|_| is_last),
            files: at_hand.cloned().collect(),
        }
    }

    /// Takes the files from the part that is to be posted next. Returns whether it had some, and has more than these.
    pub(crate) fn do_without_files(&mut self) -> bool {
        let has_files = !self.beside().files.is_empty();
        let has_words = self.parts.get(self.posted).is_some_and(|words| !words.is_empty());
        let Some(extras) = self.extras.as_mut().filter(|_| has_files).map(Arc::make_mut) else {
            return false;
        };
        extras.files.clear();
        has_words || extras.shows()
    }
}

/// How long an agent may go on after its call was cancelled, until the call is dropped.
const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// A call whose turn was taken away and whose agent has not returned.
#[derive(Clone, Copy, Debug)]
struct Abandoned {
    id: ActionId,
    drop_at: Timestamp,
}

/// A run of the host's for which a guard was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guarded {
    pub(crate) agent: AgentKey,
    /// `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: Option<RunId>,
    /// How many runs had started in the channel, since it came into memory, when this one had: without a name
    /// nothing else tells it from the next one after a reminder, or in the same turn.
    pub(crate) starts: u64,
}

/// A run of an earlier process, and until when it is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRun {
    pub(crate) run: RunId,
    pub(crate) until: Timestamp,
}

/// People's messages that are to reach the agent that runs in this turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inject {
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) span: Span,
}

/// The runs of a channel, as far as the turn machine does not keep them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    current: Option<Call>,
    abandoned: Vec<Abandoned>,
    /// The trigger of a call that was cancelled before it began.
    never_begun: Option<Ticket>,
    /// People's messages are to be handed to the agent that runs.
    pub(crate) inject: Option<Inject>,
    /// How many runs started.
    starts: u64,
    /// The run whose permission a guard holds.
    guarded: Option<Box<Guarded>>,
    /// A run of an earlier process that goes on and has no deadline of the machine's.
    pub(crate) kept: Option<Box<KeptRun>>,
}

impl Calls {
    pub(crate) const fn current(&self) -> Option<&Call> {
        self.current.as_ref()
    }

    /// Whether a permitted run has not been called yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.current.as_ref().is_some_and(|call| call.under_way.is_none())
    }

    /// Whether a permitted run waits for a place among the calls of all channels.
    pub(crate) fn is_in_line(&self) -> bool {
        self.current.as_ref().is_some_and(|call| call.under_way.is_none() && call.is_in_line)
    }

    /// There is no such place now.
    pub(crate) const fn stands_in_line(&mut self) {
        if let Some(call) = &mut self.current {
            call.is_in_line = true;
        }
    }

    /// The state that permitted the run that waits for its call.
    pub(crate) fn waits_since(&self) -> Option<Stamp> {
        self.current.as_ref().filter(|call| call.under_way.is_none()).map(|call| call.stamp)
    }

    /// The action of the call under way.
    pub(crate) fn under_way(&self) -> Option<ActionId> {
        self.current.as_ref()?.under_way
    }

    /// This run is permitted, and to be called.
    pub(crate) fn permit(&mut self, call: Call) {
        self.current = Some(call);
    }

    /// The agent is called under this name. Returns its trigger, where it has one.
    pub(crate) fn begin(&mut self, id: ActionId) -> Option<Ticket> {
        let call = self.current.as_mut()?;
        call.under_way = Some(id);
        call.trigger
    }

    /// The trigger of a call that was cancelled before it began.
    pub(crate) const fn take_never_begun(&mut self) -> Option<Ticket> {
        self.never_begun.take()
    }

    /// The turn machine begins anew: it does not owe that trigger.
    pub(crate) const fn forget_trigger(&mut self) {
        self.never_begun = None;
    }

    /// A call is over: if its turn was taken away, its agent returned within the grace.
    pub(crate) fn returned(&mut self, id: ActionId) {
        self.abandoned.retain(|call| call.id != id);
    }

    /// The agent of this run answered. Returns its call, unless its turn was taken away.
    pub(crate) fn end(&mut self, run: RunId) -> Option<Call> {
        self.current.take_if(|call| call.run == run)
    }

    /// Takes the permission from the call, if it is this run's. It is dropped if its agent goes on for longer
    /// than the grace.
    pub(crate) fn cancel(
        &mut self,
        now: Timestamp,
        agent: AgentKey,
        run: Option<RunId>,
    ) -> Option<Call> {
        let call = self.current.take_if(|call| call.agent == agent && Some(call.run) == run)?;
        match call.under_way {
            Some(id) => self.abandoned.push(Abandoned { id, drop_at: now + CANCEL_GRACE }),
            None => self.never_begun = call.trigger,
        }
        Some(call)
    }

    /// A call whose grace is over; it is known no more.
    pub(crate) fn next_overdue(&mut self, now: Timestamp) -> Option<ActionId> {
        let at = self.abandoned.iter().position(|call| call.drop_at <= now)?;
        Some(self.abandoned.remove(at).id)
    }

    /// Takes every call under way: the agent's that is called, and those that were cancelled; and when each is dropped.
    pub(crate) fn abandon(&mut self, now: Timestamp) -> Vec<(ActionId, Timestamp)> {
        let current = self.current.take().and_then(|call| call.under_way);
        let current = current.map(|id| (id, now + CANCEL_GRACE));
        let cancelled = self.abandoned.drain(..).map(|call| (call.id, call.drop_at));
        cancelled.chain(current).collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none() && self.abandoned.is_empty()
    }

    /// The moments at which a call is dropped, or a kept run no longer waited for.
    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let kept = self.kept.as_ref().map(|kept| kept.until);
        self.abandoned.iter().map(|call| call.drop_at).chain(kept)
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        let kept = self.kept.as_mut().map(|kept| &mut kept.until);
        let dropped = self.abandoned.iter_mut().map(|call| &mut call.drop_at);
        dropped.chain(kept).for_each(|at| *at = at.saturating_sub(by));
    }

    /// Whether this is the first guard of a permitted run: a call may be delivered twice.
    pub(crate) fn guards_first(&mut self, guarded: Guarded) -> bool {
        let before = self.guarded.replace(Box::new(guarded));
        before.is_none_or(|before| *before != guarded)
    }

    /// The guard of this run says nothing more.
    pub(crate) fn unguard(&mut self, guarded: Guarded) {
        self.guarded.take_if(|known| **known == guarded);
    }

    /// A run begins.
    pub(crate) const fn run_started(&mut self) {
        self.starts += 1;
    }

    /// How many runs started since the channel came into memory.
    pub(crate) const fn starts(&self) -> u64 {
        self.starts
    }
}
