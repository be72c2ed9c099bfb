//! Three agents and a person at a round table, in a Discord that lives in memory.
//!
//! `cargo run --example roundtable` plays a whole evening and ends by itself;
//! `cargo run --example roundtable -- --interactive` lets you be the person.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{
    Agent, AgentError, AgentId, ChannelEvent, ChannelId, ChatMessage, Clock, Dirigent, Heard,
    Identity, MemoryIdentities, Mode, Pacing, PhaseKind, Reply, Settings, SystemClock, Turn,
    UserId,
};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Event;
use tokio::io::{AsyncBufReadExt, BufReader};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// An agent that says its lines, one a turn, and passes when it has none left for the topic.
struct Character {
    clock: SystemClock,
    thinks: Duration,
    lines: Arc<Mutex<VecDeque<&'static str>>>,
}

#[dirigent::async_trait]
impl Agent for Character {
    async fn speak(&self, turn: Turn) -> std::result::Result<Reply, AgentError> {
        let thought = self.clock.now() + self.thinks;
        tokio::select! {
            () = self.clock.sleep_until(thought) => {}
            () = turn.cancelled() => return Ok(Reply::Pass),
        }
        let line = self.lines.lock().map_err(|_| "a line was lost")?.pop_front();
        Ok(line.map_or(Reply::Pass, Reply::from))
    }
}

/// The people, the agents, and where they sit.
struct Table {
    discord: MemoryDiscord,
    dirigent: Dirigent,
    identities: MemoryIdentities,
    clock: SystemClock,
    channel: ChannelId,
    person: UserId,
}

impl Table {
    /// Lets an agent take part: an account, an entry in the registry, and something that speaks.
    async fn seat(&self, name: &str, thinks: u64, lines: &[&'static str]) -> Result<Lines> {
        let user = self.discord.add_bot();
        let identity = Identity {
            discord_user_id: user,
            agent_id: name.to_lowercase().into(),
            agent_name: name.to_owned(),
        };
        let agent = identity.agent_id.clone();
        self.identities.add(identity)?;
        self.dirigent.identities_changed().await?;
        let lines = Arc::new(Mutex::new(lines.iter().copied().collect()));
        let character = Character {
            clock: self.clock,
            thinks: Duration::from_millis(thinks),
            lines: Arc::clone(&lines),
        };
        self.dirigent.host(agent, character, Arc::new(self.discord.account(user)));
        self.discord.join(self.channel, user);
        Ok(lines)
    }

    /// The person speaks, and everybody listens until the table falls silent.
    async fn ask(&self, question: &str) -> Result<()> {
        let mut changes = self.dirigent.transitions();
        self.discord.say(self.channel, self.person, question);
        while let Some(Heard::Event(event)) = changes.next().await {
            if event.transition.to == PhaseKind::Dormant {
                break;
            }
        }
        Ok(())
    }
}

type Lines = Arc<Mutex<VecDeque<&'static str>>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let interactive = std::env::args().any(|argument| argument == "--interactive");
    let clock = SystemClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock));
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let guild = discord.add_guild(person);
    discord.add_member(guild, moderator);
    let channel = discord.add_channel(guild, "round-table", &[moderator, person]);

    let identities = MemoryIdentities::new();
    let mut settings = Settings::default();
    settings.pacing = Pacing::off();
    settings.stop_words = vec!["stop".to_owned()];
    settings.resume_words = vec!["resume".to_owned()];
    let (dirigent, driver) =
        Dirigent::builder(Arc::new(discord.account(moderator)), identities.clone(), clock)
            .settings(settings)
            .seed(4)
            .build()?;
    let driver = tokio::spawn(driver.run());
    tokio::task::yield_now().await;
    let table = Table { discord, dirigent, identities, clock, channel, person };
    let watching =
        tokio::spawn(watch(table.discord.clone(), table.dirigent.clone(), channel, person));

    if interactive {
        talk(&table).await?;
    } else {
        play(&table).await?;
    }
    table.dirigent.shutdown(Duration::from_secs(2)).await;
    driver.await??;
    watching.abort();
    Ok(())
}

