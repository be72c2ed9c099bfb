//! Three agents and a person at a round table, in a Discord that lives in memory.
//!
//! ```text
//! cargo run --example roundtable                    plays an evening and ends by itself
//! cargo run --example roundtable -- --interactive   lets you be the person
//! ```
//!
//! `--verbose` shows every change of a channel, `--fast` leaves out the thinking.
#![expect(clippy::print_stdout, reason = "this is what one came to see")]

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::{
    Agent, AgentError, AgentId, AuthorKind, Cause, ChannelEvent, ChannelId, ChatMessage, Clock,
    CreatedChannel, Dirigent, Driver, GuildId, Heard, Identity, IdentityStore, MemoryIdentities,
    Mode, Pacing, PhaseKind, Reply, Settings, SystemClock, Transitions, Turn, UserId, WakeCause,
};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, Events};
use tokio::io::{AsyncBufReadExt, BufReader};

type Result<T = ()> = std::result::Result<T, AgentError>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let options = Options::read();
    let (mut table, driver) = Table::set(options)?;
    let driver = tokio::spawn(driver.run());
    // The driver must have begun before it can be asked for anything.
    tokio::task::yield_now().await;
    if options.interactive {
        talk(&mut table).await?;
    } else {
        play(&mut table).await?;
    }
    table.dirigent.shutdown(Duration::from_secs(2)).await;
    driver.await??;
    Ok(())
}

/// What the command line asks for.
#[derive(Clone, Copy)]
struct Options {
    interactive: bool,
    verbose: bool,
    fast: bool,
}

impl Options {
    fn read() -> Self {
        let given = |flag: &str| std::env::args().any(|argument| argument == flag);
        Self {
            interactive: given("--interactive"),
            verbose: given("--verbose"),
            fast: given("--fast"),
        }
    }
}

// ------------------------------------------------------------------------------------ the agents

/// An agent that says its lines, one a turn, and passes while it has none.
struct Scripted {
    script: Script,
    thinking: Thinking,
}

#[dirigent::async_trait]
impl Agent for Scripted {
    async fn speak(&self, turn: Turn) -> Result<Reply> {
        if !self.thinking.pause(&turn).await {
            return Ok(Reply::Pass);
        }
        Ok(self.script.next().map_or(Reply::Pass, Reply::from))
    }
}

/// An agent that answers people, and leaves it at that when only agents spoke.
struct Chatty {
    script: Script,
    thinking: Thinking,
}

#[dirigent::async_trait]
impl Agent for Chatty {
    async fn speak(&self, turn: Turn) -> Result<Reply> {
        // Here a model would be given `turn.missed()`: all that was said since its last turn.
        let asked = turn.missed().iter().any(|message| message.author_kind == AuthorKind::Human);
        if !asked || !self.thinking.pause(&turn).await {
            return Ok(Reply::Pass);
        }
        let Some(line) = self.script.next() else { return Ok(Reply::Pass) };
        self.script.add(&[line]);
        Ok(line.into())
    }
}

/// What an agent is going to say. Clones share it, so that a scene can add lines.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<VecDeque<&'static str>>>);

