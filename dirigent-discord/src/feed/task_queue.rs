//! The requests and answers of a feed, and the work that makes them.

use std::collections::VecDeque;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::Dirigent;
use dirigent::ports::{ApiError, ErrorKind, GuildId};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use twilight_model::gateway::Intents;

use super::channel_event::is_repeated;
use super::channel_queues::{ChannelQueues, Job as ChannelJob, begin};
use crate::slash::Use;
use crate::{DiscordAccount, diagnose};

/// Discord waits three seconds for the first answer. This leaves some time for its way.
const FIRST_ANSWER: Duration = Duration::from_millis(2_800);
/// If a command takes longer, Discord shows its user that the answer will follow.
const QUICK: Duration = Duration::from_millis(1_500);
/// The longest wait of a person whose answer will follow. Discord allows fifteen minutes.
const SLOW: Duration = Duration::from_secs(60);
/// The longest time for the last words after that.
const LAST_WORDS: Duration = Duration::from_secs(60);
/// The most uses that are remembered, to recognise a repeated event.
const USES_MAX: usize = 256;
/// The most uses that are answered at once. Further ones are not answered.
const AT_ONCE: usize = 256;
/// The wait before a retry, if Discord names none. It doubles.
const AGAIN_AFTER: Duration = Duration::from_secs(5);
/// The most retries.
const TRIES: usize = 8;
/// The longest wait before an event that the driver could not accept is repeated.
const TELL_AGAIN_MAX: Duration = Duration::from_secs(60);
/// The longest wait before a retry.
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(600);

/// The waiting tasks.
#[derive(Debug, Default)]
pub(super) struct TaskQueue {
    state: Mutex<QueueState>,
    more: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    /// The guilds where the commands must be registered.
    guilds: VecDeque<u64>,
    /// The guilds where the commands are registered, or were tried.
    registered: std::collections::HashSet<u64>,
    uses: VecDeque<Use>,
    /// The ids of the newest uses.
    seen: VecDeque<u64>,
    diagnosis: Diagnosis,
    /// True if the driver must read what it missed in every channel.
    reconnected: bool,
    closed: bool,
}

/// The check of the intents, which is done once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Diagnosis {
    #[default]
    NotWanted,
    Wanted,
    Begun,
}

/// The next task.
enum Task {
    Use(Use),
    Guild(u64),
    Diagnose,
    Reconnected,
    Nothing,
    Closed,
}

impl TaskQueue {
    /// Adds a use of a command. A repetition of one use is ignored.
    pub(super) fn put(&self, used: Use) {
        let mut state = self.state();
        if state.seen.contains(&used.id) || state.uses.len() >= AT_ONCE {
            return;
        }
        if state.seen.len() >= USES_MAX {
            state.seen.pop_front();
        }
        state.seen.push_back(used.id);
        state.uses.push_back(used);
        drop(state);
        self.more.notify_one();
    }

    /// Registers the commands in this guild, unless that was done before.
    pub(super) fn register(&self, guild: u64) {
        let mut state = self.state();
        if state.registered.insert(guild) {
            state.guilds.push_back(guild);
        }
        drop(state);
        self.more.notify_one();
    }

    /// Forgets a guild, so that the commands can be registered there again.
    pub(super) fn forget(&self, guild: u64) {
        let mut state = self.state();
        state.registered.remove(&guild);
        state.guilds.retain(|waiting| *waiting != guild);
    }

    /// Asks for the check of the intents, unless that was done before.
    pub(super) fn diagnose(&self) {
        let mut state = self.state();
        if state.diagnosis == Diagnosis::NotWanted {
            state.diagnosis = Diagnosis::Wanted;
        }
        drop(state);
        self.more.notify_one();
    }

    /// Asks for a check of every channel, because a new session of the gateway pushes no guilds.
    pub(super) fn reconnected(&self) {
        self.state().reconnected = true;
        self.more.notify_one();
    }

