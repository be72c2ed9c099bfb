//! A resting channel's record in little room: a chat may have a million of them.

use std::num::NonZeroU64;
use std::sync::Arc;

use dirigent_core::snapshot::{PhaseData, Slot};
use dirigent_core::view::Pause;
use dirigent_core::{AgentKey, MessageId, Mode, Snapshot, Timestamp, TurnId, TurnState};

use crate::record::channel::{ChannelRecord, Writer};
use crate::record::discussion::Discussion;

/// The record of a channel in which nothing is under way. Everything not kept here is as in a blank
/// record; [`Resting::of`] makes sure of that.
#[derive(Clone, Debug)]
pub(super) struct Resting {
    list: Box<[Slot]>,
    now: Timestamp,
    stirred_at: Timestamp,
    list_at: Option<Timestamp>,
    asked_at: Option<Timestamp>,
    talk_since: Timestamp,
    rare: Option<Box<Rare>>,
    newest: PackedId,
    heard: PackedId,
    /// Of the writer, where one is known.
    process: u64,
    /// Of the writer, counted from 1.
    count: Option<NonZeroU64>,
    turn: TurnId,
    next_ticket: u64,
    rng: u64,
    revision: u64,
    turns: u32,
    cycles: u32,
    mode: Mode,
    rest: Option<Pause>,
    missed: bool,
    ceiling_announced: bool,
}

/// A message's id, in the room of a number: the highest one is not representable.
#[derive(Clone, Copy, Debug)]
struct PackedId(Option<NonZeroU64>);

impl PackedId {
    fn of(id: Option<MessageId>) -> Self {
        Self(id.and_then(|id| NonZeroU64::new(!id.get())))
    }

    fn id(self) -> Option<MessageId> {
        self.0.map(|packed| MessageId::new(!packed.get()))
    }
}

/// The data that most channels do not have: they are no discussions, and no agent is muted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare {
    muted: Vec<AgentKey>,
    initiator: Option<AgentKey>,
    discussion: Option<Arc<Discussion>>,
    reminded_at: Option<Timestamp>,
}

impl Rare {
    fn of(record: &ChannelRecord) -> Option<Box<Self>> {
        let Snapshot { muted, initiator, reminded_at, .. } = &record.snapshot;
        let rare = Self {
            muted: muted.clone(),
            initiator: *initiator,
            discussion: record.discussion.clone(),
            reminded_at: *reminded_at,
        };
        (rare != Self::default()).then(|| Box::new(rare))
    }
}

impl Resting {
    /// The record in little room, if nothing of it gets lost.
    pub(super) fn of(record: &ChannelRecord) -> Option<Box<Self>> {
        let snapshot = &record.snapshot;
        if !snapshot.messages.is_empty()
            || !snapshot.pending.is_empty()
            || record.outgoing.is_some()
            || !record.handed.is_empty()
            || record.unserved.is_some()
            || record.verified.is_some()
            || !record.known.is_empty()
            || record.gap_from.is_some()
            || record.commanded_at.is_some()
            || !record.outbox.is_empty()
        {
            return None;
        }
        let resting = Self {
            list: snapshot.list.as_slice().into(),
            now: snapshot.now,
            stirred_at: snapshot.last_activity_at,
            list_at: snapshot.list_at,
            asked_at: snapshot.asked_at,
            talk_since: snapshot.talk_since,
            rare: Rare::of(record),
            newest: PackedId::of(snapshot.newest),
            heard: PackedId::of(record.heard),
            process: record.writer.map_or(0, |writer| writer.process),
            count: record.writer.and_then(|writer| NonZeroU64::new(writer.count)),
            turn: snapshot.turn,
            next_ticket: snapshot.next_ticket,
            rng: snapshot.rng,
            revision: snapshot.revision,
            turns: snapshot.turns,
            cycles: snapshot.cycles,
            mode: snapshot.mode,
            rest: snapshot.pause,
            missed: snapshot.wake_pending,
            ceiling_announced: snapshot.ceiling_announced,
        };
        (resting.record() == *record).then(|| Box::new(resting))
    }

