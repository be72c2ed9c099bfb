//! A discussion from its opening to its archive, with the process killed in the middle.
//!
//! ```text
//! cargo run --example discussion                     three agents choose a database
//! cargo run --example discussion -- --data DIR       and the files stay, to be read
//! cargo run --example discussion -- --fast           no agent thinks longer than a millisecond
//! ```
//!
//! An agent opens the discussion from its work channel, with a tool; the guide is posted, the agents
//! talk in turn, the process dies and starts again, no agent has anything to add, the initiator is
//! reminded, writes a summary and completes the discussion; the summary is posted in its work channel. Everything
//! that must survive is in JSON files.
//!
//! `discussion/world.rs` is what outlives the process: the chat, its people, and the screen;
//! `process.rs` the process: the library on its files; `agents.rs` what one replaces by agents of
//! one's own.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgAction, Command, value_parser};
use dirigent::operate::Cause;
use dirigent::{AgentError, ChannelId};
use serde_json::json;

#[path = "discussion/agents.rs"]
mod agents;
#[path = "discussion/process.rs"]
mod process;
#[path = "discussion/world.rs"]
mod world;

use process::Process;
use world::{Shown, World};

type Result<T = ()> = std::result::Result<T, AgentError>;

const GUIDE: &str = "Which database do we take for the archive? Goal: one name and the reason. \
                     Done when no objection is left.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let fast = Arg::new("fast").long("fast").action(ArgAction::SetTrue);
    let data = Arg::new("data").long("data").value_name("DIR").value_parser(value_parser!(PathBuf));
    let given = Command::new("discussion")
        .about("A discussion from its guide to its result, and a process killed in the middle")
        .arg(fast.help("No agent thinks longer than a millisecond"))
        .arg(data.help("Leaves the files there, to be read"))
        .get_matches();
    let thinks = if given.get_flag("fast") { 1 } else { 400 };
    let fresh = tempfile::tempdir()?;
    let data = given.get_one("data").cloned().unwrap_or_else(|| fresh.path().to_owned());
    let mut world = World::new(Duration::from_millis(thinks));

    scene("The agents register, and one of them opens a discussion from its work channel.");
    let mut process = Process::enter(&world, &data).await?;
    let (work, discussion) = open(&mut world, &process).await?;
    world.until(&mut process, &[Shown::Run("sceptic")]).await?;

    scene("The process is killed while the sceptic thinks about its answer.");
    process.kill().await;
    list(&data)?;

    scene("It starts again, on the same files.");
    let mut process = Process::enter(&world, &data).await?;
    world.until(&mut process, &[Shown::Change(Cause::AllPassed)]).await?;
    world.until(&mut process, &[Shown::Change(Cause::Concluded), Shown::Result]).await?;

    scene("The discussion is over: a message in it is answered with a notice that says so.");
    world.say(discussion, "May I add something?");
    world.until(&mut process, &[Shown::Words("you"), Shown::Words("moderator")]).await?;
    process.leave().await?;
    list(&data)?;
    check(&world, &[work, discussion])
}

/// Three agents register; the planner makes itself a work channel and opens a discussion from there.
async fn open(world: &mut World, process: &Process) -> Result<(ChannelId, ChannelId)> {
    for member in world.members() {
        let arguments = json!({ "discordUserId": member.user, "agentName": member.name });
        process.call(member.name, None, "dirigent-register", &arguments).await?;
    }
    let arguments = json!({ "name": "planner-at-work", "members": [world.person()] });
    let made = process.call("planner", None, "create-work-channel", &arguments).await?;
    let work = world.name_channel(&made, "channelId", "planner-at-work")?;
    let participants: Vec<_> = world.members().map(|member| member.user).collect();
    let arguments = json!({
        "callback-guild": world.guild(),
        "callback-channel": work,
        "discussion-guide": GUIDE,
        "participants": participants,
    });
    let made = process.call("planner", Some(work), "create-discussion-channel", &arguments).await?;
    Ok((work, world.name_channel(&made, "discussionChannel", "discussion")?))
}

/// Everything was said once, however often the process died.
fn check(world: &World, channels: &[ChannelId]) -> Result {
    let said: Vec<_> = channels.iter().flat_map(|channel| world.texts(*channel)).collect();
    let different: BTreeSet<_> = said.iter().collect();
    if said.len() != different.len() {
        return Err("something was said twice".into());
    }
    println!("\n{} messages, none twice", said.len());
    Ok(())
}

/// The files, for a person who wants to look.
fn list(folder: &Path) -> Result {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push((entry.path(), entry.metadata()?.len()));
            }
        }
    }
    files.sort();
    for (path, bytes) in files {
        println!("{bytes:>7} bytes  {}", path.strip_prefix(folder)?.display());
    }
    Ok(())
}

/// The headline of what follows.
fn scene(text: &str) {
    println!("\n--- {text}\n");
}
