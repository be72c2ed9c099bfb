//! The part of a room that survives a restart, and how a room is restored from it.

use std::sync::Arc;

use dirigent_core::snapshot::{PendingEffect, RestoreError};
use dirigent_core::{Config, Effect, PhaseKind, Snapshot, Timestamp, TurnMachine};

use super::Room;
use super::active::Active;
use super::chat_health::ChatHealth;
use super::commands::Commands;
use super::commit::CommitState;
use super::context::Context;
use super::inbox::Inbox;
use super::marks::Marks;
use super::outbox::Outbox;
use super::reply::ReplyDelivery;
use super::turns::{FollowUp, FollowUpKind, Turns};
use super::voice::PostItem;
use crate::ChannelId;
use crate::record::channel::{ChannelRecord, Revision, StoredChannel, Writer};
use crate::record::discussion::Discussion;

/// The origin of a restored room's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An earlier process wrote it. Runs are gone, and messages since then were not heard.
    EarlierProcess,
    /// This process wrote it, when the channel left memory at rest.
    Parked,
}

impl Room {
    pub(crate) fn new(
        id: ChannelId,
        config: Arc<Config>,
        seed: u64,
        process: u64,
        now: Timestamp,
    ) -> Self {
        let machine = TurnMachine::new(config, seed);
        let commit = CommitState::new(Revision::default(), machine.revision(), process);
        let (turns, marks) = (Turns::new(id, machine, commit), Marks::new(None, now));
        Self { at: now, turns, marks, discussion: None, active: None }
    }

    /// Restores a channel. Its pending effects are offered again with their old nonces, and a reply that was being
    /// delivered goes on. Nothing happens before [`Room::resume_after_restart`].
    ///
    /// # Errors
    ///
    /// Fails if the machine cannot be restored from the snapshot.
    pub(crate) fn restore(
        id: ChannelId,
        config: Arc<Config>,
        process: u64,
        now: Timestamp,
        stored: StoredChannel,
    ) -> Result<Self, RestoreError> {
        let StoredChannel { revision, record } = stored;
        let machine = TurnMachine::restore(config, &record.snapshot)?;
        let at = record.snapshot.now;
        let newest = machine.view().newest();
        let commit = CommitState::new(revision, machine.revision(), process);
        let heard = record.heard.or(newest);
        let known = record.snapshot.state.seen.recent.iter().flat_map(|recent| &recent.messages);
        let known = known.chain(&record.known).copied();
        let mut marks = Marks::restored(heard, record.verified, known, at);
        if let Some(gap) = record.gap_from {
            marks.open_gap(at, Some(gap));
        }
        // A channel with nothing to do gets no lanes, because a million of them may be idle.
        let has_more = record.outgoing.is_some()
            || (machine.view().mode().keeps_turns() && newest.is_some())
            || record.unserved.is_some()
            || record.commanded_at.is_some()
            || !record.outbox.is_empty()
            || !machine.pending().is_empty()
            || marks.has_gap();
        let active = has_more.then(|| {
            let anchor = machine.view().anchor();
            let restored = |outgoing| ReplyDelivery::restored(outgoing, anchor, at, now);
            let reply = record.outgoing.map(restored);
            // A dormant channel with untaken words was woken for them before. Each load would wake it again.
            let view = machine.view();
            let paused = view.pause().is_some()
                || view.chat_away_since().is_some()
                || view.is_budget_spent();
            let slept = view.phase() == PhaseKind::Dormant && !paused;
            let woken_for = record.unserved.filter(|_| slept).map(|span| span.last);
            let listed = view.list().map(|seat| seat.agent);
            let until = newest.max(heard);
            let inbox = Inbox::restored(record.handed, record.unserved, until, listed);
            let outbox =
                (!record.outbox.is_empty()).then(|| Box::new(Outbox::restore(now, record.outbox)));
            let commands = Commands { commanded_at: record.commanded_at, ..Commands::default() };
            let fresh = Active::default();
            Box::new(Active { inbox, commands, reply, outbox, woken_for, ..fresh })
        });
        let turns = Turns::new(id, machine, commit);
        Ok(Self { at, turns, marks, discussion: record.discussion, active })
    }

