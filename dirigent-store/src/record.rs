//! The codec of records: what every store of this crate keeps of a channel, from values to text and back. JSON files hold the text
//! with a version and a checksum around it, SQLite in a column, and so does the store on PostgreSQL in `dirigent-cluster`.

mod content;
mod effect;
mod extra;
pub(crate) mod fields;
mod floor;
pub(crate) mod form;
mod layout;
mod snapshot;
mod unknown;

use std::collections::BTreeMap;

use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelRecord, Revision};
use dirigent::{AgentId, ChannelId};
use serde::Deserialize;
use serde_json::value::RawValue;

use content::RecordFile;
pub(crate) use effect::TransitionFile;
pub(crate) use extra::Extra;
use unknown::{Merged, Unknown};

use crate::error::{BadFile, Unwritable};
use crate::record::fields::quoted;

/// The version that this crate writes, and the only one it reads. Files of version 1 have other names for some fields.
const VERSION: u64 = 2;

/// How large a file may be. A record is a few kilobytes, with a long reply some hundred.
pub const LARGEST: usize = 64 << 20;

/// A channel's record with all that its file says. `Debug` shows no text.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::store::{ChannelRecord, Revision};
/// use dirigent_store::{ParsedChannel, parse_channel};
///
/// let record = ChannelRecord::default();
/// let channel = ParsedChannel::new(ChannelId::new(7), Revision::new(1), record);
/// let file = channel.to_json()?;
/// assert_eq!(parse_channel(&file)?, channel);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParsedChannel {
    /// Which channel.
    pub channel: ChannelId,
    /// How often it was committed; less than [`u64::MAX`].
    pub revision: Revision,
    /// Its record.
    pub record: ChannelRecord,
    /// Who the agents are whose keys the record holds, as far as their names were known.
    pub agents: BTreeMap<AgentKey, AgentId>,
    /// What a newer version wrote, to be written again.
    pub(crate) extras: Extras,
}

/// What this version does not know, around the record and in it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Extras {
    envelope: Extra,
    record: Unknown,
}

impl Extras {
    /// Whether there is nothing that is not known.
    pub fn is_empty(&self) -> bool {
        let Self { envelope, record } = self;
        envelope.is_empty() && record.is_empty()
    }
}

/// Around the record.
#[derive(Deserialize)]
struct Envelope<'a> {
    version: u64,
    #[serde(with = "crate::record::form")]
    channel: ChannelId,
    revision: u64,
    checksum: String,
    #[serde(borrow)]
    record: &'a RawValue,
    #[serde(flatten)]
    extra: Extra,
}

/// All that every version has in common.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

impl ParsedChannel {
    /// A channel without names and without anything that is not known.
    pub fn new(channel: ChannelId, revision: Revision, record: ChannelRecord) -> Self {
        let (agents, extras) = (BTreeMap::new(), Extras::default());
        Self { channel, revision, record, agents, extras }
    }

    /// The same channel with its next record. What a newer version wrote beside the known fields stays.
    #[must_use]
    pub fn with_record(self, revision: Revision, record: ChannelRecord) -> Self {
        Self { revision, record, ..self }
    }

    /// The content of the channel's file: text with a version and a checksum, which [`parse_channel`] reads. A store of your
    /// own that keeps these bytes needs to know no field of a record, and none that a later version adds.
    ///
    /// # Errors
    ///
    /// A value that this version has no name for.
    pub fn to_json(&self) -> Result<Vec<u8>, Unwritable> {
        let Self { channel, revision, record, agents, extras } = self;
        file_text((*channel, *revision), record, agents, extras)
    }
}

/// The content of a channel's file.
pub(crate) fn file_text(
    (channel, revision): (ChannelId, Revision),
    record: &ChannelRecord,
    agents: &BTreeMap<AgentKey, AgentId>,
    extras: &Extras,
) -> Result<Vec<u8>, Unwritable> {
    let record = record_text(record, agents, extras)?;
    let checksum = checksum(VERSION, channel, revision, &record);
    let revision = revision.get();
    let mut file = format!(
        "{{\n  \"version\": {VERSION},\n  \"channel\": \"{channel}\",\n  \
             \"revision\": {revision},\n  \"checksum\": \"{checksum}\",\n  \"record\": "
    )
    .into_bytes();
    file.extend_from_slice(&record);
    for (name, value) in extras.envelope.iter() {
        file.extend_from_slice(format!(",\n  {}: {value}", quoted(name)).as_bytes());
    }
    file.extend_from_slice(b"\n}\n");
    Ok(file)
}