impl Script {
    fn add(&self, lines: &[&'static str]) {
        self.lines().extend(lines);
    }

    fn next(&self) -> Option<&'static str> {
        self.lines().pop_front()
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes as long as a model would, only less.
struct Thinking {
    clock: SystemClock,
    time: Duration,
}

impl Thinking {
    /// `false` when the turn was taken away meanwhile: what is said then, nobody will read.
    async fn pause(&self, turn: &Turn) -> bool {
        tokio::select! {
            () = turn.cancelled() => false,
            () = self.clock.sleep_until(self.clock.now() + self.time) => true,
        }
    }
}

// ------------------------------------------------------------------------------------- the table

/// The chat, the library, and what the terminal shows of both.
struct Table {
    options: Options,
    clock: SystemClock,
    discord: MemoryDiscord,
    identities: MemoryIdentities,
    dirigent: Dirigent,
    guild: GuildId,
    channel: ChannelId,
    moderator: UserId,
    person: UserId,
    /// What the chat pushes, as a bot's gateway connection would.
    pushed: Events,
    /// What the library decides.
    changes: Transitions,
    /// A change that is shown after the words which it confirms.
    late: Option<ChannelEvent>,
    /// Who has the floor, as far as the terminal knows.
    floor: Option<Floor>,
}

/// Somebody's turn, as the terminal tells it.
struct Floor {
    agent: AgentId,
    cause: Cause,
    /// Whether its words were shown.
    heard: bool,
}

/// An agent that sits at the table.
struct Guest {
    agent: AgentId,
    user: UserId,
    script: Script,
}

/// Something that is to be shown.
enum Happening {
    Pushed(Event),
    Changed(ChannelEvent),
}

/// What was just shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Words(UserId),
    Change(Cause),
    Nothing,
}

impl Table {
    /// Puts the library together. It acts as the moderator, an account of its own.
    fn set(options: Options) -> Result<(Self, Driver)> {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "round-table", &[moderator, person]);
        let identities = MemoryIdentities::new();
        let mut settings = Settings::default();
        settings.pacing = Pacing::off(); // Discord limits posts; memory does not.
        settings.stop_words = vec!["stop".to_owned()];
        settings.resume_words = vec!["resume".to_owned()];
        let account = Arc::new(discord.account(moderator));
        let (dirigent, driver) = Dirigent::builder(account, identities.clone(), clock)
            .settings(settings)
            .seed(4)
            .build()?;
        let (pushed, changes) = (discord.events(), dirigent.transitions());
        let (late, floor) = (None, None);
        #[rustfmt::skip]
        let table = Self {
            options, clock, discord, identities, dirigent, guild, channel, moderator, person,
            pushed, changes, late, floor,
        };
        Ok((table, driver))
    }

