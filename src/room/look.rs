//! A read-only view of a room, for status and the driver.

use std::sync::Arc;

use dirigent_core::{AgentKey, Input, MessageId, PhaseKind, Timestamp, TurnMachine};

use super::active::Active;
use super::addressing::AddressedBy;
use super::commit::CommitState;
use super::marks::Marks;
use super::outbox::FirstAttempt;
use super::outbox::entry::{OutboxEntry, PostState};
use super::reads::ReadKind;
use super::replying::given_up_at;
use super::turns::Turns;
use crate::record::discussion::Discussion;
use crate::record::outbox::OutboxKind;
use crate::values::error::PostFailure;

pub(crate) struct Look<'a> {
    pub(super) at: Timestamp,
    pub(super) turns: &'a Turns,
    pub(super) marks: &'a Marks,
    pub(super) discussion: Option<&'a Arc<Discussion>>,
    pub(super) active: Option<&'a Active>,
}

/// An outage: the chat or the store does not answer, or the chat is not heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    /// The time since when the room's requests or commits fail, or the gateway is lost.
    pub(crate) since: Timestamp,
    /// `true` if only the gateway is lost.
    pub(crate) gateway: bool,
    /// `true` if only the store fails.
    pub(crate) store: bool,
    /// The agent with the reply that waits for it.
    pub(crate) reply_of: Option<AgentKey>,
    /// The time when that reply is given up.
    pub(crate) given_up_at: Option<Timestamp>,
}

impl<'a> Look<'a> {
    pub(crate) const fn time(&self) -> Timestamp {
        self.at
    }

    pub(crate) const fn machine(&self) -> &'a TurnMachine {
        &self.turns.machine
    }

    pub(crate) const fn commit(&self) -> &'a CommitState {
        &self.turns.commit
    }

    pub(crate) const fn discussion(&self) -> Option<&'a Arc<Discussion>> {
        self.discussion
    }
}

