//! WY10: a panic in the host's code costs what was asked for, and neither the driver nor another channel.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::{AgentWaker, WakeCall, WakeOutcome};
use dirigent::host::RunError;
use dirigent::operate::DriverEnd;
use dirigent::ports::{
    ApiError, ErrorKind, HistoryRequest, Identity, Post, Posted, RegisterError, Timestamp,
};
use dirigent::replay::{Input, Recorder};
use dirigent::settings::Pacing;
use dirigent::snapshot::{AgentKey, Snapshot};
use dirigent::store::{
    ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision, StoredChannel,
};
use dirigent::{
    Agent, AgentError, AgentId, CallError, ChannelId, ChatMessage, Clock, Config, Dirigent,
    DiscordApi, IdentityStore, MemoryIdentities, MessageId, Mode, Reply, Settings, Turn, UserId,
    async_trait,
};
use dirigent_testkit::memory_discord::MemoryAccount;
use dirigent_testkit::{Log, ManualClock, MemoryDiscord};
use tokio::task::JoinHandle;

use super::kit::{MINUTE, SECOND};

/// What panics, how often, and whether it has done its work by then.
#[derive(Clone, Default)]
struct Fuse(Arc<Mutex<Option<Set>>>, Arc<AtomicBool>);

/// What panics, how often still, and whether it has done its work by then.
type Set = (&'static str, u32, bool);

impl Fuse {
    fn set(&self, what: &'static str, times: u32, after: bool) {
        *self.0.lock().unwrap() = Some((what, times, after));
    }

    /// Whether commits are never answered.
    fn stall(&self, stalls: bool) {
        self.1.store(stalls, Ordering::SeqCst);
    }

    fn is_blown(&self) -> bool {
        self.0.lock().unwrap().is_none_or(|(_, left, _)| left == 0)
    }

    fn pass(&self, here: &str, is_done: bool) {
        let mut plan = self.0.lock().unwrap();
        let planned = plan
            .as_mut()
            .filter(|(what, left, after)| *what == here && *left > 0 && *after == is_done);
        if let Some((_, left, _)) = planned {
            *left -= 1;
            drop(plan);
            panic!("a bug in {here}");
        }
    }

    async fn within<T>(&self, here: &str, work: impl Future<Output = T>) -> T {
        self.pass(here, false);
        let done = work.await;
        self.pass(here, true);
        done
    }
}

/// Each port, over one that works.
#[derive(Clone)]
struct Fragile<T> {
    port: T,
    fuse: Fuse,
}

#[async_trait]
impl DiscordApi for Fragile<MemoryAccount> {
    async fn me(&self) -> Result<UserId, ApiError> {
        self.fuse.within("me", self.port.me()).await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        self.fuse.within("post", self.port.post(post)).await
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.fuse.within("delete", self.port.delete(channel, message)).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.fuse.within("history", self.port.history(request)).await
    }

    async fn members(
        &self,
        channel: ChannelId,
        users: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.fuse.within("members", self.port.members(channel, users)).await
    }

    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.fuse.within("typing", self.port.typing(channel)).await
    }

    fn persona(&self) -> Option<(UserId, String)> {
        self.fuse.pass("persona", false);
        self.port.persona()
    }

    fn sent_at(&self, message: MessageId) -> Timestamp {
        self.fuse.pass("sent_at", false);
        self.port.sent_at(message)
    }

    fn id_before(&self, moment: Timestamp) -> Option<MessageId> {
        self.fuse.pass("id_before", false);
        self.port.id_before(moment)
    }

    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        self.fuse.pass("reads_history", false);
        self.port.reads_history(channel)
    }
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[async_trait]
impl ChannelStore for Fragile<MemoryChannels> {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.fuse.within("channels", self.port.channels()).await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.fuse.within("load", self.port.load(channel)).await
    }

    // Written by hand: it may panic before there is a future.
    fn commit<'a, 'b>(&'a self, commit: Commit) -> Answer<'b, Result<Revision, CommitError>>
    where
        'a: 'b,
        Self: 'b,
    {
        self.fuse.pass("commit at once", false);
        Box::pin(async move {
            if self.fuse.1.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            self.fuse.within("commit", self.port.commit(commit)).await
        })
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        self.fuse.within("erase", self.port.delete(channel)).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.fuse.within("agents", self.port.agents()).await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.fuse.within("add_agent", self.port.add_agent(agent)).await
    }

    fn history_max(&self) -> usize {
        self.port.history_max()
    }
}

#[async_trait]
impl IdentityStore for Fragile<MemoryIdentities> {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        self.fuse.within("identities", self.port.all()).await
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        self.fuse.within("register", self.port.register(identity)).await
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        self.port.remove(agent).await
    }

    async fn changed_elsewhere(&self) {
        self.fuse.within("changed_elsewhere", async {}).await;
        std::future::pending::<()>().await;
    }
}

