//! The codec of records. It converts the data that every store of this crate keeps for a channel from values to text
//! and back. JSON files contain the text with a version and a checksum around it. SQLite has it in a column, and so has
//! the store on PostgreSQL in `dirigent-cluster`.

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

/// The version that this crate writes, and the only one that it reads. Files of version 1 have other names for some
/// fields.
const VERSION: u64 = 2;

/// The largest file, in bytes. A record is a few kilobytes, or some hundred with a long reply.
pub const LARGEST: usize = 64 << 20;

/// A channel's record with all that its file says. `Debug` hides all text.
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
    /// The channel.
    pub channel: ChannelId,
    /// The number of its commits, which is less than [`u64::MAX`].
    pub revision: Revision,
    /// The channel's record.
    pub record: ChannelRecord,
    /// The names of the agents whose keys are in the record, as far as they were known.
    pub agents: BTreeMap<AgentKey, AgentId>,
    /// Fields that a newer version wrote. They are written back.
    pub(crate) extras: Extras,
}

/// The fields that this version does not know, around the record and in it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Extras {
    envelope: Extra,
    record: Unknown,
}

impl Extras {
    /// Returns true if there are no unknown fields.
    pub fn is_empty(&self) -> bool {
        let Self { envelope, record } = self;
        envelope.is_empty() && record.is_empty()
    }
}

/// The data around the record.
#[derive(Deserialize)]
struct Envelope<'a> {
    version: u64,
    #[serde(with = "crate::record::form")]
    channel: ChannelId,
    revision: u64,
    checksum: String,
    #[serde(borrow)]
    record: &'a RawValue,
}

const ENVELOPE: [&str; 5] = ["version", "channel", "revision", "checksum", "record"];

/// The field that all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

impl ParsedChannel {
    /// Creates a channel without names and without unknown fields.
    pub fn new(channel: ChannelId, revision: Revision, record: ChannelRecord) -> Self {
        let (agents, extras) = (BTreeMap::new(), Extras::default());
        Self { channel, revision, record, agents, extras }
    }

    /// Returns the same channel with its next record. The fields that a newer version wrote beside the known ones stay.
    #[must_use]
    pub fn with_record(self, revision: Revision, record: ChannelRecord) -> Self {
        Self { revision, record, ..self }
    }

    /// Returns the content of the channel's file. It is text with a version and a checksum, and [`parse_channel`] reads
    /// it. If your own store keeps these bytes, it does not need to know any field of a record, and no field that a
    /// later version adds.
    ///
    /// # Errors
    ///
    /// Returns an error if this version has no name for a value.
    pub fn to_json(&self) -> Result<Vec<u8>, Unwritable> {
        let Self { channel, revision, record, agents, extras } = self;
        file_text((*channel, *revision), record, agents, extras)
    }
}

pub(crate) fn file_text(
    (channel, revision): (ChannelId, Revision),
    record: &ChannelRecord,
    agents: &BTreeMap<AgentKey, AgentId>,
    extras: &Extras,
) -> Result<Vec<u8>, Unwritable> {
    let record = record_text(record, agents, extras)?;
    let checksum = record_checksum(channel, revision, &record);
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

/// Parses the content of a channel's file. It accepts any bytes, and either returns all of the content or refuses it.
///
/// The checksum shows that the file is as it was written, but any program can compute it.
/// [`Channel::restore`](dirigent_core::TurnMachine::restore) judges if the record makes sense.
///
/// # Errors
///
/// Returns the reason if the bytes cannot be used. Call [`BadFile::is_other_version`] to tell damage from a file that a
/// newer crate can read. If the checksum is right, the file is complete, so a newer version wrote whatever this one
/// cannot interpret.
pub fn parse_channel(content: &[u8]) -> Result<ParsedChannel, BadFile> {
    if content.len() > LARGEST {
        return Err(BadFile::TooLarge { limit: LARGEST });
    }
    let text = std::str::from_utf8(content).map_err(|_| BadFile::NotText)?;
    let envelope = match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope,
        Err(error) => {
            let other = other_version(text, VERSION);
            return Err(other.unwrap_or_else(|| BadFile::not_read(&error, SHAPE)));
        }
    };
    let (channel, revision) = (envelope.channel, Revision::new(envelope.revision));
    let written = envelope.record.get();
    // If the checksum fits our version, then the number of the version is damaged.
    if record_checksum(channel, revision, written.as_bytes()) != envelope.checksum {
        return Err(other_version(text, VERSION).unwrap_or(BadFile::Checksum));
    }
    if envelope.version != VERSION {
        return Err(BadFile::Checksum);
    }
    // The next commit adds one to it.
    if revision.get() == u64::MAX {
        return Err(BadFile::UnknownValue);
    }
    let WrittenRecord { record, agents, mut extras } = parse_sound_record(written)?;
    extras.envelope = Extra::of(text, &ENVELOPE);
    Ok(ParsedChannel { channel, revision, record, agents, extras })
}

/// A record with all that its text says.
#[derive(Debug)]
pub struct WrittenRecord {
    /// The channel's record.
    pub record: ChannelRecord,
    agents: BTreeMap<AgentKey, AgentId>,
    /// Fields that a newer version wrote.
    pub extras: Extras,
}

/// Returns the text of a record, without its envelope.
///
/// # Errors
///
/// Returns an error if this version has no name for a value.
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

/// Parses the text of a record with a correct checksum.
///
/// # Errors
///
/// Returns [`BadFile::UnknownValue`] if a newer version wrote it.
pub fn parse_sound_record(text: &str) -> Result<WrittenRecord, BadFile> {
    parse_record(text).map_err(|_| BadFile::UnknownValue)
}

/// Parses the text of a record, without its envelope.
pub(crate) fn parse_record(text: &str) -> Result<WrittenRecord, BadFile> {
    let file = serde_json::from_str(text);
    let mut file: RecordFile<'_> = file.map_err(|error| BadFile::not_read(&error, SHAPE))?;
    let agents = std::mem::take(&mut file.agents);
    let mut extras = Extras::default();
    let record = ChannelRecord::from(file);
    // A text of this version gives the same text again, so it has no unknown fields.
    if let Ok(known) = record_text(&record, &agents, &extras)
        && known != text.as_bytes()
        && let Ok(known) = std::str::from_utf8(&known)
    {
        extras.record = Unknown::of(text, known);
    }
    Ok(WrittenRecord { record, agents, extras })
}

const SHAPE: &str = "a channel";

/// Returns the error for another version, if the text has another version than the one that is read.
pub(crate) fn other_version(text: &str, reads: u64) -> Option<BadFile> {
    let found = serde_json::from_str::<Versioned>(text).ok()?.version;
    (found != reads).then_some(BadFile::OtherVersion { found, reads })
}

/// Returns the checksum of a channel's file, which is the CRC-32 of all but its unknown fields.
pub fn record_checksum(channel: ChannelId, revision: Revision, record: &[u8]) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(format!("{VERSION} {channel} {} ", revision.get()).as_bytes());
    sum.update(record);
    format!("{:08x}", sum.finalize())
}
