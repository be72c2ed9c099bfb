//! A small world for tests of the driver: chat, store, clock, agents, a person and the process that
//! runs the library, polled by hand on one thread. The same steps give the same run.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dirigent::{
    CallError, ChannelId, Clock, Config, Dirigent, GuildId, MemoryIdentities, MessageId, Mode,
    PhaseKind, Recorder, RunError, Settings, Status, Timestamp, UserId, WakeCall,
};

use crate::scripted_agent::ScriptedAgent;
use crate::{ManualClock, MemoryDiscord};

mod chat;
mod clock;
mod executor;
mod points;
mod pump;
mod setup;
mod store;

pub use points::Points;
pub use setup::Setup;
pub use store::{Committed, StageStore, StoreFault};

use chat::StageAccount;
use clock::StageClock;
use executor::Executor;
use pump::{DirectWaker, Hooks, pump};

/// How long a call may take before the stage takes it for lost.
const CALL_MAX: Duration = Duration::from_secs(120);
/// How long a room may take to come to rest.
const REST_MAX: Duration = Duration::from_secs(3_600 * 3);

/// What outlives the process.
struct Place {
    clock: ManualClock,
    discord: MemoryDiscord,
    store: StageStore,
    identities: MemoryIdentities,
    points: Points,
    guild: GuildId,
    moderator: UserId,
    person: UserId,
    rooms: Vec<ChannelId>,
    numbers: Arc<AtomicU64>,
}

/// An agent, and who runs it.
struct Cast {
    agent: ScriptedAgent,
    hosted: bool,
}

/// How the process is set up.
struct Plan {
    config: Config,
    settings: Settings,
    seed: u64,
    recorder: Option<Arc<dyn Recorder>>,
    pumps: bool,
    direct: bool,
    post_first: bool,
    receipts: bool,
    post_delay: Duration,
    downtime: Duration,
}

/// A world with a driver in it. Built by [`Setup`].
///
/// Nothing happens unless a method here lets it; each lets everything happen that can happen
/// without time passing, and those that name a time or a goal let time pass too. If the process is
/// killed at one of its [`points`](Self::points), it is started again after a while, as a
/// supervisor would.
///
/// ```
/// use dirigent_testkit::stage::Setup;
///
/// let mut stage = Setup::new().hosted("a", ["one".into()]).hosted("b", []).stage();
/// stage.chat();
/// stage.say("Hello");
/// stage.crash();
/// stage.restart();
/// stage.until_dormant();
/// assert!(stage.points().breaches().is_empty());
/// ```
pub struct Stage {
    place: Place,
    cast: Vec<Cast>,
    plan: Plan,
    executor: Executor,
    dirigent: Option<Dirigent>,
    ended: Arc<Mutex<Option<Result<(), RunError>>>>,
    wake_calls: Arc<Mutex<Vec<WakeCall>>>,
    lives: u32,
}

impl Stage {
    fn new(place: Place, cast: Vec<Cast>, plan: Plan) -> Self {
        Self {
            place,
            cast,
            plan,
            executor: Executor::default(),
            dirigent: None,
            ended: Arc::default(),
            wake_calls: Arc::default(),
            lives: 0,
        }
    }

    /// The chat.
    pub const fn discord(&self) -> &MemoryDiscord {
        &self.place.discord
    }

    /// The clock.
    pub const fn clock(&self) -> &ManualClock {
        &self.place.clock
    }

    /// The store.
    pub const fn store(&self) -> &StageStore {
        &self.place.store
    }

    /// The registry.
    pub const fn identities(&self) -> &MemoryIdentities {
        &self.place.identities
    }

    /// The crash points.
    pub const fn points(&self) -> &Points {
        &self.place.points
    }

    /// The first channel.
    pub fn channel(&self) -> ChannelId {
        self.rooms().first().copied().unwrap_or(ChannelId::new(0))
    }

    /// All channels.
    pub fn rooms(&self) -> &[ChannelId] {
        &self.place.rooms
    }

