//! What of a room survives a restart, and how a room is taken up from it.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    Channel, Config, Effect, Input, PendingEffect, PermitRun, PhaseData, PhaseKind, RestoreError,
    Snapshot, Timestamp,
};

use super::commit::CommitState;
use super::context::Context;
use super::inbox::Inbox;
use super::marks::Marks;
use super::outbox::OutboxMachine;
use super::reply::ReplyDelivery;
use super::voice::VoiceItem;
use super::{Active, Room};
use crate::settings::LostRuns;
use crate::store::Writer;
use crate::{ChannelId, ChannelRecord, Revision, StoredChannel};

/// How long a run of another process is waited for after a restart, where no deadline is set.
const KEPT_RUN_MAX: Duration = Duration::from_secs(600);

/// Where the record of a room that is restored comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An earlier process: what ran is gone, and what was said meanwhile was not heard.
    EarlierProcess,
    /// This process: the channel left memory at rest.
    Parked,
}

impl Room {
    /// A channel that was never stored.
    pub(crate) fn new(
        id: ChannelId,
        config: Arc<Config>,
        seed: u64,
        process: u64,
        now: Timestamp,
    ) -> Self {
        let machine = Channel::new(config, seed);
        let commit = CommitState::new(Revision::default(), machine.revision(), process);
        let marks = Marks::new(None, now);
        let (forgot, discussion, active) = (false, None, None);
        Self { id, at: now, machine, commit, marks, forgot, discussion, active }
    }

    /// A channel as it was stored. What it owed is offered again, with the same nonces; a reply that was
    /// being delivered goes on. Nothing happens to it yet: see [`Room::take_up`].
    ///
    /// # Errors
    ///
    /// A snapshot that the machine cannot be restored from.
    pub(crate) fn restore(
        id: ChannelId,
        config: Arc<Config>,
        process: u64,
        now: Timestamp,
        stored: StoredChannel,
    ) -> Result<Self, RestoreError> {
        let StoredChannel { revision, record } = stored;
        let machine = Channel::restore(config, &record.snapshot)?;
        let at = record.snapshot.now;
        let newest = machine.view().newest();
        let commit = CommitState::new(revision, machine.revision(), process);
        let (heard, known) = (record.heard.or(newest), &record.snapshot.messages);
        let mut marks = Marks::restored(heard, record.verified, known, at);
        if let Some(gap) = record.gap_from {
            marks.open_gap(at, Some(gap));
        }
        let forgot = newest.is_some();
        let has_more = record.outgoing.is_some()
            || record.held.is_some()
            || record.commanded_at.is_some()
            || !record.letters.is_empty()
            || !machine.pending().is_empty()
            || marks.has_gap();
        let mut room = Self {
            id,
            at,
            machine,
            commit,
            marks,
            forgot,
            discussion: record.discussion,
            active: None,
        };
        if has_more {
            let anchor = room.machine.view().anchor();
            let restored = |outgoing| ReplyDelivery::restored(outgoing, anchor, at, now);
            let reply = record.outgoing.map(restored);
            // A channel that slept with words that no agent had taken was woken for them before it was stored.
            let view = room.machine.view();
            let paused = view.pause().is_some()
                || view.chat_away_since().is_some()
                || view.is_budget_spent();
            let slept = view.phase() == PhaseKind::Dormant && !paused;
            let woken_for = record.held.filter(|_| slept).map(|held| held.last);
            let inbox = Inbox::restored(record.held);
            let outbox = OutboxMachine::restore(now, record.letters);
            let commanded_at = record.commanded_at;
            let fresh = Active::default();
            let active = Active { inbox, reply, outbox, woken_for, commanded_at, ..fresh };
            room.active = Some(Box::new(active));
        }
        Ok(room)
    }

    /// Takes up what was left: opens a gap where events may have been missed, puts what is owed into its
    /// lanes, and ends the runs that the earlier process took with it.
    pub(crate) fn take_up(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        origin: Origin,
        is_behind: bool,
    ) {
        let down = now.since(self.at);
        self.reach(now);
        let from_before = origin == Origin::EarlierProcess;
        if let Some(reply) = self.active.as_mut().and_then(|active| active.reply.as_mut()) {
            reply.was_down(down);
        }
        if (from_before || is_behind) && self.keeps_turns() {
            self.marks.open_gap(now, None);
        }
        if self.marks.has_gap() {
            self.want_gap();
        }
        if self.active.as_ref().is_some_and(|active| active.reply.is_some()) {
            self.active().voice.push(VoiceItem::Reply);
        }
        let owed = self.machine.pending().to_vec();
        for debt in owed {
            if let Effect::Trigger { ticket, .. } = debt.effect {
                let nonce = self.effect_nonce(ticket, debt.since);
                self.active().cleanup.restore_trigger(ticket, nonce);
            }
            self.take_effect(cx, debt.since, debt.effect);
        }
        if let Some(since) = self.machine.view().chat_away_since() {
            self.active().chat = super::chat_health::ChatHealth::restored(since, now);
            // The agent that the earlier process triggered may not have heard it.
            let is_owed = |debt: &PendingEffect| matches!(debt.effect, Effect::Trigger { .. });
            self.active().trigger_again =
                from_before && !self.machine.pending().iter().any(is_owed);
        }
        if from_before {
            self.lose_runs(cx, now);
        }
        self.settle(cx, now);
    }

