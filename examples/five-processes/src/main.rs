//! One bot as five processes on one PostgreSQL and one Discord on this machine. Each acts for a share of the channels, and has one of the
//! five gateway shards; they ask each other over NATS. Three agents are called in whichever process acts for the channel, and two ask for
//! themselves, in two of the processes.
//!
//! ```text
//! cargo run -p five-processes
//! ```
//!
//! People keep talking, also in threads, which begin (`--thread`) and are deleted, and edit and delete what they said (`--change`), while
//! processes are killed (`--kills`), stand still (`--pauses`), are cut off from the others, the database or everything (`--cuts`), lose the NATS server (`--nats`), or are
//! restarted one after the other as for an upgrade (`--rolls`). The last line is JSON; the program fails unless `doubled`, `lost` and
//! `two_allowed` are 0, and `lost_turns` too where only `--rolls` happened. For these take a time to live as in earnest, `--ttl 10000`, and
//! `--long 0`: a turn that takes longer than half of it is lost when its channel changes hands. A run that fails keeps what was judged,
//! and says where: a file in the folder for temporary files, with what the processes said of their agents and all that was said.
//!
//! | | |
//! | --- | --- |
//! | `posted` | messages of agents |
//! | `doubled` | turns that stand in a channel twice, or after a later one |
//! | `lost` | words of people that no agent heard, and that were not deleted |
//! | `lost_turns` | turns for which an agent was called, or got permission when it asked, that posted nothing in the end though it did not pass |
//! | `two_allowed` | times at which an agent got permission to speak in a channel while another one had it: until its reply was posted, or until its run was over without one |
//! | `longest_wait_ms` | from a word to the first reply of who heard it |

mod agents;
mod ask;
mod bot;
mod fleet;
mod gate;
mod ledger;
mod orders;
mod people;
mod strike;
mod verdict;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use fleet::{Fleet, Setting};
use people::Habits;
use strike::Strike;
use verdict::Verdict;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn command() -> Command {
    let number = |name: &'static str, default: &'static str| {
        let arg = Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u32));
        arg.default_value(default)
    };
    Command::new("five-processes")
        .about("One bot as five processes, while processes and networks fail")
        .arg(number("kills", "2").help("How often a process is killed in the middle of a turn"))
        .arg(number("pauses", "1").help("How often one stands still"))
        .arg(
            number("cuts", "3")
                .help("How often one is cut off: from the others, the database, everything"),
        )
        .arg(number("nats", "1").help("How often the NATS server is killed, and away as long as a cut"))
        .arg(number("rolls", "0").help("How often all are restarted, one after the other"))
        .arg(number("pause-ms", "30000").help("How long one stands still"))
        .arg(number("cut-ms", "10000").help("How long one is cut off"))
        .arg(number("ttl", "2000").help("How long a lease lasts, in milliseconds"))
        .arg(number("channels", "10").help("In how many channels people talk"))
        .arg(number("resting", "0").help("How many further channels are silent"))
        .arg(
            number("requests", "1000")
                .help("How many requests a second each process but the first sends; Discord allows a bot 50 in all"),
        )
        .arg(
            number("asking", "10")
                .help("In how many of them two agents of their own gateway connection take part"),
        )
        .arg(
            number("long", "25").help(
                "How many runs there are to one that takes one and a half leases; 0: none does",
            ),
        )
        .arg(number("word-ms", "500").help("A word is said in the next channel this often"))
        .arg(
            number("thread", "10")
                .help("How many words there are to one with which a thread begins; 0: none does"),
        )
        .arg(number("change", "20").help(
            "How many words there are to one that is edited, and to one that is deleted; 0: none is",
        ))
        .arg(number("talk-ms", "5000").help("How long they talk before the first"))
        .arg(
            Arg::new("transcript")
                .long("transcript")
                .action(ArgAction::SetTrue)
                .help("Print all that was said to the standard error"),
        )
        .arg(Arg::new("bot").long("bot").action(ArgAction::SetTrue).hide(true))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let matches = command().get_matches();
    let ended = if matches.get_flag("bot") {
        bot::run().await.map(|()| true)
    } else {
        show(&matches).await
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

/// Has people talk and processes fail; returns whether all is as it should be.
async fn show(matches: &ArgMatches) -> Result<bool> {
    let number = |name: &str| matches.get_one::<u32>(name).copied().unwrap_or_default();
    let millis = |name: &str| Duration::from_millis(number(name).into());
    let setting = Setting {
        ttl: millis("ttl"),
        channels: number("channels").max(1),
        resting: number("resting"),
        requests: number("requests").max(1),
        asking: number("asking"),
        long: number("long"),
        habits: Habits {
            word: millis("word-ms"),
            thread: number("thread"),
            change: number("change"),
        },
    };
    let mut fleet = Fleet::start(setting).await?;
    fleet.wait(millis("talk-ms")).await;
    let (pause, cut) = (millis("pause-ms"), millis("cut-ms"));
    let strikes = Strike::all(
        number("kills"),
        (number("pauses"), pause),
        (number("cuts"), cut),
        number("nats"),
        number("rolls"),
    );
    let only_rolls = strikes.iter().all(|strike| *strike == Strike::Roll);
    for (number, strike) in strikes.iter().enumerate() {
        eprintln!("{} of {}: {strike}", number + 1, strikes.len());
        fleet.strike(*strike, number).await?;
    }
    let verdict = Verdict::when_all_is_heard(&mut fleet).await?;
    if matches.get_flag("transcript") {
        eprint!("{}", fleet.transcript());
    }
    let is_right = verdict.is_right(only_rolls);
    if !is_right {
        eprintln!("what was judged is kept in {}", fleet.keep()?.display());
    }
    fleet.end().await?;
    for detail in verdict.details() {
        eprintln!("{detail}");
    }
    #[expect(clippy::print_stdout, reason = "it is what the program is for")]
    {
        println!("{}", verdict.json());
    }
    Ok(is_right)
}
