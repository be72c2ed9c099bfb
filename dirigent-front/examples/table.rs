//! Bots in any language at one table, in a Discord on this machine: no token, no model.
//!
//! ```text
//! cargo run -p dirigent-front --example table -- "python3 clients/bot.py" "node clients/bot.mjs"
//! ```
//!
//! Each argument is a command that runs one bot. The bot's environment has the addresses of Discord and of the front, its
//! token, its secret and its agent's name. `table` prints the names. The bot must print `ready` once it hears its channel.
//!
//! Then a person says something four times, and each time the bots have turns until all pass. The example brings faults, as the
//! world does. The first bot is killed in its turn and started again. The table is stopped while a bot thinks. The answers of
//! every fourth connection to the front are lost. `table` fails if a bot speaks out of its turn or says something twice. It
//! also fails if a turn is lost without a kill, or if the table does not come to rest.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "an example shows what happens; there are at least two bots"
)]

use std::collections::HashSet;
use std::error::Error;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::{Cause, ChannelEvent, EventOrLag, Events};
use dirigent::ports::{GuildApi, Identity};
use dirigent::settings::Pacing;
use dirigent::snapshot::PhaseKind;
use dirigent::{
    AgentId, ChannelId, Dirigent, MemoryIdentities, Mode, Settings, SystemClock, UserId,
};
use dirigent_front::Front;
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, GatewayEvents};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The longest wait for anything that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time after which a killed agent is skipped.
const RUN: Duration = Duration::from_secs(15);
/// The time after which a bot has surely ended its thinking.
const THOUGHT: Duration = Duration::from_secs(4);
/// The number of times that the person says something.
const WORDS: [&str; 4] =
    ["Tabs or spaces?", "And in Python?", "Who tells the others?", "Take your time to think."];

struct Bot {
    agent: AgentId,
    account: UserId,
    command: String,
    environment: Vec<(&'static str, String)>,
}

impl Bot {
    fn new(
        (account, agent): (UserId, &AgentId),
        command: String,
        (discord, front): (&LoopbackDiscord, SocketAddr),
    ) -> Self {
        let chat = discord.address();
        let environment = vec![
            ("DISCORD_TOKEN", discord.token(account)),
            ("DISCORD_API_URL", format!("http://{chat}/api/v10")),
            ("DISCORD_PROXY_URL", format!("http://{chat}")),
            ("DISCORD_GATEWAY_URL", format!("ws://{chat}")),
            ("DIRIGENT_URL", format!("http://{front}")),
            ("DIRIGENT_SECRET", format!("{agent}.{}", secret(agent))),
            ("DIRIGENT_AGENT", agent.to_string()),
        ];
        Self { agent: agent.clone(), account, command, environment }
    }

