//! Personas talk through a model, in a Discord in memory.
//!
//! ```text
//! cargo run -p dirigent-llm --example llm_roundtable -- --url http://127.0.0.1:11434/v1 --model llama3.2 --turns 30
//! ```
//!
//! The evening ends after `--turns` turns of agents. When the channel becomes dormant, a scripted person says the next
//! thing. With `--every 25` the person also speaks after each 25 turns, and after the last turn the evening goes on
//! until the channel is dormant. The last line is JSON with the counts. Put an API key into `DIRIGENT_LLM_KEY`. If you
//! want to be that person yourself, run `dirigent demo --model URL`.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

mod count;
mod table;

use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use dirigent::AgentError;

use table::{AGENTS, Flags, Table};

fn command() -> Command {
    let url = Arg::new("url").long("url").value_name("URL").required(true);
    let model = Arg::new("model").long("model").value_name("NAME").required(true);
    let turns = Arg::new("turns").long("turns").value_name("N").value_parser(value_parser!(u64));
    let tokens = Arg::new("tokens").long("tokens").value_name("N").value_parser(value_parser!(u64));
    let messages = Arg::new("messages").long("messages").value_name("N");
    let seed = Arg::new("seed").long("seed").value_name("N").value_parser(value_parser!(u64));
    let agents = Arg::new("agents").long("agents").value_name("N");
    let every = Arg::new("every").long("every").value_name("N").value_parser(value_parser!(u64));
    let temperature = Arg::new("temperature").long("temperature").value_name("T");
    let record = Arg::new("record").long("record").value_name("FILE");
    let keep = Arg::new("keep-repetitions").long("keep-repetitions").action(ArgAction::SetTrue);
    Command::new("llm_roundtable")
        .about("Personas with a model, in a Discord in memory")
        .arg(url.help("The base address of the endpoint, which mostly ends with /v1"))
        .arg(model.help("The model's name there"))
        .arg(turns.default_value("30").help("Ends after this number of agents' turns"))
        .arg(tokens.default_value("80").help("The most tokens of a reply"))
        .arg(
            messages
                .default_value("16")
                .value_parser(value_parser!(usize))
                .help("The most messages of the channel in a prompt"),
        )
        .arg(seed.help("Draws and shuffles with this seed, so that an evening can be had again"))
        .arg(
            agents
                .default_value("3")
                .value_parser(RangedU64ValueParser::<usize>::new().range(2..=AGENTS as u64))
                .help("The number of agents"),
        )
        .arg(every.help(
            "The person also speaks after this number of turns, and the evening ends when all are silent",
        ))
        .arg(
            temperature
                .value_parser(value_parser!(f64))
                .help("How much chance there is in what the model says; 0 for none"),
        )
        .arg(keep.help("Posts also what says what was said, to compare evenings"))
        .arg(record.help("Writes down everything that the library was told, for `dirigent trace`"))
}

fn flags(matches: &ArgMatches) -> Flags {
    let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    Flags {
        url: text("url"),
        model: text("model"),
        turns: matches.get_one("turns").copied().unwrap_or_default(),
        tokens: matches.get_one("tokens").copied().unwrap_or_default(),
        messages: matches.get_one("messages").copied().unwrap_or_default(),
        agents: matches.get_one("agents").copied().unwrap_or_default(),
        every: matches.get_one("every").copied(),
        seed: matches.get_one("seed").copied(),
        temperature: matches.get_one("temperature").copied(),
        keeps_repetitions: matches.get_flag("keep-repetitions"),
        record: matches.get_one("record").cloned(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, AgentError> {
    let flags = flags(&command().get_matches());
    let counted = Table::set(flags).await?.evening().await?;
    println!("{counted}");
    Ok(if counted.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