#[async_trait]
impl Clock for Fragile<ManualClock> {
    fn now(&self) -> Timestamp {
        self.fuse.pass("now", false);
        self.port.now()
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        self.fuse.within("sleep", self.port.sleep_until(deadline)).await;
    }
}

impl Recorder for Fragile<()> {
    fn began(&self, _: ChannelId, _: &Arc<Config>, _: Snapshot) {
        self.fuse.pass("began", false);
    }

    fn recorded(&self, _: ChannelId, _: Timestamp, _: &Input) {
        self.fuse.pass("recorded", false);
    }
}

/// Wakes nobody: the trigger is to be posted.
#[async_trait]
impl AgentWaker for Fragile<()> {
    async fn wake(&self, _: WakeCall) -> Result<WakeOutcome, ApiError> {
        self.fuse.within("wake", async { Ok(WakeOutcome::PostTrigger) }).await
    }
}

/// Says one sentence to each question, after a while.
struct Brief {
    clock: ManualClock,
    said: AtomicUsize,
    asked: Arc<AtomicUsize>,
    fuse: Fuse,
}

/// Panics when it is dropped, as a careless agent's call may.
struct Last(Fuse);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.pass("dropped", false);
    }
}

#[async_trait]
impl Agent for Brief {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let _last = Last(self.fuse.clone());
        self.clock.sleep_until(self.clock.now() + SECOND).await;
        let asked = turn.missed().iter().filter(|message| message.content.ends_with('?')).count();
        let _ = self.asked.fetch_add(asked, Ordering::SeqCst);
        if asked == 0 {
            return Ok(Reply::Pass);
        }
        let said = self.said.fetch_add(1, Ordering::SeqCst);
        Ok(format!("{} says so for the {said}th time.", turn.agent()).into())
    }
}

/// A chat with two channels, and the driver over fragile ports.
struct World {
    clock: ManualClock,
    discord: MemoryDiscord,
    person: UserId,
    channels: [ChannelId; 2],
    store: MemoryChannels,
    fuse: Fuse,
    dirigent: Dirigent,
    driver: JoinHandle<Result<(), RunError>>,
    asked: Arc<AtomicUsize>,
}

impl World {
    /// `hosted`: the library calls the agents; else it triggers them, by a waker first.
    fn new(hosted: bool) -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone())).with_post_log(1_000);
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let agents = [("a", discord.add_bot()), ("b", discord.add_bot())];
        let guild = discord.add_guild(person);
        let members = [moderator, person, agents[0].1, agents[1].1];
        let channels = ["one", "other"].map(|name| discord.add_channel(guild, name, &members));
        let (fuse, store, asked) = (Fuse::default(), MemoryChannels::default(), Arc::default());
        let identity = |(name, user): (&str, UserId)| Identity {
            discord_user_id: user,
            agent_id: name.into(),
            agent_name: name.to_owned(),
        };
        let known = MemoryIdentities::with(agents.map(identity)).unwrap();
        let mut settings = Settings::default();
        (settings.limits.pacing, settings.time_limits.backfill) = (Pacing::off(), None);
        settings.typing = true;
        let account = |user| Fragile { port: discord.account(user), fuse: fuse.clone() };
        let own = fuse.clone();
        let mut builder = Dirigent::builder(account(moderator))
            .identities(Fragile { port: known, fuse: fuse.clone() })
            .channels(Fragile { port: store.clone(), fuse: fuse.clone() })
            .clock(Fragile { port: clock.clone(), fuse: fuse.clone() })
            .recorder(Fragile { port: (), fuse: fuse.clone() })
            .config_for(move |_| {
                own.pass("config_for", false);
                None
            })
            .settings(settings);
        for (name, user) in agents {
            if hosted {
                let (clock, asked) = (clock.clone(), Arc::clone(&asked));
                let agent =
                    Brief { clock, said: AtomicUsize::default(), asked, fuse: fuse.clone() };
                builder = builder.host(name, agent, account(user));
            } else {
                builder = builder.waker(Fragile { port: (), fuse: fuse.clone() });
            }
        }
        let (dirigent, driver) = builder.build().unwrap();
        let driver = tokio::spawn(driver.run());
        Self { clock, discord, person, channels, store, fuse, dirigent, driver, asked }
    }

    async fn chat(&self) {
        for channel in self.channels {
            self.dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        }
    }

    async fn ask(&self, channel: ChannelId, question: &str) {
        let id = self.discord.say(channel, self.person, question);
        let message = self.discord.message(channel, id).unwrap();
        let _ = self.dirigent.message_created(message).await;
    }

    /// Lets so much time pass.
    async fn advance(&self, by: Duration) {
        let (clock, over) = (self.clock.clone(), self.clock.now() + by);
        let timer = tokio::spawn(async move { clock.sleep_until(over).await });
        self.clock.run_until(async || timer.is_finished()).await;
    }

    fn words(&self, channel: ChannelId) -> Vec<String> {
        let said = self.discord.messages(channel).into_iter();
        said.map(|message| message.content.to_string()).collect()
    }
}

