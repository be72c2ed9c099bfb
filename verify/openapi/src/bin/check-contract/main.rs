//! Whether the adapter speaks as Discord's OpenAPI document says.
//!
//! ```text
//! cargo run -p check-contract -- discord-openapi.json
//! ```
//!
//! The file is Discord's official document; it is data and no part of this repository. A server on loopback
//! takes every request that the adapter can make, in all its shapes. Each is then spoilt in every way that is known,
//! which the checker must notice (the negative controls), and only then checked itself. So are the answers: those that
//! the adapter was given here, and those of the kit's own Discord, so that neither is a fantasy.
//!
//! Ends with 0 if everything fits, with 1 on a finding or a control that failed, and with 2 if it
//! was called wrongly or the document cannot be used.

mod answers;
mod calls;
mod recordings;
mod report;

use std::io::{self, Write};
use std::process::ExitCode;

use check_contract::{CORRECTIONS, Document};
use clap::{Arg, Command};

use recordings::{Problem, Recording};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let path = matches.get_one::<String>("document").map_or("", String::as_str);
    let document = match read(path) {
        Ok(document) => document,
        Err(says) => {
            say(&format!("{path}: {says}"));
            return ExitCode::from(2);
        }
    };
    match recorded() {
        Ok([fixed, loopback]) => {
            let (text, fits) = report::of(&document, &fixed, &loopback);
            say(&text);
            if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            say(&format!("the adapter could not be recorded: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The one argument.
fn command() -> Command {
    let document = Arg::new("document").value_name("FILE").required(true);
    Command::new("check-contract")
        .about("Whether the adapter speaks as Discord's OpenAPI document says")
        .arg(document.help("Discord's OpenAPI document"))
}

fn read(path: &str) -> Result<Document, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Document::read(&text, CORRECTIONS).map_err(|error| error.to_string())
}

fn recorded() -> Result<[Recording; 2], Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        Ok([recordings::with_fixed_answers().await?, recordings::with_loopback().await?])
    })
}

fn say(text: &str) {
    // Nothing is to be done when the reader has closed the pipe.
    drop(writeln!(io::stdout(), "{text}"));
}