    /// Starts the bot, and waits until it hears its channel.
    async fn start(&self) -> Result<Child> {
        let mut words = self.command.split_whitespace();
        let program = words.next().ok_or("a bot without a command")?;
        let mut command = Command::new(program);
        command.args(words).envs(self.environment.iter().cloned());
        let mut bot = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(bot.stdout.take().ok_or("no output")?).lines();
        let ready = async {
            while let Some(line) = lines.next_line().await? {
                if line == "ready" {
                    return Result::Ok(());
                }
            }
            Err(format!("{} ended before it was ready", self.command).into())
        };
        timeout(PATIENCE, ready).await.map_err(|_| format!("{} is not ready", self.command))??;
        // A program that prints into a closed pipe ends.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(bot)
    }
}

#[tokio::main]
async fn main() -> Result {
    let commands: Vec<String> = std::env::args().skip(1).collect();
    if commands.len() < 2 {
        return Err(
            "usage: table COMMAND COMMAND..., a command for each of at least two bots".into()
        );
    }
    let clock = SystemClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock));
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let accounts: Vec<UserId> = commands.iter().map(|_| discord.add_bot()).collect();
    let guild = discord.add_guild(person);
    let members = [&[moderator, person][..], &accounts].concat();
    let channel = discord.add_channel(guild, "table", &members);
    let loopback = LoopbackDiscord::start(discord.clone()).await?;

    let (identities, mut settings) = (MemoryIdentities::new(), Settings::default());
    settings.limits.pacing = Pacing::off();
    let mut config = dirigent::Config::default();
    (config.deadlines.start, config.deadlines.run) = (Some(RUN), Some(RUN));
    let agents: Vec<AgentId> = (1..=accounts.len()).map(|it| format!("bot-{it}").into()).collect();
    for (account, agent) in accounts.iter().zip(&agents) {
        let agent_name = agent.to_string();
        identities.add(Identity {
            discord_user_id: *account,
            agent_id: agent.clone(),
            agent_name,
        })?;
    }
    let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
        .identities(identities)
        .settings(settings)
        .config(config)
        .build()?;
    let chat: Arc<dyn GuildApi> = Arc::new(discord.account(moderator));
    let mut front = Front::builder(dirigent.clone(), chat);
    for agent in &agents {
        front = front.host(agent.as_str(), &secret(agent), [agent.clone()]);
    }
    let (front, listener) = (front.build()?, TcpListener::bind("127.0.0.1:0").await?);
    let behind = listener.local_addr()?;
    let flaky = TcpListener::bind("127.0.0.1:0").await?;
    let here = flaky.local_addr()?;
    tokio::spawn(lose_answers(flaky, behind));
    tokio::spawn(async move { driver.run().await });
    tokio::spawn(async move { front.serve(listener).await });

    let bots = accounts.iter().zip(&agents).zip(commands);
    let bots = bots
        .map(|((account, agent), command)| Bot::new((*account, agent), command, (&loopback, here)));
    let bots: Vec<Bot> = bots.collect();
    if let Some(bot) = bots.first() {
        let names: Vec<&str> = bot.environment.iter().map(|(name, _)| *name).collect();
        println!("a bot's environment has {}", names.join(", "));
    }
    let mut running = Vec::new();
    for bot in &bots {
        running.push(bot.start().await?);
    }
    // From now on: the library hears the first word, too.
    let heard = discord.events();
    tokio::select! {
        played = evening(&discord, &dirigent, (channel, person), &bots, &mut running) => played?,
        wrong = watch(heard, &dirigent, (channel, person), &bots) => wrong?,
    }
    judge(&discord, channel, &bots)
}

/// A person says something, and the bots have turns until all pass; so often.
async fn evening(
    discord: &MemoryDiscord,
    dirigent: &Dirigent,
    (channel, person): (ChannelId, UserId),
    bots: &[Bot],
    running: &mut [Child],
) -> Result {
    dirigent.channel(channel).set_mode(Mode::Chat).await?;
    let (first, other) = (&bots[0], &bots[bots.len() - 1]);
    for (round, words) in WORDS.into_iter().enumerate() {
        let mut events = dirigent.events();
        let mut lost = 0;
        println!("a person: {words}");
        discord.say(channel, person, words);
        let (speaker, silent) = if round == 2 { (other, first) } else { (first, other) };
        let runs = async |event: &ChannelEvent| {
            event.transition.to == PhaseKind::Running
                && event.agent.as_ref() == Some(&speaker.agent)
        };
        lost += until(&mut events, runs).await?;
        match round {
            0 | 2 => {
                // It is not the turn of this one, which is silent.
                discord.say(channel, person, format!("<@{}> {words}", silent.account));
            }
            1 => {
                running[0].kill().await?;
                println!("({} is killed)", first.agent);
                running[0] = first.start().await?;
            }
            _ => {
                // What the speaker has been thinking meanwhile is not said.
                dirigent.channel(channel).stop().await?;
                println!("(the table is stopped)");
                if timeout(THOUGHT, said_by(discord, speaker)).await.is_ok() {
                    return Err(format!("{} speaks though it was stopped", speaker.agent).into());
                }
                dirigent.channel(channel).resume().await?;
                discord.say(channel, person, "Go on.");
            }
        }
        lost += until(&mut events, async |_: &ChannelEvent| is_at_rest(dirigent, channel).await)
            .await?;
        println!("(the table is at rest)");
        if lost > 0 && round != 1 {
            return Err(format!("{lost} turns went wrong, and no bot was killed").into());
        }
    }
    dirigent.channel(channel).set_mode(Mode::None).await?;
    for bot in bots {
        let answers = said_by(discord, bot);
        discord.say(channel, person, format!("<@{}> No turns are kept now.", bot.account));
        timeout(PATIENCE, answers).await.map_err(|_| format!("{} is silent", bot.agent))?;
    }
    Ok(())
}

