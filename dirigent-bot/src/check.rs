//! `dirigent check`: finds what is wrong before an agent falls silent because of it.

#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::Missing;
use dirigent::{ChannelId, Clock, DiscordApi as _, SystemClock, UserId};
use dirigent_discord::{Feed, SetupIssue, ShardId};
use dirigent_llm::{Chat, ModelMessage, Question};
use serde_json::json;
use tokio::task::JoinSet;

use crate::bot::{Bot, Result, Stored, endpoint, hear, listen, shard};
use crate::config::{BotConfig, ModelConfig};

/// The time that the gateway has to name the servers.
const GATEWAY: Duration = Duration::from_secs(15);
/// The interval between looks whether it has.
const LOOK: Duration = Duration::from_millis(50);

/// A level for what only a part of Dirigent needs.
const HINT: &str = "hint";
const OK: &str = "ok";
const WRONG: &str = "WRONG";

const FEW: &str = "turns are kept among two or more: add [[agents]]";
const NO_CHANNEL: &str =
    "this file gives none its turns: add [[channels]], or type /set-channel-mode chat in one";
const NO_STORE: &str =
    "what is kept ends with the program: write [store] and sqlite = \"dirigent.sqlite\"";
const NOT_TOLD: &str =
    "it did not tell of the channels' servers within 15 seconds: is Discord away?";

/// The findings. Each line is printed as soon as it is known.
struct Report {
    found: Vec<serde_json::Value>,
    is_json: bool,
    is_well: bool,
}

impl Report {
    fn add(&mut self, level: &str, about: &str, says: impl fmt::Display) {
        self.is_well &= level != WRONG;
        if self.is_json {
            let (level, says) = (level.to_lowercase(), says.to_string());
            self.found.push(json!({ "level": level, "about": about, "says": says }));
        } else {
            println!("{level:>5}  {about}: {says}");
        }
    }

    /// Adds an error, or returns the value.
    fn take<T>(&mut self, about: &str, found: Result<T, impl fmt::Display>) -> Option<T> {
        found.map_err(|error| self.add(WRONG, about, error)).ok()
    }
}

/// Checks everything. Returns whether all is well.
pub(crate) async fn check(path: &Path, is_json: bool) -> Result<bool> {
    let mut report = Report { found: Vec::new(), is_json, is_well: true };
    look(path, &mut report).await;
    if is_json {
        println!("{}", json!({ "ok": report.is_well, "found": report.found }));
    }
    Ok(report.is_well)
}

async fn look(path: &Path, report: &mut Report) {
    let Some((mut config, text)) = report.take("configuration", BotConfig::read(path)) else {
        return;
    };
    report.add(OK, "configuration", format!("{} is understood", path.display()));
    if config.agents.len() < 2 {
        report.add(WRONG, "agents", FEW);
    }
    if config.channels.is_empty() {
        report.add(HINT, "channels", NO_CHANNEL);
    }
    let place = config.store.sqlite.as_ref().or(config.store.json.as_ref());
    let opened = Stored::open(&config, &text).await.map(|stored| stored.cluster);
    match (report.take("store", opened), place) {
        (Some(Some(shared)), _) => report.add(OK, "store", shared.store.address().display()),
        (Some(None), Some(place)) => report.add(OK, "store", place.display()),
        (Some(None), None) => report.add(HINT, "store", NO_STORE),
        (None, _) => {}
    }
    // The requests of a check end soon, and need no share of Discord's limit.
    config.cluster = None;
    let page = config.page.iter().map(|page| ("page", page.listen));
    for (what, address) in page.chain(config.front.iter().map(|front| ("front", front.listen))) {
        if let Some(_free) =
            report.take(what, listen(address, &format!("{what}.listen"), &text).await)
        {
            report.add(OK, what, format!("{address} is free"));
        }
    }
    let mut asked: Vec<&ModelConfig> = Vec::new();
    for model in config.agents.iter().filter_map(|agent| agent.model.as_ref()) {
        if !asked.contains(&model) {
            asked.push(model);
            ask(model, report).await;
        }
    }
    let channels: Vec<_> = config.channels.iter().map(crate::config::ChannelConfig::id).collect();
    let bot = Box::pin(Bot::new(config, &text, Stored::default(), &|_| None)).await;
    let Some(bot) = report.take("configuration", bot) else { return };
    if let Some(me) = report.take("moderator", bot.moderator.me().await) {
        report.add(OK, "moderator", format!("Discord knows the token, of the account {me}"));
        discord(bot, &channels, report).await;
    }
}