/// Everything that the library asks of the chat, the store, the registry and the recorder.
const ASKED: [&str; 13] = [
    "post",
    "history",
    "members",
    "typing",
    "sent_at",
    "id_before",
    "reads_history",
    "commit",
    "commit at once",
    "load",
    "began",
    "recorded",
    "config_for",
];

/// WY10: whatever panics, before or after it has done its work: each agent answers once, in every channel, and the log
/// says at error level what it was.
#[tokio::test]
async fn what_panics_counts_as_a_request_without_an_answer() {
    for (what, after) in ASKED.into_iter().flat_map(|what| [(what, false), (what, true)]) {
        let (log, world) = (Log::default(), World::new(true));
        let listening = log.listen();
        let [one, other] = world.channels;
        world.chat().await;
        world.ask(one, "First?").await;
        world.advance(SECOND * 30).await;
        // It leaves memory, and comes back with the question.
        world.advance(MINUTE * 20).await;
        world.fuse.set(what, 2, after);
        for channel in [one, other] {
            world.ask(channel, "Are you there?").await;
        }
        world.dirigent.reconnected().await.unwrap();
        world.advance(MINUTE * 3).await;
        drop(listening);
        let is_told = log.lines().iter().any(|line| {
            line.starts_with("ERROR") && line.contains("panicked") && line.contains("a bug in")
        });
        // Some do nothing after their work, and some are not asked here at all.
        assert_eq!(
            is_told,
            !matches!(world.fuse.0.lock().unwrap().unwrap(), (_, 2, _)),
            "{what} {after}"
        );
        assert!(!world.driver.is_finished(), "{what} {after}: {:#?}", log.lines());
        for (channel, agents) in [(one, 4), (other, 2)] {
            let words = world.words(channel);
            let said = words.iter().filter(|word| word.contains("says so")).count();
            assert_eq!(said, agents, "{what} {after}: {words:#?}\n{:#?}", log.lines());
        }
        world.driver.abort();
    }
}

/// WY10: what the registry and the start ask for.
#[tokio::test]
async fn a_registry_that_panics_is_an_error_of_the_call_and_ends_nothing() {
    let (log, world) = (Log::default(), World::new(true));
    let _listening = log.listen();
    world.chat().await;
    for what in ["identities", "agents"] {
        world.fuse.set(what, 1, false);
        let changed = world.dirigent.identities_changed().await;
        assert!(matches!(changed, Err(CallError::Failed(_))), "{what}: {changed:?}");
        assert!(world.fuse.is_blown());
    }
    world.fuse.set("persona", 1, false);
    world.dirigent.identities_changed().await.unwrap();
    assert!(world.fuse.is_blown());
    world.fuse.set("erase", 1, false);
    let erased = world.dirigent.channel(world.channels[1]).erase().await;
    assert!(matches!(erased, Err(CallError::Failed(_))), "{erased:?}");
    world.ask(world.channels[0], "Are you there?").await;
    world.advance(SECOND * 30).await;
    assert_eq!(world.words(world.channels[0]).len(), 3);
    world.driver.abort();
}

/// WY10: a registry that cannot even be listened to.
#[tokio::test]
async fn a_registry_whose_news_panic_is_listened_to_again() {
    let (log, fuse_times) = (Log::default(), 3);
    let listening = log.listen();
    let world = World::new(true);
    world.fuse.set("changed_elsewhere", fuse_times, false);
    world.chat().await;
    world.advance(SECOND * 10).await;
    drop(listening);
    assert!(world.fuse.is_blown());
    world.ask(world.channels[0], "Are you there?").await;
    world.advance(SECOND * 30).await;
    assert_eq!(world.words(world.channels[0]).len(), 3);
    world.driver.abort();
}

/// WY10: a waker that panics has not woken the agent: it is woken again, as after any failed call.
#[tokio::test]
async fn a_waker_that_panics_has_woken_nobody() {
    for after in [false, true] {
        let world = World::new(false);
        world.chat().await;
        world.fuse.set("wake", 1, after);
        world.ask(world.channels[0], "Are you there?").await;
        world.advance(MINUTE * 5).await;
        assert!(world.fuse.is_blown() && !world.driver.is_finished());
        let posts = world.discord.take_posts();
        assert!(
            !posts.is_empty(),
            "{after}: it was triggered in the end: {:?}",
            world.words(world.channels[0])
        );
        world.driver.abort();
    }
}

