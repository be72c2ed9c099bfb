//! The jobs that wait for a connection.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dirigent::operate::Transition;
use dirigent::ports::Identity;
use dirigent::snapshot::AgentKey;
use dirigent::store::{Commit, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};
use dirigent_store::StoreError;
use tokio::sync::{Notify, oneshot};

use super::refusal::away;
use crate::lease::{Epoch, Shard};

/// The way back to the caller.
pub(super) type LeaseAnswer<T> = oneshot::Sender<Result<T, StoreError>>;

/// The shard and epoch that a change depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fenced {
    pub(super) shard: Shard,
    pub(super) epoch: Epoch,
}

/// The end of a commit, if the database did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    Done(Revision),
    /// It was made from another revision than the stored one, which is here.
    Conflict(Revision),
    /// This process does not hold the channel's shard in this epoch.
    Elsewhere,
}

/// The end of a registration, if the database did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Registered {
    Done,
    /// Another agent has the account.
    Taken(AgentId),
}

/// A job for the connection that writes.
pub(super) enum Write {
    Commit(Box<Commit>, Fenced, LeaseAnswer<Committed>),
    /// Answered with `None` if another process owns the channel.
    Delete(ChannelId, Fenced, LeaseAnswer<Option<bool>>),
    AddAgent(AgentId, LeaseAnswer<AgentKey>),
    Register(Identity, LeaseAnswer<Registered>),
    Unregister(AgentId, LeaseAnswer<bool>),
}

/// A job for the connection that reads.
pub(super) enum Read {
    Load(ChannelId, LeaseAnswer<Option<StoredChannel>>),
    Channels(LeaseAnswer<Vec<ChannelId>>),
    ChannelsOf(Vec<Shard>, LeaseAnswer<Vec<ChannelId>>),
    Agents(LeaseAnswer<Vec<AgentId>>),
    History(ChannelId, LeaseAnswer<Vec<Transition>>),
    Identities(LeaseAnswer<Vec<Identity>>),
    /// Notifies all connections that listen.
    Call(String, LeaseAnswer<()>),
}

/// A job that can be answered with a failure.
pub(super) trait Job {
    fn fail(self, error: StoreError);
}

/// Answers a caller, who may have stopped waiting.
pub(super) fn answer<T>(to: LeaseAnswer<T>, with: Result<T, StoreError>) {
    let _ = to.send(with);
}

impl Job for Write {
    fn fail(self, error: StoreError) {
        match self {
            Self::Commit(_, _, to) => answer(to, Err(error)),
            Self::Delete(_, _, to) => answer(to, Err(error)),
            Self::AddAgent(_, to) => answer(to, Err(error)),
            Self::Register(_, to) => answer(to, Err(error)),
            Self::Unregister(_, to) => answer(to, Err(error)),
        }
    }
}

impl Job for Read {
    fn fail(self, error: StoreError) {
        match self {
            Self::Load(_, to) => answer(to, Err(error)),
            Self::Channels(to) | Self::ChannelsOf(_, to) => answer(to, Err(error)),
            Self::Agents(to) => answer(to, Err(error)),
            Self::History(_, to) => answer(to, Err(error)),
            Self::Identities(to) => answer(to, Err(error)),
            Self::Call(_, to) => answer(to, Err(error)),
        }
    }
}

/// Jobs of one connection, in their order; `None` once it is closed.
pub(super) struct Queue<J> {
    jobs: Mutex<Option<VecDeque<J>>>,
    called: Notify,
}

impl<J> Default for Queue<J> {
    fn default() -> Self {
        Self { jobs: Mutex::new(Some(VecDeque::new())), called: Notify::default() }
    }
}

impl<J: Job> Queue<J> {
    fn jobs(&self) -> MutexGuard<'_, Option<VecDeque<J>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: J, closed: impl FnOnce() -> StoreError) {
        let left = match &mut *self.jobs() {
            Some(jobs) => {
                jobs.push_back(job);
                self.called.notify_one();
                None
            }
            None => Some(job),
        };
        if let Some(job) = left {
            job.fail(closed());
        }
    }

    pub(super) fn take(&self, most: usize) -> VecDeque<J> {
        let mut waiting = self.jobs();
        let Some(jobs) = &mut *waiting else {
            return VecDeque::new();
        };
        let rest = jobs.split_off(most.min(jobs.len()));
        std::mem::replace(jobs, rest)
    }

    /// Puts jobs back that were taken and not begun.
    pub(super) fn put_back(&self, mut jobs: VecDeque<J>) {
        if let Some(waiting) = &mut *self.jobs() {
            jobs.append(waiting);
            *waiting = jobs;
        }
    }

    pub(super) async fn until_any(&self) {
        loop {
            if self.jobs().as_ref().is_some_and(|jobs| !jobs.is_empty()) {
                return;
            }
            self.called.notified().await;
        }
    }

    pub(super) fn fail_all(&self, error: impl Fn() -> StoreError) {
        for job in self.take(usize::MAX) {
            job.fail(error());
        }
    }

    fn close(&self, error: impl Fn() -> StoreError) {
        let waiting = self.jobs().take();
        for job in waiting.into_iter().flatten() {
            job.fail(error());
        }
    }
}

#[derive(Default)]
pub(super) struct Jobs {
    pub(super) reads: Queue<Read>,
    pub(super) writes: Queue<Write>,
    closed: Notify,
}

impl Jobs {
    pub(super) async fn read<T>(
        &self,
        address: &Path,
        read: impl FnOnce(LeaseAnswer<T>) -> Read,
    ) -> Result<T, StoreError> {
        let (to, answered) = oneshot::channel();
        self.reads.push(read(to), || closed(address));
        // The job was dropped with its connection.
        answered.await.unwrap_or_else(|_| Err(away(address)))
    }

    pub(super) async fn write<T>(
        &self,
        address: &Path,
        write: impl FnOnce(LeaseAnswer<T>) -> Write,
    ) -> Result<T, StoreError> {
        let (to, answered) = oneshot::channel();
        self.writes.push(write(to), || closed(address));
        answered.await.unwrap_or_else(|_| Err(StoreError::Interrupted { path: address.to_owned() }))
    }

    /// Closes both queues when the link has ended.
    pub(super) fn close(&self, address: &Path) {
        self.reads.close(|| closed(address));
        self.writes.close(|| closed(address));
        self.closed.notify_waiters();
    }

    fn is_closed(&self) -> bool {
        self.writes.jobs().is_none()
    }

    /// Waits until the link has ended.
    pub(super) async fn closed(&self) {
        let closed = self.closed.notified();
        tokio::pin!(closed);
        closed.as_mut().enable();
        if !self.is_closed() {
            closed.await;
        }
    }
}

fn closed(address: &Path) -> StoreError {
    StoreError::Closed { path: address.to_owned() }
}