    /// The guild.
    pub const fn guild(&self) -> GuildId {
        self.place.guild
    }

    /// The person.
    pub const fn person(&self) -> UserId {
        self.place.person
    }

    /// The library's own account.
    pub const fn moderator(&self) -> UserId {
        self.place.moderator
    }

    /// How often the process was started.
    pub const fn lives(&self) -> u32 {
        self.lives
    }

    /// An agent.
    ///
    /// # Panics
    ///
    /// When there is none of this name.
    #[track_caller]
    pub fn agent(&self, name: &str) -> &ScriptedAgent {
        let found = self.cast.iter().find(|cast| cast.agent.name().as_str() == name);
        match found {
            Some(cast) => &cast.agent,
            None => panic!("there is no agent {name} on the stage"),
        }
    }

    /// All agents.
    pub fn agents(&self) -> impl Iterator<Item = &ScriptedAgent> {
        self.cast.iter().map(|cast| &cast.agent)
    }

    /// What direct calls brought, oldest first.
    pub fn wake_calls(&self) -> Vec<WakeCall> {
        self.wake_calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The library.
    ///
    /// # Panics
    ///
    /// While the process is down.
    #[track_caller]
    pub fn dirigent(&self) -> Dirigent {
        match &self.dirigent {
            Some(dirigent) => dirigent.clone(),
            None => panic!("the process is down"),
        }
    }

    /// The end of the process, at once: its futures are dropped; chat and store stay.
    pub fn crash(&mut self) {
        for cast in &self.cast {
            cast.agent.attach(None);
        }
        self.executor = Executor::default();
        self.dirigent = None;
    }

    /// Starts the process, and lets it get going.
    ///
    /// # Panics
    ///
    /// When the library cannot be put together.
    pub fn restart(&mut self) {
        self.crash();
        self.place.points.revive();
        self.start();
        self.settle();
    }

    fn start(&mut self) {
        let hooks = self.hooks();
        let place = &self.place;
        let clock = StageClock::new(place.clock.clone(), place.points.clone());
        let identities = place.identities.clone();
        let own = Arc::new(self.account(place.moderator));
        let mut builder = Dirigent::builder(own, identities, clock)
            .channels(place.store.clone())
            .config(self.plan.config.clone())
            .settings(self.plan.settings.clone())
            .seed(self.plan.seed);
        if let Some(recorder) = &self.plan.recorder {
            builder = builder.recorder(SharedRecorder(Arc::clone(recorder)));
        }
        for cast in self.cast.iter().filter(|cast| cast.hosted) {
            let account = Arc::new(self.account(cast.agent.user()));
            builder = builder.host(cast.agent.name().clone(), cast.agent.clone(), account);
        }
        let late = Arc::new(OnceLock::new());
        if self.plan.direct {
            builder = builder.waker(DirectWaker {
                hooks: hooks.clone(),
                dirigent: Arc::clone(&late),
                calls: Arc::clone(&self.wake_calls),
            });
        }
        let (dirigent, driver) = match builder.build() {
            Ok(built) => built,
            Err(error) => panic!("the library cannot be put together: {error}"),
        };
        let _ = late.set(dirigent.clone());
        for cast in &self.cast {
            cast.agent.attach(Some(dirigent.clone()));
        }
        self.ended = Arc::default();
        let ended = Arc::clone(&self.ended);
        let running = driver.run();
        self.executor.spawner().spawn(async move {
            let end = running.await;
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        });
        if self.plan.pumps {
            let events = place.discord.events();
            self.executor.spawner().spawn(pump(events, dirigent.clone(), hooks));
        }
        self.dirigent = Some(dirigent);
        self.lives += 1;
    }

    fn account(&self, user: UserId) -> StageAccount {
        let place = &self.place;
        StageAccount::new(place.discord.account(user), place.store.clone(), place.points.clone())
    }

    fn hooks(&self) -> Hooks {
        let owned = self.cast.iter().filter(|cast| !cast.hosted);
        Hooks {
            agents: owned.map(|cast| cast.agent.clone()).collect(),
            discord: self.place.discord.clone(),
            moderator: self.place.moderator,
            points: self.place.points.clone(),
            spawner: self.executor.spawner().clone(),
            numbers: Arc::clone(&self.place.numbers),
            post_first: self.plan.post_first,
            receipts: self.plan.receipts,
            post_delay: self.plan.post_delay,
        }
    }

    /// How the driver ended; none while it runs. Taken out.
    pub fn take_end(&self) -> Option<Result<(), RunError>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lets everything happen that can happen without time passing. A killed process is started
    /// again after its downtime.
    pub fn settle(&mut self) {
        let points = self.place.points.clone();
        loop {
            self.executor.settle(|| points.is_struck());
            if !points.is_struck() {
                return;
            }
            self.crash();
            self.place.clock.advance(self.plan.downtime);
            points.revive();
            self.start();
        }
    }

    /// Lets time pass, event by event.
    pub fn advance(&mut self, by: Duration) {
        let until = self.place.clock.now() + by;
        self.settle();
        while self.step(until) {}
        if self.place.clock.now() < until {
            self.place.clock.set(until);
            self.settle();
        }
    }

    /// Lets time pass up to the next event, at most until then; `false` if there is none before.
    pub fn step(&mut self, until: Timestamp) -> bool {
        match self.place.clock.next_wake() {
            Some(next) if next <= until => {
                self.place.clock.advance_to_next_wake();
                self.settle();
                true
            }
            _ => false,
        }
    }

    /// Lets time pass until something is so.
    ///
    /// # Panics
    ///
    /// When it is not so after three hours.
    #[track_caller]
    pub fn until(&mut self, what: &str, is_so: impl Fn(&mut Self) -> bool) {
        let latest = self.place.clock.now() + REST_MAX;
        self.settle();
        while !is_so(self) {
            assert!(
                self.step(latest),
                "it never came to this: {what}; the room is {:?}",
                self.status()
            );
        }
    }

    /// Lets time pass until the first channel is dormant, or archived, or keeps no turns.
    ///
    /// # Panics
    ///
    /// When it does not come to rest within three hours.
    #[track_caller]
    pub fn until_dormant(&mut self) {
        self.until("the room rests", |stage| is_at_rest(stage.status().map(|status| status.phase)));
    }

    /// Awaits a call of the library, while everything else goes on.
    ///
    /// # Panics
    ///
    /// When it does not return within two minutes, or the process was killed meanwhile.
    #[track_caller]
    pub fn call<T, F>(&mut self, call: impl FnOnce(Dirigent) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        match self.try_call(call) {
            Some(answer) => answer,
            None => panic!("the process was killed during a call"),
        }
    }

    /// The same; none when the process was killed meanwhile.
    ///
    /// # Panics
    ///
    /// When it does not return within two minutes.
    #[track_caller]
    pub fn try_call<T, F>(&mut self, call: impl FnOnce(Dirigent) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (life, latest) = (self.lives, self.place.clock.now() + CALL_MAX);
        let answer = self.begin(call);
        loop {
            self.settle();
            if let Some(answer) = answer.take() {
                return Some(answer);
            }
            if self.lives > life {
                return None;
            }
            assert!(self.step(latest), "a call did not return in two minutes");
        }
    }

    /// Begins a call of the library; what becomes of it is seen later.
    pub fn begin<T, F>(&mut self, call: impl FnOnce(Dirigent) -> F) -> Begun<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let begun = Begun::default();
        let slot = begun.clone();
        let future = call(self.dirigent());
        self.executor.spawner().spawn(async move {
            let answer = future.await;
            slot.put(answer);
        });
        begun
    }