/// Reads the content of a channel's file. It is total: whatever the bytes say, they are taken as a
/// whole or refused.
///
/// The checksum makes sure that the file is as it was written, by anybody who can compute one; what
/// the record means is for [`Channel::restore`](dirigent_core::TurnMachine::restore) to judge.
///
/// # Errors
///
/// What is wrong with the bytes. [`BadFile::is_other_version`] tells damage from what a newer crate reads: where
/// the checksum is right, the file is whole, and what is not understood in it was written by a newer
/// version.
pub fn parse_channel(content: &[u8]) -> Result<ParsedChannel, BadFile> {
    if content.len() > LARGEST {
        return Err(BadFile::TooLarge { limit: LARGEST });
    }
    let text = std::str::from_utf8(content).map_err(|_| BadFile::NotText)?;
    let envelope = match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope,
        Err(error) => return Err(other_version(text).unwrap_or_else(|| bad_json(&error))),
    };
    let (channel, revision) = (envelope.channel, Revision::new(envelope.revision));
    let written = envelope.record.get();
    // If it was written as our version, the number of the version is what is damaged.
    if checksum(VERSION, channel, revision, written.as_bytes()) != envelope.checksum {
        return Err(other_version(text).unwrap_or(BadFile::Checksum));
    }
    if envelope.version != VERSION {
        return Err(BadFile::Checksum);
    }
    // The next commit counts on.
    if revision.get() == u64::MAX {
        return Err(BadFile::UnknownValue);
    }
    let WrittenRecord { record, agents, mut extras } = parse_sound_record(written)?;
    extras.envelope = envelope.extra;
    if !extras.envelope.is_empty() {
        extras.envelope.fill(text);
    }
    Ok(ParsedChannel { channel, revision, record, agents, extras })
}

/// A record with all that its text says.
#[derive(Debug)]
pub struct WrittenRecord {
    /// The record.
    pub record: ChannelRecord,
    agents: BTreeMap<AgentKey, AgentId>,
    /// What a newer version wrote.
    pub extras: Extras,
}

/// The text of a record by itself.
///
/// # Errors
///
/// A value that this version has no name for.
pub fn record_text(
    record: &ChannelRecord,
    agents: &BTreeMap<AgentKey, AgentId>,
    extras: &Extras,
) -> Result<Vec<u8>, Unwritable> {
    let text = layout::to_text(&RecordFile::new(record, agents), 1).map_err(|_| Unwritable)?;
    let unknown = &extras.record;
    if unknown.is_empty() {
        return Ok(text);
    }
    let known = std::str::from_utf8(&text).map_err(|_| Unwritable)?;
    layout::to_text(&Merged { known, unknown }, 1).map_err(|_| Unwritable)
}

/// Reads the text of a record whose checksum is right.
///
/// # Errors
///
/// [`BadFile::UnknownValue`] where a newer version wrote it.
pub fn parse_sound_record(text: &str) -> Result<WrittenRecord, BadFile> {
    parse_record(text).map_err(|_| BadFile::UnknownValue)
}

/// Reads the text of a record by itself.
pub(crate) fn parse_record(text: &str) -> Result<WrittenRecord, BadFile> {
    let mut file: RecordFile<'_> = serde_json::from_str(text).map_err(|error| bad_json(&error))?;
    let agents = std::mem::take(&mut file.agents);
    let mut extras = Extras::default();
    let record = ChannelRecord::from(file);
    // A text of this version is written again as it was.
    if let Ok(known) = record_text(&record, &agents, &extras)
        && known != text.as_bytes()
        && let Ok(known) = std::str::from_utf8(&known)
    {
        extras.record = Unknown::of(text, known);
    }
    Ok(WrittenRecord { record, agents, extras })
}

/// The checksum of a record's text, as it stands in a channel's file.
pub fn record_checksum(channel: ChannelId, revision: Revision, record: &[u8]) -> String {
    checksum(VERSION, channel, revision, record)
}

/// What a channel's file is called in errors.
const SHAPE: &str = "a channel";

/// The version, if it is another one.
fn other_version(text: &str) -> Option<BadFile> {
    let found = serde_json::from_str::<Versioned>(text).ok()?.version;
    (found != VERSION).then_some(BadFile::OtherVersion { found, reads: VERSION })
}

fn bad_json(error: &serde_json::Error) -> BadFile {
    if error.is_data() { BadFile::WrongShape { expected: SHAPE } } else { BadFile::not_json(error) }
}

/// CRC-32 of all that a file says, but for what is not known.
fn checksum(version: u64, channel: ChannelId, revision: Revision, record: &[u8]) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(format!("{version} {channel} {} ", revision.get()).as_bytes());
    sum.update(record);
    format!("{:08x}", sum.finalize())
}
