//! After a start the channels come first in which somebody waits, however many others there are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::{ApiError, ErrorKind, HistoryRequest, Identity, Post, Posted, Timestamp};
use dirigent::settings::Pacing;
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    ChannelStore, Commit, CommitError, Durability, LoadError, MemoryChannels, Revision,
    StoredChannel,
};
use dirigent::{
    Agent, AgentError, AgentId, ChannelId, ChatMessage, Clock, Dirigent, DiscordApi,
    MemoryIdentities, MessageId, Mode, Reply, Settings, Turn, UserId,
};
use dirigent_store::JsonChannels;
#[cfg(feature = "sqlite")]
use dirigent_store::SqliteStore;
use dirigent_testkit::ManualClock;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

const CHANNELS: u64 = 10_000;
/// As many as a store of files is for, and some more.
const FILES: u64 = 1_000;
/// The conversation that is under way has the highest id of all.
const BUSY: ChannelId = ChannelId::new(100_000_000_000_000_000 + CHANNELS);
const MODERATOR: UserId = UserId::new(1);
const ADA: UserId = UserId::new(2);
const BOB: UserId = UserId::new(3);
const PERSON: UserId = UserId::new(4);
/// The chat answers 50 requests a second.
const A_REQUEST: Duration = Duration::from_millis(20);

/// A chat in which nothing is written.
#[derive(Clone)]
struct Slow {
    me: UserId,
    clock: ManualClock,
    /// When the next request is answered at the earliest.
    next: Arc<Mutex<Timestamp>>,
    reads: Arc<AtomicUsize>,
    /// Channels with lower ids than this one have no history that is ever answered.
    stuck_below: ChannelId,
    ids: Arc<AtomicUsize>,
    is_away: Arc<AtomicBool>,
    posted: mpsc::UnboundedSender<(ChannelId, Timestamp)>,
}

impl Slow {
    /// Answers one request after the other.
    async fn is_asked(&self) {
        let at = {
            let mut next = self.next.lock().unwrap();
            *next = self.clock.now().max(*next) + A_REQUEST;
            *next
        };
        self.clock.sleep_until(at).await;
    }
}

#[dirigent::async_trait]
impl DiscordApi for Slow {
    fn sent_at(&self, message: MessageId) -> Timestamp {
        dirigent::ports::snowflake_time(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        Ok(self.me)
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        self.is_asked().await;
        if self.is_away.load(Ordering::SeqCst) {
            return Err(ApiError::new(ErrorKind::Unavailable));
        }
        let _ = self.posted.send((post.channel, self.clock.now()));
        Ok(Posted { id: id_of(self.clock.now(), &self.ids), deduplicated: false })
    }

    async fn delete(&self, _: ChannelId, _: MessageId) -> Result<(), ApiError> {
        Ok(())
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.is_asked().await;
        self.reads.fetch_add(1, Ordering::SeqCst);
        if request.channel < self.stuck_below {
            std::future::pending::<()>().await;
        }
        Ok(Vec::new())
    }

    fn reads_history(&self, _: ChannelId) -> Option<bool> {
        Some(true)
    }

    async fn members(&self, _: ChannelId, _: Vec<UserId>) -> Result<Vec<UserId>, ApiError> {
        self.is_asked().await;
        Ok(vec![MODERATOR, ADA, BOB, PERSON])
    }
}

/// An id of this moment, as Discord makes them.
fn id_of(now: Timestamp, ids: &AtomicUsize) -> MessageId {
    let number = ids.fetch_add(1, Ordering::SeqCst) as u64 & 0xfff;
    MessageId::new(((now.as_millis() - 1_420_070_400_000) << 22) | number)
}

/// Tells when it is called, and answers when it is told to.
struct Told {
    clock: ManualClock,
    called: mpsc::UnboundedSender<(ChannelId, Timestamp)>,
    answers: bool,
}

#[dirigent::async_trait]
impl Agent for Told {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let _ = self.called.send((turn.channel(), self.clock.now()));
        if self.answers { Ok("Yes.".into()) } else { std::future::pending().await }
    }
}

/// A store that says whether it has answered: no time passes before.
struct Watched {
    store: Arc<dyn ChannelStore>,
    asked: AtomicUsize,
}

impl Watched {
    fn over(store: impl ChannelStore) -> Arc<Self> {
        Arc::new(Self { store: Arc::new(store), asked: AtomicUsize::new(0) })
    }

