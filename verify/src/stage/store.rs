//! A channel store that can be watched, slowed down, and made to fail.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::operate::Transition;
use dirigent::ports::Timestamp;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    Barred, ChannelStore, Commit, CommitError, Durability, LoadError, MemoryChannels, Revision,
    StoredChannel,
};
use dirigent::{AgentId, ChannelId, Clock};
use dirigent_testkit::{ManualClock, Random};

use super::executor::at_once;
use super::points::Points;

/// What may happen to a commit.
///
/// ```
/// use dirigent_verify::stage::StoreFault;
/// assert_ne!(StoreFault::Fails, StoreFault::LosesAnswer);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreFault {
    /// It is not made, and the store says so.
    Fails,
    /// It is not made, and the error leaves that open.
    FailsInDoubt,
    /// It is not made, and the store says that the same record would be refused again.
    Refuses,
    /// It is made, and the answer is lost.
    LosesAnswer,
    /// It is made after this long.
    TakesSoLong(Duration),
    /// It is never answered, and not made.
    Hangs,
}

/// One commit that was made.
///
/// ```
/// use dirigent_verify::stage::StageStore;
/// # let stage = dirigent_verify::stage::Setup::new().hosted("a", []).stage();
/// let commits: Vec<dirigent_verify::stage::Committed> = stage.store().commits();
/// assert!(commits.iter().all(|commit| commit.revision.get() > 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// When.
    pub at: Timestamp,
    /// Which channel.
    pub channel: ChannelId,
    /// The revision it became.
    pub revision: Revision,
    /// How much it was to survive.
    pub durability: Durability,
}

/// [`MemoryChannels`] with a log of commits, and faults on demand. Clones share the same store. It outlives the process on the stage.
#[derive(Clone)]
pub struct StageStore {
    inner: MemoryChannels,
    clock: ManualClock,
    points: Points,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Default)]
struct Plan {
    next: VecDeque<StoreFault>,
    /// Faults by chance, each with its rate in thousandths.
    rates: Vec<(StoreFault, u32)>,
    chance: Random,
    commits: Vec<Committed>,
    attempts: u64,
    loads: u64,
    /// Channels whose reading takes longer, and how much.
    slow: Vec<(ChannelId, Duration)>,
    /// Channels whose record cannot be read.
    barred: HashMap<ChannelId, Barred>,
}

impl StageStore {
    pub(crate) fn new(clock: ManualClock, points: Points) -> Self {
        Self { inner: MemoryChannels::default(), clock, points, plan: Arc::default() }
    }

    /// Lets the next commit go wrong, or the one after those already planned.
    pub fn next_commit(&self, fault: StoreFault) {
        self.plan().next.push_back(fault);
    }

    /// Lets every reading of this channel take this long.
    pub fn slow_to_load(&self, channel: ChannelId, by: Duration) {
        self.plan().slow.push((channel, by));
    }

    /// Lets commits go wrong in this way, at a rate in thousandths and by chance from the seed.
    pub fn with_rate(&self, fault: StoreFault, per_mille: u32, seed: u64) {
        let mut plan = self.plan();
        // Not the numbers of the chat, whose faults may have the same seed.
        plan.chance = Random::new(!seed);
        plan.rates.push((fault, per_mille));
    }

    /// Makes what is stored of this channel unreadable: damaged, until a commit replaces it, or a newer
    /// version's, for good. A channel that is in memory learns of it with its next commit or load.
    pub fn bar(&self, channel: ChannelId, how: Barred) {
        self.plan().barred.insert(channel, how);
    }

    /// Makes the record readable again, as restoring it from a backup or a newer version would.
    pub fn unbar(&self, channel: ChannelId) {
        self.plan().barred.remove(&channel);
    }

    /// Ends all faults, planned ones too.
    pub fn stop_faults(&self) {
        let mut plan = self.plan();
        plan.next.clear();
        plan.rates.clear();
        plan.slow.clear();
    }

    /// Every commit that was made, oldest first.
    pub fn commits(&self) -> Vec<Committed> {
        self.plan().commits.clone()
    }

    /// How often a commit was tried.
    pub fn attempts(&self) -> u64 {
        self.plan().attempts
    }

    /// How often a channel was read.
    pub fn loads(&self) -> u64 {
        self.plan().loads
    }

    /// What is stored of a channel.
    pub fn stored(&self, channel: ChannelId) -> Option<StoredChannel> {
        at_once(self.inner.load(channel))?.ok()?
    }

    /// All channels that are stored.
    pub fn known(&self) -> Vec<ChannelId> {
        at_once(self.inner.channels()).and_then(Result::ok).unwrap_or_default()
    }

