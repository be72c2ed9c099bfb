//! Tells a recorded channel: who was asked, who was denied, and why.
//!
//! ```text
//! cargo run -p dirigent-store --features trace --bin dirigent-trace -- RECORDING             a table
//! cargo run -p dirigent-store --features trace --bin dirigent-trace -- RECORDING --mermaid   a sequence diagram
//! ```
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use dirigent_store::ChannelRecording;

/// Tells a recorded channel: who was asked, who was denied, and why.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// A file that `ChannelRecording::save` wrote.
    recording: PathBuf,
    /// Print a Mermaid sequence diagram in the place of a table.
    #[arg(long)]
    mermaid: bool,
}

fn main() -> ExitCode {
    let Arguments { recording, mermaid } = Arguments::parse();
    match tell(&recording, mermaid) {
        Ok(told) => {
            print!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", recording.display());
            ExitCode::FAILURE
        }
    }
}

fn tell(path: &Path, mermaid: bool) -> Result<String, Box<dyn Error>> {
    let trace = ChannelRecording::parse(&std::fs::read_to_string(path)?)?.trace()?;
    Ok(if mermaid { trace.mermaid() } else { trace.to_string() })
}
