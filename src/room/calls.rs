//! Calls of hosted agents, and questions to the orchestrator.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, RunId, Ticket, Timestamp, TurnId};

use super::action::ActionId;
use super::beside::Beside;
use super::commit::Stamp;
use crate::values::extras::Extras;

/// Marks the ids of hosted agents' runs. A run is named by the ticket of its trigger, so that a turn that is given
/// again is another run.
const HOSTED: u64 = 1 << 63;
const UPPER: u64 = u64::MAX << 32;

/// Returns the run that the trigger, or the reminder, with this ticket starts.
pub(crate) const fn hosted_run(ticket: Ticket) -> RunId {
    RunId::new(HOSTED | ticket.get())
}

/// Returns whether the library named this run.
pub(crate) const fn is_hosted_run(run: RunId) -> bool {
    // The upper half is compared as a whole, because half of all random ids have the highest bit. Such a run of a host
    // was once given up at a restart, and a second agent could speak.
    run.get() & UPPER == HOSTED
}

/// A permitted run of a hosted agent, which is called once the state is stored.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) agent: AgentKey,
    /// The turn. `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: RunId,
    pub(crate) attempt: u8,
    /// The state that must be committed before the agent is called.
    pub(crate) stamp: Stamp,
    /// Its trigger, which is pending in the machine until the agent is called.
    pub(crate) trigger: Option<Ticket>,
    /// `true` if others are called first.
    pub(crate) is_in_line: bool,
    pub(crate) under_way: Option<ActionId>,
}

/// The pending question to the orchestrator.
#[derive(Debug, Default)]
pub(crate) struct Consult {
    pub(crate) ticket: Ticket,
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
    /// The state that must be committed before the question is sent.
    pub(crate) stamp: Stamp,
    pub(crate) under_way: Option<ActionId>,
    /// The time when the machine asked. It is a part of the nonces of the answer.
    pub(crate) since: Timestamp,
    pub(crate) parts: Vec<Arc<str>>,
    pub(crate) extras: Option<Arc<Extras>>,
    pub(crate) posted: usize,
    pub(crate) answer: Option<MessageId>,
}

impl Consult {
    /// Returns the extras of the next part of the answer. The first part answers a message, and the last one has the
    /// embeds and files.
    pub(crate) fn beside(&self) -> Beside {
        let extras = self.extras.as_deref();
        let answered = extras.and_then(|extras| extras.reply_to).unwrap_or(self.last);
        let is_last = self.posted + 1 == self.parts.len();
        let files = extras.filter(|_| is_last).map(|extras| extras.files.iter());
        // After a restart only the names of files are left. A file without bytes would be posted empty.
        let at_hand = files.into_iter().flatten().filter(|file| file.is_at_hand());
        Beside {
            reply_to: (self.posted == 0).then_some(answered),
            extras: self.extras.clone().filter(|_| is_last),
            files: at_hand.cloned().collect(),
        }
    }

    /// Removes the files from the part that is posted next. Returns whether it had some, and has more than files.
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

/// The time that an agent may go on after its call was cancelled, until the call is dropped.
const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// A call that lost its turn, while its agent has not returned.
#[derive(Clone, Copy, Debug)]
struct Abandoned {
    id: ActionId,
    drop_at: Timestamp,
}

/// A run of the host that has a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guarded {
    pub(crate) agent: AgentKey,
    /// The turn. `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: Option<RunId>,
    /// The number of runs that had started in the channel when this one had, since the channel came into memory.
    /// Without a name nothing else distinguishes this run from the next one after a reminder, or in the same turn.
    pub(crate) starts: u64,
}

/// A run of an earlier process, with the time until which it is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRun {
    pub(crate) run: RunId,
    pub(crate) until: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Inject {
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) span: Span,
}

/// The runs of a channel, as far as the turn machine does not know them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    current: Option<Call>,
    abandoned: Vec<Abandoned>,
    /// The trigger of a call that was cancelled before it began.
    never_begun: Option<Ticket>,
    pub(crate) inject: Option<Inject>,
    starts: u64,
    guarded: Option<Box<Guarded>>,
    /// A run of an earlier process that goes on without a deadline of the machine.
    pub(crate) kept: Option<Box<KeptRun>>,
}