    /// Lets an agent take part: an account, an entry in the registry, and something that speaks.
    async fn seat(&self, name: &str, thinks_ms: u64, lines: &[&'static str]) -> Result<Guest> {
        let (user, agent) = (self.discord.add_bot(), AgentId::from(name.to_lowercase()));
        self.identities.add(Identity {
            discord_user_id: user,
            agent_id: agent.clone(),
            agent_name: name.to_owned(),
        })?;
        self.dirigent.identities_changed().await?;
        let script = Script::default();
        script.add(lines);
        let account = Arc::new(self.discord.account(user));
        let thinks = if self.options.fast { 0 } else { thinks_ms };
        let thinking = Thinking { clock: self.clock, time: Duration::from_millis(thinks) };
        if self.options.interactive {
            let chatty = Chatty { script: script.clone(), thinking };
            self.dirigent.host(agent.clone(), chatty, account);
        } else {
            let scripted = Scripted { script: script.clone(), thinking };
            self.dirigent.host(agent.clone(), scripted, account);
        }
        self.discord.join(self.channel, user);
        Ok(Guest { agent, user, script })
    }

    /// The person says something.
    fn say(&self, channel: ChannelId, text: &str) {
        self.discord.say(channel, self.person, text);
    }

    /// The person asks, and listens until nobody has anything to add.
    async fn ask(&mut self, question: &str) -> Result {
        self.say(self.channel, question);
        self.until(Shown::Change(Cause::AllPassed)).await
    }

    /// Shows what happens, up to this.
    async fn until(&mut self, last: Shown) -> Result {
        let clock = self.clock;
        let patience = clock.now() + Duration::from_secs(5);
        loop {
            let happening = tokio::select! {
                happening = self.next() => happening?,
                () = clock.sleep_until(patience) => return Err("nothing happens any more".into()),
            };
            if self.show(happening).await? == last {
                return Ok(());
            }
        }
    }

    /// The next thing to be shown. Nothing is lost when the future is dropped.
    async fn next(&mut self) -> Result<Happening> {
        let change = if let Some(change) = self.late.take() {
            change
        } else {
            tokio::select! {
                biased;
                heard = self.changes.next() => match heard {
                    Some(Heard::Event(change)) => change,
                    Some(Heard::Missed(_)) | None => return Err("the minutes have a gap".into()),
                },
                event = self.pushed.next() => {
                    return event.map(Happening::Pushed).ok_or_else(|| "the chat is gone".into());
                }
            }
        };
        // Chat and library are two streams; a reply is pushed before the library confirms it.
        if self.is_confirmed_unheard(&change) {
            if let Some(event) = self.pushed.try_next() {
                self.late = Some(change);
                return Ok(Happening::Pushed(event));
            }
        }
        Ok(Happening::Changed(change))
    }

    fn is_confirmed_unheard(&self, change: &ChannelEvent) -> bool {
        matches!(change.transition.cause, Cause::ReceiptGiven | Cause::PermitUsed)
            && self.floor.as_ref().is_some_and(|floor| !floor.heard)
    }

    /// Shows it, and forwards to the library what the chat pushes, as a bot's event handler does.
    async fn show(&mut self, happening: Happening) -> Result<Shown> {
        match happening {
            Happening::Pushed(Event::MessageCreated(message)) => {
                let author = message.author;
                self.show_words(&message).await?;
                self.dirigent.message_created(message).await?;
                Ok(Shown::Words(author))
            }
            Happening::Pushed(Event::MemberJoined { channel, user }) => {
                self.dirigent.member_joined(channel, user).await?;
                Ok(Shown::Nothing)
            }
            // The library deletes its own messages; nobody edits or leaves here.
            Happening::Pushed(_) => Ok(Shown::Nothing),
            Happening::Changed(change) => {
                self.show_change(&change).await?;
                Ok(Shown::Change(change.transition.cause))
            }
        }
    }
}

// ---------------------------------------------------------------------------------- the terminal

/// Why somebody has the floor.
const WHY: [(Cause, &str); 6] = [
    (Cause::HumanMessage, "a person wrote"),
    (Cause::NextInList, "next in the list"),
    (Cause::NextCycle, "first of the new cycle"),
    (Cause::GuidePosted, "the guide was posted"),
    (Cause::InitiatorReminded, "asked to conclude"),
    (Cause::Resumed, "the table goes on"),
];

/// The changes that are worth a line, beside the turns in which somebody speaks.
const LINES: [(Cause, &str); 15] = [
    (Cause::Passed, "{} passes"),
    (Cause::RunFailed, "{} fails, and passes"),
    (Cause::StartTimedOut, "{} does not answer, and is skipped"),
    (Cause::RunTimedOut, "{} takes too long, and is skipped"),
    (Cause::AgentLeft, "{} has left, and is skipped"),
    (Cause::EnoughAgents, "enough agents are here: they take turns"),
    (Cause::TooFewAgents, "too few agents to take turns"),
    (Cause::AllPassed, "dormant: nobody had anything to add"),
    (Cause::NobodyAnswered, "dormant: nobody answered"),
    (Cause::CeilingReached, "dormant: only a person may go on from here"),
    (Cause::InitiatorReminded, "{} is asked to conclude"),
    (Cause::Stopped, "stopped: nobody may speak"),
    (Cause::Resumed, "resumed: the next message wakes the table"),
    (Cause::Concluded, "{} concludes: archived for good"),
    (Cause::Archived, "archived for good"),
];

fn words_for(cause: Cause, words: &[(Cause, &'static str)]) -> Option<&'static str> {
    words.iter().find(|(known, _)| *known == cause).map(|(_, words)| *words)
}

impl Table {
    /// Shows a message under the name that belongs to its author's account.
    async fn show_words(&mut self, message: &ChatMessage) -> Result {
        let identities = self.identities.all().await?;
        let author = identities.iter().find(|known| known.discord_user_id == message.author);
        let name = match author {
            _ if message.author == self.person && self.options.interactive => return Ok(()),
            _ if message.author == self.person => "You",
            _ if message.author == self.moderator => "Moderator",
            Some(identity) => &identity.agent_name,
            None => "Somebody",
        };
        if let Some(identity) = author {
            self.show_floor(&identity.agent_id);
        }
        let text = identities.iter().fold(message.content.clone(), |text, known| {
            text.replace(
                &format!("<@{}>", known.discord_user_id),
                &format!("@{}", known.agent_name),
            )
        });
        println!("{name:>11}: {text}");
        Ok(())
    }

    /// Says why this agent speaks, before the first words of its turn.
    fn show_floor(&mut self, speaker: &AgentId) {
        let unheard = |floor: &&mut Floor| floor.agent == *speaker && !floor.heard;
        if let Some(floor) = self.floor.as_mut().filter(unheard) {
            floor.heard = true;
            let why = words_for(floor.cause, &WHY).unwrap_or_else(|| floor.cause.as_str());
            note(&format!("{speaker} speaks ({why})"));
        }
    }

    /// Shows a change: each if so wished, else those that tell the story.
    async fn show_change(&mut self, change: &ChannelEvent) -> Result {
        let cause = change.transition.cause;
        if self.options.verbose {
            note(&format!("  {change}"));
        }
        // The floor is given by a grant or, to the initiator of an idle discussion, by a reminder.
        let is_given =
            change.transition.to == PhaseKind::Granted || cause == Cause::InitiatorReminded;
        if let Some(agent) = change.agent.clone().filter(|_| is_given) {
            self.floor = Some(Floor { agent, cause, heard: false });
        }
        if cause == Cause::Reshuffled {
            note(&format!("new cycle, shuffled{}", self.order(change).await?));
        }
        if let Some(line) = words_for(cause, &LINES) {
            note(&line.replace("{}", change.agent.as_ref().map_or("somebody", AgentId::as_str)));
        }
        Ok(())
    }

    /// The speaking order after a shuffle, unless that cycle is over by now.
    async fn order(&self, change: &ChannelEvent) -> Result<String> {
        let Some(status) = self.dirigent.status(change.channel).await? else {
            return Ok(String::new());
        };
        let turns = status.turn.get() - change.transition.turn.get();
        if turns >= status.list.len() as u64 {
            return Ok(String::new());
        }
        let names: Vec<_> = status.list.iter().map(|(agent, _)| agent.as_str()).collect();
        Ok(format!(": {}", names.join(", ")))
    }
}

/// A line that nobody says.
fn note(text: &str) {
    if std::io::stdout().is_terminal() {
        println!("\x1b[2m{:>11}  · {text}\x1b[0m", "");
    } else {
        println!("{:>11}  · {text}", "");
    }
}

fn scene(text: &str) {
    println!("\n--- {text}\n");
}

// ----------------------------------------------------------------------------------- the evening

/// Those who are there from the beginning.
struct Guests {
    optimist: Guest,
    sceptic: Guest,
    historian: Guest,
}

/// An evening in six scenes.
async fn play(table: &mut Table) -> Result {
    let guests = Guests {
        optimist: table.seat("Optimist", 120, &[]).await?,
        sceptic: table.seat("Sceptic", 200, &[]).await?,
        historian: table.seat("Historian", 160, &[]).await?,
    };
    // From here on the agents take turns: in a chat, turns are kept.
    table.dirigent.set_mode(table.channel, Mode::Chat).await?;
    hear_a_question(table, &guests).await?;
    wake_up_again(table, &guests).await?;
    welcome_a_fourth(table, &guests).await?;
    stop_and_resume(table, &guests).await?;
    conclude_a_discussion(table, &guests).await?;
    end_the_evening(table).await
}

async fn hear_a_question(table: &mut Table, guests: &Guests) -> Result {
    scene("A person asks; the agents speak in turn until nobody has anything to add.");
    guests.optimist.script.add(&[
        "Let us build it. A week, and people will love it.",
        "Then we start with the smallest piece that helps somebody.",
    ]);
    guests.sceptic.script.add(&["A week for whom? We have not asked a single user yet."]);
    guests.historian.script.add(&["We said \"a week\" about the last two projects as well."]);
    table.ask("Shall we build the new search?").await
}

async fn wake_up_again(table: &mut Table, guests: &Guests) -> Result {
    scene("Silence costs nothing: dormant, until somebody writes again.");
    guests.sceptic.script.add(&["Two interviews before a line of code."]);
    table.ask("What is the very first step?").await
}

async fn welcome_a_fourth(table: &mut Table, guests: &Guests) -> Result {
    scene("A fourth agent joins, in the midst of it all.");
    table.seat("Poet", 100, &["A search is a question that learned to wait."]).await?;
    guests.optimist.script.add(&["I know two people who would answer today."]);
    guests.historian.script.add(&["In spring we did the interviews last. Let us not."]);
    table.ask("Whom do we ask, and when?").await
}

async fn stop_and_resume(table: &mut Table, guests: &Guests) -> Result {
    scene("A person's word stops everybody, at once, and lets them go on.");
    for guest in [&guests.optimist, &guests.sceptic, &guests.historian] {
        guest.script.add(&["One more thought on that."]);
    }
    table.say(table.channel, "Any last thoughts?");
    table.until(Shown::Change(Cause::ReceiptGiven)).await?;
    table.say(table.channel, "stop");
    table.until(Shown::Change(Cause::Stopped)).await?;
    table.say(table.channel, "resume");
    table.until(Shown::Change(Cause::Resumed)).await?;
    table.ask("Where were we?").await
}

async fn conclude_a_discussion(table: &mut Table, guests: &Guests) -> Result {
    scene("A discussion has a channel of its own, an initiator, and an end.");
    let Guests { optimist, sceptic, historian } = guests;
    let present = [table.moderator, table.person, optimist.user, sceptic.user, historian.user];
    let room = table.discord.add_channel(table.guild, "who-is-asked", &present);
    let discussion = CreatedChannel {
        mode: Mode::Discussion,
        members: [optimist, sceptic, historian].map(|guest| guest.agent.clone()).to_vec(),
        initiator: Some(optimist.agent.clone()),
        callback: Some(table.channel),
    };
    table.dirigent.created(room, discussion).await?;
    sceptic.script.add(&["Ask somebody who stopped using the old one."]);
    table.discord.say(room, table.moderator, "Whom do we interview? Optimist concludes.");
    table.dirigent.wake_for(room, None, WakeCause::Guide).await?;
    table.until(Shown::Change(Cause::AllPassed)).await?;
    // The table fell silent, so the library reminds the initiator, who may run once.
    optimist.script.add(&["In short: one who stays, and one who left."]);
    table.until(Shown::Change(Cause::PermitUsed)).await?;
    // An agent does this with a tool of its own.
    table.dirigent.conclude(room, &optimist.agent).await?;
    table.say(room, "May I add somebody?");
    table.until(Shown::Words(table.moderator)).await
}

async fn end_the_evening(table: &mut Table) -> Result {
    scene("The evening is over; whoever still writes is told so.");
    table.dirigent.archive(table.channel).await?;
    table.say(table.channel, "One more thing ...");
    table.until(Shown::Words(table.moderator)).await
}

/// You are the person: every line you type is a message.
async fn talk(table: &mut Table) -> Result {
    let optimist = ["I would try it.", "Fine with me.", "Let us sleep on it."];
    let sceptic = ["Would you bet your own money on it?", "Show me."];
    let historian = ["That was tried in 1998.", "And again in 2011."];
    table.seat("Optimist", 300, &optimist).await?;
    table.seat("Sceptic", 500, &sceptic).await?;
    table.seat("Historian", 400, &historian).await?;
    table.dirigent.set_mode(table.channel, Mode::Chat).await?;
    println!("Write something; `stop` silences the agents, `resume` lets them go on, Ctrl-D ends.");
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    loop {
        tokio::select! {
            line = input.next_line() => match line? {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => table.say(table.channel, &line),
                None => return Ok(()),
            },
            happening = table.next() => {
                let happening = happening?;
                table.show(happening).await?;
            }
        }
    }
}
