//! A scripted language model on this machine, so that you can develop a bot without a real one.
//!
//! ```text
//! cargo run -p dirigent-llm --features program -- --port 8089
//! cargo run -p dirigent-llm --features program -- --script answers.jsonl
//! ```
//!
//! It prints its address. Without a script it says a few lines in turn. Between them it does everything that a model
//! and its endpoint do wrong. For example, it puts reasoning into the text or into a field, writes names before its
//! words, and sometimes has nothing to say. The endpoint limits the rate, fails, breaks the connection, or answers with
//! something that is not JSON.
#![expect(clippy::print_stdout, reason = "the address is the output")]

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};

fn command() -> Command {
    let port = Arg::new("port").long("port").value_name("PORT").value_parser(value_parser!(u16));
    let script =
        Arg::new("script").long("script").value_name("FILE").value_parser(value_parser!(PathBuf));
    let pause = Arg::new("pause").long("pause").value_name("MS").value_parser(value_parser!(u64));
    Command::new("loopback-llm")
        .about("A language model by script on 127.0.0.1, behind OpenAI's chat completions")
        .arg(port.default_value("0").help("The port to listen on; 0 takes a free one"))
        .arg(script.help(
            "The answers, over and over: a JSON object in each line, such as {\"text\": \"Hello\"}",
        ))
        .arg(pause.default_value("0").help("Milliseconds before each word"))
}

fn main() -> ExitCode {
    let matches = command().get_matches();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(&matches))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(matches: &ArgMatches) -> io::Result<()> {
    let mut answers = match matches.get_one::<PathBuf>("script") {
        Some(path) => read(&std::fs::read_to_string(path)?)?,
        None => ScriptedAnswer::evening(),
    };
    let pause = matches.get_one("pause").copied().unwrap_or_default();
    for answer in &mut answers {
        answer.pause_ms = answer.pause_ms.max(pause);
    }
    let model = LoopbackLlm::start_on(matches.get_one("port").copied().unwrap_or_default()).await?;
    model.cycle(answers);
    println!("{}", model.url());
    tokio::signal::ctrl_c().await
}

fn read(script: &str) -> io::Result<Vec<ScriptedAnswer>> {
    let lines = script.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let answer = |(line, number): (&str, usize)| {
        serde_json::from_str(line)
            .map_err(|error| io::Error::other(format!("line {number} of the script: {error}")))
    };
    lines.map(answer).collect()
}
