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
    follows: Vec<FollowUp>,
    effects: Vec<Effect>,
    /// `true` if other agents may take turns now than at the last look.
    is_listed_anew: bool,
}

/// A consequence of an input for the lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FollowUp {
    pub(super) at: Timestamp,
    /// The state that it follows from.
    pub(super) stamp: Stamp,
    pub(super) what: FollowUpKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FollowUpKind {
    Effect(Effect),
    /// The turn goes on after it was paused.
    Resumed,
    /// An operator's command was carried out.
    Commanded,
    /// The channel has another mode, so its conversation begins behind this message.
    Moved(Option<MessageId>),
    /// An earlier process posted a trigger that is not needed, and the machine does not remove it.
    Stray(MessageId),
    /// An earlier process may have posted this trigger, which is not needed.
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

    /// Passes an input to the machine. If a call has begun, the machine first learns that, with the time of it, because
    /// deadlines since then do not concern the turn before.
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
        // Only these may change the list, and looking at it costs more than the rest of most inputs.
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
            self.keep(now, FollowUpKind::Resumed);
        }
        let is_moved = self.view().mode() != mode;
        let commands = matches!(
            input,
            Input::Stop | Input::EditedToStop(_) | Input::Hold | Input::Resume | Input::Finish
        );
        // A refused command, or a mode that the channel already has, does not count. A host that set the mode at each
        // start once made the room forget what people had said meanwhile.
        if answer.is_ok() && (commands || is_moved) {
            self.keep(now, FollowUpKind::Commanded);
            self.commit.change();
        }
        if is_moved {
            let newest = self.view().newest();
            // Our clock may be ahead of the chat's, so the conversation begins a little earlier.
            let begins = newest.or_else(|| cx.chat.id_before(now.saturating_sub(CLOCKS_APART)));
            self.keep(now, FollowUpKind::Moved(begins));
        }
        answer
    }

    /// Settles an effect. If its ticket is unknown, the effect no longer matters.
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
            // An earlier process posted it, so the machine removes it.
            Some((_, Some(message))) => {
                let settlement = Settlement::Done { message: Some(message) };
                // The machine no longer knows the ticket, so the room deletes the message itself.
                if self.submit(cx, now, &Input::Settled { ticket, settlement }).is_err() {
                    self.keep(now, FollowUpKind::Stray(message));
                }
            }
            Some((nonce, None)) => {
                let _ = self.submit(cx, now, &Input::Settled { ticket, settlement });
                // Its message may still be read, and is deleted then.
                self.keep(now, FollowUpKind::Unseen(nonce));
            }
        }
    }

    /// Records that the agent of this trigger is called, which settles it. The machine learns it with its next input.
    pub(super) const fn call_begun(&mut self, trigger: Option<Ticket>, now: Timestamp) {
        self.begun = match trigger {
            Some(ticket) => Some((ticket, now)),
            None => None,
        };
    }

    /// Starts with a new machine, which knows no earlier effects.
    pub(super) fn begin_anew(&mut self, machine: TurnMachine) {
        self.machine = machine;
        self.restored.clear();
        self.begun = None;
    }

    pub(super) fn abandon(&mut self) {
        self.commit.abandon();
        self.restored.clear();
    }

    fn keep(&mut self, at: Timestamp, what: FollowUpKind) {
        self.follows.push(FollowUp { at, stamp: self.commit.newest(), what });
    }

    fn keep_effects(&mut self, at: Timestamp) {
        let stamp = self.commit.newest();
        for &effect in &self.effects {
            if let Effect::Transition(transition) = effect {
                // The list contains agents that were there before, and the conversation may be a new one since then.
                let without = matches!(transition.cause, Cause::MembersLate | Cause::MembersFailed);
                self.is_listed_anew |= without;
                // Listeners and the history get every transition. Most of them change no lane.
                self.commit.news.record(stamp, transition);
                if !concerns_lanes(&transition) {
                    continue;
                }
            }
            self.follows.push(FollowUp { at, stamp, what: FollowUpKind::Effect(effect) });
        }
        self.effects.clear();
    }

    /// Returns whether other agents may take turns now than at the last call.
    pub(super) const fn take_listing(&mut self) -> bool {
        std::mem::replace(&mut self.is_listed_anew, false)
    }

    pub(super) fn has_follows(&self) -> bool {
        !self.follows.is_empty()
    }

    /// Takes the consequences that no lane has got yet. Give the memory back with [`Turns::sorted`].
    pub(super) fn take_follows(&mut self) -> Vec<FollowUp> {
        std::mem::take(&mut self.follows)
    }

    /// Takes the memory back, because the lanes know all of this.
    pub(super) fn sorted(&mut self, mut follows: Vec<FollowUp>) {
        debug_assert!(
            self.follows.is_empty(),
            "a lane told the machine something while it was told"
        );
        follows.clear();
        self.follows = follows;
    }

    /// Returns whether the record is damaged, and no operator has given the channel a mode yet.
    pub(super) fn is_damaged(&self) -> bool {
        self.commit.is_damaged() && self.view().mode() == Mode::None
    }

    /// Returns whether parts of a reply, or the orchestrator's answer, may be posted now, because the turn is not
    /// paused and the channel is not on hold.
    pub(super) fn reply_may_go(&self) -> bool {
        self.view().pause().is_none() && self.view().phase() != PhaseKind::Waiting
    }

    pub(super) fn nonce(&self, ticket: Ticket, since: Timestamp) -> Nonce {
        Nonce::from_parts(self.channel.get(), since.as_millis(), ticket.get())
    }
}

/// Returns whether a lane has work because of this transition.
fn concerns_lanes(transition: &Transition) -> bool {
    let Transition { from, to, cause, .. } = *transition;
    let is_pause = (from == PhaseKind::Waiting) != (to == PhaseKind::Waiting);
    let is_of_run = matches!(cause, Cause::RunStarted | Cause::RunSlow | Cause::Unpermitted);
    // A dormant room remembers no messages.
    let is_end = matches!(to, PhaseKind::Archived | PhaseKind::Dormant);
    is_pause || is_of_run || (is_end && from != to) || is_failure(cause) || takes_turn_away(cause)
}

pub(super) const fn is_failure(cause: Cause) -> bool {
    matches!(cause, Cause::StartTimedOut | Cause::RunFailed | Cause::RunTimedOut | Cause::RunLost)
}

/// Returns whether a turn that ends with this cause was taken away.
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
