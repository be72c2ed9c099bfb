//! A resting channel's record in little room: a chat may have a million of them.

use std::sync::Arc;

use dirigent_core::{
    AgentKey, MessageId, Mode, PhaseData, Rest, Slot, Snapshot, Timestamp, TurnId,
};

use crate::{ChannelRecord, Discussion, Writer};

/// The record of a channel in which nothing is under way. Everything not kept here is as in a blank
/// record; [`Resting::of`] makes sure of that.
#[derive(Clone, Debug)]
pub(super) struct Resting {
    list: Box<[Slot]>,
    muted: Box<[AgentKey]>,
    now: Timestamp,
    stirred_at: Timestamp,
    list_at: Option<Timestamp>,
    asked_at: Option<Timestamp>,
    reminded_at: Option<Timestamp>,
    talk_since: Timestamp,
    discussion: Option<Arc<Discussion>>,
    newest: Option<MessageId>,
    heard: Option<MessageId>,
    writer: Option<Writer>,
    turn: TurnId,
    next_ticket: u64,
    rng: u64,
    revision: u64,
    initiator: Option<AgentKey>,
    turns: u32,
    cycles: u32,
    mode: Mode,
    rest: Option<Rest>,
    is_dormant: bool,
    missed: bool,
    ceiling_announced: bool,
}

impl Resting {
    /// The record in little room, if nothing of it gets lost.
    pub(super) fn of(record: &ChannelRecord) -> Option<Box<Self>> {
        let snapshot = &record.snapshot;
        if !snapshot.messages.is_empty()
            || !snapshot.debts.is_empty()
            || record.outgoing.is_some()
            || record.held.is_some()
            || record.gap_from.is_some()
            || record.commanded_at.is_some()
            || !record.letters.is_empty()
        {
            return None;
        }
        let resting = Self {
            list: snapshot.list.as_slice().into(),
            muted: snapshot.muted.as_slice().into(),
            now: snapshot.now,
            stirred_at: snapshot.stirred_at,
            list_at: snapshot.list_at,
            asked_at: snapshot.asked_at,
            reminded_at: snapshot.reminded_at,
            talk_since: snapshot.talk_since,
            discussion: record.discussion.clone(),
            newest: snapshot.newest,
            heard: record.heard,
            writer: record.writer,
            turn: snapshot.turn,
            next_ticket: snapshot.next_ticket,
            rng: snapshot.rng,
            revision: snapshot.revision,
            initiator: snapshot.initiator,
            turns: snapshot.turns,
            cycles: snapshot.cycles,
            mode: snapshot.mode,
            rest: snapshot.rest,
            is_dormant: snapshot.phase == PhaseData::Dormant,
            missed: snapshot.missed,
            ceiling_announced: snapshot.ceiling_announced,
        };
        (resting.record() == *record).then(|| Box::new(resting))
    }

    /// The record in full.
    pub(super) fn record(&self) -> ChannelRecord {
        let phase = if self.is_dormant { PhaseData::Dormant } else { PhaseData::Disabled };
        let snapshot = Snapshot {
            list: self.list.to_vec(),
            muted: self.muted.to_vec(),
            now: self.now,
            stirred_at: self.stirred_at,
            list_at: self.list_at,
            asked_at: self.asked_at,
            reminded_at: self.reminded_at,
            talk_since: self.talk_since,
            newest: self.newest,
            horizon: self.newest,
            turn: self.turn,
            next_ticket: self.next_ticket,
            rng: self.rng,
            revision: self.revision,
            initiator: self.initiator,
            turns: self.turns,
            cycles: self.cycles,
            mode: self.mode,
            rest: self.rest,
            phase,
            missed: self.missed,
            ceiling_announced: self.ceiling_announced,
            created: true,
            ..Snapshot::blank()
        };
        ChannelRecord {
            snapshot,
            discussion: self.discussion.clone(),
            letters: Vec::new(),
            outgoing: None,
            held: None,
            heard: self.heard,
            gap_from: None,
            commanded_at: None,
            writer: self.writer,
        }
    }
}