    /// Asks again, after each kill, until the library has answered: a person who wants a fact.
    /// Whether it was refused by the machine is the answer.
    ///
    /// # Panics
    ///
    /// When it fails in any other way.
    #[track_caller]
    pub fn insist<F>(&mut self, call: impl Fn(Dirigent) -> F) -> Result<(), dirigent::Refusal>
    where
        F: Future<Output = Result<(), CallError>> + Send + 'static,
    {
        loop {
            match self.try_call(&call) {
                None => {}
                Some(Ok(())) => return Ok(()),
                Some(Err(CallError::Refused(refusal))) => return Err(refusal),
                Some(Err(error)) => panic!("a call failed: {error}"),
            }
        }
    }

    /// Gives every channel the mode chat.
    ///
    /// # Panics
    ///
    /// When that is refused.
    #[track_caller]
    pub fn chat(&mut self) {
        for room in self.place.rooms.clone() {
            let given = self.insist(move |d| async move { d.set_mode(room, Mode::Chat).await });
            assert_eq!(given, Ok(()));
        }
    }

    /// The person speaks in the first channel.
    pub fn say(&mut self, text: &str) -> MessageId {
        self.say_in(self.channel(), text)
    }

    /// The person speaks.
    pub fn say_in(&mut self, channel: ChannelId, text: &str) -> MessageId {
        let id = self.place.discord.say(channel, self.place.person, text);
        self.settle();
        id
    }