    /// The record in full.
    pub(super) fn record(&self) -> ChannelRecord {
        let present = self.list.iter().filter(|slot| !slot.left).count();
        let phase = match self.mode.turn_state(present) {
            TurnState::Normal | TurnState::Shuffle => PhaseData::Dormant,
            TurnState::Disabled => PhaseData::Disabled,
            TurnState::Dead => PhaseData::Dead,
            TurnState::Archived => PhaseData::Archived,
        };
        let (newest, process) = (self.newest.id(), self.process);
        let Rare { muted, initiator, discussion, reminded_at } =
            self.rare.as_deref().cloned().unwrap_or_default();
        let snapshot = Snapshot {
            list: self.list.to_vec(),
            muted,
            now: self.now,
            last_activity_at: self.stirred_at,
            list_at: self.list_at,
            asked_at: self.asked_at,
            reminded_at,
            talk_since: self.talk_since,
            newest,
            horizon: newest,
            turn: self.turn,
            next_ticket: self.next_ticket,
            rng: self.rng,
            revision: self.revision,
            initiator,
            turns: self.turns,
            cycles: self.cycles,
            mode: self.mode,
            pause: self.rest,
            phase,
            wake_pending: self.missed,
            ceiling_announced: self.ceiling_announced,
            created: true,
            ..Snapshot::blank()
        };
        ChannelRecord {
            snapshot,
            discussion,
            outbox: Vec::new(),
            outgoing: None,
            handed: Vec::new(),
            unserved: None,
            heard: self.heard.id(),
            verified: None,
            known: Vec::new(),
            gap_from: None,
            commanded_at: None,
            writer: self.count.map(|count| Writer { process, count: count.get() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resting_chat() -> ChannelRecord {
        let newest = Some(MessageId::new(7));
        let snapshot = Snapshot {
            list: [0, u32::MAX].map(|agent| Slot::new(AgentKey::new(agent))).to_vec(),
            mode: Mode::Chat,
            phase: PhaseData::Dormant,
            newest,
            horizon: newest,
            initiator: Some(AgentKey::new(0)),
            created: true,
            ..Snapshot::blank()
        };
        let writer = Some(Writer { process: 0, count: 1 });
        ChannelRecord { snapshot, heard: newest, writer, ..ChannelRecord::default() }
    }

    #[test]
    fn a_resting_channel_takes_little_room_and_is_given_back_as_it_was() {
        // What docs/performance.md says of a million channels counts on it.
        assert!(size_of::<Resting>() <= 144);
        let record = resting_chat();
        assert_eq!(Resting::of(&record).unwrap().record(), record);
    }

    #[test]
    fn a_channel_that_has_talked_takes_as_little_room() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1_000);
        let talked = resting_chat();
        let snapshot = Snapshot {
            muted: vec![AgentKey::new(0)],
            now: at(90),
            last_activity_at: at(80),
            list_at: Some(at(70)),
            asked_at: Some(at(60)),
            reminded_at: Some(at(50)),
            talk_since: at(40),
            turn: TurnId::new(30),
            next_ticket: 20,
            rng: 10,
            revision: 9,
            turns: 8,
            cycles: 7,
            wake_pending: true,
            ceiling_announced: true,
            ..talked.snapshot
        };
        let record = ChannelRecord { snapshot, ..talked };
        assert_eq!(Resting::of(&record).map(|resting| resting.record()), Some(record));
    }

    #[test]
    fn what_does_not_fit_is_kept_in_full() {
        let records: [fn(&mut ChannelRecord); 4] = [
            |record| record.verified = Some(MessageId::new(5)),
            |record| record.heard = Some(MessageId::new(u64::MAX)),
            |record| record.writer = Some(Writer { process: 3, count: 0 }),
            |record| record.commanded_at = Some(Timestamp::from_millis(1)),
        ];
        for change in records {
            let mut record = resting_chat();
            change(&mut record);
            assert!(Resting::of(&record).is_none(), "{record:?}");
        }
    }
}
