//! The Discord, the moderator and the bots.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use check_contract::{Partner, Recorder};
use dirigent::{ChannelId, SystemClock, UserId};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, Permissions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::watch;

use crate::party::Party;
use crate::told::Lines;
use crate::{Flags, Result};

/// Bots that are observed.
pub(crate) const HELPERS: [&str; 3] = ["anna", "bert", "cleo"];
/// Bots that ask the front.
pub(crate) const ASKERS: [&str; 2] = ["piet", "josh"];
/// Agents that are personas.
pub(crate) const PERSONAS: [&str; 3] = ["optimist", "sceptic", "historian"];
/// What the model has to say to each word of a person, before it has only passes.
const THOUGHTS: usize = 5;
/// No secret: everything is on this machine, and over in minutes.
const SECRET: &str = "4f1c0de4f1c0de4f1c0de4f1c0de4f1c";

pub(crate) struct Table {
    pub(crate) discord: MemoryDiscord,
    pub(crate) server: LoopbackDiscord,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    /// The bots of agents, in the order of [`HELPERS`] and [`ASKERS`].
    pub(crate) accounts: Vec<(&'static str, UserId)>,
    pub(crate) recorder: Recorder,
    pub(crate) dirigent: Party,
    pub(crate) bots: Vec<(&'static str, Party)>,
    /// What the chat has seen, in its order, with nothing lost.
    pub(crate) seen: tokio::sync::mpsc::UnboundedReceiver<Event>,
    model: LoopbackLlm,
    front: watch::Sender<Option<SocketAddr>>,
    _folder: tempfile::TempDir,
}

impl Table {
    pub(crate) async fn set(flags: &Flags) -> Result<Self> {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let names = HELPERS.into_iter().chain(ASKERS);
        let accounts: Vec<_> = names.map(|name| (name, discord.add_bot())).collect();
        for (name, user) in &accounts {
            discord.account(*user).set_name(*name);
        }
        let guild = discord.add_guild(person);
        let users = accounts.iter().map(|(_, user)| *user);
        let members: Vec<_> = [moderator, person].into_iter().chain(users).collect();
        let channel = discord.add_channel(guild, "table", &members);
        let role = discord.guild(guild).add_role("moderators", Permissions::MANAGE_WEBHOOKS);
        discord.guild(guild).set_role(moderator, role, true);
        let (tell, seen) = tokio::sync::mpsc::unbounded_channel();
        let mut events = discord.events();
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                if tell.send(event).is_err() {
                    break;
                }
            }
        });
        let server = LoopbackDiscord::start(discord.clone()).await?;
        let recorder = Recorder::start(Partner::Server(server.address())).await?;
        let model = LoopbackLlm::start().await?;
        model.cycle([ScriptedAnswer::text("NO_REPLY")]);

        let folder = tempfile::tempdir()?;
        let file = folder.path().join("dirigent.toml");
        std::fs::write(&file, configuration(&recorder, &model, channel, &accounts))?;
        let mut command = Command::new(&flags.dirigent);
        command.args(["run", "--verbose", "--config"]).arg(file);
        command.env("DISCORD_TOKEN", server.token(moderator)).env("FRONT_SECRET", SECRET);
        let dirigent = Party::new(command, "take turns here.");

