//! A recorded channel as a file, to be replayed later and elsewhere: why did B not answer?

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::replay::{Input, RecordedChannel, Trace};
use dirigent::settings::config_form;
use dirigent::snapshot::{AgentKey, RestoreError};
use dirigent::store::ChannelRecord;
use dirigent::{AgentId, ChannelId, Config};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::disk::replace;
use crate::error::{BadFile, StoreError};
use crate::record::form::{Form, structs};
use crate::record::{Extras, parse_record, record_text};

mod input;

/// The version of the form that this crate writes, and the only one it reads.
const VERSION: u32 = 2;

/// The largest file that is read, in bytes.
const LARGEST: usize = 64 * 1024 * 1024;

/// What of the file was expected.
const SHAPE: &str = "a recording: one line that says where it begins, then one line for each input";

/// One channel's recording with the names of its agents: what [`dirigent::replay::Recording`] holds, and the
/// program `dirigent trace` reads. One line says where it begins, then there is one for each input.
///
/// It holds no text but the ends of messages, at most 64 characters each and without white space, since
/// the machine compares them; who would not show these shows no recording.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::replay::RecordedChannel;
/// use dirigent::snapshot::Snapshot;
/// use dirigent_store::ChannelRecording;
///
/// let recorded = RecordedChannel::new(Default::default(), Snapshot::default());
/// let recording = ChannelRecording::new(ChannelId::new(7), vec!["poet".into()], recorded);
/// let again = ChannelRecording::parse(&recording.to_text()?)?;
/// assert_eq!(again.agents, recording.agents);
/// assert!(again.trace()?.entries().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChannelRecording {
    /// Which channel.
    pub channel: ChannelId,
    /// All agents in the order of their keys, as [`ChannelStore::agents`](dirigent::store::ChannelStore::agents)
    /// tells them.
    pub agents: Vec<AgentId>,
    /// What was recorded.
    pub recorded: RecordedChannel,
}

/// Where a recording begins.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    recording: u32,
    #[serde(with = "crate::record::form")]
    channel: ChannelId,
    agents: Vec<AgentId>,
    #[serde(with = "crate::record::form")]
    config: Config,
    start: Box<RawValue>,
}

/// As in a host's own file.
impl Form for Config {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        config_form::serialize(self, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        config_form::deserialize(from)
    }
}

structs! {
    /// One input with its time.
    struct Line {
        at: Timestamp,
        input: Input,
    }
}

/// The value is newer than this crate and has no form in a file yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording holds a value that is newer than this store")]
#[non_exhaustive]
pub struct NewerValue;

impl ChannelRecording {
    /// Puts a recording together.
    pub const fn new(channel: ChannelId, agents: Vec<AgentId>, recorded: RecordedChannel) -> Self {
        Self { channel, agents, recorded }
    }

    /// The file's content.
    ///
    /// # Errors
    ///
    /// [`NewerValue`] when something in it has no form yet.
    pub fn to_text(&self) -> Result<String, NewerValue> {
        let snapshot = self.recorded.start.clone();
        let record = ChannelRecord { snapshot, ..ChannelRecord::default() };
        let start = record_text(&record, &BTreeMap::new(), &Extras::default());
        let start =
            start.ok().and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
        let start = start.and_then(|start| serde_json::value::to_raw_value(&start).ok());
        let head = Head {
            recording: VERSION,
            channel: self.channel,
            agents: self.agents.clone(),
            config: Config::clone(&self.recorded.config),
            start: start.ok_or(NewerValue)?,
        };
        let mut text = serde_json::to_string(&head).map_err(|_| NewerValue)?;
        text.push('\n');
        for (at, input) in &self.recorded.inputs {
            let line = Line { at: *at, input: input.clone() };
            text.push_str(&serde_json::to_string(&line).map_err(|_| NewerValue)?);
            text.push('\n');
        }
        Ok(text)
    }

    /// Reads a file's content. A last line that was cut off is left out.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, BadFile> {
        if text.len() > LARGEST {
            return Err(BadFile::TooLarge { limit: LARGEST });
        }
        let wrong = || BadFile::WrongShape { expected: SHAPE };
        let whole = text.rfind('\n').map_or("", |end| text.get(..end).unwrap_or_default());
        let mut lines = whole.lines();
        let head: Head =
            lines.next().and_then(|line| serde_json::from_str(line).ok()).ok_or_else(wrong)?;
        if head.recording != VERSION {
            return Err(BadFile::OtherVersion {
                found: head.recording.into(),
                reads: VERSION.into(),
            });
        }
        let start = parse_record(head.start.get())?.record.snapshot;
        let mut recorded = RecordedChannel::new(Arc::new(head.config), start);
        for line in lines {
            let line: Line = serde_json::from_str(line).map_err(|_| wrong())?;
            recorded.inputs.push((line.at, line.input));
        }
        Ok(Self { channel: head.channel, agents: head.agents, recorded })
    }

    /// Writes it in the place of the file. Works on the calling thread.
    ///
    /// # Errors
    ///
    /// What the system refused, or a value that is newer than this crate; the old file is as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = path.as_ref();
        let text = self.to_text().map_err(|newer| {
            let error = std::io::Error::new(std::io::ErrorKind::InvalidData, newer);
            StoreError::not_done(crate::error::Action::Write, path, error)
        })?;
        replace(path, text.as_bytes())
    }

    /// Replays it: who was asked, who was denied, and why.
    ///
    /// # Errors
    ///
    /// When its beginning cannot be restored.
    pub fn trace(&self) -> Result<Trace, RestoreError> {
        let name = |key: AgentKey| {
            let at = usize::try_from(key.get()).ok()?;
            self.agents.get(at).cloned()
        };
        Trace::of(&self.recorded, name)
    }
}
