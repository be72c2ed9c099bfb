//! `dirigent trace`: what happened in a channel, from a file.

use std::error::Error;
use std::path::Path;

use dirigent_store::ChannelReport;

use crate::bot::Result;

/// Tells who was asked, who was denied, and why; or, from a store's file, where a channel stands.
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
    // The path stands before it already.
    report.map_err(|error| {
        error.source().map_or_else(|| error.to_string(), ToString::to_string).into()
    })
}

/// Whether it is a channel's file, damaged or not: what a store writes has lines, and a checksum.
fn is_channel(text: &str) -> bool {
    text.starts_with("{\n") && text.contains("\"checksum\"")
}
