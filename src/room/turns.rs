//! The turn machine, as the lanes see it. It takes inputs at once, and keeps the effects for the lanes in order until
//! the event's step sorts them.

use dirigent_core::{
    Answer, Cause, Effect, Input, MessageId, Mode, PhaseKind, Refusal, Settlement, Ticket,
    Timestamp, Transition, TurnMachine, View,
};

use super::commit::{CommitState, Stamp};
use super::context::Context;
use super::marks::CLOCKS_APART;
use super::restored::RestoredTriggers;
use crate::ChannelId;
use crate::values::message::Nonce;

/// The machine of a channel, its commits, and the effects that no lane has got yet.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(super) channel: ChannelId,
    pub(super) machine: TurnMachine,
    pub(super) commit: CommitState,
    /// The pending triggers of an earlier process, which may have posted them.
    pub(super) restored: RestoredTriggers,
    /// The trigger of the call that has begun, and when it began. The machine gets it together with its next input, so
    /// that it needs no commit of its own.
    begun: Option<(Ticket, Timestamp)>,
    /// The effects that no lane has got yet, oldest first.
    follows: Vec<Follow>,
    /// Used again for the machine's effects.
    effects: Vec<Effect>,
    /// Whether other agents may take turns now than when this was last asked.
    is_listed_anew: bool,
}

/// What follows from an input for the lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follow {
    /// When the machine was told.
    pub(super) at: Timestamp,
    /// The state that it follows from.
    pub(super) stamp: Stamp,
    pub(super) what: What,
}

/// One thing that follows.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// The machine asks for this, or tells of it.
    Effect(Effect),
    /// The turn goes on after it was paused.
    Resumed,
    /// An operator's command was obeyed.
    Commanded,
    /// The channel has another mode: its conversation begins behind this message.
    Moved(Option<MessageId>),
    /// An earlier process posted a trigger that is not wanted, and the machine does not have it removed.
    Stray(MessageId),
    /// An earlier process may have posted this trigger, which is not wanted.
    Unseen(Nonce),
}

impl Turns {
    pub(super) fn new(channel: ChannelId, machine: TurnMachine, commit: CommitState) -> Self {
        let restored = RestoredTriggers::default();
        let (begun, follows, effects) = (None, Vec::new(), Vec::new());
        let is_listed_anew = machine.view().mode().keeps_turns();
        Self { channel, machine, commit, restored, begun, follows, effects, is_listed_anew }
    }