impl Look<'_> {
    /// Returns the turn machine as a gate call at this moment finds it, after all deadlines that are due.
    pub(crate) fn machine_at(&self, now: Timestamp) -> TurnMachine {
        let mut machine = self.turns.machine.clone();
        // A tick is never refused.
        let _ = machine.handle(now, &Input::Tick, &mut Vec::new());
        machine
    }

    /// Returns when the channel goes on by itself at the latest, according to its turn machine at this moment. `None`
    /// if it waits for the chat, the store, or a person.
    pub(crate) fn goes_on_at(&self, machine: &TurnMachine) -> Option<Timestamp> {
        // The end of an outage is unknown.
        if self.outage().is_some() || self.turns.commit.refused.since().is_some() {
            return None;
        }
        let view = machine.view();
        let observed = self.active.and_then(|active| active.observed.as_ref());
        let run = view.run().filter(|_| view.phase() == PhaseKind::Running);
        if let Some(end) = run.and_then(|run| observed?.ends(run)) {
            return end.at();
        }
        // Only these phases wait for a post, so only they wait for a rate limit.
        let is_said = matches!(
            view.phase(),
            PhaseKind::Granted | PhaseKind::Continuing | PhaseKind::Delivering
        );
        let waits = is_said || view.phase() == PhaseKind::Dormant && view.is_wake_pending();
        let limited = self.active.and_then(|active| active.chat.limited_until());
        let limited = limited.filter(|_| waits && view.pause().is_none());
        limited.into_iter().chain(view.goes_on_at()).min()
    }

    /// Returns whether the chat or the store does not answer this room, or the chat is not heard.
    pub(crate) fn outage(&self) -> Option<Outage> {
        let chat = &self.active?.chat;
        // On hold no reply is given up.
        let given_up_at = self.reply_given_up_at().filter(|_| self.turns.reply_may_go());
        let reply_of = self.waiting_reply();
        let outage = |since| Outage { since, gateway: false, store: false, reply_of, given_up_at };
        let silent = chat.silent_since().map(outage);
        let deaf = || Some(Outage { gateway: true, ..outage(chat.deaf_since()?) });
        let unstored = || {
            // A refused record is no outage, because waiting does not help it.
            let since =
                chat.unstored_since().filter(|_| self.turns.commit.refused.since().is_none());
            Some(Outage { store: true, ..outage(since?) })
        };
        silent.or_else(deaf).or_else(unstored)
    }

    /// Returns how a person's message addressed the agent, if it is known and the agent has not had its turn since.
    pub(crate) fn addressed_by(&self, agent: AgentKey) -> Option<AddressedBy> {
        let active = self.active?;
        let addressed = active.commands.addressed.as_deref()?;
        let waits =
            addressed.agents.contains(&agent) && !active.inbox.was_handed(agent, addressed.message);
        waits.then_some(addressed.by)
    }

    /// Returns how often an observed agent wrote outside of its turn, since the room came into memory.
    pub(crate) fn unpermitted(&self, agent: AgentKey) -> u32 {
        let observed = self.active.and_then(|active| active.observed.as_ref());
        observed.map_or(0, |observed| observed.unpermitted(agent))
    }

    /// Returns how the chat refused the agent's newest reply here, if it did. It is unknown after a restart.
    pub(crate) fn post_failure(&self, agent: AgentKey) -> Option<PostFailure> {
        self.active.and_then(|active| active.inbox.post_failure(agent))
    }

    /// Returns the agent with a finished reply that waits until the chat takes it.
    pub(crate) fn waiting_reply(&self) -> Option<AgentKey> {
        let stored = self.active?.reply.as_ref()?.stored();
        stored.waiting_since.map(|_| stored.agent)
    }

    fn reply_given_up_at(&self) -> Option<Timestamp> {
        given_up_at(self.turns, self.active?.reply.as_ref()?)
    }

    /// Returns whether there are messages of people that an agent still has to get.
    pub(crate) fn has_word(&self) -> bool {
        let view = self.turns.view();
        // A host may have given the run no name.
        let is_begun = matches!(
            view.phase(),
            PhaseKind::Running | PhaseKind::Confirming | PhaseKind::Delivering
        );
        let runs = is_begun || view.run().is_some();
        let waits = !runs || self.active.is_some_and(|it| it.calls.waiting().is_some());
        let is_unheard = view.is_wake_unserved() && waits;
        let is_kept = view.is_wake_pending() || view.queued().is_some();
        let is_ungiven = self.active.is_some_and(|active| active.inbox.wakes_for(false).is_some());
        is_unheard || is_kept || is_ungiven
    }

    /// Returns whether the room is busy: an agent has its turn, a person waits for an answer, or a post of the library
    /// is not posted.
    pub(crate) fn is_busy(&self) -> bool {
        let view = self.turns.view();
        let rests =
            matches!(view.phase(), PhaseKind::Disabled | PhaseKind::Dormant | PhaseKind::Archived);
        let in_turn = self.turns.keeps_turns() && !rests;
        let is_owed = !self.turns.machine.pending().is_empty() || self.unposted().next().is_some();
        in_turn || self.has_word() || is_owed || self.waiting_reply().is_some()
    }

    /// Returns whether there is a person's message that is answered once an agent may have a turn, or there are too few
    /// agents to keep turns.
    pub(crate) fn awaits_agents(&self) -> bool {
        let is_disabled = self.turns.view().phase() == PhaseKind::Disabled;
        self.turns.keeps_turns() && (is_disabled || self.has_word())
    }

    /// Returns whether a permitted run waits for a place among the calls of all channels.
    pub(crate) fn waits_for_call(&self) -> bool {
        self.active.is_some_and(|active| active.calls.waiting().is_some_and(|call| call.is_in_line))
    }

    /// Returns whether the member list is being read now. A read that waits for a later attempt, or in a line, does not
    /// count, because it may take long.
    pub(crate) fn reads_members(&self) -> bool {
        let is_wanted = self.turns.machine.snapshot().state.roster.refresh.is_some();
        let is_put_off =
            self.active.is_some_and(|active| active.reads.is_put_off(ReadKind::Members));
        is_wanted && !is_put_off
    }

    /// Returns whether the record is damaged, and no operator has given the channel a mode yet.
    pub(crate) fn is_damaged(&self) -> bool {
        self.turns.is_damaged()
    }

    pub(crate) const fn has_gap(&self) -> bool {
        self.marks.has_gap()
    }

    /// Returns whether there may be messages that are not in memory yet.
    pub(crate) fn may_miss_messages(&self) -> bool {
        let is_deaf =
            |active: &Active| active.chat.deaf_since().is_some() || active.chat.awaits_newest();
        self.has_gap() || self.active.is_some_and(is_deaf)
    }

    /// Returns whether the first attempt at this message is over, or the message is in its channel.
    pub(crate) fn is_attempted(&self, kind: OutboxKind) -> bool {
        self.first_attempt(kind) != FirstAttempt::Pending
    }

    /// Returns whether the message is in its channel, as far as is known. A room that was taken over shows nothing.
    pub(crate) fn is_posted(&self, kind: OutboxKind) -> bool {
        !self.turns.commit.is_taken_over() && self.first_attempt(kind) == FirstAttempt::Posted
    }

    fn first_attempt(&self, kind: OutboxKind) -> FirstAttempt {
        // Without lanes nothing was ever written to the outbox, or all of it has arrived.
        self.active.map_or(FirstAttempt::Posted, |active| {
            let outbox = active.outbox.as_ref();
            outbox.map_or(FirstAttempt::Posted, |outbox| outbox.first_attempt(kind))
        })
    }

    /// Returns the messages of the discussion that have not arrived.
    pub(crate) fn unposted(&self) -> impl Iterator<Item = OutboxEntry> {
        let outbox = self.active.and_then(|active| active.outbox.as_ref());
        outbox.into_iter().flat_map(|outbox| outbox.entries())
    }

    /// Returns how many messages of the discussion this process no longer tries to post.
    pub(crate) fn given_up(&self) -> usize {
        self.unposted().filter(|unposted| unposted.state == PostState::GivenUp).count()
    }
}