    async fn answer<T>(&self, answer: impl Future<Output = T>) -> T {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = answer.await;
        self.asked.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    /// Lets everything happen that can, and then time pass, until `is_over` gives something.
    async fn until<T>(&self, clock: &ManualClock, mut is_over: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut quiet = 0;
            while quiet < 16 {
                tokio::task::yield_now().await;
                if let Some(over) = is_over() {
                    return over;
                }
                quiet = if self.asked.load(Ordering::SeqCst) == 0 { quiet + 1 } else { 0 };
            }
            clock.advance_to_next_wake();
        }
    }
}

#[dirigent::async_trait]
impl ChannelStore for Watched {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.answer(self.store.channels()).await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.answer(self.store.load(channel)).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        self.answer(self.store.commit(commit)).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.answer(self.store.agents()).await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.answer(self.store.add_agent(agent)).await
    }
}

/// One process.
struct Life {
    dirigent: Dirigent,
    driver: JoinHandle<()>,
    chat: Slow,
    called: mpsc::UnboundedReceiver<(ChannelId, Timestamp)>,
    posted: mpsc::UnboundedReceiver<(ChannelId, Timestamp)>,
}

impl Life {
    /// `ada` answers, `bob` never does.
    fn begin(
        store: &Arc<Watched>,
        clock: &ManualClock,
        is_away: bool,
        stuck_below: ChannelId,
    ) -> Self {
        let ((tell, called), (post, posted)) =
            (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let account = |me| Slow {
            me,
            clock: clock.clone(),
            next: Arc::new(Mutex::new(clock.now())),
            reads: Arc::default(),
            stuck_below,
            ids: Arc::default(),
            is_away: Arc::new(is_away.into()),
            posted: post.clone(),
        };
        let agent = |answers| Told { clock: clock.clone(), called: tell.clone(), answers };
        let identity = |discord_user_id, name: &str| Identity {
            discord_user_id,
            agent_id: name.into(),
            agent_name: name.to_owned(),
        };
        let known = [identity(ADA, "ada"), identity(BOB, "bob")];
        let mut settings = Settings::default();
        (settings.limits.pacing, settings.time_limits.backfill) = (Pacing::off(), None);
        let chat = account(MODERATOR);
        let (dirigent, driver) = Dirigent::builder(chat.clone())
            .identities(MemoryIdentities::with(known).unwrap())
            .channels(Arc::clone(store) as Arc<dyn ChannelStore>)
            .clock(clock.clone())
            .settings(settings)
            .host("ada", agent(true), account(ADA))
            .host("bob", agent(false), account(BOB))
            .build()
            .unwrap();
        let driver = tokio::spawn(async move { driver.run().await.unwrap() });
        Self { dirigent, driver, chat, called, posted }
    }

    async fn give_a_mode(&self, store: &Watched, clock: &ManualClock, channel: ChannelId) {
        let dirigent = self.dirigent.clone();
        let given = async move { dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap() };
        let given = tokio::spawn(given);
        store.until(clock, || given.is_finished().then_some(())).await;
    }

    /// A person asks in the channel, and so many agents are called.
    async fn converse(
        &mut self,
        store: &Watched,
        clock: &ManualClock,
        channel: ChannelId,
        calls: usize,
    ) {
        self.give_a_mode(store, clock, channel).await;
        let id = id_of(clock.now(), &AtomicUsize::new(1));
        let question = ChatMessage::new(id, channel, PERSON, "Are you there?");
        self.dirigent.message_created(question).await.unwrap();
        for _ in 0..calls {
            let (called, _) = store.until(clock, || self.called.try_recv().ok()).await;
            assert_eq!(called, channel);
        }
    }

    async fn kill(self) {
        self.driver.abort();
        let _ = self.driver.await;
    }
}

/// What the busy channel was killed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Under {
    /// An agent's turn.
    Turn,
    /// The post of a reply, while the chat did not answer.
    Reply,
}

/// Fills the store with channels that rest, and one in which something is under way.
async fn fill(store: &Arc<Watched>, clock: &ManualClock, under: Under, channels: u64) {
    let resting = ChannelId::new(BUSY.get() - 1);
    let mut life = Life::begin(store, clock, under == Under::Reply, NONE);
    // Where Ada has spoken, Bob is called.
    let calls = if under == Under::Turn { 2 } else { 1 };
    life.give_a_mode(store, clock, resting).await;
    life.converse(store, clock, BUSY, calls).await;
    // Her reply is stored, and is tried again.
    let until = clock.now() + Duration::from_secs(20);
    store.until(clock, || (under == Under::Turn || clock.now() > until).then_some(())).await;
    life.kill().await;
    copy(store, resting, channels - 2).await;
}

