//! The form of the turn machine's state in a file, with one form for each of its topics.

use std::time::Duration;

use dirigent_core::snapshot::{
    Archived, Attendance, CeilingCounts, ChatOutage, Cycle, Delivery, Floor, Hourly,
    InitiatorPermit, MayNotWrite, Pending, PendingEffect, PermitRun, Piece, Plans, Polls, Quota,
    Rare, Recent, Refresh, Reminders, Rng, Roster, RunFate, Runs, Seen, Settling, Situation, Slot,
    SpeakerList, SpokenTurn, StaleTrigger, State, Words,
};
use dirigent_core::view::{Away, Budget, Pause, SeatTurn, Span};
use dirigent_core::{AgentKey, MessageId, Mode, RunId, Snapshot, Tail, Ticket, Timestamp, TurnId};
use serde::{Deserializer, Serializer};

use crate::record::form::{Form, digits, enums, structs};

structs! {
    /// A snapshot without the fields that the record has in front of it. Empty fields are absent.
    struct SnapshotFile for Snapshot as "Snapshot" {
        version: u16,
        now: Timestamp,
        revision: u64,
        state: State,
        pending: Pending,
    }

    struct StateFile for State as "State" {
        [opt] standing: Situation,
        floor: Floor,
        [opt] roster: Roster,
        [opt] cycle: Cycle,
        [opt] words: Words,
        [opt] quota: Quota,
        [opt] reminders: Rare<Reminders>,
        [opt] seen: Seen,
        [opt] delivery: Option<Box<Delivery>>,
        rng: Rng,
    }

    struct SituationFile for Situation as "Situation" {
        #[serde(skip)] mode: Mode,
        #[serde(skip)] archived: Option<Box<Archived>>,
        #[serde(skip)] initiator: Option<AgentKey>,
        [opt] created: bool,
        [opt] pause: Option<Pause>,
        [opt] outage: Option<Box<ChatOutage>>,
    }

    /// How a channel was archived.
    struct ArchivedFile for Archived as "Archived" {
        at: Timestamp,
        concluded: bool,
        leaving: [Option<AgentKey>; 2],
        [opt] bot_notice_at: Option<Timestamp>,
    }

    struct OutageFile for ChatOutage as "ChatOutage" {
        since: Timestamp,
        counted_from: Timestamp,
    }

    struct RosterFile for Roster as "Roster" {
        [opt] list: SpeakerList,
        [opt] read_at: Option<Timestamp>,
        [opt] asked_at: Option<Timestamp>,
        [opt] refresh: Option<Refresh>,
        [opt] muted: Rare<Vec<AgentKey>>,
        [opt] attendance: Rare<Attendance>,
    }

    struct MayNotWriteFile for MayNotWrite as "MayNotWrite" {
        agent: AgentKey,
        [opt] until: Option<Timestamp>,
    }

    struct SlotFile for Slot as "Slot" {
        agent: AgentKey,
        turn: SeatTurn,
        [opt] left: bool,
        [opt] grace_from: Option<Timestamp>,
        [opt] passed: bool,
        [opt] nothing_new: bool,
    }

    struct RefreshFile for Refresh as "Refresh" {
        ticket: Ticket,
        until: Timestamp,
    }

    struct AttendanceFile for Attendance as "Attendance" {
        away: Vec<Away>,
        [opt] may_not_write: Vec<MayNotWrite>,
    }

    struct AwayFile for Away as "Away" {
        agent: AgentKey,
        offline: bool,
    }

    struct CycleFile for Cycle as "Cycle" {
        [opt] last_completer: Option<AgentKey>,
        [opt] plans: Rare<Plans>,
    }

    struct PlansFile for Plans as "Plans" {
        [opt] chosen: Option<AgentKey>,
        [opt] handed_to: Option<AgentKey>,
        [opt] round: Vec<AgentKey>,
        [opt] next_round: Vec<AgentKey>,
        [opt] cut: Option<AgentKey>,
        [opt] settling: Option<Settling>,
        [opt] question: Option<MessageId>,
        [opt] told: Option<TurnId>,
    }

    struct WordsFile for Words as "Words" {
        [opt] wake_pending: bool,
        [opt] wake_unserved: bool,
        [opt] cycle_requested: bool,
        [opt] returned: bool,
        [opt] awaits_human: bool,
        [opt] queue: Rare<Option<Span>>,
    }

    struct SettlingFile for Settling as "Settling" {
        until: Timestamp,
        latest: Timestamp,
    }

    struct SpanFile for Span as "Span" {
        first: MessageId,
        last: MessageId,
    }

    struct QuotaFile for Quota as "Quota" {
        [opt] limits: CeilingCounts,
        [opt] budget: Rare<Budget>,
        [opt] hourly: Rare<Hourly>,
    }

    struct CeilingCountsFile for CeilingCounts as "CeilingCounts" {
        [opt] turns: u32,
        [opt] cycles: u32,
        [opt] announced: bool,
        [opt] since: Timestamp,
    }

    struct BudgetFile for Budget as "Budget" {
        turns: u32,
        cycles: u32,
        cost = u64,
        announced: bool,
    }

    struct HourlyFile for Hourly as "Hourly" {
        spoken: Vec<SpokenTurn>,
    }

    struct SpokenFile for SpokenTurn as "SpokenTurn" {
        agent: AgentKey,
        at: Timestamp,
    }

    struct RemindersFile for Reminders as "Reminders" {
        [opt] permit: Option<InitiatorPermit>,
        [opt] last_at: Option<Timestamp>,
        [opt] due_at: Option<Timestamp>,
        [opt] sent: u8,
    }

    struct PermitFile for InitiatorPermit as "InitiatorPermit" {
        agent: AgentKey,
        run: PermitRun,
    }

    struct SeenFile for Seen as "Seen" {
        [opt] horizon: Option<MessageId>,
        [opt] newest: Option<MessageId>,
        [opt] recent: Option<Box<Recent>>,
    }

    struct RecentFile for Recent as "Recent" {
        [opt] messages: Vec<MessageId>,
        [opt] runs: Runs,
    }

    struct DeliveryFile for Delivery as "Delivery" {
        fingerprint: Tail,
        pieces: Vec<Piece>,
        last_seen: Timestamp,
        [opt] arrivals: Vec<Timestamp>,
        [opt] polls: Polls,
    }

    struct PieceFile for Piece as "Piece" {
        id: MessageId,
        tail: Tail,
    }

    struct PollsFile for Polls as "Polls" {
        [opt] open: Option<Ticket>,
        next: Timestamp,
        interval: Duration,
    }

    struct PendingFile for Pending as "Pending" {
        [opt] effects: Vec<PendingEffect>,
        next_ticket: u64,
        [opt] stale: Rare<Vec<StaleTrigger>>,
    }

    struct StaleTriggerFile for StaleTrigger as "StaleTrigger" {
        message: MessageId,
        [opt] due: Option<Timestamp>,
    }
}

enums! {
    enum PermitRunFile for PermitRun {
        Offered,
        Running {
            [opt] id: Option<RunId>,
            [opt] until: Option<Timestamp>,
            spoke: bool,
            [opt] replied: bool,
        },
    }
}

impl Form for SpeakerList {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.slots.write(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Form::read(from).map(|slots| Self { slots })
    }
}

impl Form for Runs {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_slice().to_vec().write(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <Vec<(RunId, RunFate)> as Form>::read(from).map(Self::from)
    }
}

impl Form for Rng {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        digits::serialize(&self.0, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        digits::deserialize(from).map(Self)
    }
}

impl<T: Form + Clone + Default + PartialEq> Form for Rare<T> {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.value().write(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Self::from)
    }
}
