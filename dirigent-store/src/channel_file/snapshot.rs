//! The turn machine's state, as it stands in a file.

use dirigent_core::{
    AgentKey, Archived, DeliveryData, Litter, MessageId, Permit, PermitRun, Piece, Refresh, Rest,
    RunFate, RunId, SeatTurn, Slot, Snapshot, Ticket, TurnId,
};
use serde::{Deserialize, Serialize};

use super::effect::DebtFile;
use super::name::Name;
use super::phase::PhaseFile;
use super::record::RecordFile;
use super::scalar::{Id, Millis, TailText};
use super::steering::SteeringFile;

/// A snapshot, but for what the record says in front of it. Absent is what is empty.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "as in the snapshot")]
pub(super) struct SnapshotFile {
    version: u16,
    now: Millis,
    phase: PhaseFile,
    turn: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest: Option<Name<Rest>>,
    #[serde(default, skip_serializing_if = "is_default")]
    created: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    missed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    unheard: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    vetoed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    list: Vec<SlotFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    list_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_completer: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    muted: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<RefreshFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permit: Option<PermitFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminded_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminder_due: Option<Millis>,
    #[serde(default, skip_serializing_if = "is_default")]
    turns: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    cycles: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    ceiling_announced: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    reminders: u8,
    talk_since: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    horizon: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<Id>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Id>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    runs: Vec<(Id, Name<RunFate>)>,
    stirred_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delivery: Option<DeliveryFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    debts: Vec<DebtFile>,
    next_ticket: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    litter: Vec<LitterFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steering: Option<SteeringFile>,
    rng: Id,
    revision: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SlotFile {
    agent: u32,
    turn: Name<SeatTurn>,
    #[serde(default, skip_serializing_if = "is_default")]
    left: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grace_from: Option<Millis>,
    #[serde(default, skip_serializing_if = "is_default")]
    passed: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct RefreshFile {
    ticket: u64,
    until: Millis,
}

#[derive(Debug, Serialize, Deserialize)]
struct PermitFile {
    agent: u32,
    run: PermitRunFile,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum PermitRunFile {
    Offered,
    Running {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
        spoke: bool,
        #[serde(default, skip_serializing_if = "is_default")]
        replied: bool,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryFile {
    fingerprint: TailText,
    pieces: Vec<PieceFile>,
    last_seen: Millis,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arrivals: Vec<Millis>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PieceFile {
    id: Id,
    tail: TailText,
}

#[derive(Debug, Serialize, Deserialize)]
struct LitterFile {
    message: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<Millis>,
}

/// How a channel was archived.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArchivedFile {
    at: Millis,
    concluded: bool,
    leaving: [Option<u32>; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_notice_at: Option<Millis>,
}

impl SnapshotFile {
    /// A snapshot without what the record says in front of it.
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let s = snapshot;
        Self {
            version: s.version,
            now: Millis(s.now),
            phase: (&s.phase).into(),
            turn: s.turn.get(),
            rest: s.rest.map(Name),
            created: s.created,
            missed: s.missed,
            unheard: s.unheard,
            vetoed: s.vetoed,
            list: s.list.iter().map(SlotFile::from).collect(),
            list_at: s.list_at.map(Millis),
            last_completer: s.last_completer.map(AgentKey::get),
            muted: s.muted.iter().map(|agent| agent.get()).collect(),
            refresh: s.refresh.map(RefreshFile::from),
            asked_at: s.asked_at.map(Millis),
            permit: s.permit.map(PermitFile::from),
            reminded_at: s.reminded_at.map(Millis),
            reminder_due: s.reminder_due.map(Millis),
            turns: s.turns,
            cycles: s.cycles,
            ceiling_announced: s.ceiling_announced,
            reminders: s.reminders,
            talk_since: Millis(s.talk_since),
            horizon: s.horizon.map(id),
            newest: s.newest.map(id),
            messages: s.messages.iter().copied().map(id).collect(),
            runs: s.runs.iter().map(|(run, fate)| (Id(run.get()), Name(*fate))).collect(),
            stirred_at: Millis(s.stirred_at),
            delivery: s.delivery.as_deref().map(DeliveryFile::from),
            debts: s.debts.iter().map(DebtFile::from).collect(),
            next_ticket: s.next_ticket,
            litter: s.litter.iter().map(LitterFile::from).collect(),
            steering: s.steering.as_deref().map(SteeringFile::from),
            rng: Id(s.rng),
            revision: s.revision,
        }
    }
}

impl From<RecordFile> for Snapshot {
    /// What stands in front of the snapshot belongs to it, too.
    fn from(record: RecordFile) -> Self {
        let file = record.snapshot;
        Self {
            mode: record.mode.0,
            archived: record.archived.map(Archived::from),
            initiator: record.initiator.map(AgentKey::new),
            version: file.version,
            now: file.now.0,
            created: file.created,
            rest: file.rest.map(|rest| rest.0),
            missed: file.missed,
            unheard: file.unheard,
            vetoed: file.vetoed,
            phase: file.phase.into(),
            turn: TurnId::new(file.turn),
            list: file.list.into_iter().map(Slot::from).collect(),
            list_at: file.list_at.map(|at| at.0),
            last_completer: file.last_completer.map(AgentKey::new),
            muted: file.muted.into_iter().map(AgentKey::new).collect(),
            refresh: file.refresh.map(Refresh::from),
            asked_at: file.asked_at.map(|at| at.0),
            permit: file.permit.map(Permit::from),
            reminded_at: file.reminded_at.map(|at| at.0),
            reminder_due: file.reminder_due.map(|at| at.0),
            turns: file.turns,
            cycles: file.cycles,
            ceiling_announced: file.ceiling_announced,
            reminders: file.reminders,
            talk_since: file.talk_since.0,
            horizon: file.horizon.map(message),
            newest: file.newest.map(message),
            messages: file.messages.into_iter().map(message).collect(),
            runs: file.runs.into_iter().map(|(run, fate)| (RunId::new(run.0), fate.0)).collect(),
            stirred_at: file.stirred_at.0,
            delivery: file.delivery.map(DeliveryData::from).map(Box::new),
            debts: file.debts.into_iter().map(Into::into).collect(),
            next_ticket: file.next_ticket,
            litter: file.litter.into_iter().map(Litter::from).collect(),
            steering: file.steering.map(|steering| Box::new(steering.into())),
            rng: file.rng.0,
            revision: file.revision,
        }
    }
}

const fn id(message: MessageId) -> Id {
    Id(message.get())
}

const fn message(id: Id) -> MessageId {
    MessageId::new(id.0)
}

/// Whether a field may be left out of a file, because reading it back gives the same value.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<&Slot> for SlotFile {
    fn from(slot: &Slot) -> Self {
        let Slot { agent, turn, left, grace_from, passed } = *slot;
        let grace_from = grace_from.map(Millis);
        Self { agent: agent.get(), turn: Name(turn), left, grace_from, passed }
    }
}

impl From<SlotFile> for Slot {
    fn from(file: SlotFile) -> Self {
        let agent = AgentKey::new(file.agent);
        let grace_from = file.grace_from.map(|at| at.0);
        Self { agent, turn: file.turn.0, left: file.left, grace_from, passed: file.passed }
    }
}

impl From<Refresh> for RefreshFile {
    fn from(refresh: Refresh) -> Self {
        Self { ticket: refresh.ticket.get(), until: Millis(refresh.until) }
    }
}

impl From<RefreshFile> for Refresh {
    fn from(file: RefreshFile) -> Self {
        Self { ticket: Ticket::new(file.ticket), until: file.until.0 }
    }
}

impl From<Permit> for PermitFile {
    fn from(permit: Permit) -> Self {
        let run = match permit.run {
            PermitRun::Offered => PermitRunFile::Offered,
            PermitRun::Running { id, until, spoke, replied } => {
                let id = id.map(|run| Id(run.get()));
                PermitRunFile::Running { id, until: until.map(Millis), spoke, replied }
            }
        };
        Self { agent: permit.agent.get(), run }
    }
}

impl From<PermitFile> for Permit {
    fn from(file: PermitFile) -> Self {
        let run = match file.run {
            PermitRunFile::Offered => PermitRun::Offered,
            PermitRunFile::Running { id, until, spoke, replied } => {
                let id = id.map(|run| RunId::new(run.0));
                PermitRun::Running { id, until: until.map(|until| until.0), spoke, replied }
            }
        };
        Self { agent: AgentKey::new(file.agent), run }
    }
}

impl From<&DeliveryData> for DeliveryFile {
    fn from(delivery: &DeliveryData) -> Self {
        let piece = |piece: &Piece| PieceFile { id: id(piece.id), tail: TailText(piece.tail) };
        Self {
            fingerprint: TailText(delivery.fingerprint),
            pieces: delivery.pieces.iter().map(piece).collect(),
            last_seen: Millis(delivery.last_seen),
            arrivals: delivery.arrivals.iter().copied().map(Millis).collect(),
        }
    }
}

impl From<DeliveryFile> for DeliveryData {
    fn from(file: DeliveryFile) -> Self {
        let piece = |piece: PieceFile| Piece { id: message(piece.id), tail: piece.tail.0 };
        Self {
            fingerprint: file.fingerprint.0,
            pieces: file.pieces.into_iter().map(piece).collect(),
            last_seen: file.last_seen.0,
            arrivals: file.arrivals.into_iter().map(|at| at.0).collect(),
        }
    }
}

impl From<&Litter> for LitterFile {
    fn from(litter: &Litter) -> Self {
        Self { message: id(litter.message), due: litter.due.map(Millis) }
    }
}

impl From<LitterFile> for Litter {
    fn from(file: LitterFile) -> Self {
        Self { message: message(file.message), due: file.due.map(|due| due.0) }
    }
}

impl From<Archived> for ArchivedFile {
    fn from(archived: Archived) -> Self {
        Self {
            at: Millis(archived.at),
            concluded: archived.concluded,
            leaving: archived.leaving.map(|agent| agent.map(AgentKey::get)),
            bot_notice_at: archived.bot_notice_at.map(Millis),
        }
    }
}

impl From<ArchivedFile> for Archived {
    fn from(file: ArchivedFile) -> Self {
        Self {
            at: file.at.0,
            concluded: file.concluded,
            leaving: file.leaving.map(|agent| agent.map(AgentKey::new)),
            bot_notice_at: file.bot_notice_at.map(|at| at.0),
        }
    }
}