/// So many channels with the next lower ids get the same record as this one.
async fn copy(store: &Watched, of: ChannelId, total: u64) {
    let record = Arc::new(store.load(of).await.unwrap().unwrap().record);
    let commits = (1..=total).map(|below| Commit {
        channel: ChannelId::new(of.get() - below),
        expected: Revision::default(),
        record: Arc::clone(&record),
        durability: Durability::Turn,
        transitions: Arc::default(),
        replaces_damaged: false,
    });
    let committed = commits.map(|commit| store.commit(commit));
    let committed: Vec<_> =
        futures_util::stream::iter(committed).buffer_unordered(256).collect().await;
    assert!(committed.iter().all(Result::is_ok));
}

/// Starts on a store of so many channels, and gives how long the busy one waits, and the life for more.
async fn waits(store: &Arc<Watched>, under: Under, channels: u64) -> (Duration, Life, ManualClock) {
    let clock = ManualClock::new();
    fill(store, &clock, under, channels).await;
    clock.advance(Duration::from_secs(2));
    let began = clock.now();
    let mut life = Life::begin(store, &clock, false, NONE);
    let happened = || match under {
        Under::Turn => life.called.try_recv().ok(),
        Under::Reply => life.posted.try_recv().ok(),
    };
    let (channel, at) = store.until(&clock, happened).await;
    assert_eq!(channel, BUSY);
    (at.since(began), life, clock)
}

/// No channel.
const NONE: ChannelId = ChannelId::new(0);

const LIMIT: Duration = Duration::from_secs(3);

/// CL1: after a start the next agent is called before the histories of other channels are read, and those are read, too.
#[tokio::test]
async fn the_conversation_that_was_under_way_goes_on_at_once_among_10_000_channels() {
    let store = Watched::over(MemoryChannels::default());
    let (waited, mut life, clock) = waits(&store, Under::Turn, CHANNELS).await;
    assert!(waited <= LIMIT, "{waited:?}");
    // A person who writes meanwhile in another channel does not wait for all these reads either.
    let (quiet, asked) = (ChannelId::new(BUSY.get() - 7), clock.now());
    let id = id_of(clock.now(), &AtomicUsize::new(9));
    let question = ChatMessage::new(id, quiet, PERSON, "And you?");
    life.dirigent.message_created(question).await.unwrap();
    let called = || life.called.try_recv().ok().filter(|(channel, _)| *channel == quiet);
    let (_, at) = store.until(&clock, called).await;
    assert!(at.since(asked) <= LIMIT, "{:?}", at.since(asked));
    let all = usize::try_from(CHANNELS).unwrap();
    let is_over = || (life.chat.reads.load(Ordering::SeqCst) >= all).then_some(());
    store.until(&clock, is_over).await;
    assert!(clock.now().since(ManualClock::START) < Duration::from_secs(240), "50 a second");
    life.kill().await;
}

/// CL1: as above, in a store of files.
#[tokio::test]
async fn the_conversation_that_was_under_way_goes_on_at_once_among_1_000_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = Watched::over(JsonChannels::open(folder.path()).unwrap());
    let (waited, life, _) = waits(&store, Under::Turn, FILES).await;
    assert!(waited <= LIMIT, "{waited:?}");
    life.kill().await;
}

/// CL1: as above, in a database.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn the_conversation_that_was_under_way_goes_on_at_once_among_10_000_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("channels.sqlite");
    let store = Watched::over(SqliteStore::open(path.as_path()).unwrap());
    let (waited, life, _) = waits(&store, Under::Turn, CHANNELS).await;
    assert!(waited <= LIMIT, "{waited:?}");
    life.kill().await;
}

/// CL1: a reply that waits to be posted is somebody who waits, too.
#[tokio::test]
async fn a_reply_that_was_not_posted_is_posted_at_once_among_10_000_channels() {
    let store = Watched::over(MemoryChannels::default());
    let (waited, life, _) = waits(&store, Under::Reply, CHANNELS).await;
    assert!(waited <= LIMIT, "{waited:?}");
    life.kill().await;
}

/// CL1: of 40 conversations that were under way, those whose history is not answered hold none of the others up.
#[tokio::test]
async fn a_conversation_whose_history_is_not_answered_holds_no_other_up() {
    let (store, clock) = (Watched::over(MemoryChannels::default()), ManualClock::new());
    let mut life = Life::begin(&store, &clock, false, NONE);
    life.converse(&store, &clock, BUSY, 2).await;
    life.kill().await;
    copy(&store, BUSY, 40).await;
    let began = clock.now();
    let mut life = Life::begin(&store, &clock, false, BUSY);
    let (channel, at) = store.until(&clock, || life.called.try_recv().ok()).await;
    assert_eq!(channel, BUSY);
    assert!(at.since(began) <= LIMIT, "{:?}", at.since(began));
    life.kill().await;
}