/// Ends when this bot says something, from now on.
fn said_by(discord: &MemoryDiscord, bot: &Bot) -> impl Future<Output = ()> {
    let (mut events, account) = (discord.events(), bot.account);
    async move {
        while let Some(event) = events.next().await {
            if matches!(&event, Event::MessageCreated(it) if it.author == account) {
                return;
            }
        }
    }
}

async fn is_at_rest(dirigent: &Dirigent, channel: ChannelId) -> bool {
    let status = dirigent.channel(channel).status().await;
    let status = status.ok().flatten();
    status.is_some_and(|it| it.phase == PhaseKind::Dormant && !it.has_word)
}

/// Carries connections to the front. Of every fourth the front takes what is asked, and its answer never arrives.
async fn lose_answers(listener: TcpListener, front: SocketAddr) -> std::io::Result<()> {
    for number in 1_u64.. {
        let (mut here, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut there = TcpStream::connect(front).await?;
            if number.is_multiple_of(4) {
                let (mut asks, _) = here.split();
                let (mut answers, mut takes) = there.split();
                let mut byte = [0];
                tokio::select! {
                    asked = tokio::io::copy(&mut asks, &mut takes) => asked.map(drop),
                    answered = answers.read(&mut byte) => answered.map(drop),
                }
            } else {
                tokio::io::copy_bidirectional(&mut here, &mut there).await.map(drop)
            }
        });
    }
    Ok(())
}

/// No secret: everything is on this machine, and over in a minute.
fn secret(agent: &AgentId) -> String {
    format!("the-secret-of-{agent}")
}

fn floor(dirigent: &Dirigent, channel: ChannelId) -> Option<AgentId> {
    dirigent.channel(channel).floor().map(|(agent, _)| agent)
}

/// Waits for an event that makes this true. Returns how many turns went wrong.
async fn until(events: &mut Events, is: impl AsyncFn(&ChannelEvent) -> bool) -> Result<usize> {
    let mut lost = 0;
    loop {
        let heard = timeout(PATIENCE, events.next()).await.map_err(|_| "nothing goes on")?;
        let Some(EventOrLag::Transition(event)) = heard else { continue };
        println!("    {event}");
        lost += usize::from(matches!(
            event.transition.cause,
            Cause::Retriggered
                | Cause::StartTimedOut
                | Cause::RunTimedOut
                | Cause::RunFailed
                | Cause::DeliveryTimedOut
        ));
        if is(&event).await {
            return Ok(lost);
        }
    }
}

/// Tells the library what happens in the chat. Ends where a bot speaks out of its turn.
async fn watch(
    mut events: GatewayEvents,
    dirigent: &Dirigent,
    (channel, person): (ChannelId, UserId),
    bots: &[Bot],
) -> Result {
    // Who had the floor when the person spoke: its reply, if that was on its way, is posted all the same.
    let mut interrupted = None;
    while let Some(event) = events.next().await {
        let author = if let Event::MessageCreated(it) = &event { Some(it.author) } else { None };
        if author == Some(person) {
            interrupted = floor(dirigent, channel);
        }
        if let Some(bot) = bots.iter().find(|bot| Some(bot.account) == author) {
            println!("{} speaks", bot.agent);
            let status = dirigent.channel(channel).status().await?;
            let keeps_turns = status.is_some_and(|it| it.mode == Mode::Chat);
            let has_turn = floor(dirigent, channel).as_ref() == Some(&bot.agent)
                || interrupted.take_if(|it| *it == bot.agent).is_some();
            if keeps_turns && !has_turn {
                return Err(format!("{} speaks out of its turn", bot.agent).into());
            }
        }
        event.tell(dirigent).await?;
    }
    Err("the chat is gone".into())
}

/// Checks that each bot had its say, and said each thing once.
fn judge(discord: &MemoryDiscord, channel: ChannelId, bots: &[Bot]) -> Result {
    let said: Vec<_> = discord.messages(channel);
    let mut once = HashSet::new();
    for bot in bots {
        let mut own = said.iter().filter(|it| it.author == bot.account).peekable();
        if own.peek().is_none() {
            return Err(format!("{} said nothing", bot.agent).into());
        }
        if let Some(twice) = own.find(|it| !once.insert(it.content.to_string())) {
            return Err(format!("{} said twice: {}", bot.agent, twice.content).into());
        }
    }
    println!("{} messages, each in its turn and none twice", once.len());
    Ok(())
}
