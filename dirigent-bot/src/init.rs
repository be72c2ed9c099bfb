//! `dirigent init`: asks questions, and writes a configuration.

#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::bot::Result;
use crate::config::BotConfig;
use crate::problem::Text;
use crate::secret::drawn;

/// The flags of `dirigent init`. It asks for what they leave out.
#[derive(Debug, clap::Args)]
pub(crate) struct InitFlags {
    /// The id of the channel in which agents take turns.
    #[arg(long, value_name = "ID")]
    channel: Option<String>,
    /// The agents' names, separated by commas: two or more.
    #[arg(long, value_name = "NAMES")]
    agents: Option<String>,
    /// The base address of an endpoint with OpenAI's chat completions.
    #[arg(long, value_name = "URL")]
    model: Option<String>,
    /// The model's name at that endpoint.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

const NEXT: &str =
    "  export DISCORD_TOKEN=…   # of a bot with Message Content Intent, invited with Manage Webhooks
  dirigent check && dirigent run";

/// Each flag, with the question that replaces it, and the usual answer.
const ASKED: [(&str, &str, &str); 4] = [
    ("channel", "The channel's id (Discord's Developer Mode copies it)", ""),
    ("agents", "The agents' names, separated by commas", "Optimist, Sceptic"),
    ("model", "The model's address", "http://127.0.0.1:11434/v1"),
    ("name", "The model's name there", "llama3.2"),
];

/// Writes the file, unless there is one.
pub(crate) fn init(file: &Path, flags: InitFlags) -> Result {
    if file.exists() {
        return Err(format!("{} exists: name another one with --config", file.display()).into());
    }
    let InitFlags { channel, agents, model, name } = flags;
    let mut answers = Vec::new();
    for (given, (flag, question, usual)) in [channel, agents, model, name].into_iter().zip(ASKED) {
        let answer = asked(given, question, usual);
        answers.push(answer.ok_or_else(|| format!("give --{flag}, or answer the question"))?);
    }
    let [channel, agents, url, name] = answers.as_slice() else { return Ok(()) };
    let (head, agent) = include_str!("init.toml").split_once("AGENT").unwrap_or_default();
    let mut text = head.replace("CHANNEL", &format!("{channel:?}"));
    for face in agents.split(',').map(str::trim).filter(|face| !face.is_empty()) {
        let agent = agent.replace("ID", &format!("{:?}", face.to_lowercase()));
        let agent = agent.replace("FACE", &format!("{face:?}")).replace("URL", &format!("{url:?}"));
        text += &agent.replace("MODEL", &format!("{name:?}"));
    }
    let text_of_file = Text::new(file, text.as_str());
    BotConfig::parse(&text_of_file)?;
    write(file, &text)?;
    let token = file.with_file_name("operator.token");
    if !token.exists() {
        write(&token, &drawn()?)?;
    }
    let (file, token) = (file.display(), token.display());
    println!("{file} is written, and {token} has the control page's token. Next:\n{NEXT}");
    Ok(())
}

/// Returns the given or the typed answer; an empty line is the default.
fn asked(given: Option<String>, question: &str, default: &str) -> Option<String> {
    given.or_else(|| {
        let mut line = String::new();
        print!("{question} [{default}]: ");
        std::io::stdout().flush().and_then(|()| std::io::stdin().read_line(&mut line)).ok()?;
        let line = if line.ends_with('\n') { line.trim() } else { return None };
        Some(if line.is_empty() { default } else { line }.to_owned())
    })
}

/// Writes a new file that other users cannot read.
fn write(path: &Path, text: &str) -> Result {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}
