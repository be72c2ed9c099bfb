//! A Discord on this machine, so that you can develop a bot without a token.
//!
//! ```text
//! cargo run -p dirigent-loopback -- --port 8120 --seed 1
//! ```
//!
//! It prints everything that a bot must know as `export NAME=value` lines: ids, addresses, and a token for each of its
//! bots. These are a moderator and some agents (three, or as many as `--agents` says), in one guild with one channel.
//! What you type is said in the channel by a person; `/help` lists the rest.
//!
//! `--seed` gives the same ids and tokens at each start, and `--state` stores everything in a file. `--administrator`
//! lets the moderator open discussions. `--strict-agents` refuses clients if their `User-Agent` does not have the
//! documented form. `loopback-discord -- COMMAND` runs a bot inside. It gets these variables in its environment and all
//! signals, and its exit code becomes the program's.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use dirigent::{Clock, SystemClock};
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

mod bot;
mod order;
mod saved;
mod stage;
mod terminal;
mod variables;

use bot::Bot;
use saved::Saved;
use stage::SeededGuild;
use terminal::Terminal;

/// The time between two writes of the state, if it changed.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The options of the command line.
#[derive(Clone, Debug, PartialEq)]
struct Flags {
    /// The port to listen on; 0 takes a free one.
    port: u16,
    /// The seed of ids and tokens. Without it they come from the time.
    seed: Option<u64>,
    /// The number of agents beside the moderator.
    agents: u8,
    /// The file that stores everything between two starts.
    state: Option<PathBuf>,
    /// True if the moderator is an administrator.
    administrator: bool,
    /// True if only clients with the documented `User-Agent` are served.
    strict_agents: bool,
    /// The bot to run inside, with its arguments. It is empty if there is none.
    command: Vec<OsString>,
}

/// Describes the command line.
fn command() -> Command {
    let port = Arg::new("port").long("port").value_name("PORT").value_parser(value_parser!(u16));
    let seed = Arg::new("seed").long("seed").value_name("N").value_parser(value_parser!(u64));
    let agents = Arg::new("agents").long("agents").value_name("N").default_value("3");
    let state =
        Arg::new("state").long("state").value_name("FILE").value_parser(value_parser!(PathBuf));
    let administrator = Arg::new("administrator").long("administrator").action(ArgAction::SetTrue);
    let strict = Arg::new("strict-agents").long("strict-agents").action(ArgAction::SetTrue);
    let bot = Arg::new("command").last(true).num_args(1..).value_name("COMMAND");
    Command::new("loopback-discord")
        .about("A Discord on this machine, with a guild, a moderator, agents and you")
        .arg(port.default_value("0").help("The port to listen on; 0 takes a free one"))
        .arg(seed.help("Gives the same ids and tokens at each start"))
        .arg(agents.value_parser(value_parser!(u8).range(0..=63)).help(
            "How many agents there are beside the moderator; each has a variable with its token",
        ))
        .arg(state.help(
            "Keeps guilds, channels, accounts, tokens and messages in this file; \
             where there is one, neither seed nor agents are used",
        ))
        .arg(administrator.help(
            "Makes the moderator an administrator, as it must be for agents to open discussions",
        ))
        .arg(strict.help(
            "Refuses clients whose User-Agent is not `DiscordBot (url, version)`; \
             without it, each such client is served, and warned of once",
        ))
        .arg(
            bot.value_parser(value_parser!(OsString)).help("Runs this bot, and ends with its code"),
        )
}

impl Flags {
    fn read(matches: &ArgMatches) -> Self {
        Self {
            port: matches.get_one("port").copied().unwrap_or_default(),
            seed: matches.get_one("seed").copied(),
            agents: matches.get_one("agents").copied().unwrap_or(3),
            state: matches.get_one("state").cloned(),
            administrator: matches.get_flag("administrator"),
            strict_agents: matches.get_flag("strict-agents"),
            command: matches.get_many("command").into_iter().flatten().cloned().collect(),
        }
    }
}

