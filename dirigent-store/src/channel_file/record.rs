//! A channel's record, as it stands in a file: first what a person looks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use dirigent::{
    AgentId, ChannelId, ChannelRecord, Discussion, GapFrom, GuildId, Held, Letter, LetterKind,
    Nonce, Outgoing, OutgoingPart, ReplyEnd, Writer,
};
use dirigent_core::{AgentKey, MessageId, Mode, RunId, TurnId};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name::Name;
use super::scalar::{Id, Millis};
use super::snapshot::{ArchivedFile, SnapshotFile};

/// A record. Absent is what is empty.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordFile {
    pub(super) mode: Name<Mode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) archived: Option<ArchivedFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) initiator: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) discussion: Option<DiscussionFile>,
    /// Who the agents are that the record names by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) agents: BTreeMap<u32, AgentId>,
    pub(super) snapshot: SnapshotFile,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) letters: Vec<LetterFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outgoing: Option<OutgoingFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) held: Option<HeldFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heard: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verified: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap_from: Option<GapFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commanded_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writer: Option<WriterFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiscussionFile {
    callback: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    callback_guild: Option<Id>,
    guide: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LetterFile {
    kind: Name<LetterKind>,
    to: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Id>,
    at: Millis,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tried: bool,
    parts: Vec<PartFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutgoingFile {
    agent: u32,
    turn: u64,
    run: Id,
    #[serde(default, skip_serializing_if = "is_finished")]
    end: Name<ReplyEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    composed_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doubt_since: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting_since: Option<Millis>,
    parts: Vec<PartFile>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_finished(end: &Name<ReplyEnd>) -> bool {
    end.0 == ReplyEnd::Finished
}

/// What people said and the agent that has the floor is handed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HeldFile {
    agent: u32,
    turn: u64,
    first: Id,
    last: Id,
}

/// From where a gap is read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum GapFile {
    Start,
    After(Id),
}

/// Which process wrote the record, and with which of its commits.
#[derive(Debug, Serialize, Deserialize)]
struct WriterFile {
    process: Id,
    count: Id,
}

#[derive(Debug, Serialize, Deserialize)]
struct PartFile {
    nonce: NonceFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    posted: Option<Id>,
    content: String,
}

#[derive(Debug)]
struct NonceFile(Nonce);

impl Serialize for NonceFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for NonceFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

impl RecordFile {
    /// A record with the names of its agents.
    pub(super) fn new(record: &ChannelRecord, agents: &BTreeMap<AgentKey, AgentId>) -> Self {
        let snapshot = &record.snapshot;
        let discussion = record.discussion.as_deref();
        Self {
            mode: Name(snapshot.mode),
            archived: snapshot.archived.map(ArchivedFile::from),
            initiator: snapshot.initiator.map(AgentKey::get),
            discussion: discussion.map(|terms| DiscussionFile {
                callback: Id(terms.callback.get()),
                callback_guild: terms.callback_guild.map(|guild| Id(guild.get())),
                guide: terms.guide.clone(),
            }),
            agents: agents.iter().map(|(key, agent)| (key.get(), agent.clone())).collect(),
            snapshot: SnapshotFile::new(snapshot),
            letters: record.letters.iter().map(LetterFile::from).collect(),
            outgoing: record.outgoing.as_deref().map(OutgoingFile::from),
            held: record.held.map(HeldFile::from),
            heard: record.heard.map(|message| Id(message.get())),
            verified: record.verified.map(|message| Id(message.get())),
            gap_from: record.gap_from.map(GapFile::from),
            commanded_at: record.commanded_at.map(Millis),
            writer: record.writer.map(WriterFile::from),
        }
    }
}

impl From<RecordFile> for ChannelRecord {
    fn from(mut file: RecordFile) -> Self {
        let discussion = file.discussion.take().map(Discussion::from);
        let letters = std::mem::take(&mut file.letters);
        let outgoing = file.outgoing.take().map(Outgoing::from);
        let held = file.held.take().map(Held::from);
        let heard = file.heard.map(|message| MessageId::new(message.0));
        let verified = file.verified.map(|message| MessageId::new(message.0));
        let gap_from = file.gap_from.take().map(GapFrom::from);
        let commanded_at = file.commanded_at.map(|at| at.0);
        let writer = file.writer.take().map(Writer::from);
        Self {
            snapshot: file.into(),
            discussion: discussion.map(Arc::new),
            letters: letters.into_iter().map(Letter::from).collect(),
            outgoing: outgoing.map(Arc::new),
            held,
            heard,
            verified,
            gap_from,
            commanded_at,
            writer,
        }
    }
}

impl From<DiscussionFile> for Discussion {
    fn from(file: DiscussionFile) -> Self {
        Self {
            callback: ChannelId::new(file.callback.0),
            callback_guild: file.callback_guild.map(|guild| GuildId::new(guild.0)),
            guide: file.guide,
        }
    }
}

impl From<&Letter> for LetterFile {
    fn from(letter: &Letter) -> Self {
        Self {
            kind: Name(letter.kind),
            to: Id(letter.to.get()),
            after: letter.after.map(|message| Id(message.get())),
            at: Millis(letter.at),
            tried: letter.tried,
            parts: letter.parts.iter().map(PartFile::from).collect(),
        }
    }
}

impl From<LetterFile> for Letter {
    fn from(file: LetterFile) -> Self {
        Self {
            kind: file.kind.0,
            to: ChannelId::new(file.to.0),
            after: file.after.map(|message| MessageId::new(message.0)),
            at: file.at.0,
            tried: file.tried,
            parts: file.parts.into_iter().map(OutgoingPart::from).collect(),
        }
    }
}

impl From<&Outgoing> for OutgoingFile {
    fn from(outgoing: &Outgoing) -> Self {
        Self {
            agent: outgoing.agent.get(),
            turn: outgoing.turn.get(),
            run: Id(outgoing.run.get()),
            end: Name(outgoing.end),
            after: outgoing.after.map(|message| Id(message.get())),
            composed_at: outgoing.composed_at.map(Millis),
            doubt_since: outgoing.doubt_since.map(Millis),
            waiting_since: outgoing.waiting_since.map(Millis),
            parts: outgoing.parts.iter().map(PartFile::from).collect(),
        }
    }
}

impl From<OutgoingFile> for Outgoing {
    fn from(file: OutgoingFile) -> Self {
        Self {
            agent: AgentKey::new(file.agent),
            turn: TurnId::new(file.turn),
            run: RunId::new(file.run.0),
            end: file.end.0,
            after: file.after.map(|message| MessageId::new(message.0)),
            composed_at: file.composed_at.map(|at| at.0),
            doubt_since: file.doubt_since.map(|at| at.0),
            waiting_since: file.waiting_since.map(|at| at.0),
            parts: file.parts.into_iter().map(OutgoingPart::from).collect(),
        }
    }
}

impl From<Held> for HeldFile {
    fn from(held: Held) -> Self {
        let Held { agent, turn, first, last } = held;
        let (first, last) = (Id(first.get()), Id(last.get()));
        Self { agent: agent.get(), turn: turn.get(), first, last }
    }
}

impl From<HeldFile> for Held {
    fn from(file: HeldFile) -> Self {
        Self {
            agent: AgentKey::new(file.agent),
            turn: TurnId::new(file.turn),
            first: MessageId::new(file.first.0),
            last: MessageId::new(file.last.0),
        }
    }
}

impl From<GapFrom> for GapFile {
    fn from(gap: GapFrom) -> Self {
        match gap {
            GapFrom::Start => Self::Start,
            GapFrom::After(message) => Self::After(Id(message.get())),
        }
    }
}

impl From<GapFile> for GapFrom {
    fn from(file: GapFile) -> Self {
        match file {
            GapFile::Start => Self::Start,
            GapFile::After(message) => Self::After(MessageId::new(message.0)),
        }
    }
}

impl From<Writer> for WriterFile {
    fn from(writer: Writer) -> Self {
        Self { process: Id(writer.process), count: Id(writer.count) }
    }
}

impl From<WriterFile> for Writer {
    fn from(file: WriterFile) -> Self {
        Self { process: file.process.0, count: file.count.0 }
    }
}

impl From<&OutgoingPart> for PartFile {
    fn from(part: &OutgoingPart) -> Self {
        Self {
            nonce: NonceFile(part.nonce.clone()),
            posted: part.posted.map(|message| Id(message.get())),
            content: part.content.clone(),
        }
    }
}

impl From<PartFile> for OutgoingPart {
    fn from(file: PartFile) -> Self {
        Self {
            content: file.content,
            nonce: file.nonce.0,
            posted: file.posted.map(|message| MessageId::new(message.0)),
        }
    }
}
