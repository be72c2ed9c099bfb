//! `dirigent trace`: shows what happened in a channel, from a file.

use std::error::Error;
use std::path::Path;

use dirigent_store::ChannelReport;

use crate::bot::Result;

/// Returns who was asked, who was denied, and why. Of a store's file it returns the channel's state.
pub(crate) fn trace(file: &Path, mermaid: bool) -> Result<String> {
    let text = std::fs::read_to_string(file)?;
    if !is_channel(&text) {
        let told = dirigent_lab::program::recording(file)?.trace()?;
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

/// Returns whether this is a channel's file, damaged or not. A file of a store has lines, and a checksum.
fn is_channel(text: &str) -> bool {
    text.starts_with("{\n") && text.contains("\"checksum\"")
}