impl Calls {
    pub(crate) const fn current(&self) -> Option<&Call> {
        self.current.as_ref()
    }

    /// Returns the permitted run that has not been called yet.
    pub(crate) fn waiting(&self) -> Option<&Call> {
        self.current.as_ref().filter(|call| call.under_way.is_none())
    }

    pub(crate) const fn stands_in_line(&mut self) {
        if let Some(call) = &mut self.current {
            call.is_in_line = true;
        }
    }

    pub(crate) fn under_way(&self) -> Option<ActionId> {
        self.current.as_ref()?.under_way
    }

    pub(crate) fn permit(&mut self, call: Call) {
        self.current = Some(call);
    }

    /// Records that the agent is called with this id. Returns its trigger, if it has one.
    pub(crate) fn begin(&mut self, id: ActionId) -> Option<Ticket> {
        let call = self.current.as_mut()?;
        call.under_way = Some(id);
        call.trigger
    }

    pub(crate) const fn take_never_begun(&mut self) -> Option<Ticket> {
        self.never_begun.take()
    }

    /// Records that a call is over. If its turn was taken away, its agent returned within the grace.
    pub(crate) fn returned(&mut self, id: ActionId) {
        self.abandoned.retain(|call| call.id != id);
    }

    /// Records that the agent of this run answered. Returns its call, unless its turn was taken away.
    pub(crate) fn end(&mut self, run: RunId) -> Option<Call> {
        self.current.take_if(|call| call.run == run)
    }

    /// Takes the permission from the call, if it belongs to this run. The call is dropped if its agent goes on for
    /// longer than the grace.
    pub(crate) fn cancel(
        &mut self,
        now: Timestamp,
        agent: AgentKey,
        run: Option<RunId>,
    ) -> Option<Call> {
        let call = self.current.take_if(|call| call.agent == agent && Some(call.run) == run)?;
        match call.under_way {
            Some(id) => self.abandoned.push(Abandoned { id, drop_at: now + CANCEL_GRACE }),
            // Its trigger is still pending in the machine, and would keep the channel in memory.
            None => self.never_begun = call.trigger,
        }
        Some(call)
    }

    /// Removes and returns a cancelled call after its grace.
    pub(crate) fn next_overdue(&mut self, now: Timestamp) -> Option<ActionId> {
        let at = self.abandoned.iter().position(|call| call.drop_at <= now)?;
        Some(self.abandoned.remove(at).id)
    }

    /// Takes every call in progress, with the time when each is dropped. These are the agent's current call and the
    /// cancelled ones.
    pub(crate) fn abandon(&mut self, now: Timestamp) -> Vec<(ActionId, Timestamp)> {
        let current = self.current.take().and_then(|call| call.under_way);
        let current = current.map(|id| (id, now + CANCEL_GRACE));
        let cancelled = self.abandoned.drain(..).map(|call| (call.id, call.drop_at));
        cancelled.chain(current).collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none() && self.abandoned.is_empty()
    }

    /// Returns the moments at which a call is dropped, or a kept run is no longer waited for.
    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let kept = self.kept.as_ref().map(|kept| kept.until);
        self.abandoned.iter().map(|call| call.drop_at).chain(kept)
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        let kept = self.kept.as_mut().map(|kept| &mut kept.until);
        let dropped = self.abandoned.iter_mut().map(|call| &mut call.drop_at);
        dropped.chain(kept).for_each(|at| *at = at.saturating_sub(by));
    }

    /// Returns whether this is the first guard of a permitted run, because a call may be delivered twice.
    pub(crate) fn guards_first(&mut self, guarded: Guarded) -> bool {
        let before = self.guarded.replace(Box::new(guarded));
        before.is_none_or(|before| *before != guarded)
    }

    pub(crate) fn unguard(&mut self, guarded: Guarded) {
        self.guarded.take_if(|known| **known == guarded);
    }

    pub(crate) const fn run_started(&mut self) {
        self.starts += 1;
    }

    /// Returns the number of runs that started since the channel came into memory.
    pub(crate) const fn starts(&self) -> u64 {
        self.starts
    }
}