/// An evening in four scenes.
async fn play(table: &Table) -> Result<()> {
    let optimist = table
        .seat(
            "Optimist",
            120,
            &[
                "Let us build it. A week, and people will love it.",
                "Then we start with the smallest piece that helps somebody.",
            ],
        )
        .await?;
    let sceptic = table
        .seat(
            "Sceptic",
            200,
            &[
                "A week for whom? We have not asked a single user yet.",
                "The smallest piece, then. And we write down what would change our mind.",
            ],
        )
        .await?;
    let historian = table
        .seat("Historian", 160, &["We said \"a week\" about the last two projects as well."])
        .await?;
    table.dirigent.set_mode(table.channel, Mode::Chat).await?;

    scene("A person asks; the agents speak in turn until nobody has anything to add.");
    table.ask("Shall we build the new search?").await?;

    scene("Silence costs nothing: dormant, until somebody writes again.");
    refill(&sceptic, &["Two interviews before a line of code."])?;
    table.ask("What is the very first step?").await?;

    scene("A fourth agent joins; from now on the order is new in every cycle.");
    let poet = table.seat("Poet", 100, &["A search is a question that learned to wait."]).await?;
    refill(&optimist, &["I know two people who would answer today.", "Tomorrow, then."])?;
    refill(
        &historian,
        &["In spring we did the interviews last. Let us not.", "Noted in the minutes."],
    )?;
    refill(&poet, &["And waiting is a kind of listening."])?;
    table.ask("Whom do we ask, and when?").await?;

    scene("The evening is over; whoever still writes is told so.");
    table.dirigent.archive(table.channel).await?;
    table.discord.say(table.channel, table.person, "One more thing ...");
    let pause = table.clock.now() + Duration::from_millis(200);
    table.clock.sleep_until(pause).await;
    Ok(())
}

/// You are the person: every line you type is a message.
async fn talk(table: &Table) -> Result<()> {
    let lines = ["I would try it.", "Fine with me.", "Let us sleep on it."];
    table.seat("Optimist", 300, &lines).await?;
    table.seat("Sceptic", 500, &["Would you bet your own money on it?", "Show me."]).await?;
    table.seat("Historian", 400, &["That was tried in 1998.", "And again in 2011."]).await?;
    table.dirigent.set_mode(table.channel, Mode::Chat).await?;
    println!("Write something; `stop` silences the agents, `resume` lets them go on, Ctrl-D ends.");
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = input.next_line().await? {
        if !line.trim().is_empty() {
            table.discord.say(table.channel, table.person, line);
        }
    }
    Ok(())
}

fn scene(text: &str) {
    println!("\n--- {text}\n");
}

fn refill(lines: &Lines, more: &[&'static str]) -> Result<()> {
    lines.lock().map_err(|_| "a line was lost")?.extend(more);
    Ok(())
}

/// Forwards what is pushed to the library, as a bot's event handler would, and prints it together
/// with every decision.
async fn watch(discord: MemoryDiscord, dirigent: Dirigent, channel: ChannelId, person: UserId) {
    let mut pushed = discord.events();
    let mut changes = dirigent.transitions();
    loop {
        tokio::select! {
            Some(Heard::Event(change)) = changes.next() => print_change(&change),
            Some(event) = pushed.next() => match event {
                Event::MessageCreated(message) if message.channel == channel => {
                    print_message(&message, person, &dirigent).await;
                    let _ = dirigent.message_created(message).await;
                }
                Event::MemberJoined { channel, user } => {
                    let _ = dirigent.member_joined(channel, user).await;
                }
                _ => {}
            },
            else => return,
        }
    }
}

async fn print_message(message: &ChatMessage, person: UserId, dirigent: &Dirigent) {
    let speaker = match dirigent.status(message.channel).await {
        Ok(Some(status)) => status.speaker,
        _ => None,
    };
    let who = match speaker {
        _ if message.author == person => AgentId::from("you"),
        Some(speaker) => speaker,
        None => AgentId::from("moderator"),
    };
    println!("{:>12}: {}", who.as_str(), message.content);
}

fn print_change(change: &ChannelEvent) {
    println!("{:>12}  · {change}", "");
}