fn main() -> ExitCode {
    let flags = Flags::read(&command().get_matches());
    match run(&flags) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // A failure to write to standard error cannot be reported anywhere.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> io::Result<u8> {
    dirigent_testkit::print_warnings();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(serve(flags));
    // A thread that waits for a line must not keep the process alive.
    runtime.shutdown_background();
    ended
}

/// Creates the guild with the permissions that the flags ask for.
fn begin_as(discord: &MemoryDiscord, flags: &Flags) -> io::Result<SeededGuild> {
    let stage = begin(discord, flags)?;
    if flags.administrator {
        discord.guild(stage.guild).set_administrator(stage.moderator(), true);
    }
    Ok(stage)
}

/// Serves until the person quits, a signal comes or the bot inside ends. Returns the exit code.
async fn serve(flags: &Flags) -> io::Result<u8> {
    let mut signals = signals()?;
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let stage = begin_as(&discord, flags)?;
    let loopback = LoopbackDiscord::start_on(discord.clone(), flags.port).await?;
    if flags.strict_agents {
        loopback.refuse_odd_agents();
    }
    let terminal = Terminal::new(&loopback, stage.clone());
    let ended = if flags.command.is_empty() {
        terminal.greet()?;
        tokio::select! {
            ended = attend(terminal, &discord, &stage, flags) => ended.map(|()| 0),
            _ = signals.recv() => Ok(0),
        }
    } else {
        terminal.greet_inside(&flags.command)?;
        match Bot::start(&flags.command, variables::variables(&loopback, &stage)) {
            Ok(bot) => {
                let attended = attend(terminal, &discord, &stage, flags);
                accompany(bot, attended, &mut signals).await
            }
            Err(error) => {
                let program = flags.command.first().map(|it| it.to_string_lossy());
                writeln!(io::stderr(), "{}: {error}", program.unwrap_or_default())?;
                Ok(Bot::code_of_failure(&error))
            }
        }
    };
    if let Some(path) = &flags.state {
        Saved::of(&discord, &stage).write(path)?;
    }
    loopback.shutdown().await;
    ended
}

/// Serves the person at the terminal until they quit, and writes the state.
async fn attend(
    mut terminal: Terminal<'_>,
    discord: &MemoryDiscord,
    stage: &SeededGuild,
    flags: &Flags,
) -> io::Result<()> {
    tokio::select! {
        ended = terminal.run() => ended,
        failed = keep(discord, stage, flags.state.as_deref()) => failed,
    }
}

/// Sends signals to the bot until it ends or the person has quit. Returns the bot's exit code.
async fn accompany(
    mut bot: Bot,
    attended: impl Future<Output = io::Result<()>>,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
) -> io::Result<u8> {
    let mut attended = std::pin::pin!(attended);
    loop {
        tokio::select! {
            code = bot.wait() => return code,
            Some(signal) = signals.recv() => bot.send(signal),
            ended = &mut attended => {
                ended?;
                return bot.end().await;
            }
        }
    }
}

/// Restores the content of the state file, or creates a new guild.
fn begin(discord: &MemoryDiscord, flags: &Flags) -> io::Result<SeededGuild> {
    let saved = flags.state.as_deref().map(Saved::read).transpose()?.flatten();
    Ok(match saved {
        Some(saved) => saved.restore(discord),
        None => SeededGuild::new(discord, flags.seed, flags.agents),
    })
}

/// Receives the signals that end the program, or go to the bot inside.
fn signals() -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, received) = mpsc::unbounded_channel();
    let all = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];
    for kind in all {
        let mut source = signal(SignalKind::from_raw(kind.as_raw()))?;
        let sender = sender.clone();
        tokio::spawn(
            async move { while source.recv().await.is_some() && sender.send(kind).is_ok() {} },
        );
    }
    Ok(received)
}