impl Look<'_> {
    /// Returns the next deadline, unless something happens before.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let machine = self.turns.machine.next_deadline().map(|deadline| deadline.at);
        let own = [
            self.turns.commit.next_at(),
            self.marks.hold_until(),
            self.active.and_then(|active| active.next_deadline(self.at)),
            self.reply_given_up_at(),
            self.active.and_then(|active| active.overruns.next_at(self.turns)),
        ];
        // A deadline that has passed already waits for something else, for example a commit, an answer or a resume.
        let own = own.into_iter().flatten().filter(|moment| *moment > self.at);
        own.chain(machine).min()
    }

    /// Returns whether a driver that ends still has to finish a commit, or a reply that may go.
    pub(crate) fn is_finishing(&self) -> bool {
        let commit = &self.turns.commit;
        let replies = self.active.is_some_and(|active| active.reply.is_some());
        let is_due = !commit.is_clean() || (replies && self.turns.reply_may_go());
        is_due && !commit.is_given_up()
    }

    pub(crate) fn may_act(&self) -> bool {
        let commit = &self.turns.commit;
        let commits = !commit.is_clean() && !commit.is_under_way();
        commits || self.active.is_some_and(|active| active.may_act(commit))
    }

    pub(crate) fn has_signals(&self) -> bool {
        self.turns.commit.has_news() || self.active.is_some_and(|active| !active.signals.is_empty())
    }

    /// Returns about how much memory the messages take that agents still have to get.
    pub(crate) fn text_bytes(&self) -> usize {
        self.active.map_or(0, |active| active.inbox.texts().bytes())
    }

    /// Returns the newest message. Of two channels, the one that was idle for longer has the older one.
    pub(crate) fn newest(&self) -> Option<MessageId> {
        self.turns.view().newest()
    }

    /// Returns whether no work is in progress, so that the room may leave memory, because its record has everything.
    pub(crate) fn is_at_rest(&self) -> bool {
        let idle = self.active.is_none_or(Active::is_idle);
        // The record does not say for which of people's messages in a turn the room was woken, so a turn without a
        // deadline keeps the room, too.
        let no_turn = self.turns.machine.view().speaker().is_none();
        idle && no_turn
            && self.turns.commit.is_clean()
            && !self.marks.has_gap()
            && self.next_deadline().is_none()
            && self.turns.machine.pending().is_empty()
    }
}
