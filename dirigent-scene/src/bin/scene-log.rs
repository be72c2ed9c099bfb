//! `scene-log` replays, compares, transcribes and draws event logs of scenes.
#![expect(clippy::print_stdout, reason = "a program's output")]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use dirigent_scene::{
    CastRole, Comparison, EventKind, Picture, Playback, SceneEvent, SceneLog, SceneSummary,
    Transcript,
};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let done = match matches.subcommand() {
        Some(("replay", matches)) => replay(matches),
        Some(("compare", matches)) => compare(matches),
        Some(("summary", matches)) => summary(matches),
        Some(("transcript", matches)) => transcript(matches),
        Some(("picture", matches)) => picture(matches),
        _ => Ok(ExitCode::from(2)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("scene-log: {error}");
        ExitCode::FAILURE
    })
}

fn log_argument(name: &'static str) -> Arg {
    let help = "An event log: events.json, or events.jsonl of a scene that runs or was killed";
    Arg::new(name).value_name("LOG").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

fn command() -> Command {
    let speed = Arg::new("speed").long("speed").value_name("FACTOR").value_parser(positive);
    let until = Arg::new("until").long("until").value_name("SECONDS").value_parser(seconds);
    let at_once = Arg::new("at-once").long("at-once").action(ArgAction::SetTrue);
    let thinking = Arg::new("all").long("all").action(ArgAction::SetTrue);
    let replay = Command::new("replay")
        .about("Shows a scene again, in its own time")
        .arg(log_argument("log"))
        .arg(speed.default_value("1").help("How many times as fast"))
        .arg(until.help("Ends at this moment of the scene"))
        .arg(at_once.conflicts_with("speed").help("Without waiting"))
        .arg(thinking.help("Shows every event; otherwise what was said, and the end"));
    let compare = Command::new("compare")
        .about("Puts two scenes beside one another: turns, lengths, corrections, reasons, times. Exit code 1 when they differ")
        .arg(log_argument("first"))
        .arg(log_argument("second"));
    let summary = Command::new("summary").about("Counts one scene").arg(log_argument("log"));
    let title = || {
        Arg::new("title").long("title").value_name("TEXT").default_value("Scene").help("Its title")
    };
    let transcript = Command::new("transcript")
        .about(
            "Writes the transcript of a scene, also of one that was killed, to the standard output",
        )
        .arg(log_argument("log"))
        .arg(title());
    let picture = Command::new("picture")
        .about("Draws a scene as an HTML file, to the standard output")
        .arg(log_argument("log"))
        .arg(title());
    Command::new("scene-log")
        .about("Reads event logs of scenes")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([replay, compare, summary, transcript, picture])
}

fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number >= 0.0 {
        Ok(number)
    } else {
        Err("not a number from 0 on".into())
    }
}

fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|number| {
        if number > 0.0 { Ok(number) } else { Err("must be greater than 0".into()) }
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(text)?).map_err(|error| error.to_string())
}

type Done = Result<ExitCode, Box<dyn std::error::Error>>;

fn read(matches: &ArgMatches, name: &str) -> Result<SceneLog, Box<dyn std::error::Error>> {
    let path = matches.get_one::<PathBuf>(name).ok_or("no log was named")?;
    let log = SceneLog::read(path)?;
    if log.is_cut() {
        eprintln!("scene-log: {} ends within a line, which is left out", path.display());
    }
    Ok(log)
}

#[expect(clippy::disallowed_methods, reason = "a program that shows a scene in its time waits")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

fn replay(matches: &ArgMatches) -> Done {
    let log = read(matches, "log")?;
    let speed = matches.get_one::<f64>("speed").copied().unwrap_or(1.0);
    let mut playback =
        if matches.get_flag("at-once") { Playback::at_once() } else { Playback::scaled(speed) };
    if let Some(until) = matches.get_one::<Duration>("until") {
        playback = playback.until(*until);
    }
    let all = matches.get_flag("all");
    let mut out = std::io::stdout().lock();
    for step in playback.steps(&log) {
        wait(step.wait);
        if all || matches!(step.event.kind, EventKind::Speak | EventKind::Close) {
            // A reader that has seen enough closes the pipe.
            if writeln!(out, "{}", line(step.event)).and_then(|()| out.flush()).is_err() {
                break;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an event as a line for a terminal, without control characters.
fn line(event: &SceneEvent) -> String {
    let text: String = event.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let target = event.target.as_ref().map_or_else(String::new, |slug| format!(" → {slug}"));
    let whispered = event.audience.as_ref().map_or("", |_| " (whispered)");
    let kind = event.kind.as_str();
    let at = event.at.as_secs_f64();
    format!("{at:9.3} {kind:8} {}{target}{whispered}: {text}", event.from.as_str())
}

fn compare(matches: &ArgMatches) -> Done {
    let comparison = Comparison::of(&read(matches, "first")?, &read(matches, "second")?);
    print!("{comparison}");
    Ok(if comparison.is_same() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn summary(matches: &ArgMatches) -> Done {
    let log = read(matches, "log")?;
    let SceneSummary { events, duration, reason, characters, .. } = SceneSummary::of(&log);
    println!(
        "{events} events in {:.1} s; {}",
        duration.as_secs_f64(),
        reason.map_or("not ended", |reason| reason.as_str())
    );
    for (slug, part) in characters {
        println!(
            "{slug}: {} turns of {} words, {} whispered, {} corrections, {} entries, {:.1} s",
            part.turns,
            part.words_a_turn(),
            part.whispers,
            part.corrections,
            part.journals,
            part.speaking_time.as_secs_f64()
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn title(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("title").map_or("Scene", String::as_str)
}

fn transcript(matches: &ArgMatches) -> Done {
    let log = read(matches, "log")?;
    let roles = log.characters().into_iter().map(|slug| {
        let name = slug.as_str().to_owned();
        CastRole::new(slug, name)
    });
    print!("{}", Transcript::new(title(matches), roles).render(log.events()));
    Ok(ExitCode::SUCCESS)
}

fn picture(matches: &ArgMatches) -> Done {
    let log = read(matches, "log")?;
    print!("{}", Picture::of(title(matches), &log).render(log.events()));
    Ok(ExitCode::SUCCESS)
}
