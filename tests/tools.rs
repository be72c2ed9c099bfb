//! The tools that agents call, the slash command and the identity line, against the in-memory
//! Discord.
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{GuildApi, GuildId};
use dirigent::tools::{Caller, ToolError, Tools};
use dirigent::{ChannelId, Settings, UserId};
use dirigent_verify::stage::{Setup, Stage};
use serde_json::{Value, json};

mod arguments;
mod channels;
mod command;
mod complete;
mod creations;
mod discussion;
mod errors;
mod folder;
mod identity_line;
mod paths;
mod register;

const SECOND: Duration = Duration::from_secs(1);

/// Three agents with an identity, a person who owns the guild, and a moderator who may create
/// channels in it and is no administrator.
fn stage_with_channel_manager() -> Stage {
    desk_with(|_| {})
}

/// The same, with other settings.
fn desk_with(settings: impl FnOnce(&mut Settings)) -> Stage {
    let stage = Setup::new()
        .hosted("a", ["a1".into()])
        .hosted("b", ["b1".into()])
        .hosted("c", ["c1".into()])
        .settings(settings)
        .stage();
    stage.discord().guild(stage.guild()).set_channel_manager(stage.moderator(), true);
    stage
}

/// The same, and the moderator is an administrator.
fn stage_with_admin_moderator() -> Stage {
    let stage = stage_with_channel_manager();
    stage.discord().guild(stage.guild()).set_administrator(stage.moderator(), true);
    stage
}

/// The session of an agent in the first channel.
fn session(stage: &Stage, agent: &str) -> Caller {
    Caller { guild: Some(stage.guild()), channel: Some(stage.channel()), ..Caller::new(agent) }
}

/// A tool's call as a model makes it.
fn call(
    stage: &mut Stage,
    caller: &Caller,
    name: &'static str,
    arguments: Value,
) -> Result<Value, ToolError> {
    let moderator = stage.discord().account(stage.moderator());
    call_through(stage, Arc::new(moderator), caller, name, arguments)
}

/// The same, with another way to Discord.
fn call_through(
    stage: &mut Stage,
    guild_api: Arc<dyn GuildApi>,
    caller: &Caller,
    name: &'static str,
    arguments: Value,
) -> Result<Value, ToolError> {
    let caller = caller.clone();
    stage.call(move |dirigent| async move {
        Tools::new(dirigent, guild_api).call(&caller, name, &arguments).await
    })
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(answer: Result<T, ToolError>, code: &str) -> String {
    match answer {
        Err(error) => {
            assert_eq!(error.code(), code, "{error}");
            error.to_string()
        }
        Ok(answer) => panic!("{code} was expected, not {answer:?}"),
    }
}

/// The account of an agent on the stage.
fn user(stage: &Stage, agent: &str) -> UserId {
    stage.agent(agent).user()
}

/// Ids as a model writes them.
fn ids(users: impl IntoIterator<Item = UserId>) -> Value {
    users.into_iter().map(|user| json!(user)).collect()
}

fn id(answer: &Value, field: &str) -> ChannelId {
    answer[field].as_str().unwrap().parse().unwrap()
}

/// The channels of the stage's guild.
fn channels_of(stage: &mut Stage) -> Vec<ChannelId> {
    let guild = stage.guild();
    channels_in(stage, guild)
}

/// The channels of a guild, as its owner sees them.
fn channels_in(stage: &mut Stage, guild: GuildId) -> Vec<ChannelId> {
    let owner = stage.discord().account(stage.person());
    let channels = stage.call(move |_| async move { owner.channels(guild).await }).unwrap();
    channels.into_iter().map(|channel| channel.id).collect()
}

/// What `create-discussion-channel` wants, for a discussion that reports to the first channel.
fn terms(stage: &Stage, participants: &[&str]) -> Value {
    json!({
        "callback-guild": stage.guild(),
        "callback-channel": stage.channel(),
        "discussion-guide": "Which plan shall we take? Done when two agree.",
        "participants": ids(participants.iter().map(|agent| user(stage, agent))),
    })
}

/// A discussion that agent "a" opened.
fn opened(stage: &mut Stage, participants: &[&str]) -> ChannelId {
    let arguments = terms(stage, participants);
    let caller = session(stage, "a");
    let answer = call(stage, &caller, "create-discussion-channel", arguments).unwrap();
    id(&answer, "discussionChannel")
}