    /// What ran in the earlier process is gone. A reply that is being delivered is not a run.
    fn lose_runs(&mut self, cx: &Context<'_>, now: Timestamp) {
        let view = self.machine.view();
        let is_ours = view.run().is_none_or(super::calls::is_hosted_run);
        let is_running = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting)
            || view.permit().is_some();
        if cx.settings.lost_runs == LostRuns::Keep && is_running && !is_ours {
            return self.keep_run(now);
        }
        let rerun = cx.settings.lost_runs == LostRuns::Rerun;
        // There may have been no run; then nothing changed.
        let _ = self.submit(cx, now, &Input::RunsLost { rerun });
    }

    /// The run goes on in another process. Where it has no deadline it gets one: that process may be gone.
    fn keep_run(&mut self, now: Timestamp) {
        let snapshot = self.snapshot();
        let is_limited = match (&snapshot.phase, snapshot.permit.map(|permit| permit.run)) {
            (_, Some(PermitRun::Running { until, .. })) => until.is_some(),
            (PhaseData::Running { until, .. }, _) => until.is_some(),
            _ => self.machine.config().run_deadline.is_some(),
        };
        if let Some(run) = self.machine.view().run().filter(|_| !is_limited) {
            let most = self.machine.config().run_deadline.unwrap_or(KEPT_RUN_MAX);
            self.active().calls.kept = Some((run, now + most));
        }
    }

    /// Ends a run that outlived its process, when it was waited for long enough.
    pub(super) fn end_kept_run(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let Some((run, until)) = self.active.as_ref().and_then(|active| active.calls.kept) else {
            return false;
        };
        let is_over = self.machine.view().run() != Some(run);
        if !is_over && now < until {
            return false;
        }
        self.active().calls.kept = None;
        if !is_over {
            let _ = self.submit(cx, now, &Input::RunsLost { rerun: false });
        }
        true
    }

    /// From now on it is as if nothing had happened here, and that is stored over whatever was.
    pub(crate) fn forget_all(&mut self, config: Arc<Config>, seed: u64, for_good: bool) {
        self.machine = Channel::new(config, seed);
        self.discussion = None;
        self.marks = Marks::new(None, self.at);
        let call = self.active.as_ref().and_then(|active| active.calls.current());
        if let Some((agent, run)) = call.map(|call| (call.agent, call.run)) {
            self.cancel_call(self.at, agent, Some(run));
        }
        self.drop_consult();
        if let Some(active) = &mut self.active {
            active.calls.forget_triggers();
            active.claims.withdraw_all();
            active.voice.clear();
            active.cleanup.clear();
            (active.reply, active.withdrawn) = (None, None);
            active.inbox = Inbox::default();
            active.outbox = OutboxMachine::default();
            active.reads = super::reads::Reads::default();
        }
        if for_good {
            self.commit.change_for_good();
        } else {
            self.commit.change();
        }
    }

    /// Writes down what a commit stores, into a record whose memory is used again.
    pub(super) fn write_record(&self, writer: Writer, out: &mut ChannelRecord) {
        let active = self.active.as_deref();
        let is_paused = self.machine.view().pause().is_some();
        let reply = active.and_then(|active| active.reply.as_ref());
        self.machine.snapshot_into(&mut out.snapshot);
        let letters = active.into_iter().flat_map(|active| active.outbox.messages());
        out.letters.clear();
        out.letters.extend(letters.cloned());
        out.discussion.clone_from(&self.discussion);
        out.outgoing = reply.map(|reply| Arc::clone(reply.stored()));
        out.held = active.and_then(|active| active.inbox.pending());
        out.heard = self.marks.heard();
        out.verified = self.marks.verified_behind(out.snapshot.horizon);
        out.gap_from = self.marks.gap_from();
        out.commanded_at = active.filter(|_| is_paused).and_then(|active| active.commanded_at);
        out.writer = Some(writer);
    }

    /// The machine's state, for a recorder.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.machine.snapshot_into(&mut snapshot);
        snapshot
    }

    /// A message of before that the record does not know: where no turns are kept, it alone is no reason
    /// to store anything.
    pub(crate) fn know_newest(&mut self, newest: Option<dirigent_core::MessageId>) {
        let Some(id) = newest.filter(|newest| self.machine.view().newest() < Some(*newest)) else {
            return;
        };
        let (kind, tail) = (dirigent_core::MessageKind::System, dirigent_core::Tail::EMPTY);
        let author = dirigent_core::Author::Bot;
        let known = dirigent_core::Message { id, author, kind, tail, backfilled: false };
        // It asks for nothing, whatever the mode.
        let _ = self.machine.handle(self.at, &Input::Message(known), &mut Vec::<Effect>::new());
        self.commit.observe(self.machine.revision());
    }
}
