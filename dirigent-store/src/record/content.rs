//! The form of a channel's record in a file. The data that a person looks for comes first.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use dirigent::ports::{
    AllowedMentions, Embed, EmbedAuthor, EmbedField, EmbedFooter, Extras, GuildId, Nonce,
    ReplyFile, RoleId,
};
use dirigent::store::{
    ChannelRecord, Discussion, GapFrom, OutboxKind, OutboxMessage, Outgoing, OutgoingPart,
    ReadMark, ReplyEnd, Writer,
};
use dirigent::{AgentId, ChannelId, UserId};
use dirigent_core::snapshot::Archived;
use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, Mode, RunId, Snapshot, Timestamp, TurnId};

use crate::record::form::{enums, structs};

structs! {
    /// A record. Empty fields are absent.
    pub(super) struct RecordFile<'a> {
        mode: Mode,
        [opt] archived: Option<Box<Archived>>,
        [opt] initiator: Option<AgentKey>,
        [opt] discussion: Option<Arc<Discussion>>,
        /// The names of the agents whose keys are in the record.
        [opt] agents: BTreeMap<AgentKey, AgentId>,
        snapshot: Cow<'a, Snapshot>,
        [opt] outbox: Vec<OutboxMessage>,
        [opt] outgoing: Option<Arc<Outgoing>>,
        [opt] handed: Vec<ReadMark>,
        [opt] unserved: Option<Span>,
        [opt] heard: Option<MessageId>,
        [opt] verified: Option<MessageId>,
        [opt] known: Vec<MessageId>,
        [opt] gap_from: Option<GapFrom>,
        [opt] commanded_at: Option<Timestamp>,
        [opt] writer: Option<Writer>,
    }

    struct DiscussionFile for Discussion as "Discussion" {
        callback: ChannelId,
        [opt] callback_guild: Option<GuildId>,
        guide: String,
    }

    struct OutboxFile for OutboxMessage as "OutboxMessage" {
        kind: OutboxKind,
        to: ChannelId,
        [opt] after: Option<MessageId>,
        at: Timestamp,
        [opt] tried: bool,
        parts: Vec<OutgoingPart>,
    }

    struct OutgoingFile for Outgoing as "Outgoing" {
        agent: AgentKey,
        turn: TurnId,
        run: RunId,
        [opt] end: ReplyEnd,
        [opt] after: Option<MessageId>,
        [opt] composed_at: Option<Timestamp>,
        [opt] doubt_since: Option<Timestamp>,
        [opt] waiting_since: Option<Timestamp>,
        [opt] extras: Option<Arc<Extras>>,
        parts: Vec<OutgoingPart>,
    }

    struct PartFile for OutgoingPart as "OutgoingPart" {
        nonce: Nonce,
        [opt] posted: Option<MessageId>,
        content: Arc<str>,
    }

    /// The parts of a reply besides its text.
    struct ExtrasFile for Extras as "Extras" {
        [opt] reply_to: Option<MessageId>,
        [opt] next: Option<AgentId>,
        [opt] mentions: AllowedMentions,
        [opt] embeds: Vec<Embed>,
        [opt] files: Vec<ReplyFile>,
    }

    struct MentionsFile for AllowedMentions as "AllowedMentions" {
        [opt] users: Vec<UserId>,
        [opt] roles: Vec<RoleId>,
        [opt] everyone: bool,
        [opt] replied_user: bool,
    }

    struct EmbedFile for Embed as "Embed" {
        [opt] title: Option<String>,
        [opt] description: Option<String>,
        [opt] url: Option<String>,
        [opt] colour: Option<u32>,
        [opt] timestamp: Option<Timestamp>,
        [opt] footer: Option<EmbedFooter>,
        [opt] image: Option<String>,
        [opt] thumbnail: Option<String>,
        [opt] author: Option<EmbedAuthor>,
        [opt] fields: Vec<EmbedField>,
    }

    struct FooterFile for EmbedFooter as "EmbedFooter" {
        text: String,
        [opt] icon_url: Option<String>,
    }

    struct AuthorFile for EmbedAuthor as "EmbedAuthor" {
        name: String,
        [opt] url: Option<String>,
        [opt] icon_url: Option<String>,
    }

    struct FieldFile for EmbedField as "EmbedField" {
        name: String,
        value: String,
        [opt] inline: bool,
    }

    /// The part of the conversation that an agent has received.
    struct ReadMarkFile for ReadMark as "ReadMark" {
        agent: AgentKey,
        [opt] until: Option<MessageId>,
        [opt] owed: Vec<Span>,
        [opt] ahead: Vec<MessageId>,
    }

    /// The process that wrote the record, and the number of that commit.
    struct WriterFile for Writer as "Writer" {
        process = u64,
        count = u64,
    }
}

enums! {
    enum GapFile for GapFrom {
        Start,
        After(message: MessageId),
    }
}

impl<'a> RecordFile<'a> {
    /// Combines a record with the names of its agents.
    pub(super) fn new(record: &'a ChannelRecord, agents: &BTreeMap<AgentKey, AgentId>) -> Self {
        let snapshot = &record.snapshot;
        let standing = &snapshot.state.standing;
        Self {
            mode: standing.mode,
            archived: standing.archived.clone(),
            initiator: standing.initiator,
            discussion: record.discussion.clone(),
            agents: agents.clone(),
            snapshot: Cow::Borrowed(snapshot),
            outbox: record.outbox.clone(),
            outgoing: record.outgoing.clone(),
            handed: record.handed.clone(),
            unserved: record.unserved,
            heard: record.heard,
            verified: record.verified,
            known: record.known.clone(),
            gap_from: record.gap_from,
            commanded_at: record.commanded_at,
            writer: record.writer,
        }
    }
}

impl From<RecordFile<'_>> for ChannelRecord {
    fn from(file: RecordFile<'_>) -> Self {
        // The fields in front of the snapshot belong to it, too.
        let mut snapshot = file.snapshot.into_owned();
        let standing = &mut snapshot.state.standing;
        standing.mode = file.mode;
        standing.archived = file.archived;
        standing.initiator = file.initiator;
        Self {
            snapshot,
            discussion: file.discussion,
            outbox: file.outbox,
            outgoing: file.outgoing,
            handed: file.handed,
            unserved: file.unserved,
            heard: file.heard,
            verified: file.verified,
            known: file.known,
            gap_from: file.gap_from,
            commanded_at: file.commanded_at,
            writer: file.writer,
        }
    }
}
