//! The table: a Discord in memory, its agents, and a person.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dirigent::operate::{Cause, EventOrLag};
use dirigent::prelude::*;
use dirigent::replay::Recording;
use dirigent::settings::Pacing;
use dirigent::snapshot::PhaseKind;
use dirigent_llm::{ChatAgent, Endpoint};
use dirigent_store::ChannelRecording;
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Event;

use crate::count::Count;

/// The options of the command line.
pub(crate) struct Flags {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) turns: u64,
    pub(crate) tokens: u64,
    pub(crate) messages: usize,
    /// The seed for the shuffles and for the model, so that you can repeat an evening.
    pub(crate) seed: Option<u64>,
    pub(crate) agents: usize,
    /// The number of turns after which the person says the next thing, unless the channel becomes dormant first. With
    /// it, the evening ends when the channel is dormant.
    pub(crate) every: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) keeps_repetitions: bool,
    /// The file into which the recording of the evening is written.
    pub(crate) record: Option<String>,
}

/// The most agents that can sit at the table.
pub(crate) const AGENTS: usize = 8;

const PERSONAS: [(&str, &str); AGENTS] = [
    (
        "optimist",
        "You are cheerful and always see what could go well. Answer in one short sentence.",
    ),
    ("sceptic", "You doubt everything, and ask for reasons. Answer in one short sentence."),
    ("historian", "You compare everything with the past. Answer in one short sentence."),
    ("cook", "You think of food whatever it is about. Answer in one short sentence."),
    ("engineer", "You ask how it is built and what it costs. Answer in one short sentence."),
    ("poet", "You look for a picture in everything. Answer in one short sentence."),
    ("gardener", "You are patient and think of plants. Answer in one short sentence."),
    ("traveller", "You have been everywhere and tell of it. Answer in one short sentence."),
];

/// The person says these lines, one each time the channel is dormant.
const LINES: [&str; 8] = [
    "Should we build a boat this summer?",
    "Which colour should the house have?",
    "What is the best thing about rain?",
    "Who should write the first chapter?",
    "Is it better to travel by train or by bicycle?",
    "What should we cook for twelve guests?",
    "Does a village need a library?",
    "What would you teach a robot first?",
];

/// The evening counts as stalled if the table is quiet for this long.
const PATIENCE: Duration = Duration::from_secs(300);
/// The first wait before a request is repeated. It is short because the endpoint is your own.
const RETRY_WAIT: Duration = Duration::from_millis(100);

impl Flags {
    fn endpoint(&self) -> Endpoint {
        let mut endpoint = Endpoint::new(&self.url, &self.model).field("max_tokens", self.tokens);
        if let Ok(key) = std::env::var("DIRIGENT_LLM_KEY") {
            endpoint = endpoint.key(key);
        }
        if let Some(seed) = self.seed {
            endpoint = endpoint.field("seed", seed);
        }
        if let Some(temperature) = self.temperature {
            endpoint = endpoint.field("temperature", temperature);
        }
        endpoint
    }
}

/// A persona that counts its calls and remembers its newest reply.
struct Persona {
    agent: ChatAgent,
    calls: Arc<AtomicU64>,
    newest: Newest,
}

/// The newest reply of each agent. A reply that is held back is never posted, so this is the only place that has its
/// words.
type Newest = Arc<Mutex<HashMap<AgentId, String>>>;

#[dirigent::async_trait]
impl Agent for Persona {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let agent = turn.agent().clone();
        let reply = self.agent.speak(turn).await?;
        if let Reply::Say(text) | Reply::Rich(text, _) = &reply {
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            newest.insert(agent, text.clone());
        }
        Ok(reply)
    }
}

/// The results of the turns of the current cycle.
#[derive(Default)]
struct Cycle {
    has_failure: bool,
    /// True if an agent answered, even if only to pass.
    has_answer: bool,
}

pub(crate) struct Table {
    flags: Flags,
    discord: MemoryDiscord,
    channel: ChannelId,
    person: UserId,
    dirigent: Dirigent,
    clock: SystemClock,
    calls: Arc<AtomicU64>,
    newest: Newest,
    /// The tokens of prompts, and of replies.
    tokens: Arc<[AtomicU64; 2]>,
    count: Count,
    said: usize,
    /// The number of turns that had ended when the person last spoke.
    said_at: u64,
    cycle: Cycle,
    recording: Recording,
}