    /// Another process commits the channel as it is: the process that had it before is overtaken.
    pub fn take_over(&self, channel: ChannelId) {
        if let Some(stored) = self.stored(channel) {
            let mut record = stored.record;
            record.writer = Some(dirigent::store::Writer { process: 1, count: 1 });
            let commit = Commit {
                channel,
                expected: stored.revision,
                record: record.into(),
                durability: Durability::Turn,
                transitions: Arc::default(),
                replaces_damaged: false,
            };
            let _ = at_once(self.inner.commit(commit));
        }
    }

    async fn store(&self, mut commit: Commit) -> Result<Revision, CommitError> {
        let (channel, durability) = (commit.channel, commit.durability);
        let barred = self.plan().barred.get(&channel).copied();
        match barred {
            None => {}
            Some(Barred::Damaged) if commit.replaces_damaged => {
                let none = Revision::default();
                if commit.expected != none {
                    return Err(CommitError::Conflict { found: none });
                }
                commit.expected = self.stored(channel).map_or(none, |stored| stored.revision);
            }
            Some(barred) => return Err(CommitError::Barred(barred)),
        }
        let revision = self.inner.commit(commit).await?;
        self.unbar(channel);
        let at = self.clock.now();
        let mut plan = self.plan();
        plan.commits.push(Committed { at, channel, revision, durability });
        Ok(revision)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    fn draw(&mut self) -> Option<StoreFault> {
        if let Some(fault) = self.next.pop_front() {
            return Some(fault);
        }
        self.chance.by_rate(self.rates.iter().copied())
    }
}

#[async_trait]
impl ChannelStore for StageStore {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        let mut channels = self.inner.channels().await?;
        channels.extend(self.plan().barred.keys());
        channels.sort_unstable();
        channels.dedup();
        Ok(channels)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.plan().loads += 1;
        let slow = self.plan().slow.iter().find(|(slow, _)| *slow == channel).map(|(_, by)| *by);
        if let Some(by) = slow {
            self.clock.sleep_until(self.clock.now() + by).await;
        }
        let barred = self.plan().barred.get(&channel).copied();
        match barred {
            None => self.inner.load(channel).await,
            Some(Barred::Damaged) => Err(LoadError::damaged("the test damaged it")),
            Some(Barred::OtherVersion) => Err(LoadError::other_version("the test made it newer")),
        }
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        self.points.pass("before a commit").await;
        let fault = {
            let mut plan = self.plan();
            plan.attempts += 1;
            plan.draw()
        };
        let failed = |certainty| ApiError::new(ErrorKind::Store).with_certainty(certainty);
        let done = match fault {
            None => self.store(commit).await,
            Some(StoreFault::Fails) => Err(failed(Certainty::NotDone).into()),
            Some(StoreFault::FailsInDoubt) => Err(failed(Certainty::Unknown).into()),
            Some(StoreFault::Refuses) => {
                let refused = ApiError::new(ErrorKind::Invalid);
                Err(refused.with_certainty(Certainty::NotDone).into())
            }
            Some(StoreFault::LosesAnswer) => match self.store(commit).await {
                Ok(_) => Err(failed(Certainty::Unknown).into()),
                Err(error) => Err(error),
            },
            Some(StoreFault::TakesSoLong(by)) => {
                self.clock.sleep_until(self.clock.now() + by).await;
                self.store(commit).await
            }
            Some(StoreFault::Hangs) => std::future::pending().await,
        };
        self.points.pass("after a commit").await;
        done
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let barred = self.plan().barred.get(&channel).copied();
        if barred == Some(Barred::OtherVersion) {
            return Err(LoadError::other_version("the test made it newer"));
        }
        self.plan().barred.remove(&channel);
        Ok(self.inner.delete(channel).await? || barred.is_some())
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.inner.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.points.pass("before an agent's key").await;
        let key = self.inner.add_agent(agent).await;
        self.points.pass("after an agent's key").await;
        key
    }

    fn history_max(&self) -> usize {
        self.inner.history_max()
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        self.inner.history(channel).await
    }
}

impl fmt::Debug for StageStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageStore")
            .field("commits", &self.plan().commits.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use dirigent::operate::Cause;

    use crate::stage::Setup;

    #[test]
    fn the_history_outlives_the_process_on_the_stage() {
        let mut stage = Setup::new().hosted("a", ["Hi".into()]).hosted("b", []).stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        let channel = stage.channel();
        let told = stage.call(move |d| async move { d.channel(channel).history().await }).unwrap();
        assert!(told.iter().any(|event| event.transition.cause == Cause::NextInList), "{told:?}");
        stage.crash();
        stage.restart();
        let again = stage.call(move |d| async move { d.channel(channel).history().await }).unwrap();
        assert_eq!(again.get(..told.len()), Some(&*told));
    }
}