        // A front that starts again has another port.
        let (front, now) = watch::channel(None);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let here = listener.local_addr()?;
        tokio::spawn(carry(listener, now));
        let bot = |(name, user): &(&'static str, UserId)| {
            let (program, file) = match *name {
                "josh" => ("node", "bot.mjs"),
                "piet" => (&*flags.python, "bot.py"),
                _ => (&*flags.python, "helper.py"),
            };
            let chat = server.address();
            let mut command = Command::new(program);
            command
                .arg(flags.bots.join(file))
                .env("DISCORD_TOKEN", server.token(*user))
                .env("DISCORD_API_URL", format!("http://{chat}/api/v10"))
                .env("DISCORD_PROXY_URL", format!("http://{chat}"))
                .env("DISCORD_GATEWAY_URL", format!("ws://{chat}"))
                .env("DIRIGENT_URL", format!("http://{here}"))
                .env("DIRIGENT_SECRET", format!("bots.{SECRET}"))
                .env("DIRIGENT_AGENT", name);
            (*name, Party::new(command, "ready"))
        };
        let bots = accounts.iter().map(bot).collect();
        #[rustfmt::skip]
        let table = Self { discord, server, channel, person, moderator, accounts, recorder, dirigent, bots, seen, model, front, _folder: folder };
        Ok(table)
    }

    /// Starts `dirigent`, and lets the bots reach its front.
    pub(crate) async fn start_dirigent(&mut self) -> Result {
        self.dirigent.begin()?;
        self.dirigent.takes_part().await?;
        let front = self.dirigent.lines.after(self.dirigent.from, "the front is at http://");
        let front = front.ok_or("there is no front")?.trim().parse()?;
        self.front.send_replace(Some(front));
        Ok(())
    }

    pub(crate) async fn kill_dirigent(&mut self) -> Result {
        self.front.send_replace(None);
        self.dirigent.kill().await
    }

    pub(crate) fn bot(&mut self, name: &str) -> Result<&mut Party> {
        let bot = self.bots.iter_mut().find(|(known, _)| *known == name);
        Ok(bot.map(|(_, bot)| bot).ok_or("there is no such bot")?)
    }

    pub(crate) fn account(&self, name: &str) -> Option<UserId> {
        self.accounts.iter().find(|(known, _)| *known == name).map(|(_, user)| *user)
    }

    pub(crate) fn log(&self) -> &Lines {
        &self.dirigent.lines
    }

    /// Asks the front, as its own program.
    pub(crate) async fn asks(&self, path: &str) -> Result<String> {
        let front = self.front.borrow().ok_or("there is no front")?;
        let mut stream = TcpStream::connect(front).await?;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {front}\r\nConnection: close\r\nAuthorization: Bearer judge.{SECRET}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("half an answer")?;
        if head.starts_with("HTTP/1.1 200") { Ok(body.to_owned()) } else { Err(answer.into()) }
    }

    /// Everything that was said and told, for whoever looks for a fault.
    pub(crate) fn story(&self) -> String {
        let mut story = String::new();
        for message in self.discord.messages(self.channel) {
            let _ = writeln!(story, "{} {} {message}", message.sent_at.as_millis(), message.id);
        }
        for (name, bot) in &self.bots {
            let _ = writeln!(story, "-- {name}\n{}", bot.lines.text());
        }
        let _ = writeln!(story, "-- dirigent\n{}", self.log().text());
        story
    }

    /// The model has something to say to the person's next word. It takes a moment, as a model does.
    pub(crate) fn think(&self) {
        let said = self.discord.messages(self.channel).len();
        let text = |number| ScriptedAnswer::text(format!("Thought {said}.{number} of a model."));
        let thoughts = (0..THOUGHTS).map(|it| ScriptedAnswer { pause_ms: 10, ..text(it) });
        self.model.script(thoughts);
    }
}

fn configuration(
    recorder: &Recorder,
    model: &LoopbackLlm,
    channel: ChannelId,
    accounts: &[(&str, UserId)],
) -> String {
    let mut text = format!(
        r#"
[discord]
token = {{ env = "DISCORD_TOKEN" }}
address = "{}"
[store]
sqlite = "dirigent.sqlite"
[front]
listen = "127.0.0.1:0"
hosts = [
    {{ name = "bots", secret = {{ env = "FRONT_SECRET" }}, agents = {ASKERS:?} }},
    {{ name = "judge", secret = {{ env = "FRONT_SECRET" }}, agents = {HELPERS:?} }},
]
[rules]
deadlines = {{ start = "5s", run = "18s" }}
confirmation = {{ quiet_period = "300ms", delivery_timeout = "5s", late_grace = "2s" }}
time_limits = {{ backfill = "5s" }}
[[channels]]
id = "{channel}"
"#,
        recorder.address()
    );
    for (name, user) in accounts {
        let kind = if HELPERS.contains(name) { "observed" } else { "asks" };
        let _ = writeln!(
            text,
            "[[agents]]\nname = \"{name}\"\nkind = \"{kind}\"\naccount = \"{user}\""
        );
    }
    for name in PERSONAS {
        let model = format!("model = {{ url = \"{}\", name = \"scripted\" }}", model.url());
        let _ = writeln!(
            text,
            "[[agents]]\nname = \"{name}\"\npersona = {{ name = \"{name}\" }}\n{model}"
        );
    }
    text
}

/// Carries connections to where the front is now. While it is nowhere, they end.
async fn carry(listener: TcpListener, front: watch::Receiver<Option<SocketAddr>>) {
    while let Ok((mut here, _)) = listener.accept().await {
        let front = *front.borrow();
        tokio::spawn(async move {
            let mut there = TcpStream::connect(front?).await.ok()?;
            tokio::io::copy_bidirectional(&mut here, &mut there).await.ok()
        });
    }
}
