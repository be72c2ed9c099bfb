//! Writes the recording of a channel to a file, so that you can replay it later and elsewhere. For example, it
//! answers why agent B did not reply.

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

/// The version of the form that this crate writes, and the only one that it reads.
const VERSION: u32 = 2;

const LARGEST: usize = 64 * 1024 * 1024;

const SHAPE: &str = "a recording: one line that says where it begins, then one line for each input";

/// The recording of one channel with the names of its agents. It has the data of a
/// [`dirigent::replay::Recording`], and the program `dirigent trace` reads it. The first line has the state at
/// the start, and each further line has one input.
///
/// The only text in it is the ends of messages, at most 64 characters each and without white space, because the
/// machine compares them. If you do not want to show these, do not show the recording.
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
    /// The recorded channel.
    pub channel: ChannelId,
    /// All agents in the order of their keys, as [`ChannelStore::agents`](dirigent::store::ChannelStore::agents)
    /// returns them.
    pub agents: Vec<AgentId>,
    /// The recorded state and inputs.
    pub recorded: RecordedChannel,
}

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

/// This is the form of your program's own configuration file.
impl Form for Config {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        config_form::serialize(self, to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        config_form::deserialize(from)
    }
}

structs! {
    struct Line {
        at: Timestamp,
        input: Input,
    }
}

/// The value is newer than this crate, so it has no form in a file yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording holds a value that is newer than this store")]
#[non_exhaustive]
pub struct NewerValue;

impl ChannelRecording {
    /// Creates a recording from its parts.
    pub const fn new(channel: ChannelId, agents: Vec<AgentId>, recorded: RecordedChannel) -> Self {
        Self { channel, agents, recorded }
    }

    /// Returns the content of the file.
    ///
    /// # Errors
    ///
    /// Returns [`NewerValue`] if a value in it has no form yet.
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

    /// Parses the content of a file. An incomplete last line is ignored.
    ///
    /// # Errors
    ///
    /// Returns the reason if the text is not a valid recording.
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

    /// Writes the recording to a file, and replaces an old one. This works on the calling thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refused, or if a value is newer than this crate. Then the old file is
    /// unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = path.as_ref();
        let text = self.to_text().map_err(|newer| {
            let error = std::io::Error::new(std::io::ErrorKind::InvalidData, newer);
            StoreError::not_done(crate::error::Action::Write, path, error)
        })?;
        replace(path, text.as_bytes())
    }

    /// Replays the recording. The result shows which agents were asked, which were denied, and why.
    ///
    /// # Errors
    ///
    /// Returns an error if the state at the start cannot be restored.
    pub fn trace(&self) -> Result<Trace, RestoreError> {
        let name = |key: AgentKey| {
            let at = usize::try_from(key.get()).ok()?;
            self.agents.get(at).cloned()
        };
        Trace::of(&self.recorded, name)
    }
}
