//! Reads the files of a channel by themselves: its state and its newest transitions.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use dirigent::operate::Transition;
use dirigent::replay::Trace;
use dirigent::snapshot::AgentKey;
use dirigent::{AgentId, Config};
use dirigent_core::TurnMachine;
use dirigent_core::view::Seat;

use crate::disk::read;
use crate::error::{Action, StoreError};
use crate::record::{LARGEST, ParsedChannel, TransitionFile, parse_channel};

/// The data of one channel in a [`JsonChannels`](crate::JsonChannels) folder: its state, and its newest transitions.
/// `Display` writes it as lines of text. It also says how you can get the data that is not stored: the messages, the
/// agents that asked to speak or were denied, and the reasons. It contains no text of the conversation.
///
/// Reading does not change the files and does not lock them. So you can read the report while the library runs, but it
/// is then a moment old.
///
/// ```
/// use dirigent_store::ChannelReport;
///
/// # fn main() -> Result<(), dirigent_store::StoreError> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("7.json");
/// # let record = dirigent::store::ChannelRecord::default();
/// # let channel =
/// #     dirigent_store::ParsedChannel::new(dirigent::ChannelId::new(7), dirigent::store::Revision::new(1), record);
/// # std::fs::write(&path, channel.to_json().unwrap()).unwrap();
/// // For instance channels/123456789012345678.json.
/// let report = ChannelReport::read(&path)?;
/// println!("{report}");
/// assert!(report.transitions.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChannelReport {
    /// The channel as it was stored last.
    pub channel: ParsedChannel,
    /// The channel's newest transitions, the oldest one first, as far as they are stored.
    pub transitions: Vec<Transition>,
    names: BTreeMap<AgentKey, AgentId>,
}

impl ChannelReport {
    /// Reads the file of a channel, `<id>.json`, and `<id>.history.jsonl` beside it. It skips lines of the history that
    /// cannot be read. This works on the calling thread.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::BadFile`] if the file is not that of a channel or is damaged, and [`StoreError::Io`] if
    /// the system refused.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let content = read(path, LARGEST)?.ok_or_else(|| {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            StoreError::not_done(Action::Read, path, source)
        })?;
        let channel = parse_channel(&content)
            .map_err(|source| StoreError::BadFile { path: path.to_owned(), source })?;
        let mut names = channel.agents.clone();
        let history = read(&path.with_extension("history.jsonl"), LARGEST)?.unwrap_or_default();
        let lines = history.split(|byte| *byte == b'\n');
        let transitions = lines.filter_map(|line| transition(line, &mut names)).collect();
        Ok(Self { channel, transitions, names })
    }

    /// Returns the transitions as a table.
    pub fn trace(&self) -> Trace {
        Trace::of_transitions(&self.transitions, |key| self.names.get(&key).cloned())
    }

    fn name(&self, key: AgentKey) -> String {
        let name = self.names.get(&key).map(ToString::to_string);
        name.unwrap_or_else(|| format!("agent {}", key.get()))
    }

    fn state(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The rules belong to the program, and nothing in this report depends on them.
        let machine = match TurnMachine::restore(
            Arc::new(Config::default()),
            &self.channel.record.snapshot,
        ) {
            Ok(machine) => machine,
            Err(error) => return writeln!(f, "  its state cannot be used: {error}"),
        };
        let view = machine.view();
        let mut line = |name: &str, value: &str| writeln!(f, "  {name:10}  {value}");
        line("mode", view.mode().as_str())?;
        line("turns", view.turn_state().as_str())?;
        line("phase", view.phase().as_str())?;
        if view.turn().get() != 0 {
            line("turn", &view.turn().get().to_string())?;
        }
        line("floor", &view.speaker().map_or_else(|| "no agent".to_owned(), |it| self.name(it)))?;
        let seats: Vec<_> = view
            .list()
            .map(|seat| self.seat(seat, machine.agent_state(seat.agent).as_str()))
            .collect();
        line("list", &if seats.is_empty() { "empty".to_owned() } else { seats.join(", ") })?;
        if let Some(reason) = view.silence() {
            line("silence", reason.as_str())?;
        }
        if let Some(reply) = view.pending_reply() {
            line("reply", &format!("of {}, on its way", self.name(reply.agent)))?;
        }
        if view.is_wake_pending() || view.is_wake_unserved() {
            line("heard", "a word that no agent has taken yet")?;
        }
        if let Some(since) = view.chat_away_since() {
            line("chat", &format!("away since {} ms after 1970", since.as_millis()))?;
        }
        Ok(())
    }

    fn seat(&self, seat: Seat, state: &str) -> String {
        let marks = [
            (seat.muted, "muted"),
            (seat.may_not_write, "may not write"),
            (seat.away, "away"),
            (seat.left, "left"),
        ];
        let marks = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark);
        let said: Vec<_> = std::iter::once(state).chain(marks).collect();
        format!("{} ({})", self.name(seat.agent), said.join(", "))
    }
}

impl fmt::Display for ChannelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParsedChannel { channel, revision, .. } = &self.channel;
        writeln!(f, "channel {channel}, commit {}", revision.get())?;
        self.state(f)?;
        if self.transitions.is_empty() {
            writeln!(f, "\nNo transitions are stored beside it (`history_max`).")?;
        } else {
            let stored = self.transitions.len();
            write!(f, "\nThe last {stored} transitions that are stored:\n{}", self.trace())?;
        }
        writeln!(
            f,
            "\nNot stored: what was said, who asked to speak, who was denied, and why. To have that, give \
             `Builder::recorder` a\n`Recording`, save the channel's with `ChannelRecording::save`, and give that file to \
             `dirigent trace`."
        )
    }
}

/// Parses the transition in a line. A name without a key gets a key that no agent has.
fn transition(line: &[u8], names: &mut BTreeMap<AgentKey, AgentId>) -> Option<Transition> {
    let mut file: TransitionFile = serde_json::from_slice(line).ok()?;
    if let Some(name) = file.agent.take() {
        let known = names.iter().find(|(_, known)| **known == name).map(|(key, _)| *key);
        let unused = names.last_key_value().map_or(0, |(key, _)| key.get().saturating_add(1));
        let key = known.unwrap_or(AgentKey::new(unused));
        names.insert(key, name);
        file.key = Some(key);
    }
    Some(file.into())
}