async fn ask(model: &ModelConfig, report: &mut Report) {
    let about = format!("model {} at {}", model.name, model.url);
    let chat = Chat::new(endpoint(model)).limits(|limits| limits.retries = 0);
    let question = Question::new([ModelMessage::user("Answer with one word: are you there?")]);
    match chat.ask(&question).await {
        Ok(_) => report.add(OK, &about, "it answers"),
        Err(error) => {
            report.add(WRONG, &about, format!("{error}: start it, or correct url, name and key"));
        }
    }
}

/// Checks intents, permissions, and who is in the channels. It connects to the gateway, but posts no message.
async fn discord(bot: Bot, channels: &[ChannelId], report: &mut Report) {
    let Bot { dirigent, moderator, driver, config, accounts, .. } = bot;
    let Some(driver) = driver else { return };
    let issues = moderator.diagnose(channels, Some(Feed::INTENTS)).await;
    let mut channels = channels.to_vec();
    for issue in report.take("discord", issues).unwrap_or_default() {
        if let SetupIssue::NoChannel(gone) = issue {
            channels.retain(|channel| *channel != gone);
        }
        // Only discussions and tools need it.
        let level = if matches!(issue, SetupIssue::InGuild(..)) { HINT } else { WRONG };
        report.add(level, "discord", issue);
    }
    let feed = Feed::builder(dirigent, Arc::clone(&moderator), Feed::INTENTS).without_commands();
    let (feed, work) = feed.build();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { drop(driver.run().await) });
    tasks.spawn(work.run());
    let clock = SystemClock::new();
    let until = clock.now() + GATEWAY;
    let is_told = || channels.iter().all(|channel| moderator.reads_history(*channel).is_some());
    let told = async {
        while !is_told() && clock.now() < until {
            clock.sleep_until(clock.now() + LOOK).await;
        }
    };
    let closed = tokio::select! {
        closed = hear(shard(&config.discord), feed.shard(ShardId::ONE)) => closed.err(),
        () = told => None,
    };
    match closed {
        Some(why) => report.add(WRONG, "gateway", why),
        None if is_told() => report.add(OK, "gateway", "it lets the moderator in"),
        None => report.add(WRONG, "gateway", NOT_TOLD),
    }
    let users: Vec<UserId> = accounts.iter().map(|(_, user)| *user).collect();
    for channel in &channels {
        let about = format!("channel {channel}");
        let seen = moderator.members(*channel, users.clone()).await;
        let Some(seen) = report.take(&about, seen) else { continue };
        let bars = moderator.write_bars(*channel, &users);
        let bar = |user| bars.iter().find(|(one, _)| one == user).map(|(_, bar)| *bar);
        let (here, missing): (Vec<_>, Vec<_>) =
            accounts.iter().partition(|(_, user)| seen.contains(user) && bar(user).is_none());
        for (agent, user) in missing {
            report.add(WRONG, &about, Missing::new(agent.clone(), bar(user)));
        }
        let (all, names) = (accounts.len(), here.iter().map(|(agent, _)| agent.as_str()));
        let level = if here.len() < 2 { WRONG } else { OK };
        let names = names.collect::<Vec<_>>().join(", ");
        report.add(
            level,
            &about,
            format!("{} of {all} agents can take turns: {names}", here.len()),
        );
    }
}
