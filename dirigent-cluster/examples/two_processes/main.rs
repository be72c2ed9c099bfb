//! One bot as two processes on one PostgreSQL and one Discord on this machine: the one that has the floor is killed in the middle
//! of a turn, and the other goes on.
//!
//! ```text
//! cargo run -p dirigent-cluster --features postgres --example two_processes
//! ```
//!
//! People keep talking meanwhile. At the end every word of theirs must have been heard by an agent, no turn may stand in a
//! channel twice, and no process may have had an agent speak in a channel while another process had one speak there. The last
//! line is JSON: how many replies were `posted`, how many turns are `doubled`, how many words are `lost`, how many runs were
//! `overlapping` one of another process, and the longest take-over in milliseconds, from the kill to the next agent
//! that speaks. `--kills`, `--pauses`, `--restarts`, `--fail-overs` and `--ttl` make more of it.

mod bot;
mod fleet;
mod runs;
mod verdict;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, Command, value_parser};

use fleet::{Fleet, How};
use verdict::Verdict;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How long the last words may take to be heard.
const PATIENCE: Duration = Duration::from_secs(60);

fn command() -> Command {
    let number = |name: &'static str, default: &'static str| {
        let arg = Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u32));
        arg.default_value(default)
    };
    Command::new("two_processes")
        .about("One bot as two processes: the one that has the floor is killed, the other goes on")
        .arg(number("kills", "1").help("How often the process that has the floor is killed"))
        .arg(number("pauses", "0").help("How often it is paused until another has gone on"))
        .arg(number("restarts", "0").help("How often the database is killed and started again"))
        .arg(number("fail-overs", "0").help("How often its synchronous standby takes its place"))
        .arg(number("ttl", "2000").help("How long a lease lasts, in milliseconds"))
        .arg(number("channels", "4").help("In how many channels people talk"))
        .arg(Arg::new("bot").long("bot").action(ArgAction::SetTrue).hide(true))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let matches = command().get_matches();
    let number = |name: &str| matches.get_one::<u32>(name).copied().unwrap_or_default();
    let ended = if matches.get_flag("bot") {
        bot::run().await.map(|()| true)
    } else {
        let ttl = Duration::from_millis(number("ttl").into());
        let strikes = [
            (How::Kill, number("kills")),
            (How::Pause, number("pauses")),
            (How::RestartDatabase, number("restarts")),
            (How::FailOver, number("fail-overs")),
        ];
        show(ttl, number("channels"), strikes).await
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Has people talk and processes die; returns whether nothing was doubled or lost, and one process at a time had the floor.
async fn show(ttl: Duration, channels: u32, strikes: [(How, u32); 4]) -> Result<bool> {
    let has_standby = strikes.iter().any(|(how, times)| *how == How::FailOver && *times > 0);
    let mut fleet = Fleet::start(ttl, channels, has_standby).await?;
    let mut takeovers = Vec::new();
    for (how, times) in strikes {
        for number in 1..=times {
            let took = fleet.strike(how).await?;
            eprintln!(
                "{how:?} {number} of {times}: the next agent spoke after {} ms",
                took.as_millis()
            );
            takeovers.push(took);
        }
    }
    let deadline = fleet.now() + PATIENCE;
    let mut verdict = Verdict::of(&mut fleet);
    while verdict.lost > 0 && fleet.now() < deadline {
        fleet.wait(Duration::from_millis(100)).await;
        verdict = Verdict::of(&mut fleet);
    }
    fleet.end().await?;
    let longest = takeovers.iter().max().map_or(0, Duration::as_millis);
    let Verdict { posted, doubled, lost, overlapping } = verdict;
    for run in &overlapping {
        eprintln!("{run}");
    }
    let overlapping = overlapping.len();
    #[expect(clippy::print_stdout, reason = "it is what the program is for")]
    {
        println!(
            "{{\"posted\": {posted}, \"doubled\": {doubled}, \"lost\": {lost}, \"overlapping\": {overlapping}, \"takeover_ms\": {longest}}}"
        );
    }
    Ok(doubled == 0 && lost == 0 && overlapping == 0)
}