/// Writes the state whenever it has changed, so that a kill loses one second at most. It ends only if a write fails.
async fn keep(discord: &MemoryDiscord, stage: &SeededGuild, path: Option<&Path>) -> io::Result<()> {
    let Some(path) = path else { return std::future::pending().await };
    let clock = SystemClock::new();
    let mut written = None;
    loop {
        let saved = Saved::of(discord, stage);
        if written.as_ref() != Some(&saved) {
            saved.write(path)?;
            written = Some(saved);
        }
        clock.sleep_until(clock.now() + WRITE_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use dirigent::ports::Timestamp;

    use dirigent_testkit::memory_discord::Permissions;

    use super::*;

    fn read(words: &[&str]) -> Option<Flags> {
        let matches = command().try_get_matches_from([&["loopback-discord"], words].concat());
        matches.ok().map(|matches| Flags::read(&matches))
    }

    #[test]
    fn the_flags_are_read_and_nothing_else() {
        assert_eq!(read(&[]), Some(flags()));
        let state = Some(PathBuf::from("town.json"));
        let command = ["my-bot", "--fast"].map(OsString::from).into();
        let (port, seed, administrator, strict_agents) = (8_120, Some(7), true, true);
        let flags = Flags { port, seed, agents: 4, state, administrator, strict_agents, command };
        let words = "--port 8120 --seed 7 --agents 4 --state town.json --administrator \
            --strict-agents -- my-bot --fast";
        let words: Vec<_> = words.split(' ').collect();
        assert_eq!(read(&words), Some(flags));
        for wrong in [
            ["--port", "many"],
            ["--prot", "8120"],
            ["--seed", "-1"],
            ["--agents", "-1"],
            ["--agents", "64"],
        ] {
            assert_eq!(read(&wrong), None);
        }
    }

    /// Pasted lines work only if a shell takes each value as one word.
    #[tokio::test(flavor = "current_thread")]
    async fn the_variables_need_no_quotes_and_name_the_address_as_clients_take_it() {
        let discord = discord();
        let stage = SeededGuild::new(&discord, None, 5);
        let loopback = LoopbackDiscord::start(discord).await.unwrap();
        let all = variables::variables(&loopback, &stage);
        for (name, value) in &all {
            let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-:/".contains(it);
            assert!(!value.is_empty() && value.chars().all(is_plain), "{name}={value}");
        }
        let value = |name: &str| {
            let found = all.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).unwrap()
        };
        let host = loopback.address().to_string();
        assert_eq!(value("DISCORD_PROXY_HOST"), host);
        assert_eq!(value("DISCORD_PROXY_URL"), format!("http://{host}"));
        assert_eq!(value("DISCORD_API_URL"), format!("http://{host}/api/v10"));
        let (_, moderator) = stage.bots[0];
        assert_eq!(value("DISCORD_TOKEN"), loopback.token(moderator));
        assert_eq!(value("DISCORD_APPLICATION_ID"), moderator.to_string());
        assert_eq!(value("TESTER_TOKEN"), loopback.token(stage.bots[3].1));
        assert_eq!(value("AGENT5_TOKEN"), loopback.token(stage.bots[5].1));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn the_moderator_is_an_administrator_where_that_is_asked_for() {
        for administrator in [false, true] {
            let discord = discord();
            let stage = begin_as(&discord, &Flags { administrator, ..flags() }).unwrap();
            let permissions = discord.channel(stage.channel).permissions(stage.moderator());
            assert_eq!(permissions.contains(Permissions::ADMINISTRATOR), administrator);
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_bot_is_mentioned_by_its_name() {
        let discord = discord();
        let stage = SeededGuild::new(&discord, None, 3);
        let loopback = LoopbackDiscord::start(discord).await.unwrap();
        let tester = stage.bots[3].1;
        let said = Terminal::new(&loopback, stage)
            .with_mentions("@tester, ask @absent: me@tester or (@tester)");
        assert_eq!(said, format!("<@{tester}>, ask @absent: me@tester or (@tester)"));
        loopback.shutdown().await;
    }

    /// EZ2
    #[tokio::test(flavor = "current_thread")]
    async fn a_command_that_the_bot_does_not_answer_is_told_after_three_seconds() {
        let clock = dirigent_testkit::ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let stage = SeededGuild::new(&discord, None, 3);
        let commands = vec![serde_json::json!({ "id": "1", "name": "status", "type": 1 })];
        discord.world().applications.commands.insert((stage.moderator(), None), commands);
        let loopback = LoopbackDiscord::start(discord).await.unwrap();
        let mut terminal = Terminal::new(&loopback, stage);
        terminal.obey(&order::Order::read("/status")).unwrap();
        clock.advance(Duration::from_secs(3));
        assert_eq!(terminal.look(), [""; 0]);
        clock.advance(Duration::from_millis(1));
        let said = terminal.look();
        assert!(said[0].starts_with("/status: the application did not respond"), "{said:?}");
        assert_eq!(terminal.look(), [""; 0], "it is said once");
        loopback.shutdown().await;
    }

    /// What is taken without flags.
    fn flags() -> Flags {
        Flags {
            port: 0,
            seed: None,
            agents: 3,
            state: None,
            administrator: false,
            strict_agents: false,
            command: Vec::new(),
        }
    }

    fn discord() -> MemoryDiscord {
        MemoryDiscord::new(Arc::new(SystemClock::new()))
    }

    #[test]
    fn a_seed_gives_the_same_ids_at_each_start() {
        let start = |seed| SeededGuild::new(&discord(), seed, 3);
        assert_eq!(start(Some(1)), start(Some(1)));
        assert_ne!(start(Some(1)), start(Some(2)));
        let made_at = |id: u64| Timestamp::from_millis((id >> 22) + 1_420_070_400_000);
        for seed in [0, 1, 7, u64::MAX] {
            let channel = start(Some(seed)).channel;
            assert!(made_at(channel.get()) < SystemClock::new().now(), "seed {seed}");
        }
    }

    /// Gives the message everything that a message can show, and the channel a pin and a webhook.
    fn show(discord: &MemoryDiscord, stage: &SeededGuild, message: dirigent::MessageId) {
        use dirigent_testkit::memory_discord::attachment::Attachment;
        use dirigent_testkit::memory_discord::marking;
        use dirigent_testkit::memory_discord::webhooks::{PostedAs, Webhook};

        let mut world = discord.world();
        world.edit(stage.channel, message, |_, details| {
            let rare = details.rare_mut();
            rare.media.embeds.push(serde_json::json!({ "type": "rich", "title": "t" }));
            rare.media.attachments.push(Attachment {
                id: 7,
                filename: "a.bin".to_owned(),
                description: None,
                content_type: "application/octet-stream".to_owned(),
                bytes: [0_u8, 159, 255][..].into(),
            });
            rare.guise = Some(PostedAs { name: Some("crier".to_owned()), avatar: None });
        });
        marking::pin(&mut world, (stage.channel, message), stage.person);
        let webhook = Webhook {
            channel: stage.channel,
            name: "herald".to_owned(),
            avatar: None,
            token: "token".to_owned(),
            creator: stage.person,
        };
        world.webhooks.by_id.insert(dirigent::UserId::new(8), webhook);
    }

    #[test]
    fn a_state_file_keeps_everything_to_the_next_start() {
        let path = std::env::temp_dir().join(format!("loopback-state-{}", std::process::id()));
        let flags = Flags { state: Some(path.clone()), ..flags() };
        let before = discord();
        let stage = begin(&before, &flags).unwrap();
        let (_, moderator) = stage.bots[0];
        let open = before.add_open_channel(stage.guild, "den");
        let said = before.say(stage.channel, stage.person, "Good morning");
        before.edit(stage.channel, said, "Good evening");
        before.channel(stage.channel).set_history_hidden(moderator, true);
        let thumb = dirigent_testkit::memory_discord::Emoji::read("👍").unwrap();
        before.channel(stage.channel).react(moderator, said, &thumb);
        show(&before, &stage, said);
        let saved = Saved::of(&before, &stage);
        saved.write(&path).unwrap();

        let after = discord();
        assert_eq!(begin(&after, &flags).unwrap(), stage);
        assert_eq!(Saved::of(&after, &stage), saved);
        assert_eq!(after.messages(stage.channel), before.messages(stage.channel));
        let audience = |discord: &MemoryDiscord| discord.channel(stage.channel).audience();
        assert_eq!(audience(&after), audience(&before));
        assert!(after.say(open, stage.person, "still here") > said, "ids rise");
        std::fs::write(&path, "{}").unwrap();
        assert!(begin(&discord(), &flags).is_err(), "another file is not taken for a state");
        std::fs::remove_file(&path).unwrap();
    }
}
