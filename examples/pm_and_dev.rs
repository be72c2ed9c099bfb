//! A product manager and a developer build something together: turns that end with a signal, a
//! person who asks in between, and an end.
//!
//! ```text
//! cargo run --example pm_and_dev                     the collaboration
//! cargo run --example pm_and_dev -- --record FILE    and everything that happened, to be replayed
//! cargo run --example pm_and_dev -- --fast           no agent thinks longer than 20 milliseconds
//! ```
//!
//! The rules come from the JSON of the seed "Message flow". To print the recording:
//! `cargo run -p dirigent-bot -- trace FILE`, with `--mermaid` as a diagram.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use dirigent::hooks::RunId;
use dirigent::operate::{Cause, ChannelEvent, EventOrLag};
use dirigent::ports::Identity;
use dirigent::replay::Recording;
use dirigent::settings::Pacing;
use dirigent::settings::profiles::FlowConfig;
use dirigent::store::MemoryChannels;
use dirigent::{
    Agent, AgentError, ChannelId, Clock, Dirigent, MemoryIdentities, Mode, Reply, SystemClock,
    Turn, UserId,
};
use dirigent_store::ChannelRecording;
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, GatewayEvents};

type Result<T = ()> = std::result::Result<T, AgentError>;

/// As it would stand in a file. What is not said is as in the seed.
const RULES: &str = r#"{ "turnBehavior": { "timeoutSeconds": 30, "announceTimeouts": true } }"#;

const PM: [&str; 2] = [
    "The spec: `/hello` greets its caller by name. TURN_COMPLETE",
    "Looks good, approved!\n\nTURN_COMPLETE",
];
const DEV: [&str; 2] = [
    "Got it, I write it now.", // no signal: it keeps the floor
    "Here is the code, with a test. TURN_COMPLETE",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let fast = Arg::new("fast").long("fast").action(ArgAction::SetTrue);
    let record = Arg::new("record").long("record").value_name("FILE");
    let given = Command::new("pm_and_dev")
        .about("A product manager and a developer, with turns that end with a signal")
        .arg(fast.help("No agent thinks longer than 20 milliseconds"))
        .arg(record.help("Writes down everything that the library was told"))
        .get_matches();
    let record = given.get_one::<String>("record");
    let thinks = if given.get_flag("fast") { 20 } else { 300 };
    let mut team = Team::meet(Duration::from_millis(thinks)).await?;

    team.say("Build a /hello command");
    // The same message is pushed to the developer, who asks before its model is called.
    team.until(|told| matches!(told, Told::Changed(Cause::RunStarted))).await?;
    let asked =
        team.dirigent.channel(team.channel).may_speak(&"dev".into(), Some(RunId::new(1))).await;
    if let Err(denial) = asked {
        println!("             · dev asks too, and is denied: {denial}");
    }
    println!(
        "             · {}",
        team.dirigent.channel(team.channel).explain(&"dev".into()).await?
    );

    team.until(|told| matches!(told, Told::Changed(Cause::Unfinished))).await?;
    team.say("In English and in German, please");
    team.until(|told| matches!(told, Told::Words(text) if text.contains("approved"))).await?;

    team.dirigent.channel(team.channel).finish().await?;
    team.until(|told| matches!(told, Told::Changed(Cause::Finished))).await?;
    if let Some(path) = record {
        let names = vec!["pm".into(), "dev".into()];
        let recorded = team.recording.channel(team.channel).ok_or("nothing was recorded")?;
        ChannelRecording::new(team.channel, names, recorded).save(path)?;
    }
    team.part().await
}

/// The chat, the library in it, the person and the agents.
struct Team {
    discord: MemoryDiscord,
    clock: SystemClock,
    channel: ChannelId,
    person: UserId,
    pm: UserId,
    dev: UserId,
    dirigent: Dirigent,
    recording: Recording,
    pushed: GatewayEvents,
    changes: dirigent::operate::Events,
    driver: tokio::task::JoinHandle<std::result::Result<(), dirigent::host::RunError>>,
}

/// Something that was shown.
enum Told {
    Words(String),
    Changed(Cause),
}

