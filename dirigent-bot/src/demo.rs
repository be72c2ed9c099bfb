//! `dirigent demo`: a table in a Discord on this machine, where you are the person and type.

#![expect(clippy::print_stdout, reason = "this is what one came to see")]

#[expect(clippy::collapsible_if, reason = "examples that promise an older Rust show it, too")]
mod terminal;
mod words;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::{Cause, ChannelEvent, EventOrLag};
use dirigent::snapshot::PhaseKind;
use dirigent::{Agent, AgentId, ChannelId, Clock, SystemClock, UserId};
use dirigent_loopback::{InteractionId, LoopbackDiscord};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Event;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::bot::{Bot, Result, Stored};
use crate::config::{AgentConfig, BotConfig, Id};
use crate::problem::Text;
use crate::run::{give_modes, interrupted};
use crate::secret::drawn;
use terminal::Terminal;
use words::{QUESTION, Words};

/// The interval between looks at what reports no change.
const LOOK: Duration = Duration::from_millis(20);
/// The most looks for the answer to a command.
const LOOKS: u32 = 500;
/// The time that an agent by words thinks, if a person reads along.
const THINKS: Duration = Duration::from_millis(700);

/// The flags of `dirigent demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoFlags {
    /// Let a model speak: the base address of any endpoint with OpenAI's chat completions.
    #[arg(long, value_name = "URL")]
    model: Option<String>,
    /// The model's name at that endpoint.
    #[arg(long, value_name = "NAME", default_value = "default", requires = "model")]
    name: String,
    /// Your first words.
    #[arg(long, value_name = "TEXT", default_value = QUESTION)]
    ask: String,
}

/// The table, and what it has shown.
struct Table {
    server: Arc<LoopbackDiscord>,
    discord: MemoryDiscord,
    channel: ChannelId,
    person: UserId,
    moderator: UserId,
    terminal: Terminal,
    /// A change that is shown after the words that it confirms.
    late: Option<ChannelEvent>,
}

/// Plays until `/quit`, the end of the input or a signal.
pub(crate) async fn demo(flags: DemoFlags) -> Result {
    let secret = drawn()?;
    let (mut bot, mut table) = begin(&flags, &secret).await?;
    let (mut pushed, mut changes) = (table.discord.events(), bot.dirigent.events());
    greet(&bot, table.channel, &secret);
    let (mut lines, mut is_open) = (BufReader::new(tokio::io::stdin()).lines(), true);
    let mut end = std::pin::pin!(interrupted());
    // Set while agents may still answer what was said.
    let mut is_busy = true;
    table.discord.say(table.channel, table.person, &flags.ask);
    let reads_along = std::io::stdin().is_terminal();
    if reads_along {
        println!("{:>11}: {}", "You", flags.ask);
    }
    while is_open || is_busy {
        tokio::select! {
            biased;
            interrupted = &mut end => { interrupted?; break }
            ended = bot.ended() => return ended,
            change = changes.next(), if table.late.is_none() => match change {
                Some(EventOrLag::Transition(change)) => {
                    is_busy = !matches!(change.transition.to, PhaseKind::Dormant);
                    table.changed(change, &bot).await;
                }
                Some(EventOrLag::AgentFailed(failed)) => terminal::note(&format!("{} fails: {}", failed.agent, failed.fault)),
                _ => {}
            },
            Some(event) = pushed.next() => {
                // A terminal shows what is typed already.
                if let Event::MessageCreated(it) = event && !(reads_along && it.author == table.person) {
                    table.terminal.show_message(&it);
                }
                if let Some(change) = table.late.take() {
                    table.changed(change, &bot).await;
                }
            }
            line = lines.next_line(), if is_open => match line?.as_deref().map(str::trim) {
                None => is_open = false,
                Some("/quit") => break,
                Some(line) => is_busy |= table.typed(line),
            },
        }
    }
    bot.shut_down().await;
    Ok(())
}

