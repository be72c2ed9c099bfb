//! The jobs of the thread that all work on channels passes through.

use std::time::Instant;

use dirigent::operate::Transition;
use dirigent::snapshot::AgentKey;
use dirigent::store::{Commit, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};

use crate::error::StoreError;
use crate::worker::{About, Answer, Inbox, Jobs, Queue, Queued};

/// One job of the thread.
#[derive(Debug)]
pub(super) enum Job {
    /// A caller asks for something of a channel.
    Ask(ChannelId, Ask),
    /// Which channels are there?
    Channels(Answer<Vec<ChannelId>>),
    /// Which agents have keys?
    Agents(Answer<Vec<AgentId>>),
    /// An agent wants a key.
    AddAgent(AgentId, Answer<AgentKey>),
    /// A fact was synced, or not.
    Fact { channel: ChannelId, revision: Revision, outcome: Result<(), StoreError> },
    /// A channel's files were removed, or not; whether there were any.
    Deleted { channel: ChannelId, outcome: Result<bool, StoreError> },
    /// A turn became its channel's file, or not.
    Turn { channel: ChannelId, revision: Revision, outcome: Result<(), StoreError> },
    /// The newest file of turns is old enough.
    Roll,
    /// The other thread has ended; what its last sync of turns came to.
    SyncEnded(Result<(), StoreError>),
    /// Finish, and end.
    Close(Answer<()>),
}

/// What can be wanted of a channel.
#[derive(Debug)]
pub(super) enum Ask {
    Load(Answer<Option<StoredChannel>>),
    Commit(Box<Commit>, Answer<Committed>),
    History(Answer<Vec<Transition>>),
    Delete(Answer<bool>),
}

/// How a commit ended that the files have nothing against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// It was made.
    Done(Revision),
    /// It was made from another revision than the one that is stored.
    Conflict(Revision),
}

impl Queued for Job {
    fn about(&self) -> About {
        match self {
            Self::Ask(channel, Ask::Commit(..) | Ask::Delete(_)) => About::Change(*channel),
            Self::Ask(channel, Ask::Load(_) | Ask::History(_)) => About::Read(*channel),
            Self::Channels(_)
            | Self::Agents(_)
            | Self::AddAgent(..)
            | Self::Fact { .. }
            | Self::Deleted { .. }
            | Self::Turn { .. }
            | Self::Roll
            | Self::SyncEnded(_)
            | Self::Close(_) => About::Rest,
        }
    }
}

impl Jobs for Inbox<Job> {
    type Job = Job;

    fn push(&mut self, job: Job) {
        Self::push(self, job);
    }

    fn close(answer: Answer<()>) -> Job {
        Job::Close(answer)
    }
}

impl Queue for Inbox<Job> {
    type Work = Job;

    fn take(&mut self, _: Instant, _: bool) -> Option<Job> {
        let job = self.next_read().or_else(|| self.next_of_rest())?;
        // What follows from it that takes longer has a queue of its own.
        self.done();
        Some(job)
    }
}
