//! Bots of all kinds at one table, through the real programs, while events are lost and each is killed once.
//!
//! ```text
//! whole-table --python venv/bin/python --bots FOLDER --seed 1 --document discord-openapi.json
//! ```
//!
//! Three unmodified bots on discord.py that answer when they are mentioned, three personas with a scripted model, and two bots
//! that ask the front (discord.py, discord.js) hold a table of `dirigent run` in the loopback Discord, for 100 turns. 5 % of the
//! gateway's events are lost. Each bot, each asker and `dirigent` itself is killed once, and started again.
//!
//! A judge then compares what the chat has seen with what `dirigent` told: the transitions in its log, and `/v1/why`. It ends
//! with 1 if something is wrong, and prints what was said and told.
#![expect(clippy::print_stdout, reason = "a program tells what it found")]

mod evening;
mod floor;
mod judge;
mod party;
mod stage;
mod told;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Command, value_parser};

pub(crate) type Result<T = (), E = Box<dyn std::error::Error + Send + Sync>> =
    std::result::Result<T, E>;

/// Where everything is, and how it is played.
pub(crate) struct Flags {
    /// The Python that has discord.py.
    pub(crate) python: String,
    /// The folder with the bots: `helper.py`, `bot.py`, `bot.mjs`, and the clients that those need.
    pub(crate) bots: PathBuf,
    /// The program `dirigent`.
    pub(crate) dirigent: PathBuf,
    /// Discord's OpenAPI document, if there is one.
    pub(crate) document: Option<PathBuf>,
    /// What decides which events are lost.
    pub(crate) seed: u64,
}

fn command() -> Command {
    let path = |name: &'static str| {
        Arg::new(name).long(name).value_name("PATH").value_parser(value_parser!(PathBuf))
    };
    let seed = Arg::new("seed").long("seed").default_value("1").value_parser(value_parser!(u64));
    Command::new("whole-table")
        .about("Bots of all kinds at one table, while events are lost and each is killed once")
        .arg(
            Arg::new("python").long("python").required(true).help("The Python that has discord.py"),
        )
        .arg(path("bots").required(true).help("The folder with the bots and their clients"))
        .arg(path("dirigent").required(true).help("The program dirigent"))
        .arg(path("document").help("Discord's OpenAPI document"))
        .arg(seed.help("Decides which events are lost"))
}

impl Flags {
    fn read() -> Self {
        let matches = command().get_matches();
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        Self {
            python: matches.get_one("python").cloned().unwrap_or_default(),
            bots: path("bots").unwrap_or_default(),
            dirigent: path("dirigent").unwrap_or_default(),
            document: path("document"),
            seed: matches.get_one("seed").copied().unwrap_or_default(),
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match play(&Flags::read()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(flags: &Flags) -> Result {
    let mut stage = stage::Table::set(flags).await?;
    let judged = match evening::play(&mut stage, flags.seed).await {
        Ok(played) => judge::judge(&mut stage, flags, &played).await,
        Err(error) => Err(error),
    };
    judged.map_err(|error| {
        format!("{}\n-- the judge (seed {})\n{error}", stage.story(), flags.seed).into()
    })
}
