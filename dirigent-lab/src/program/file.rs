//! Reads recordings, and the rules and agents of the moderator's file.

use std::path::Path;

use dirigent::AgentId;
use dirigent::settings::Rules;
use dirigent_core::AgentKey;
use dirigent_store::ChannelRecording;
use serde::Deserialize;

/// The default path of the moderator's file in all commands of the program `dirigent`.
const DEFAULT: &str = "dirigent.toml";

/// An error for people. Its text names the file or the setting.
pub(super) type Error = Box<dyn std::error::Error + Send + Sync>;

/// The rules and agents of the moderator's file. `dirigent check` reads the rest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) rules: Rules,
    pub(super) agents: Vec<Named>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

impl File {
    /// Returns the number of agents, but at least 2 and at most 64.
    pub(super) fn agents(&self) -> u32 {
        u32::try_from(self.agents.len()).unwrap_or(u32::MAX).clamp(2, 64)
    }

    /// Reads the file that a command names itself, or otherwise the one of the program. Returns `None` if that is the default one and does
    /// not exist, for example in a folder without a bot.
    pub(super) fn of<'a>(
        own: Option<&'a Path>,
        config: &'a Path,
    ) -> Result<Option<(Self, &'a Path)>, Error> {
        let path = own.unwrap_or(config);
        let is_missing = own.is_none() && path == Path::new(DEFAULT) && !path.exists();
        if is_missing { Ok(None) } else { Self::read(path).map(|file| Some((file, path))) }
    }

    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| named(path, &error))?;
        toml::from_str(&text).map_err(|error| named(path, &error))
    }
}

/// Reads a file that `ChannelRecording::save` wrote.
///
/// # Errors
///
/// Returns an error in words for people, without the path, if the file cannot be read or is no recording. It has a hint if the file
/// belongs to a JSON store, because such a file looks like a recording.
pub fn recording(file: &Path) -> Result<ChannelRecording, Error> {
    let text = std::fs::read_to_string(file)?;
    // A store's file has lines and a checksum, even if it is damaged.
    if text.starts_with("{\n") && text.contains("\"checksum\"") {
        let wrong = "this needs a recording, and this is a channel's file: see `dirigent trace`";
        return Err(wrong.into());
    }
    if file.to_string_lossy().ends_with(".history.jsonl") {
        let wrong = "this is a channel's history; give the channel's file beside it, <id>.json";
        return Err(wrong.into());
    }
    Ok(ChannelRecording::parse(&text)?)
}

/// Puts the path of the file before an error.
pub(super) fn named(file: &Path, error: &dyn std::fmt::Display) -> Error {
    format!("{}: {error}", file.display()).into()
}

/// Returns a function for the names of the agents.
pub(super) fn names(
    recording: &ChannelRecording,
) -> impl Fn(AgentKey) -> Option<AgentId> + use<'_> {
    |key| recording.agents.get(usize::try_from(key.get()).ok()?).cloned()
}
