//! The work of a feed that takes time, for example its requests and answers.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use dirigent::Dirigent;
use dirigent::ports::{ApiError, ErrorKind, GuildId};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
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

/// Something to do.
pub(super) enum Task {
    /// Report the events of a channel to the driver.
    Tell(Box<ChannelJob>),
    /// Register the commands in this guild, unless that was done before.
    Register(u64),
    /// Forget a guild, so that the commands can be registered there again.
    Forget(u64),
    /// Check the intents, unless that was done before.
    Diagnose,
    /// Let the driver read what it missed in every channel, because a new session of the gateway pushes no guilds.
    Reconnected,
}

/// The feed's side of the tasks. They end when it is dropped.
pub(super) struct TaskSender {
    tasks: mpsc::UnboundedSender<Task>,
    uses: mpsc::Sender<Use>,
}

impl TaskSender {
    /// Returns the task if the [`FeedWork`] is gone.
    pub(super) fn send(&self, task: Task) -> Result<(), Task> {
        self.tasks.send(task).map_err(|unsent| unsent.0)
    }

    /// Sends a use of a command. If too many wait, it is not answered.
    pub(super) fn answer(&self, used: Use) {
        let _ = self.uses.try_send(used);
    }
}

type Job<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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
    tasks: mpsc::UnboundedReceiver<Task>,
    uses: mpsc::Receiver<Use>,
    // It is dropped last, so that no events can be left to it any more.
    work: Work,
}

struct Work {
    queues: Arc<ChannelQueues>,
    dirigent: Dirigent,
    account: Arc<DiscordAccount>,
    intents: Intents,
    /// Tells whether the feed is gone.
    feed: mpsc::WeakUnboundedSender<Task>,
    /// Held during an attempt to register or check something. There is one attempt at a time, so that a start
    /// with many guilds leaves the limits to the turns. It is not held during a wait, so that a guild with a
    /// used up limit does not delay others.
    attempting: tokio::sync::Mutex<()>,
}

impl FeedWork {
    pub(super) fn new(
        queues: Arc<ChannelQueues>,
        dirigent: Dirigent,
        account: Arc<DiscordAccount>,
        intents: Intents,
    ) -> (TaskSender, Self) {
        let (task, tasks) = mpsc::unbounded_channel();
        let (answer, uses) = mpsc::channel(AT_ONCE);
        let (feed, attempting) = (task.downgrade(), tokio::sync::Mutex::default());
        let work = Work { queues, dirigent, account, intents, feed, attempting };
        (TaskSender { tasks: task, uses: answer }, Self { tasks, uses, work })
    }

    /// Works until the feed and all its clones and shards are dropped.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, or this value, commands get no answers, and events that must wait for the
    /// driver's store are lost, now and later.
    pub async fn run(self) {
        let work = self.work;
        let (mut tasks, mut uses) = (self.tasks, self.uses);
        let mut telling: FuturesUnordered<Job<'_, ()>> = FuturesUnordered::new();
        let mut answering: FuturesUnordered<Job<'_, ()>> = FuturesUnordered::new();
        // Each returns a guild to forget.
        let mut registering: FuturesUnordered<Job<'_, Option<u64>>> = FuturesUnordered::new();
        // The ids of the newest uses, and the guilds where the commands are registered, or were tried.
        let (mut seen, mut registered) = (VecDeque::new(), HashSet::new());
        let mut is_diagnosed = false;
        loop {
            tokio::select! {
                biased;
                Some(()) = answering.next() => {}
                Some(command) = uses.recv() => {
                    if answering.len() < AT_ONCE && is_new(&mut seen, command.id) {
                        answering.push(Box::pin(work.answer(command)));
                    }
                }
                Some(task) = tasks.recv() => match task {
                    Task::Tell(job) => telling.push(Box::pin(work.tell(*job))),
                    Task::Register(guild) => {
                        if registered.insert(guild) {
                            registering.push(Box::pin(work.register(GuildId::new(guild))));
                        }
                    }
                    Task::Forget(guild) => drop(registered.remove(&guild)),
                    Task::Diagnose => {
                        if !std::mem::replace(&mut is_diagnosed, true) {
                            registering.push(Box::pin(work.diagnose()));
                        }
                    }
                    Task::Reconnected => telling.push(Box::pin(work.reconnected())),
                },
                Some(()) = telling.next() => {}
                Some(failed) = registering.next() => {
                    if let Some(guild) = failed {
                        registered.remove(&guild);
                    }
                }
                else => return,
            }
        }
    }
}

/// Returns true if this use was not seen before. Discord may push one twice.
fn is_new(seen: &mut VecDeque<u64>, used: u64) -> bool {
    if seen.contains(&used) {
        return false;
    }
    if seen.len() >= USES_MAX {
        seen.pop_front();
    }
    seen.push_back(used);
    true
}

impl Work {
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
            if self.feed.strong_count() == 0 {
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

    /// Returns the guild if it must be tried again.
    async fn register(&self, guild: GuildId) -> Option<u64> {
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
                return Some(guild.get());
            }
        }
        None
    }

    /// Looks for missing intents.
    async fn diagnose(&self) -> Option<u64> {
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
        None
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

impl Drop for Work {
    fn drop(&mut self) {
        self.queues.abandon();
    }
}

impl fmt::Debug for FeedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedWork").finish_non_exhaustive()
    }
}
