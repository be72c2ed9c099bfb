//! Tells a recorded channel: who was asked, who was denied, and why.
//!
//! ```text
//! cargo run -p dirigent-store --bin dirigent-trace -- RECORDING             a table
//! cargo run -p dirigent-store --bin dirigent-trace -- RECORDING --mermaid   a sequence diagram
//! ```
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::error::Error;
use std::process::ExitCode;

use dirigent_store::ChannelRecording;

const USAGE: &str = "usage: dirigent-trace RECORDING [--mermaid]";

fn main() -> ExitCode {
    match tell(std::env::args().skip(1)) {
        Ok(told) => {
            print!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn tell(arguments: impl Iterator<Item = String>) -> Result<String, Box<dyn Error>> {
    let (mut path, mut mermaid) = (None, false);
    for argument in arguments {
        match argument.as_str() {
            "--mermaid" => mermaid = true,
            flag if flag.starts_with("--") => return Err(USAGE.into()),
            _ if path.is_some() => return Err(USAGE.into()),
            _ => path = Some(argument),
        }
    }
    let path = path.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let recording = ChannelRecording::parse(&text).map_err(|error| format!("{path}: {error}"))?;
    let trace = recording.trace()?;
    Ok(if mermaid { trace.mermaid() } else { trace.to_string() })
}