impl Table {
    /// Puts everything together, and switches turns on in the channel.
    pub(crate) async fn set(flags: Flags) -> Result<Self, AgentError> {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let personas = PERSONAS.into_iter().take(flags.agents);
        let agents: Vec<_> = personas.clone().map(|_| discord.add_bot()).collect();
        let guild = discord.add_guild(person);
        let members = [&[moderator, person][..], &agents].concat();
        let channel = discord.add_channel(guild, "round-table", &members);

        let endpoint = flags.endpoint();
        let (calls, tokens) = (Arc::<AtomicU64>::default(), Arc::<[AtomicU64; 2]>::default());
        let newest = Newest::default();
        let settings = Settings::default().with(|settings| {
            settings.typing = true;
            // A Discord in memory has no rate limits.
            settings.limits.pacing = Pacing::off();
            settings.reading.skip_repetitions = !flags.keeps_repetitions;
        });
        let recording = Recording::default();
        let mut builder = Dirigent::builder(discord.account(moderator))
            .settings(settings)
            .recorder(recording.clone())
            .seed(flags.seed.unwrap_or_default());
        for ((name, persona), user) in personas.zip(agents) {
            let counted = Arc::clone(&tokens);
            let agent =
                ChatAgent::new(endpoint.clone()).persona(persona).on_usage(move |_, usage| {
                    let [prompt, reply] = &*counted;
                    prompt.fetch_add(usage.prompt_tokens, Ordering::Relaxed);
                    reply.fetch_add(usage.reply_tokens, Ordering::Relaxed);
                });
            let agent = agent.limits(|limits| {
                limits.messages = flags.messages;
                limits.retry_wait = RETRY_WAIT;
                // The machine that runs the model may be busy, so wait long for it.
                (limits.first_byte, limits.between_bytes) = (PATIENCE, PATIENCE);
            });
            let persona = Persona { agent, calls: Arc::clone(&calls), newest: Arc::clone(&newest) };
            discord.account(user).set_name(name);
            builder = builder.host(name, persona, discord.account(user));
        }
        let (dirigent, driver) = builder.build()?;
        tokio::spawn(driver.run());
        dirigent.channel(channel).set_mode(Mode::Chat).await?;
        let count = Count::default();
        Ok(Self {
            flags,
            discord,
            channel,
            person,
            dirigent,
            clock,
            calls,
            newest,
            tokens,
            count,
            said: 0,
            said_at: 0,
            cycle: Cycle::default(),
            recording,
        })
    }

    /// Lets the agents talk until the turns are used up.
    pub(crate) async fn evening(mut self) -> Result<Count, AgentError> {
        let (mut pushed, mut heard) = (self.discord.events(), self.dirigent.events());
        self.speak_by_script();
        while self.count.ended.is_empty() {
            tokio::select! {
                biased;
                event = pushed.next() => {
                    if let Some(Event::MessageCreated(message)) = event {
                        self.show(&message);
                        self.dirigent.message_created(message).await?;
                    }
                }
                Some(event) = heard.next() => self.hear(&event),
                () = self.clock.sleep_until(self.clock.now() + PATIENCE) => self.count.ended = "stalled",
            }
        }
        if let Some(path) = &self.flags.record {
            let recorded = self.recording.channel(self.channel).ok_or("nothing was recorded")?;
            let names = PERSONAS.iter().take(self.flags.agents);
            let names = names.map(|(name, _)| (*name).into()).collect();
            ChannelRecording::new(self.channel, names, recorded).save(path)?;
        }
        self.dirigent.shutdown(Duration::from_secs(5)).await;
        self.count.calls = self.calls.load(Ordering::Relaxed);
        [self.count.prompt_tokens, self.count.reply_tokens] = [0, 1]
            .map(|at: usize| self.tokens.get(at).map_or(0, |sum| sum.load(Ordering::Relaxed)));
        Ok(self.count)
    }

    fn show(&mut self, message: &ChatMessage) {
        println!("{message}");
        if !message.is_by_person() {
            self.count.post(&message.content);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of all that is heard little is counted")]
    fn hear(&mut self, event: &EventOrLag) {
        let change = match event {
            EventOrLag::Transition(change) => {
                if change.transition.cause == Cause::Repeated {
                    let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
                    let text = change.agent.as_ref().and_then(|agent| newest.get(agent));
                    println!("    · {change}: {:?}", text.map_or("", String::as_str));
                }
                change.transition
            }
            EventOrLag::AgentFailed(failure) => return println!("    · {failure}"),
            _ => return,
        };
        match change.cause {
            Cause::ReceiptGiven => self.count.posted += 1,
            Cause::Passed => self.count.passes += 1,
            Cause::RunFailed => self.count.failures += 1,
            Cause::Repeated => self.count.held_back += 1,
            _ => {}
        }
        self.cycle.has_failure |= change.cause == Cause::RunFailed;
        self.cycle.has_answer |=
            matches!(change.cause, Cause::ReceiptGiven | Cause::Passed | Cause::Repeated);
        let Count { posted, passes, failures, held_back, .. } = self.count;
        self.count.turns = posted + passes + failures + held_back;
        let is_over = self.count.turns >= self.flags.turns;
        let falls_asleep = change.to == PhaseKind::Dormant && change.from != PhaseKind::Dormant;
        if falls_asleep {
            // The turn machine treats a failure like a pass, so the cause alone does not show it.
            let only_failures = self.cycle.has_failure && !self.cycle.has_answer;
            let is_silent = change.cause == Cause::AllPassed;
            let cause =
                if is_silent && only_failures { "all-failed" } else { change.cause.as_str() };
            println!("    · asleep: {cause}");
            *self.count.sleeps.entry(cause.to_owned()).or_default() += 1;
        }
        if falls_asleep || change.from == PhaseKind::Refreshing {
            self.cycle = Cycle::default();
        }
        if is_over && self.flags.every.is_none() {
            self.count.ended = "turns";
        } else if is_over && falls_asleep {
            self.count.ended = "asleep";
        } else if !is_over && (falls_asleep || self.is_time_to_speak()) {
            self.speak_by_script();
        }
    }

    fn is_time_to_speak(&self) -> bool {
        self.flags.every.is_some_and(|every| self.count.turns - self.said_at >= every)
    }

    fn speak_by_script(&mut self) {
        self.said_at = self.count.turns;
        let line = LINES.get(self.said % LINES.len()).copied().unwrap_or_default();
        self.said += 1;
        self.discord.say(self.channel, self.person, line);
    }
}