    /// Continues after a restart. It opens a gap if events may have been missed, puts pending effects into their lanes,
    /// and ends the runs that were lost with the earlier process.
    pub(crate) fn resume_after_restart(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        origin: Origin,
        is_behind: bool,
    ) {
        let down = now.since(self.at);
        self.reach(now);
        let from_before = origin == Origin::EarlierProcess;
        let keeps_turns = self.turns.keeps_turns();
        // A channel that only left memory was told of every gap while it was away.
        if (from_before || is_behind) && keeps_turns {
            self.marks.open_gap(now, None);
        }
        let owed = self.turns.machine.pending().to_vec();
        let mut step = self.step(cx, now);
        if step.marks.has_gap() {
            step.lanes.reads.want_gap();
        }
        // The time that the process was down is no outage, and must not use up the reply's hour.
        if let Some(reply) = &mut step.lanes.reply {
            reply.was_down(down);
            step.lanes.voice.push(PostItem::Reply);
        }
        let is_owed = |pending: &PendingEffect| matches!(pending.effect, Effect::Trigger { .. });
        let owes_trigger = owed.iter().any(is_owed);
        for pending in owed {
            // The earlier process may have posted it. If its message is seen, it is deleted or counts.
            if let Effect::Trigger { ticket, .. } = pending.effect {
                let nonce = step.turns.nonce(ticket, pending.since);
                step.turns.restored.add(ticket, nonce);
            }
            let stamp = step.turns.commit.newest();
            let follow =
                FollowUp { at: pending.since, stamp, what: FollowUpKind::Effect(pending.effect) };
            step.take_effect(&follow, pending.effect);
        }
        if let Some(since) = step.turns.view().chat_away_since() {
            step.lanes.chat = ChatHealth::restored(since, now);
            // The agent that the earlier process triggered may not have heard it.
            step.lanes.summons.again = from_before && !owes_trigger;
        }
        if from_before {
            step.lose_runs();
            step.count_newcomers();
        }
        step.settle();
    }

    /// Resets the room to an empty state, and stores that over the old record.
    pub(crate) fn forget_all(&mut self, config: Arc<Config>, seed: u64, for_good: bool) {
        self.turns.begin_anew(TurnMachine::new(config, seed));
        self.discussion = None;
        self.marks = Marks::new(None, self.at);
        if let Some(active) = &mut self.active {
            active.abandon_runs(self.at);
            active.forget_all();
        }
        if for_good {
            self.turns.commit.change_for_good();
        } else {
            self.turns.commit.change();
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.turns.machine.snapshot().clone()
    }

    /// Adds an older message that the record does not know. In a channel without turns it is not stored for this alone.
    pub(crate) fn know_newest(&mut self, newest: Option<dirigent_core::MessageId>) {
        let turns = &mut self.turns;
        let Some(id) = newest.filter(|newest| turns.view().newest() < Some(*newest)) else {
            return;
        };
        // A system message of a bot counts nowhere, but its id is then known as heard.
        let (kind, tail) = (dirigent_core::MessageKind::System, dirigent_core::Tail::EMPTY);
        let author = dirigent_core::Author::Bot;
        let known = dirigent_core::Message { id, author, kind, tail, backfilled: false };
        // The machine asks for nothing because of it, in any mode.
        let input = dirigent_core::Input::Message(known);
        let _ = turns.machine.handle(self.at, &input, &mut Vec::<Effect>::new());
        turns.commit.observe(turns.machine.revision());
    }
}

/// Writes the data of a commit into a record whose memory is used again.
pub(super) fn write_record(
    turns: &Turns,
    marks: &Marks,
    discussion: Option<&Arc<Discussion>>,
    active: &Active,
    writer: Writer,
    out: &mut ChannelRecord,
) {
    let is_paused = turns.view().pause().is_some();
    out.snapshot.clone_from(turns.machine.snapshot());
    out.outbox.clear();
    if let Some(outbox) = &active.outbox {
        out.outbox.extend(outbox.messages().cloned());
    }
    match (&mut out.discussion, discussion) {
        (Some(known), Some(terms)) => known.clone_from(terms),
        (known, terms) => *known = terms.map(Arc::clone),
    }
    out.outgoing = active.reply.as_ref().map(|reply| Arc::clone(reply.stored()));
    out.unserved = active.inbox.unserved();
    let (mut behind, mut count) = (active.inbox.behind(out.unserved), 0);
    for (known, handed) in out.handed.iter_mut().zip(&mut behind) {
        known.copy(handed);
        count += 1;
    }
    out.handed.truncate(count);
    out.handed.extend(behind.cloned());
    out.heard = marks.heard();
    out.verified = marks.verified_behind();
    out.known.clear();
    // The snapshot has the newer ids.
    out.known.extend(marks.known_up_to(out.snapshot.state.seen.horizon));
    out.gap_from = marks.gap_from();
    // Without a pause no older resume word can undo anything.
    out.commanded_at = active.commands.commanded_at.filter(|_| is_paused);
    out.writer = Some(writer);
}