/// WY10: at the start, what panics is a request without an answer as well: the chat is asked again, and a store or a
/// registry that cannot be read ends the start with its reason.
#[tokio::test]
async fn a_panic_at_the_start_is_an_error_of_the_start() {
    for what in ["me", "channels", "identities", "agents"] {
        let world = World::new(true);
        world.fuse.set(what, 1, false);
        world.advance(MINUTE).await;
        assert!(world.fuse.is_blown(), "{what}");
        if what == "me" {
            assert!(!world.driver.is_finished());
            world.chat().await;
            world.driver.abort();
            continue;
        }
        let error = world.driver.await.unwrap().unwrap_err();
        assert!(matches!(error, RunError::Channels(_) | RunError::Identities(_)), "{error}");
        let ended = world.dirigent.channel(world.channels[0]).stop().await;
        assert!(matches!(ended, Err(CallError::Ended(DriverEnd::NotStarted(_)))), "{ended:?}");
    }
}

/// WY10: without its clock the driver cannot go on. It says so at error level and as the result of `run`, and every call
/// says so at once.
#[tokio::test]
async fn a_driver_that_cannot_go_on_ends_with_an_error_that_every_call_returns_at_once() {
    for what in ["now"] {
        let (log, world) = (Log::default(), World::new(true));
        let listening = log.listen();
        world.chat().await;
        let [one, _] = world.channels;
        world.ask(one, "Are you there?").await;
        world.advance(Duration::from_millis(500)).await;
        // A call that waits for the store when the driver ends does not wait for its own deadline.
        world.fuse.stall(true);
        let hanging = world.dirigent.clone();
        let waiting = tokio::spawn(async move { hanging.channel(one).hold().await });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        world.fuse.set(what, u32::MAX, false);
        // The agent returns, and the driver goes on.
        world.clock.advance(SECOND);
        let now = world.clock.now();
        let error = world.driver.await.unwrap().unwrap_err();
        assert!(
            matches!(&error, RunError::Panicked(said) if **said == format!("a bug in {what}")),
            "{error:?}"
        );
        let waited = waiting.await.unwrap();
        assert!(matches!(waited, Err(CallError::Ended(DriverEnd::Panicked(_)))), "{waited:?}");
        let dirigent = &world.dirigent;
        let ended = [
            dirigent.channel(one).stop().await,
            dirigent.channel(one).set_mode(Mode::Chat).await.map(drop),
            dirigent.channel(one).wake(None).await,
            dirigent.identities_changed().await,
            dirigent.agent_online(&"a".into()).await,
            dirigent.reconnected().await,
            dirigent.channel(one).status().await.map(|_| ()),
            dirigent.channel(one).explain(&"a".into()).await.map(|_| ()),
        ];
        for ended in ended {
            let Err(CallError::Ended(end)) = ended else { panic!("{what}: {ended:?}") };
            assert_eq!(end, DriverEnd::Panicked(format!("a bug in {what}").into()));
        }
        assert_eq!(world.clock.now(), now, "no time has passed");
        drop(listening);
        let is_told = |line: &String| line.starts_with("ERROR") && line.contains("cannot go on");
        assert!(log.lines().iter().any(is_told), "{:#?}", log.lines());
        assert_eq!(world.store.channels().await.unwrap().len(), 2, "what was stored is there");
        let _ = world.asked.load(Ordering::SeqCst);
    }
}

/// WY10: a driver that was dropped before it ran is not waited for.
#[tokio::test]
async fn a_driver_that_was_dropped_before_it_ran_is_not_waited_for() {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let builder = Dirigent::builder(discord.account(discord.add_bot())).clock(clock.clone());
    let (dirigent, driver) = builder.build().unwrap();
    drop(driver);
    let late = dirigent.channel(ChannelId::new(1)).stop().await;
    assert!(matches!(late, Err(CallError::Ended(DriverEnd::Dropped))), "{late:?}");
}

/// A chat whose requests fail with an error is told from one that panics by the error's source alone.
#[tokio::test]
async fn the_error_of_a_panic_names_it() {
    let world = World::new(true);
    world.chat().await;
    world.fuse.set("erase", 1, false);
    let Err(CallError::Failed(error)) = world.dirigent.channel(world.channels[1]).erase().await
    else {
        panic!("it panicked")
    };
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "the host's code panicked: a bug in erase");
    world.driver.abort();
}
