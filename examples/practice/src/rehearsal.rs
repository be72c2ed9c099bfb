//! What every bot shows on this machine, for the tests of each.

use std::process::Command;

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};

/// The script of the rehearsal, in this order: each line follows from the one before.
const WORDS: [&str; 11] = [
    "/set-channel-mode chat: The mode of this channel is now chat.",
    "You: Should we build the new search?",
    "optimist: Let us just do it, it takes a week at most!",
    "sceptic: And who is going to use it?",
    "historian: The same was asked in 1998, without an answer.",
    "dormant: no agent had anything to add",
    "You: And what would be the first step?",
    "optimist: I knew that this question would come!",
    "sceptic: Has anybody tried that before?",
    "historian: Twice, and both times it was raining.",
    "dormant: no agent had anything to add",
];

/// Lets a bot's program play its evening, and looks whether everything was said once and in order.
///
/// # Errors
///
/// What went wrong, with what the program said.
pub fn rehearse(program: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    let played = command.arg("--fast").args(arguments).env_remove("DISCORD_TOKEN").output();
    let played = played.map_err(|error| format!("{program} did not start: {error}"))?;
    let said = String::from_utf8_lossy(&played.stdout).into_owned();
    let errors = String::from_utf8_lossy(&played.stderr);
    if !played.status.success() || !errors.is_empty() {
        return Err(format!("{program} ended with {}: {errors}\n{said}", played.status));
    }
    let mut rest = said.as_str();
    for words in WORDS {
        let Some((_, after)) = rest.split_once(words) else {
            return Err(format!("\"{words}\" is missing, or in another place:\n{said}"));
        };
        rest = after;
    }
    for words in WORDS.iter().filter(|words| !words.starts_with("dormant")) {
        if said.matches(words).count() != 1 {
            return Err(format!("\"{words}\" was said twice:\n{said}"));
        }
    }
    Ok(said)
}

/// What a model says in the agents' place; then it passes.
const MODEL_WORDS: [&str; 3] =
    ["As a model I agree.", "As a model I doubt it.", "As a model I saw it all before."];

/// Lets a bot's program play its evening with a model by script, and looks whether the model was heard.
///
/// # Errors
///
/// What went wrong, with what the program said.
pub fn rehearse_with_model(program: &str) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let played = runtime.block_on(async {
        let model = LoopbackLlm::start().await?;
        model.script(MODEL_WORDS.map(ScriptedAnswer::text));
        model.cycle([ScriptedAnswer::text("NO_REPLY")]);
        let mut command = tokio::process::Command::new(program);
        command.args(["--fast", "--llm", &model.url()]).env_remove("DISCORD_TOKEN").output().await
    });
    let played = played.map_err(|error| format!("{program} did not start: {error}"))?;
    let said = String::from_utf8_lossy(&played.stdout);
    let is_whole = MODEL_WORDS.iter().all(|words| said.contains(words));
    if played.status.success() && is_whole && said.matches("dormant: ").count() == 2 {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&played.stderr);
    Err(format!("{program} ended with {}: {errors}\n{said}", played.status))
}

/// Asks a bot's program for help and for what it does not know, and looks at how it ends.
///
/// # Errors
///
/// What it did instead.
pub fn try_flags(program: &str) -> Result<(), String> {
    let run = |argument: &str| {
        let ended = Command::new(program).arg(argument).output();
        ended.map_err(|error| format!("{program} did not start: {error}"))
    };
    let (helped, refused) = (run("--help")?, run("--no-such-flag")?);
    let help = String::from_utf8_lossy(&helped.stdout);
    if helped.status.code() != Some(0) || !help.contains("--fast") {
        return Err(format!("{program} --help ended with {}: {help}", helped.status));
    }
    match refused.status.code() {
        Some(2) => Ok(()),
        _ => Err(format!("{program} took a flag that it does not know: {}", refused.status)),
    }
}
