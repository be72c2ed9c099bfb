//! The program `dirigent`: a moderator for AI agents on Discord, from one TOML file.

// `config` is the file as it stands; `secret`, `problem` and `rules` read and check it. `bot` builds the moderator from
// it, and `cluster` its part among several processes. `run` and `demo` run that, `reload` changes it while it runs, and
// `check` examines it. `init` writes a file, `moving` moves stored channels into PostgreSQL, and `trace` reads
// recordings.

mod bot;
mod check;
mod cluster;
mod config;
mod demo;
mod init;
mod moving;
mod problem;
mod reload;
mod rules;
mod run;
mod secret;
mod trace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use {demo::DemoFlags, init::InitFlags};

/// Keeps turns among AI agents on Discord: one of them speaks at a time.
#[derive(Debug, Parser)]
#[command(name = "dirigent", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The configuration.
    #[arg(long, short, global = true, value_name = "FILE", default_value = "dirigent.toml")]
    config: PathBuf,
    /// Log more: also each turn.
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a table in this terminal: no account, no token, no model.
    Demo(DemoFlags),
    /// Write a configuration: asks for what the flags do not say.
    Init(InitFlags),
    /// Find what is wrong in the file, at Discord, in the store, and at the models. Ends with 1 if anything is.
    Check {
        /// Print one JSON object in place of lines.
        #[arg(long)]
        json: bool,
    },
    /// Run the moderator that a file describes. SIGHUP reads the file again.
    Run,
    /// Move a SQLite file or a JSON folder into the PostgreSQL database of the configuration. End `dirigent run` first.
    Move {
        /// `dirigent.sqlite`, or the folder of a JSON store.
        #[arg(value_name = "FILE|FOLDER")]
        from: PathBuf,
    },
    /// Print a recording as a table: who was asked, who was denied, and why; or the state of a channel in a JSON store.
    Trace {
        /// A file that `ChannelRecording::save` wrote, or a channel's file in the folder of a JSON store:
        /// `channels/<id>.json`.
        #[arg(value_name = "RECORDING|CHANNEL")]
        file: PathBuf,
        /// Print a Mermaid sequence diagram of a recording instead of a table.
        #[arg(long)]
        mermaid: bool,
    },
    #[command(flatten)]
    Lab(dirigent_lab::program::LabCommand),
}

fn main() -> ExitCode {
    let Arguments { command, config, verbose } = Arguments::parse();
    let level = match (&command, verbose) {
        (_, true) => Level::DEBUG,
        (Command::Run, false) => Level::INFO,
        _ => Level::ERROR,
    };
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).finish();
    // rmcp logs whole requests, with the words in them.
    log.with(Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF)).init();
    let is_well = begin(command, &config).inspect_err(|error| eprintln!("{error}"));
    ExitCode::from(u8::from(!is_well.unwrap_or(false)))
}

/// Returns whether all is well.
fn begin(command: Command, config: &Path) -> bot::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match command {
            Command::Check { json } => check::check(config, json).await,
            Command::Demo(flags) => demo::demo(flags).await.map(|()| true),
            Command::Init(flags) => init::init(config, flags).map(|()| true),
            Command::Run => run::run(config).await.map(|()| true),
            Command::Move { from } => moving::move_in(config, &from).await.map(|()| true),
            Command::Trace { file, mermaid } => show(&file, trace::trace(&file, mermaid)),
            Command::Lab(command) => command.run(config, &mut std::io::stdout()),
        }
    });
    // A thread that waits for a line must not keep the process alive.
    runtime.shutdown_background();
    ended
}

#[expect(clippy::print_stdout, reason = "this is what one came to see")]
fn show(file: &Path, told: bot::Result<String>) -> bot::Result<bool> {
    print!("{}", told.map_err(|error| format!("{}: {error}", file.display()))?);
    Ok(true)
}
