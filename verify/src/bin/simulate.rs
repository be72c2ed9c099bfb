//! Long runs of the simulation.
//!
//! ```text
//! cargo run --release -p dirigent-verify -- --steps 2e9 --seed 1_000_000 \
//!     --commit "$(git rev-parse --short HEAD)" --ledger verify/ledger.csv
//! ```
//!
//! Prints how far it is now and then, and the first failing seed with its last inputs. With
//! `--ledger`, appends a line: commit, harness, first seed, seeds, steps, turns, faults, restarts,
//! simulated days, failures.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clap::builder::ValueParser;
use clap::{Arg, ArgMatches, Command};
use dirigent_verify::simulation::{Profile, Report, simulate};

/// What was asked for.
#[derive(Debug)]
struct Arguments {
    steps: u64,
    seed: u64,
    steps_a_seed: u64,
    commit: String,
    ledger: Option<String>,
}

/// What the threads share.
#[derive(Debug)]
struct Progress {
    next: AtomicU64,
    end: u64,
    total: Mutex<Report>,
    failures: AtomicU64,
}

fn main() -> ExitCode {
    run(&Arguments::read(&command().get_matches()))
}

/// The flags.
fn command() -> Command {
    let count = |name: &'static str, usual: &'static str| {
        let flag = Arg::new(name).long(name).value_name("N").default_value(usual);
        flag.value_parser(ValueParser::new(number))
    };
    Command::new("simulate")
        .about("Long runs of the simulation; numbers may be written as 2_000_000 or 2e6")
        .arg(count("steps", "2e7").help("How many steps all seeds make together"))
        .arg(count("seed", "1").help("The first seed"))
        .arg(count("steps-a-seed", "10_000").help("How many steps each seed makes"))
        .arg(
            Arg::new("commit")
                .long("commit")
                .value_name("NAME")
                .help("What the ledger calls this state"),
        )
        .arg(
            Arg::new("ledger")
                .long("ledger")
                .value_name("FILE")
                .help("Appends a line to this file"),
        )
}

impl Arguments {
    fn read(matches: &ArgMatches) -> Self {
        let count = |name| matches.get_one(name).copied().unwrap_or_default();
        let text = |name| matches.get_one::<String>(name).cloned();
        Self {
            steps: count("steps"),
            seed: count("seed"),
            steps_a_seed: u64::max(count("steps-a-seed"), 1),
            commit: text("commit").unwrap_or_else(|| "unknown".to_owned()),
            ledger: text("ledger"),
        }
    }
}

/// `2000000`, `2_000_000` or `2e6`.
fn number(text: &str) -> Result<u64, String> {
    let wrong = |_| format!("{text} is no number");
    let plain = text.replace('_', "");
    match plain.split_once('e') {
        Some((digits, zeros)) => {
            let zeros = zeros.parse().map_err(wrong)?;
            let digits: u64 = digits.parse().map_err(wrong)?;
            let power = 10_u64.checked_pow(zeros);
            let product = power.and_then(|power| digits.checked_mul(power));
            product.ok_or_else(|| format!("{text} is too much"))
        }
        None => plain.parse().map_err(wrong),
    }
}

fn run(arguments: &Arguments) -> ExitCode {
    let seeds = arguments.steps.div_ceil(arguments.steps_a_seed);
    let progress = Progress {
        next: AtomicU64::new(arguments.seed),
        end: arguments.seed.saturating_add(seeds),
        total: Mutex::new(Report::default()),
        failures: AtomicU64::new(0),
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| live(&progress, arguments, seeds));
        }
    });
    let total = progress.total.into_inner().unwrap_or_default();
    let failures = progress.failures.into_inner();
    say(&format!("{seeds} seeds from {}: {total}, {failures} failures", arguments.seed));
    if let Some(path) = &arguments.ledger {
        if let Err(error) = write_ledger(path, arguments, seeds, &total, failures) {
            say(&format!("{path}: {error}"));
            return ExitCode::FAILURE;
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One thread: takes seed after seed.
fn live(progress: &Progress, arguments: &Arguments, seeds: u64) {
    let often = (seeds / 20).max(1);
    let profile = Profile::default();
    loop {
        let seed = progress.next.fetch_add(1, Ordering::Relaxed);
        if seed >= progress.end {
            return;
        }
        match simulate(seed, arguments.steps_a_seed, &profile) {
            Ok(report) => {
                if let Ok(mut total) = progress.total.lock() {
                    *total += report;
                }
            }
            Err(failure) => {
                progress.failures.fetch_add(1, Ordering::Relaxed);
                say(&format!("commit={} {failure}", arguments.commit));
            }
        }
        let done = seed + 1 - arguments.seed;
        if done % often == 0 {
            say(&format!("{done} of {seeds} seeds"));
        }
    }
}

fn write_ledger(
    path: &str,
    arguments: &Arguments,
    seeds: u64,
    total: &Report,
    failures: u64,
) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if file.metadata()?.len() == 0 {
        writeln!(
            file,
            "commit,harness,first_seed,seeds,steps,turns,faults,restarts,simulated_days,failures"
        )?;
    }
    writeln!(
        file,
        "{},simulation,{},{seeds},{},{},{},{},{},{failures}",
        arguments.commit,
        arguments.seed,
        total.steps,
        total.turns,
        total.faults,
        total.restarts,
        total.simulated.as_secs() / 86_400
    )
}

fn say(text: &str) {
    // Nothing is to be done when the reader has closed the pipe.
    drop(writeln!(io::stdout(), "{text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_people_write_them() {
        let read = |words: &[&str]| {
            let matches = command().try_get_matches_from([&["simulate"], words].concat());
            matches.map(|matches| Arguments::read(&matches)).ok()
        };
        assert_eq!(read(&["--steps", "2e9"]).unwrap().steps, 2_000_000_000);
        assert_eq!(read(&["--seed", "1_000"]).unwrap().seed, 1_000);
        let usual = read(&["--steps-a-seed", "0"]).unwrap();
        assert_eq!((usual.steps, usual.steps_a_seed), (20_000_000, 1));
        assert!(read(&["--steps", "2e99"]).is_none());
        assert!(read(&["--sede", "7"]).is_none());
    }
}