impl Team {
    async fn meet(thinks: Duration) -> Result<Self> {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let (pm, dev) = (discord.add_bot(), discord.add_bot());
        let guild = discord.add_guild(person);
        let members = [moderator, person, pm, dev];
        let channel = discord.add_channel(guild, "hello-command", &members);
        let identities = MemoryIdentities::new();
        let (config, mut settings) = serde_json::from_str::<FlowConfig>(RULES)?.rules()?;
        settings.limits.pacing = Pacing::off(); // Discord limits posts; memory does not.
        let recording = Recording::default();
        let mut builder = Dirigent::builder(discord.account(moderator))
            .identities(identities.clone())
            .clock(clock)
            .channels(MemoryChannels::default())
            .recorder(recording.clone())
            .config(config)
            .settings(settings);
        for (name, user, lines) in [("pm", pm, PM), ("dev", dev, DEV)] {
            let agent_name = name.to_owned();
            identities.add(Identity {
                discord_user_id: user,
                agent_id: name.into(),
                agent_name,
            })?;
            let worker = Worker { discord: discord.clone(), user, lines, clock, thinks };
            builder = builder.host(name, worker, discord.account(user));
        }
        let (dirigent, driver) = builder.build()?;
        let (pushed, changes) = (discord.events(), dirigent.events());
        let driver = tokio::spawn(driver.run());
        tokio::task::yield_now().await;
        dirigent.channel(channel).set_mode(Mode::Chat).await?;
        Ok(Self {
            discord,
            clock,
            channel,
            person,
            pm,
            dev,
            dirigent,
            recording,
            pushed,
            changes,
            driver,
        })
    }

    fn say(&self, text: &str) {
        self.discord.say(self.channel, self.person, text);
    }

    /// Shows what happens until this was shown, and forwards what the chat pushes.
    async fn until(&mut self, is_it: impl Fn(&Told) -> bool) -> Result {
        let patience = self.clock.now() + Duration::from_secs(20);
        loop {
            let told = tokio::select! {
                biased;
                change = self.changes.next() => match change {
                    Some(EventOrLag::Transition(event)) => Some(show_change(&event)),
                    Some(_) | None => None,
                },
                event = self.pushed.next() => match event {
                    Some(Event::MessageCreated(message)) => {
                        let words = self.show_message(&message);
                        self.dirigent.message_created(message).await?;
                        Some(words)
                    }
                    Some(_) | None => None,
                },
                () = self.clock.sleep_until(patience) => return Err("it never came to that".into()),
            };
            if told.is_some_and(|told| is_it(&told)) {
                return Ok(());
            }
        }
    }

    fn show_message(&self, message: &dirigent::ChatMessage) -> Told {
        let who = match message.author {
            author if author == self.person => "You",
            author if author == self.pm => "PM",
            author if author == self.dev => "Dev",
            _ => "Moderator",
        };
        println!("{who:>11}: {}", message.content);
        Told::Words(message.content.to_string())
    }

    async fn part(self) -> Result {
        self.dirigent.shutdown(Duration::from_secs(1)).await;
        Ok(self.driver.await??)
    }
}

/// The changes that are worth a line.
fn show_change(event: &ChannelEvent) -> Told {
    let agent = event.agent.as_ref().map_or("no agent", |agent| agent.as_str());
    let cause = event.transition.cause;
    if [Cause::HumanMessage, Cause::NextInList, Cause::NextCycle].contains(&cause) {
        println!("             · {agent} has the floor ({})", cause.as_str());
    } else if cause == Cause::Unfinished {
        println!("             · {agent} has not finished, and goes on");
    } else if cause == Cause::Finished {
        println!("             · finished: no agent is active");
    }
    Told::Changed(cause)
}

/// An agent that reads from a script instead of asking a model.
struct Worker {
    discord: MemoryDiscord,
    user: UserId,
    lines: [&'static str; 2],
    clock: SystemClock,
    thinks: Duration,
}

#[dirigent::async_trait]
impl Agent for Worker {
    async fn speak(&self, turn: Turn) -> Result<Reply> {
        tokio::select! {
            () = turn.cancelled() => return Ok(Reply::Pass),
            () = self.clock.sleep_until(self.clock.now() + self.thinks) => {}
        }
        // A model reads in the channel what it has said already.
        let messages = self.discord.messages(turn.channel());
        let said = messages.iter().filter(|message| message.author == self.user).count();
        let line = self.lines.get(said).copied();
        // What a person said meanwhile is taken into account at once.
        let noted = std::iter::from_fn(|| turn.take_injected()).last();
        let noted = noted.or_else(|| turn.missed().last().cloned());
        let noted = noted.filter(|message| message.content.ends_with("please"));
        Ok(match (line, noted) {
            (Some(line), Some(wish)) => Reply::from(format!("{}: noted. {line}", wish.content)),
            (Some(line), None) => Reply::from(line),
            (None, _) => Reply::Pass,
        })
    }
}