    /// The first channel's state; none while it has none, or the library does not answer.
    pub fn status(&mut self) -> Option<Status> {
        self.status_of(self.channel())
    }

    /// A channel's state.
    pub fn status_of(&mut self, channel: ChannelId) -> Option<Status> {
        self.try_call(move |d| async move { d.status(channel).await })?.ok()?
    }

    /// What was said in the first channel by people and agents, oldest first.
    pub fn words(&self) -> Vec<String> {
        self.words_in(self.channel())
    }

    /// What was said in a channel by people and agents, oldest first.
    pub fn words_in(&self, channel: ChannelId) -> Vec<String> {
        let said = self.place.discord.messages(channel).into_iter();
        said.filter(|message| message.author != self.place.moderator)
            .map(|message| message.content)
            .collect()
    }

    /// What the library itself posted in a channel and left there, oldest first.
    pub fn moderation(&self, channel: ChannelId) -> Vec<String> {
        let said = self.place.discord.messages(channel).into_iter();
        said.filter(|message| message.author == self.place.moderator)
            .map(|message| message.content)
            .collect()
    }
}

/// Whether a channel in this phase waits for somebody outside.
fn is_at_rest(phase: Option<PhaseKind>) -> bool {
    matches!(
        phase,
        None | Some(
            PhaseKind::Dormant | PhaseKind::Archived | PhaseKind::Dead | PhaseKind::Disabled
        )
    )
}

/// A call that was begun on the stage.
///
/// ```
/// # let mut stage = dirigent_testkit::stage::Setup::new().stage();
/// let begun = stage.begin(|dirigent| async move { dirigent.channels().len() });
/// assert_eq!(begun.take(), None);
/// stage.settle();
/// assert_eq!(begun.take(), Some(0));
/// ```
#[derive(Debug)]
pub struct Begun<T> {
    answer: Arc<Mutex<Option<T>>>,
}

impl<T> Begun<T> {
    /// What it answered, if it has. Taken out.
    pub fn take(&self) -> Option<T> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, answer: T) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}

impl<T> Clone for Begun<T> {
    fn clone(&self) -> Self {
        let answer = Arc::clone(&self.answer);
        Self { answer }
    }
}

impl<T> Default for Begun<T> {
    fn default() -> Self {
        let answer = Arc::default();
        Self { answer }
    }
}

/// A recorder that outlives the process.
struct SharedRecorder(Arc<dyn Recorder>);

impl Recorder for SharedRecorder {
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: dirigent_core::Snapshot) {
        self.0.began(channel, config, snapshot);
    }

    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &dirigent_core::Input) {
        self.0.recorded(channel, at, input);
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("config", &self.config)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage")
            .field("clock", &self.place.clock)
            .field("executor", &self.executor)
            .field("lives", &self.lives)
            .finish_non_exhaustive()
    }
}
