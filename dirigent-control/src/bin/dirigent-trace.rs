//! Prints a channel from a file. For a recording it prints who was asked, who was denied and why. For a file of the JSON store
//! it prints the state and the newest transitions.
//!
//! ```text
//! cargo run -p dirigent-control --features trace --bin dirigent-trace -- RECORDING             a table
//! cargo run -p dirigent-control --features trace --bin dirigent-trace -- RECORDING --mermaid   a sequence diagram
//! cargo run -p dirigent-control --features trace --bin dirigent-trace -- RECORDING --html      one page, to be scrubbed
//! cargo run -p dirigent-control --features trace --bin dirigent-trace -- channels/5f/ID.json   what the store knows
//! ```
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use dirigent::snapshot::AgentKey;
use dirigent_control::drawing::Replay;
use dirigent_store::{ChannelRecording, ChannelReport};

/// Prints who was asked in a channel, who was denied and why. For a store's file it prints the state.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// A file that `ChannelRecording::save` wrote, or a channel's file in the folder of `JsonChannels`:
    /// `channels/<id>.json`.
    #[arg(value_name = "RECORDING|CHANNEL")]
    file: PathBuf,
    /// Print a Mermaid sequence diagram of a recording in the place of a table.
    #[arg(long, conflicts_with = "html")]
    mermaid: bool,
    /// Print one HTML page that shows a recording step by step and needs no network.
    #[arg(long)]
    html: bool,
}

fn main() -> ExitCode {
    let Arguments { file, mermaid, html } = Arguments::parse();
    let form = match (mermaid, html) {
        (true, _) => Form::Mermaid,
        (false, true) => Form::Html,
        (false, false) => Form::Table,
    };
    match tell(&file, form) {
        Ok(told) => {
            print!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

/// The format of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Mermaid,
    Html,
}

fn tell(path: &Path, form: Form) -> Result<String, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    if is_channel(&text) {
        if form != Form::Table {
            return Err(
                "a diagram or a page needs a recording, and this is a channel's file".into()
            );
        }
        return match ChannelReport::read(path) {
            Ok(report) => Ok(report.to_string()),
            // The path stands before it already.
            Err(error) => {
                Err(error.source().map_or_else(|| error.to_string(), ToString::to_string).into())
            }
        };
    }
    if is_history(path) {
        let said = "this is a channel's history; give the channel's file beside it, <id>.json";
        return Err(said.into());
    }
    let recording = ChannelRecording::parse(&text)?;
    Ok(match form {
        Form::Table => recording.trace()?.to_string(),
        Form::Mermaid => recording.trace()?.mermaid(),
        Form::Html => {
            let name = |key: AgentKey| {
                let at = usize::try_from(key.get()).ok()?;
                recording.agents.get(at).cloned()
            };
            let title = format!("Channel {}", recording.channel);
            Replay::of(&recording.recorded, name)?.html(&title)
        }
    })
}

/// Returns whether it is a channel's file, damaged or not. You know one by its lines and its checksum.
fn is_channel(text: &str) -> bool {
    text.starts_with("{\n") && text.contains("\"checksum\"")
}

fn is_history(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".history.jsonl")
}
