//! What outlives the process: the chat, its people, and the screen that shows both.

use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::{Cause, ChannelEvent, EventOrLag};
use dirigent::ports::GuildId;
use dirigent::{AgentId, ChannelId, ChatMessage, Clock, SystemClock, UserId};
use dirigent_testkit::memory_discord::{Event, GatewayEvents};
use dirigent_testkit::{MemoryAccount, MemoryDiscord};
use serde_json::Value;

use crate::Result;
use crate::agents::Member;
use crate::process::Process;

/// The changes that are worth a line.
const LINES: [(Cause, &str); 8] = [
    (Cause::GuidePosted, "{} has the floor: the guide was posted"),
    (Cause::Passed, "{} passes"),
    (Cause::RunLost, "{} was speaking when the process died, and is skipped"),
    (Cause::Reshuffled, "a new cycle, shuffled"),
    (Cause::AllPassed, "dormant: no agent had anything to add"),
    (Cause::InitiatorReminded, "{} is asked to conclude"),
    (Cause::Concluded, "{} has concluded: archived for good"),
    (Cause::Archived, "archived for good"),
];

/// The chat, its people and its agents.
pub(crate) struct World {
    discord: MemoryDiscord,
    clock: SystemClock,
    thinks: Duration,
    moderator: UserId,
    person: UserId,
    guild: GuildId,
    members: Vec<Member>,
    channels: Vec<(ChannelId, &'static str)>,
    /// What the chat pushes, as a bot's gateway connection would.
    pushed: GatewayEvents,
}

/// What was just shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Words(&'static str),
    /// The discussion's result.
    Result,
    /// This agent runs now.
    Run(&'static str),
    Change(Cause),
    Nothing,
}

impl World {
    pub(crate) fn new(thinks: Duration) -> Self {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        discord.guild(guild).add_member(moderator);
        discord.guild(guild).set_administrator(moderator, true);
        let scripts: [(&str, &[&str]); 3] = [
            ("planner", &["Anything that runs without a server.", "SQLite it is, then."]),
            ("builder", &["SQLite: one file, and backups are copies."]),
            ("sceptic", &["Who writes to it? If it is one process, I have no objection."]),
        ];
        let members = scripts.map(|(name, lines)| {
            let user = discord.add_bot();
            discord.guild(guild).add_member(user);
            Member { name, user, lines }
        });
        let pushed = discord.events();
        let (members, channels) = (members.to_vec(), Vec::new());
        Self { discord, clock, thinks, moderator, person, guild, members, channels, pushed }
    }

    pub(crate) const fn discord(&self) -> &MemoryDiscord {
        &self.discord
    }

    pub(crate) const fn clock(&self) -> SystemClock {
        self.clock
    }

    pub(crate) const fn thinks(&self) -> Duration {
        self.thinks
    }

    pub(crate) const fn guild(&self) -> GuildId {
        self.guild
    }

    pub(crate) const fn person(&self) -> UserId {
        self.person
    }

    /// The account that the library acts with.
    pub(crate) fn moderator(&self) -> Arc<MemoryAccount> {
        Arc::new(self.discord.account(self.moderator))
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// All texts of a channel, but for what was deleted.
    pub(crate) fn texts(&self, channel: ChannelId) -> Vec<String> {
        self.discord
            .messages(channel)
            .into_iter()
            .map(|message| message.content.to_string())
            .collect()
    }

    /// Takes a channel's id out of a tool's answer, and shows it under this name from now on.
    pub(crate) fn name_channel(
        &mut self,
        answer: &Value,
        field: &str,
        name: &'static str,
    ) -> Result<ChannelId> {
        let id = answer.get(field).and_then(Value::as_str).ok_or("the tool gave no channel")?;
        let channel = id.parse()?;
        self.channels.push((channel, name));
        Ok(channel)
    }

    /// The person says something.
    pub(crate) fn say(&self, channel: ChannelId, text: &str) {
        self.discord.say(channel, self.person, text);
    }

    /// Shows what happens until all of these were seen, in whatever order, and forwards to the library
    /// what the chat pushes.
    pub(crate) async fn until(&mut self, process: &mut Process, last: &[Shown]) -> Result {
        let mut missing = last.to_vec();
        let patience = self.clock.now() + Duration::from_secs(10);
        loop {
            let shown = tokio::select! {
                biased;
                event = self.pushed.next() => {
                    let event = event.ok_or("the chat is gone")?;
                    self.take_event(process, event).await?
                }
                heard = process.changes.next() => match heard {
                    Some(EventOrLag::Transition(change)) => self.show_change(&change),
                    Some(other) => return Err(format!("an unexpected event: {other:?}").into()),
                    None => return Err("the library is gone".into()),
                },
                () = self.clock.sleep_until(patience) => {
                    return Err("nothing happens any more".into());
                }
            };
            missing.retain(|awaited| *awaited != shown);
            if missing.is_empty() {
                return Ok(());
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are not shown")]
    async fn take_event(&self, process: &Process, event: Event) -> Result<Shown> {
        match event {
            Event::MessageCreated(message) => {
                let name = self.show_message(&message);
                let is_result = message.content.contains("is concluded. Summary:");
                process.dirigent.message_created(message).await?;
                Ok(if is_result { Shown::Result } else { Shown::Words(name) })
            }
            other => {
                other.tell(&process.dirigent).await?;
                Ok(Shown::Nothing)
            }
        }
    }

    /// Shows a message, and says who wrote it.
    fn show_message(&self, message: &ChatMessage) -> &'static str {
        let member = self.members.iter().find(|member| member.user == message.author);
        let name = match member {
            Some(member) => member.name,
            None if message.author == self.moderator => "moderator",
            None => "you",
        };
        let place = self.channels.iter().find(|(channel, _)| *channel == message.channel);
        let place = place.map_or("", |(_, place)| place);
        let mut text = message.content.to_string();
        for member in &self.members {
            text = text.replace(&format!("<@{}>", member.user), &format!("@{}", member.name));
        }
        for (channel, name) in &self.channels {
            text = text.replace(&format!("<#{channel}>"), &format!("#{name}"));
        }
        println!("{name:>11}: {text}    (#{place})");
        name
    }

    /// Shows a change that is worth a line.
    fn show_change(&self, change: &ChannelEvent) -> Shown {
        let cause = change.transition.cause;
        let agent = change.agent.as_ref().map_or("an agent", AgentId::as_str);
        if let Some((_, line)) = LINES.iter().find(|(known, _)| *known == cause) {
            println!("{:>11}  · {}", "", line.replace("{}", agent));
        }
        match self.members.iter().find(|member| member.name == agent) {
            Some(member) if cause == Cause::RunStarted => Shown::Run(member.name),
            _ => Shown::Change(cause),
        }
    }
}