/// Sets up the Discord, and the program in it as `dirigent run` does.
async fn begin(flags: &DemoFlags, drawn: &str) -> Result<(Bot, Table)> {
    let discord = MemoryDiscord::default();
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let guild = discord.add_guild(person);
    let channel = discord.add_channel(guild, "round-table", &[moderator, person]);
    discord.guild(guild).set_administrator(moderator, true);
    let server = Arc::new(LoopbackDiscord::start(discord.clone()).await?);

    let text = Text::new("demo.toml", include_str!("demo/demo.toml"));
    let mut config = BotConfig::parse(&text)?;
    for (key, secret) in config.secrets() {
        secret.value =
            if key == "discord.token" { server.token(moderator) } else { drawn.to_owned() };
    }
    config.discord.address = Some(format!("http://{}", server.address()));
    config.channels.iter_mut().for_each(|it| it.id = Id(channel.get()));
    for model in config.agents.iter_mut().filter_map(|agent| agent.model.as_mut()) {
        model.name.clone_from(&flags.name);
        flags.model.iter().for_each(|url| model.url.clone_from(url));
    }
    let thinks = if std::io::stdin().is_terminal() { THINKS } else { LOOK };
    let by_words = flags.model.is_none();
    let voice = move |agent: &AgentConfig| {
        let words = Words::of(&agent.name, thinks).filter(|_| by_words)?;
        Some(Arc::new(words) as Arc<dyn Agent>)
    };
    let mut bot = Box::pin(Bot::new(config, &text, Stored::default(), &voice)).await?;
    bot.start(&text).await?;
    let modes = give_modes(bot.dirigent.clone(), bot.config.channels.clone());
    let connected = until(|| server.sessions(moderator).iter().any(|session| session.connected));
    tokio::select! {
        ended = bot.ended() => return Err(ended.err().unwrap_or_else(|| "it ended".into())),
        _ = async { tokio::join!(modes, connected) } => {}
    }

    let mut terminal = Terminal::new(false);
    terminal.introduce(moderator, "Moderator", None);
    terminal.introduce(person, "You", None);
    for (agent, face) in bot.config.agents.iter().zip(1..) {
        if let Some(persona) = &agent.persona {
            terminal.introduce(UserId::new(face), &persona.name, Some(agent.id()));
        }
    }
    let table = Table { server, discord, channel, person, moderator, terminal, late: None };
    Ok((bot, table))
}

/// Prints what you can do here, and the addresses of the page and the front.
fn greet(bot: &Bot, channel: ChannelId, secret: &str) {
    let [(_, page), (_, front)] = bot.listening.as_slice() else { return };
    println!(
        "A table in a Discord on this machine: nothing leaves it. You are at it, too.

  control page  http://{page}/dirigent
    sign in as  {secret}
  front         curl -H 'authorization: Bearer demo.{secret}' 'http://{front}/v1/state?channel={channel}'

Type what you say. `stop` silences the agents, @sceptic asks one of them, /status and /why tell how it
stands, /quit ends. With --model URL a model speaks; `dirigent init` begins a table at Discord.
"
    );
}

impl Table {
    /// Takes what the person typed: words, or a slash command. Returns whether agents may answer it.
    fn typed(&mut self, line: &str) -> bool {
        let Some(command) = line.strip_prefix('/') else {
            if line.is_empty() {
                return false;
            }
            self.discord.say(self.channel, self.person, line);
            return true;
        };
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let option = self.server.only_option(self.channel, self.moderator, name);
        let option =
            option.as_deref().filter(|_| !rest.is_empty()).map(|option| (option, rest.into()));
        let options = option.as_slice();
        match self.server.use_command(self.channel, self.person, self.moderator, name, options) {
            Ok(used) => _ = tokio::spawn(answer(Arc::clone(&self.server), used)),
            Err(error) => terminal::note(&format!("/{name}: {error}")),
        }
        name == "resume"
    }

    async fn changed(&mut self, change: ChannelEvent, bot: &Bot) {
        // Chat and library are two streams; a reply is pushed before the library confirms it.
        if self.terminal.lacks_words_for(&change) {
            self.late = Some(change);
            return;
        }
        let mut order: Vec<AgentId> = Vec::new();
        if change.transition.cause == Cause::Reshuffled {
            let status = bot.dirigent.channel(self.channel).status().await.ok().flatten();
            order.extend(status.into_iter().flat_map(|it| it.list).map(|(agent, _)| agent));
        }
        self.terminal.show_change(&change, &order);
    }
}

/// Waits until the condition holds.
async fn until(mut is_so: impl FnMut() -> bool) {
    let clock = SystemClock::new();
    while !is_so() {
        clock.sleep_until(clock.now() + LOOK).await;
    }
}

/// Shows the answer to a slash command.
async fn answer(server: Arc<LoopbackDiscord>, used: InteractionId) {
    let (mut looks, mut answered) = (0, Vec::new());
    until(|| {
        answered = server.answers(used);
        looks += 1;
        looks > LOOKS || answered.iter().any(|it| !it.content.is_empty())
    })
    .await;
    answered
        .iter()
        .flat_map(|it| it.content.lines())
        .for_each(|line| println!("{:>11}  {line}", ""));
}