    /// Ends the queue.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.more.notify_one();
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }

    fn take(&self) -> Task {
        let mut state = self.state();
        if let Some(used) = state.uses.pop_front() {
            return Task::Use(used);
        }
        if std::mem::take(&mut state.reconnected) {
            return Task::Reconnected;
        }
        if state.diagnosis == Diagnosis::Wanted {
            state.diagnosis = Diagnosis::Begun;
            return Task::Diagnose;
        }
        if let Some(guild) = state.guilds.pop_front() {
            return Task::Guild(guild);
        }
        if state.closed { Task::Closed } else { Task::Nothing }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Job<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The work of a [`Feed`](super::Feed) that takes time. It reports events that need the driver's store,
/// registers the slash commands in each guild, answers their uses, and checks at the start whether the intents
/// are granted. Run it once, beside the driver.
///
/// The driver gets each channel's events in order, and no channel waits for another. If the store fails, most
/// events are repeated after 5 s, and then after up to a minute. These are joins and leaves, the newest message
/// to read the history to, a thread's first message, and the deletion of a channel. Edits and deletions of
/// messages are not repeated.
#[must_use = "no command is answered and no channel is loaded until this runs"]
pub struct FeedWork {
    tasks: Arc<TaskQueue>,
    queues: Arc<ChannelQueues>,
    dirigent: Dirigent,
    account: Arc<DiscordAccount>,
    intents: Intents,
    /// Held during an attempt to register or check something. There is one attempt at a time, so that a start
    /// with many guilds leaves the limits to the turns. It is not held during a wait, so that a guild with a
    /// used up limit does not delay others.
    attempting: tokio::sync::Mutex<()>,
}

impl FeedWork {
    pub(super) fn new(
        (tasks, queues): (Arc<TaskQueue>, Arc<ChannelQueues>),
        dirigent: Dirigent,
        account: Arc<DiscordAccount>,
        intents: Intents,
    ) -> Self {
        let attempting = tokio::sync::Mutex::default();
        Self { tasks, queues, dirigent, account, intents, attempting }
    }

    /// Works until the feed and all its clones and shards are dropped.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, or this value, commands get no answers, and events that must wait for the
    /// driver's store are lost, now and later.
    pub async fn run(self) {
        let work = &self;
        let mut telling: FuturesUnordered<Job<'_>> = FuturesUnordered::new();
        let mut answering: FuturesUnordered<Job<'_>> = FuturesUnordered::new();
        let mut registering: FuturesUnordered<Job<'_>> = FuturesUnordered::new();
        loop {
            while let Some(job) = self.queues.next_job() {
                telling.push(Box::pin(work.tell(job)));
            }
            match self.tasks.take() {
                Task::Use(used) => {
                    if answering.len() < AT_ONCE {
                        answering.push(Box::pin(work.answer(used)));
                    }
                    continue;
                }
                Task::Guild(guild) => {
                    registering.push(Box::pin(work.register(GuildId::new(guild))));
                    continue;
                }
                Task::Reconnected => {
                    telling.push(Box::pin(work.reconnected()));
                    continue;
                }
                Task::Diagnose => {
                    registering.push(Box::pin(work.diagnose()));
                    continue;
                }
                Task::Closed
                    if answering.is_empty() && registering.is_empty() && telling.is_empty() =>
                {
                    return;
                }
                Task::Closed | Task::Nothing => {}
            }
            tokio::select! {
                biased;
                Some(()) = answering.next() => {}
                () = self.queues.more() => {}
                Some(()) = telling.next() => {}
                () = self.tasks.more.notified() => {}
                Some(()) = registering.next() => {}
            }
        }
    }

    /// Reports a channel's events to the driver until none waits.
    async fn tell(&self, job: ChannelJob) {
        let ChannelJob { channel, begun } = job;
        let mut again_after = AGAIN_AFTER;
        let mut next = begun;
        loop {
            let (telling, condensed) = match next.take() {
                Some(begun) => begun,
                None => match self.queues.next_event(channel) {
                    Some(event) => begin(&self.dirigent, channel, event),
                    None => return,
                },
            };
            let told = telling.await;
            self.queues.finish();
            let now = self.account.clock().now();
            let Err(error) = told else {
                again_after = AGAIN_AFTER;
                continue;
            };
            self.queues.log_untold(channel, &error, now);
            let Some(condensed) = condensed.filter(|_| is_repeated(&error)) else {
                continue;
            };
            self.queues.give_back(channel, condensed);
            self.account.clock().sleep_until(now + again_after).await;
            again_after = TELL_AGAIN_MAX.min(again_after * 2);
            if self.tasks.is_closed() {
                return;
            }
        }
    }

    async fn reconnected(&self) {
        if let Err(error) = self.dirigent.reconnected().await {
            tracing::warn!(%error, "the driver could not be told of a new session");
        }
    }

    /// Answers within three seconds, whatever the store does, with the result or with a promise of it.
    async fn answer(&self, used: Use) {
        let (command, channel, invoker) = (used.command, used.channel, used.invoker);
        if !self.dirigent.channel(channel).answers_commands() {
            return;
        }
        let clock = self.account.clock();
        let doing = self.dirigent.channel(channel).command(command, invoker, &used.input, SLOW);
        let quick = used.at + QUICK;
        let done = match select(pin!(doing), clock.sleep_until(quick)).await {
            Either::Left((done, _)) => {
                let told = self.account.answer(&used, Some(&done.text), used.at + FIRST_ANSWER);
                return log_answer(&used, told.await);
            }
            Either::Right(((), doing)) => {
                let told = self.account.answer(&used, None, used.at + FIRST_ANSWER).await;
                let is_told = told.is_ok();
                log_answer(&used, told);
                let done = doing.await;
                if !is_told {
                    return;
                }
                done
            }
        };
        let until = clock.now() + LAST_WORDS;
        log_answer(&used, self.account.answer_later(&used, &done.text, until).await);
    }

    async fn register(&self, guild: GuildId) {
        let registering = self.insist(|| self.account.register_commands(guild));
        match registering.await {
            Ok(true) => tracing::info!(%guild, "the slash commands were registered"),
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::Forbidden => tracing::warn!(
                %guild,
                "the slash commands cannot be registered: the bot was invited without the scope \
                 applications.commands"
            ),
            Err(error) => {
                tracing::warn!(%guild, %error, "the slash commands are not registered yet");
                self.tasks.forget(guild.get());
            }
        }
    }

    /// Looks for missing intents.
    async fn diagnose(&self) {
        let mut findings = diagnose::not_asked(self.intents);
        match self.insist(|| self.account.not_granted(self.intents)).await {
            Ok(more) => findings.extend(more),
            Err(error) => tracing::warn!(%error, "whether the intents are granted is unknown"),
        }
        match self.insist(|| self.account.few_starts()).await {
            Ok(few) => findings.extend(few),
            Err(error) => {
                tracing::warn!(%error, "how often the gateway may be connected is unknown");
            }
        }
        for finding in findings {
            tracing::error!("{finding}");
        }
    }

    /// Retries for some twenty minutes. Use it only for requests that may be repeated.
    async fn insist<T, F>(&self, attempt: impl Fn() -> F + Sync) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>> + Send,
        T: Send,
    {
        let (clock, mut wait) = (self.account.clock(), AGAIN_AFTER);
        let attempt = async || {
            let _turn = self.attempting.lock().await;
            attempt().await
        };
        for _ in 0..TRIES {
            match attempt().await {
                Err(error) if error.kind().is_retryable() => {
                    let next = clock.now() + error.retry_after().unwrap_or(wait);
                    wait = AGAIN_AFTER_MAX.min(wait * 2);
                    clock.sleep_until(next).await;
                }
                done => return done,
            }
        }
        attempt().await
    }
}

fn log_answer(used: &Use, told: Result<(), ApiError>) {
    if let Err(error) = told {
        tracing::warn!(channel = %used.channel, %error, "a use of a slash command is not answered");
    }
}

impl Drop for FeedWork {
    fn drop(&mut self) {
        self.queues.abandon();
    }
}

impl fmt::Debug for FeedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedWork").finish_non_exhaustive()
    }
}
