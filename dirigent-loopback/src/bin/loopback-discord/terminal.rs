//! The person at the terminal, who reads and writes messages.

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use dirigent::ports::AuthorKind;
use dirigent::{ChannelId, ChatMessage, Clock, SystemClock};
use dirigent_loopback::{InteractionId, LoopbackDiscord, Traffic};
use dirigent_testkit::memory_discord::Event;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::order::{HELP, Order};
use super::stage::SeededGuild;
use super::variables::variables;

/// The time between two checks whether a command was answered.
const LOOK: Duration = Duration::from_millis(200);

/// The most checks, which is one minute.
const LOOKS_MAX: u32 = 300;

/// A command that the person used.
struct Used {
    interaction: InteractionId,
    name: String,
    /// The number of its answers that were shown.
    shown: usize,
    looks_left: u32,
}

/// The terminal.
pub(crate) struct Terminal<'a> {
    loopback: &'a LoopbackDiscord,
    stage: SeededGuild,
    channel: ChannelId,
    /// The commands that still wait for an answer.
    used: Vec<Used>,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(loopback: &'a LoopbackDiscord, stage: SeededGuild) -> Self {
        let channel = stage.channel;
        Self { loopback, stage, channel, used: Vec::new() }
    }

    /// Returns a line that says what this program is, and its address.
    fn banner(&self) -> String {
        let address = self.loopback.address();
        format!(
            "A Discord on this machine, at http://{address}, with the channel #round-table. Nothing leaves this machine."
        )
    }

    /// Explains what this is, where everything is, and what to do next.
    pub(crate) fn greet(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", self.banner())?;
        writeln!(
            out,
            "Next: paste these lines into another terminal, and start your bot there.\n"
        )?;
        for (name, value) in variables(self.loopback, &self.stage) {
            writeln!(out, "export {name}={value}")?;
        }
        writeln!(
            out,
            "\nWhen it has registered its slash commands, type here what a person says:\n\n{HELP}\n"
        )
    }

    /// Explains this for a bot that runs inside. It writes to standard error, because the bot also uses the standard
    /// output.
    pub(crate) fn greet_inside(&self, command: &[OsString]) -> io::Result<()> {
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        let mut out = io::stderr().lock();
        writeln!(out, "{}", self.banner())?;
        writeln!(out, "Your bot starts inside it now: {}", words.join(" "))?;
        writeln!(
            out,
            "Next: when it has registered its slash commands, type /set-channel-mode chat, then a question. \
             /help tells the rest, /quit ends it."
        )
    }

    /// Runs until the person quits. It goes on even if the input ends.
    pub(crate) async fn run(&mut self) -> io::Result<()> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut events = self.loopback.discord().events();
        let clock = SystemClock::new();
        let mut is_typing = true;
        loop {
            let look = clock.now() + LOOK;
            tokio::select! {
                line = lines.next_line(), if is_typing => match line? {
                    Some(line) => {
                        if !self.obey(&Order::read(&line))? {
                            return Ok(());
                        }
                    }
                    None => is_typing = false,
                },
                Some(event) = events.next() => self.show(&event)?,
                () = clock.sleep_until(look), if !self.used.is_empty() => {
                    for line in self.look() {
                        writeln!(io::stdout(), "  {line}")?;
                    }
                }
            }
        }
    }

    /// Performs a command. Returns false to quit.
    pub(crate) fn obey(&mut self, order: &Order) -> io::Result<bool> {
        let discord = self.loopback.discord();
        let mut out = io::stdout().lock();
        match order {
            Order::Nothing => {}
            Order::Quit => return Ok(false),
            Order::Help => writeln!(out, "{HELP}")?,
            Order::Addresses => self.greet()?,
            Order::Say(text) => {
                let text = self.with_mentions(text);
                if let Err(error) = self.loopback.say(self.channel, self.stage.person, text) {
                    writeln!(out, "  you cannot say this: {error}")?;
                }
            }
            Order::Who => {
                for user in discord.channel(self.channel).audience() {
                    writeln!(
                        out,
                        "  {user}  {}",
                        discord.account(user).name().unwrap_or_default()
                    )?;
                }
            }
            Order::Channels => {
                for (id, name) in discord.guild(self.stage.guild).channel_names() {
                    writeln!(out, "  {id}  #{name}")?;
                }
            }
            Order::Go(to) => {
                let all = discord.guild(self.stage.guild).channel_names();
                match all.into_iter().find(|(id, name)| name == to || id.to_string() == *to) {
                    Some((id, name)) => {
                        self.channel = id;
                        writeln!(out, "  you are in #{name}")?;
                    }
                    None => writeln!(out, "  there is no channel {to}")?,
                }
            }
            Order::Traffic => write_traffic(&mut out, &self.loopback.traffic())?,
            Order::Outage { parts, duration } => {
                for part in parts.iter().copied() {
                    match duration {
                        Some(duration) => self.loopback.begin_outage_for(part, *duration),
                        None => self.loopback.begin_outage(part),
                    }
                }
            }
            Order::Back => self.loopback.end_outages(),
            Order::BadOutage => writeln!(
                out,
                "  /outage takes rest-refused, rest-hanging, gateway or both, and a number of seconds"
            )?,
            Order::Use { name, options } => self.use_command(name, options)?,
        }
        Ok(true)
    }

    /// Uses a command of the first bot that has one of this name.
    fn use_command(&mut self, name: &str, options: &[(String, Value)]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for (_, bot) in &self.stage.bots {
            let only = self.loopback.only_option(self.channel, *bot, name);
            let named: Vec<(&str, Value)> = options
                .iter()
                .map(|(option, value)| match (option.as_str(), &only) {
                    ("", Some(only)) => (only.as_str(), value.clone()),
                    (option, _) => (option, value.clone()),
                })
                .collect();
            let person = self.stage.person;
            match self.loopback.use_command(self.channel, person, *bot, name, &named) {
                Ok(used) => {
                    let name = name.to_owned();
                    self.used.push(Used {
                        interaction: used,
                        name,
                        shown: 0,
                        looks_left: LOOKS_MAX,
                    });
                    return Ok(());
                }
                Err(dirigent_loopback::CommandError::NoCommand) => {}
                Err(error) => return writeln!(out, "  {error}"),
            }
        }
        writeln!(out, "  no bot has registered /{name} here")
    }

    /// Returns the answers that only the person sees, and the commands that had no answer.
    pub(crate) fn look(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for used in &mut self.used {
            let answers = self.loopback.answers(used.interaction);
            let private = answers.iter().filter(|it| it.is_private && !it.content.is_empty());
            for answer in private.skip(used.shown) {
                lines.push(format!("(only you see this) {}", answer.content));
                used.shown += 1;
            }
            used.looks_left -= 1;
            if self.loopback.is_unanswered(used.interaction) {
                lines.push(format!(
                    "/{}: the application did not respond within 3 seconds. Does your bot still run, and does it pass on what its gateway hears?",
                    used.name
                ));
                used.looks_left = 0;
            }
        }
        self.used.retain(|used| used.looks_left > 0);
        lines
    }

    /// Returns the text as a client sends it. `@name` becomes a mention of the bot of that name.
    pub(crate) fn with_mentions(&self, text: &str) -> String {
        let mentioned = |word: &str| {
            let name = word.strip_prefix('@')?.trim_end_matches(|c: char| !c.is_alphanumeric());
            let (_, bot) = self.stage.bots.iter().find(|(known, _)| known == name)?;
            Some(word.replacen(&format!("@{name}"), &format!("<@{bot}>"), 1))
        };
        let words = text.split(' ').map(|word| mentioned(word).unwrap_or_else(|| word.to_owned()));
        words.collect::<Vec<_>>().join(" ")
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are for a gateway")]
    fn show(&self, event: &Event) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let discord = self.loopback.discord();
        match event {
            Event::MessageCreated(message) => self.show_message(message, ""),
            Event::MessageEdited(message) => self.show_message(message, " (edited)"),
            Event::MessageDeleted { channel, .. } => {
                writeln!(out, "{}: a message was deleted", self.named(*channel))
            }
            Event::MemberJoined { channel, user } => {
                let name = discord.account(*user).name().unwrap_or_default();
                writeln!(out, "{}: {name} joined", self.named(*channel))
            }
            Event::MemberLeft { channel, user } => {
                let name = discord.account(*user).name().unwrap_or_default();
                writeln!(out, "{}: {name} left", self.named(*channel))
            }
            Event::ChannelDeleted { channel, .. } => writeln!(out, "channel {channel} was deleted"),
            _ => Ok(()),
        }
    }

    fn show_message(&self, message: &ChatMessage, what: &str) -> io::Result<()> {
        if message.author == self.stage.person && message.author_kind == AuthorKind::Human {
            // The terminal already shows it.
            return Ok(());
        }
        // A webhook may choose its name for each message.
        let shown = message.author_name.as_deref().map(str::to_owned);
        let name = shown.or_else(|| self.loopback.discord().account(message.author).name());
        let (name, place) = (name.unwrap_or_default(), self.named(message.channel));
        writeln!(io::stdout(), "{place} {name}{what}: {}", message.content)
    }

    fn named(&self, channel: ChannelId) -> String {
        let all = self.loopback.discord().guild(self.stage.guild).channel_names();
        let found = all.into_iter().find(|(id, _)| *id == channel);
        found.map_or_else(|| channel.to_string(), |(_, name)| format!("#{name}"))
    }
}

/// Writes the number of requests, and their results.
fn write_traffic(out: &mut impl Write, traffic: &Traffic) -> io::Result<()> {
    writeln!(out, "  {} requests, {} invalid", traffic.total(), traffic.invalid())?;
    for status in [200, 201, 204, 400, 401, 403, 404, 405, 429, 500, 501, 502] {
        if traffic.with_status(status) > 0 {
            writeln!(out, "  {status}: {}", traffic.with_status(status))?;
        }
    }
    Ok(())
}