    pub(super) const fn view(&self) -> View<'_> {
        self.machine.view()
    }

    pub(super) const fn keeps_turns(&self) -> bool {
        self.machine.view().mode().keeps_turns()
    }

    /// Tells the machine something. Before it, and as of then, that the call has begun: what is due since is
    /// no matter of the turn before.
    pub(super) fn submit(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        input: &Input,
    ) -> Result<Answer, Refusal> {
        if let Some((ticket, since)) = self.begun.take() {
            self.settle(cx, since.min(now), ticket, Settlement::Done { message: None });
        }
        let (mode, was_paused) = (self.view().mode(), self.view().pause().is_some());
        let answer = self.machine.handle(now, input, &mut self.effects);
        self.is_listed_anew |= matches!(
            input,
            Input::Members { .. }
                | Input::MemberJoined(_)
                | Input::MemberLeft(_)
                | Input::Create(_)
        );
        if let Some(record) = cx.record {
            record(self.channel, now, input);
        }
        self.commit.observe(self.machine.revision());
        self.keep_effects(now);
        if was_paused && self.view().pause().is_none() {
            self.keep(now, What::Resumed);
        }
        let is_moved = self.view().mode() != mode;
        let commands = matches!(
            input,
            Input::Stop | Input::EditedToStop(_) | Input::Hold | Input::Resume | Input::Finish
        );
        // A command that changes nothing is obeyed all the same; one that is refused, or a mode that the
        // channel has already, says nothing about what people said before.
        if answer.is_ok() && (commands || is_moved) {
            self.keep(now, What::Commanded);
            self.commit.change();
        }
        if is_moved {
            let newest = self.view().newest();
            let begins = newest.or_else(|| cx.chat.id_before(now.saturating_sub(CLOCKS_APART)));
            self.keep(now, What::Moved(begins));
        }
        answer
    }

    /// Says what became of an effect. That its ticket is unknown means that it does not matter any more.
    pub(super) fn settle(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        ticket: Ticket,
        settlement: Settlement,
    ) {
        let is_known = matches!(settlement, Settlement::Done { message: Some(_) });
        match self.restored.take(ticket).filter(|_| !is_known) {
            None => {
                let _ = self.submit(cx, now, &Input::Settled { ticket, settlement });
            }
            // An earlier process posted it: the machine has it removed.
            Some((_, Some(message))) => {
                let settlement = Settlement::Done { message: Some(message) };
                if self.submit(cx, now, &Input::Settled { ticket, settlement }).is_err() {
                    self.keep(now, What::Stray(message));
                }
            }
            Some((nonce, None)) => {
                let _ = self.submit(cx, now, &Input::Settled { ticket, settlement });
                self.keep(now, What::Unseen(nonce));
            }
        }
    }

    /// The agent of this trigger is called: the trigger is settled; the machine gets that with its next input.
    pub(super) const fn call_begun(&mut self, trigger: Option<Ticket>, now: Timestamp) {
        self.begun = match trigger {
            Some(ticket) => Some((ticket, now)),
            None => None,
        };
    }

    /// The machine begins anew: it knows nothing of what was asked for.
    pub(super) fn begin_anew(&mut self, machine: TurnMachine) {
        self.machine = machine;
        self.restored.clear();
        self.begun = None;
    }

    /// Another process has the channel: nothing is stored or told any more.
    pub(super) fn abandon(&mut self) {
        self.commit.abandon();
        self.restored.clear();
    }

    fn keep(&mut self, at: Timestamp, what: What) {
        self.follows.push(Follow { at, stamp: self.commit.newest(), what });
    }

    fn keep_effects(&mut self, at: Timestamp) {
        let stamp = self.commit.newest();
        for &effect in &self.effects {
            if let Effect::Transition(transition) = effect {
                // The list is made of agents that were there before, and the conversation may be a new one since.
                let without = matches!(transition.cause, Cause::MembersLate | Cause::MembersFailed);
                self.is_listed_anew |= without;
                self.commit.news.record(stamp, transition);
                if !concerns_lanes(&transition) {
                    continue;
                }
            }
            self.follows.push(Follow { at, stamp, what: What::Effect(effect) });
        }
        self.effects.clear();
    }

    /// Whether other agents may take turns now than when this was last asked.
    pub(super) const fn take_listing(&mut self) -> bool {
        std::mem::replace(&mut self.is_listed_anew, false)
    }

    pub(super) fn has_follows(&self) -> bool {
        !self.follows.is_empty()
    }

    /// What no lane was told of yet. To be given back by [`Turns::sorted`].
    pub(super) fn take_follows(&mut self) -> Vec<Follow> {
        std::mem::take(&mut self.follows)
    }

    /// The lanes know all of this: its memory is used again.
    pub(super) fn sorted(&mut self, mut follows: Vec<Follow>) {
        debug_assert!(
            self.follows.is_empty(),
            "a lane told the machine something while it was told"
        );
        follows.clear();
        self.follows = follows;
    }

    /// Whether the record is damaged, and no operator has given the channel a mode yet.
    pub(super) fn is_damaged(&self) -> bool {
        self.commit.is_damaged() && self.view().mode() == Mode::None
    }

    /// Whether parts of a reply, or the orchestrator's answer, may be posted now: the turn is not paused and the
    /// channel is not held.
    pub(super) fn reply_may_go(&self) -> bool {
        self.view().pause().is_none() && self.view().phase() != PhaseKind::Waiting
    }

    /// The nonce of what the machine has asked for at this time.
    pub(super) fn nonce(&self, ticket: Ticket, since: Timestamp) -> Nonce {
        Nonce::from_parts(self.channel.get(), since.as_millis(), ticket.get())
    }
}

/// Whether a lane has something to do because of it.
fn concerns_lanes(transition: &Transition) -> bool {
    let Transition { from, to, cause, .. } = *transition;
    let is_pause = (from == PhaseKind::Waiting) != (to == PhaseKind::Waiting);
    let is_of_run = matches!(cause, Cause::RunStarted | Cause::RunSlow | Cause::Unpermitted);
    // A room that sleeps remembers nothing that was said.
    let is_end = matches!(to, PhaseKind::Archived | PhaseKind::Dormant);
    is_pause || is_of_run || (is_end && from != to) || is_failure(cause) || takes_turn_away(cause)
}

/// Whether a turn that ends so has failed.
pub(super) const fn is_failure(cause: Cause) -> bool {
    matches!(cause, Cause::StartTimedOut | Cause::RunFailed | Cause::RunTimedOut | Cause::RunLost)
}

/// Whether a turn that ends so was taken away.
pub(super) const fn takes_turn_away(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Stopped
            | Cause::Finished
            | Cause::ModeChanged
            | Cause::AgentLeft
            | Cause::AgentMuted
            | Cause::AgentMayNotWrite
            | Cause::AgentOffline
    )
}
