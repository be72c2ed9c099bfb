//! `dirigent trace` and `dirigent replay`: show what happened in a channel, from a file.

use std::error::Error;
use std::path::Path;

use dirigent::snapshot::AgentKey;
use dirigent_control::drawing::Replay;
use dirigent_store::{ChannelRecording, ChannelReport};

use crate::bot::Result;

/// Returns who was asked, who was denied, and why. Of a store's file it returns the channel's state.
pub(crate) fn trace(file: &Path, mermaid: bool) -> Result<String> {
    let text = std::fs::read_to_string(file)?;
    if !is_channel(&text) {
        let told = recording(file, &text)?.trace()?;
        return Ok(if mermaid { told.mermaid() } else { told.to_string() });
    }
    if mermaid {
        return Err("a diagram needs a recording, and this is a channel's file".into());
    }
    let report = ChannelReport::read(file).map(|report| report.to_string());
    // The caller puts the path before it.
    report.map_err(|error| {
        error.source().map_or_else(|| error.to_string(), ToString::to_string).into()
    })
}

/// Returns a page that shows a recording step by step and needs no network.
pub(crate) fn replay(file: &Path) -> Result<String> {
    let recording = recording(file, &std::fs::read_to_string(file)?)?;
    let name = |key: AgentKey| recording.agents.get(usize::try_from(key.get()).ok()?).cloned();
    Ok(Replay::of(&recording.recorded, name)?.html(&format!("Channel {}", recording.channel)))
}

fn recording(file: &Path, text: &str) -> Result<ChannelRecording> {
    if is_channel(text) {
        let wrong =
            "a replay needs a recording, and this is a channel's file: see `dirigent trace`";
        return Err(wrong.into());
    }
    if file.to_string_lossy().ends_with(".history.jsonl") {
        let wrong = "this is a channel's history; give the channel's file beside it, <id>.json";
        return Err(wrong.into());
    }
    Ok(ChannelRecording::parse(text)?)
}

/// Returns whether this is a channel's file, damaged or not. A file of a store has lines, and a checksum.
fn is_channel(text: &str) -> bool {
    text.starts_with("{\n") && text.contains("\"checksum\"")
}
