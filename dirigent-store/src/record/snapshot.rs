//! The turn machine's state, as it stands in a file.

use dirigent_core::snapshot::{
    Archived, DeliveryData, InitiatorPermit, PendingEffect, PermitRun, PhaseData, Piece, Refresh,
    RunFate, Slot, StaleTrigger, Steering,
};
use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{AgentKey, MessageId, Mode, RunId, Snapshot, Tail, Ticket, Timestamp, TurnId};

use crate::record::form::{enums, structs};

structs! {
    /// A snapshot, but for what the record says in front of it. Absent is what is empty.
    struct SnapshotFile for Snapshot as "Snapshot" {
        #[serde(skip)] mode: Mode,
        #[serde(skip)] archived: Option<Archived>,
        #[serde(skip)] initiator: Option<AgentKey>,
        version: u16,
        now: Timestamp,
        phase: PhaseData,
        turn: TurnId,
        [opt] pause: Option<Pause>,
        [opt] created: bool,
        [opt] wake_pending: bool,
        [opt] wake_unserved: bool,
        [opt] cycle_requested: bool,
        [opt] list: Vec<Slot>,
        [opt] list_at: Option<Timestamp>,
        [opt] last_completer: Option<AgentKey>,
        [opt] muted: Vec<AgentKey>,
        [opt] refresh: Option<Refresh>,
        [opt] asked_at: Option<Timestamp>,
        [opt] permit: Option<InitiatorPermit>,
        [opt] reminded_at: Option<Timestamp>,
        [opt] reminder_due: Option<Timestamp>,
        [opt] turns: u32,
        [opt] cycles: u32,
        [opt] ceiling_announced: bool,
        [opt] reminders: u8,
        talk_since: Timestamp,
        [opt] horizon: Option<MessageId>,
        [opt] newest: Option<MessageId>,
        [opt] messages: Vec<MessageId>,
        [opt] runs: Vec<(RunId, RunFate)>,
        last_activity_at: Timestamp,
        [opt] delivery: Option<Box<DeliveryData>>,
        [opt] pending: Vec<PendingEffect>,
        next_ticket: u64,
        [opt] stale_triggers: Vec<StaleTrigger>,
        [opt] steering: Option<Box<Steering>>,
        rng = u64,
        revision: u64,
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

    struct PermitFile for InitiatorPermit as "InitiatorPermit" {
        agent: AgentKey,
        run: PermitRun,
    }

    struct DeliveryFile for DeliveryData as "DeliveryData" {
        fingerprint: Tail,
        pieces: Vec<Piece>,
        last_seen: Timestamp,
        [opt] arrivals: Vec<Timestamp>,
    }

    struct PieceFile for Piece as "Piece" {
        id: MessageId,
        tail: Tail,
    }

    struct StaleTriggerFile for StaleTrigger as "StaleTrigger" {
        message: MessageId,
        [opt] due: Option<Timestamp>,
    }

    /// How a channel was archived.
    struct ArchivedFile for Archived as "Archived" {
        at: Timestamp,
        concluded: bool,
        leaving: [Option<AgentKey>; 2],
        [opt] bot_notice_at: Option<Timestamp>,
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
