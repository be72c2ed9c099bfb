//! The thread that everything passes: what it is told, and the order in which it is done.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use dirigent::{
    AgentId, AgentKey, ChannelId, Commit, Durability, Revision, StoredChannel, Transition,
};

use super::desk::{Desk, remove_files};
use super::history;
use super::options::FileDurability;
use super::sync::Write;
use crate::error::{Action, StoreError};
use crate::json::channel_file::ParsedChannel;
use crate::worker::Answer;
use crate::worker::{About, Inbox, Queued};

/// What the thread is told.
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

/// How many turns wait at a time to become their channels' files.
const CATCHING_UP_MAX: usize = 32;

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

/// How a commit ended that the files have nothing against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// It was made.
    Done(Revision),
    /// It was made from another revision than the one that is stored.
    Conflict(Revision),
}

/// A channel with something that is being synced.
#[derive(Debug)]
struct Busy {
    what: Syncing,
    /// What else is wanted of the channel meanwhile, in order.
    waiting: VecDeque<Ask>,
}

/// What a caller waits for.
#[derive(Debug)]
enum Syncing {
    Fact(Answer<Committed>, Vec<Transition>),
    Deletion(Answer<bool>),
}

/// The desk at work.
pub(super) struct Work {
    desk: Desk,
    busy: HashMap<ChannelId, Busy>,
    closing: Option<Answer<()>>,
    /// Why a turn did not become its channel's file while the store was being closed.
    failed: Option<StoreError>,
}

impl Work {
    /// A desk without work.
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, busy: HashMap::new(), closing: None, failed: None }
    }

    /// Works until it is told to end.
    pub(super) fn run(mut self, jobs: &Receiver<Job>, syncing: Option<JoinHandle<()>>) {
        let mut inbox = Inbox::new();
        // Turns that an earlier process left.
        self.roll();
        while let Some(job) = inbox.next(jobs) {
            // What follows from it that takes longer has a queue of its own.
            inbox.done();
            match job {
                Job::Ask(channel, ask) => self.ask(channel, ask),
                Job::Channels(answer) => {
                    let _ = answer.send(self.desk.known_channels());
                }
                Job::Agents(answer) => {
                    let known = self.check().map(|()| self.desk.agents.names().to_vec());
                    let _ = answer.send(known);
                }
                Job::AddAgent(agent, answer) => {
                    let added = self.check().and_then(|()| self.desk.add_agent(agent));
                    let _ = answer.send(added);
                }
                Job::Fact { channel, revision, outcome } => self.fact(channel, revision, outcome),
                Job::Deleted { channel, outcome } => self.deleted(channel, outcome),
                Job::Turn { channel, revision, outcome } => self.turn(channel, revision, outcome),
                Job::Roll => self.roll(),
                Job::Close(answer) => {
                    self.closing = Some(answer);
                    self.roll();
                    if syncing.is_none() {
                        return self.end(Ok(()));
                    }
                }
                Job::SyncEnded(outcome) => {
                    if let Some(thread) = syncing {
                        let _ = thread.join();
                    }
                    let failed = self.failed.take();
                    return self.end(failed.map_or(outcome, Err));
                }
            }
        }
    }

    /// Begins a new file of turns with the next turn, and lets the old ones go as soon as they can.
    fn roll(&mut self) {
        self.desk.roll();
        self.catch_up();
    }

    /// Lets the next channels' files become as new as their turns.
    fn catch_up(&mut self) {
        while self.desk.queue.turns_waiting() < CATCHING_UP_MAX {
            let Some(channel) = self.desk.behind.pop_front() else { break };
            // A fact on its way is newer.
            if !self.busy.contains_key(&channel) {
                self.desk.catch_up(channel);
            }
        }
        if self.closing.is_none() {
            self.desk.remove_empty();
        } else if self.desk.behind.is_empty() {
            // The files of the log that are empty by then go at the end.
            self.desk.queue.close();
        }
    }

    fn turn(&mut self, channel: ChannelId, revision: Revision, outcome: Result<(), StoreError>) {
        match outcome {
            Ok(()) => self.desk.log.forget(channel, revision),
            Err(error) if self.closing.is_some() => self.failed = Some(error),
            // It stays in the log, and so does what is older beside it.
            Err(_) => self.desk.queue.roll_again(),
        }
        self.catch_up();
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.closing.is_some() {
            return Err(StoreError::Closed { path: self.desk.folders.root().to_owned() });
        }
        self.desk.queue.check()
    }

    fn ask(&mut self, channel: ChannelId, ask: Ask) {
        if let Some(busy) = self.busy.get_mut(&channel) {
            busy.waiting.push_back(ask);
            return;
        }
        let open = self.check();
        match ask {
            Ask::Load(answer) => {
                let stored = open.and_then(|()| self.desk.read(channel));
                let _ = answer.send(stored.map(|found| {
                    found.map(|ParsedChannel { revision, record, .. }| StoredChannel {
                        revision,
                        record,
                    })
                }));
            }
            Ask::History(answer) => {
                let _ = answer.send(open.and_then(|()| self.history(channel)));
            }
            Ask::Delete(answer) => match open {
                Ok(()) => self.delete(channel, answer),
                Err(error) => {
                    let _ = answer.send(Err(error));
                }
            },
            Ask::Commit(commit, answer) => match open {
                Ok(()) => self.commit(*commit, answer),
                Err(error) => {
                    let _ = answer.send(Err(error));
                }
            },
        }
    }

    fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, StoreError> {
        let path = self.desk.folders.history(channel);
        let (max, agents) = (self.desk.history_max, &self.desk.agents);
        history::newest(&path, max, agents)
            .map_err(|source| StoreError::not_done(Action::Read, &path, source))
    }

    fn commit(&mut self, mut commit: Commit, answer: Answer<Committed>) {
        let channel = commit.channel;
        let transitions = std::mem::take(&mut commit.transitions);
        let prepared = self.prepare(commit);
        let (revision, content, durability) = match prepared {
            Ok(Prepared::New(revision, content, durability)) => (revision, content, durability),
            Ok(Prepared::Conflict(found)) => {
                let _ = answer.send(Ok(Committed::Conflict(found)));
                return;
            }
            Err(error) => {
                let _ = answer.send(Err(error));
                return;
            }
        };
        let desk = &mut self.desk;
        let placed = match (desk.durability, durability) {
            (FileDurability::Full, Durability::Fact) => {
                let what = Syncing::Fact(answer, transitions);
                self.busy.insert(channel, Busy { what, waiting: VecDeque::new() });
                desk.queue.push_fact(Write { channel, revision, content });
                return;
            }
            (FileDurability::Full, Durability::Turn) => desk.put_turn(channel, revision, &content),
            (FileDurability::None, _) => {
                let placed = desk.put(channel, &content).and_then(|()| desk.replaced(channel));
                if placed.is_ok() {
                    desk.log.forget(channel, revision);
                    desk.remove_empty();
                }
                placed
            }
        };
        if placed.is_ok() {
            desk.made(channel, revision, &transitions);
        }
        let is_full = desk.log.is_full();
        let _ = answer.send(placed.map(|()| Committed::Done(revision)));
        if is_full {
            self.roll();
        }
    }

    fn prepare(&mut self, commit: Commit) -> Result<Prepared, StoreError> {
        let (found, is_damaged) = match self.desk.revision(commit.channel) {
            Err(error) if commit.replaces_damaged && error.is_damaged_record() => {
                (Revision::default(), true)
            }
            found => (found?, false),
        };
        if found != commit.expected {
            return Ok(Prepared::Conflict(found));
        }
        let (channel, durability) = (commit.channel, commit.durability);
        self.desk.make_folder(channel)?;
        let revision = found.next();
        let content = self.desk.content(commit, revision)?;
        if is_damaged {
            self.desk.keep_damaged(channel)?;
            // An operator's act: into the main file, and what is left of a turn goes.
            return Ok(Prepared::New(revision, content, Durability::Fact));
        }
        Ok(Prepared::New(revision, content, durability))
    }

    /// A fact is on the disk, or is not; the callers that waited for that go on.
    fn fact(&mut self, channel: ChannelId, revision: Revision, outcome: Result<(), StoreError>) {
        let Some(Busy { what, waiting }) = self.busy.remove(&channel) else {
            return;
        };
        let Syncing::Fact(answer, transitions) = what else {
            return;
        };
        let outcome = outcome.and_then(|()| self.desk.put_fact(channel, revision));
        if outcome.is_ok() {
            self.desk.made(channel, revision, &transitions);
        } else {
            // It may be in its place all the same.
            self.desk.unlearn(channel);
            // The fact had taken the place of a turn that was to become the file.
            self.desk.behind.push_back(channel);
        }
        self.catch_up();
        let _ = answer.send(outcome.map(|()| Committed::Done(revision)));
        self.go_on(channel, waiting);
    }

    fn delete(&mut self, channel: ChannelId, answer: Answer<bool>) {
        // A newer version's record is not for this one to delete.
        match self.desk.read(channel) {
            Err(error) if !error.is_damaged_record() => {
                let _ = answer.send(Err(error));
                return;
            }
            Ok(_) | Err(_) => {}
        }
        let what = Syncing::Deletion(answer);
        self.busy.insert(channel, Busy { what, waiting: VecDeque::new() });
        match self.desk.durability {
            FileDurability::Full => self.desk.queue.push_deletion(channel),
            FileDurability::None => {
                let outcome = self.desk.folders.remove(channel);
                self.deleted(channel, outcome);
            }
        }
    }

    /// The files of a channel are gone, or not; what else is kept of it goes with them.
    fn deleted(&mut self, channel: ChannelId, outcome: Result<bool, StoreError>) {
        let Some(Busy { what, waiting }) = self.busy.remove(&channel) else {
            return;
        };
        let had_turn = self.desk.log.revision(channel).is_some();
        let outcome = outcome.and_then(|had_files| {
            self.desk.forget(channel)?;
            Ok(had_files || had_turn)
        });
        if outcome.is_err() {
            // What is left of it counts as it stands there.
            self.desk.unlearn(channel);
            // Its turn may have waited to become the file.
            self.desk.behind.push_back(channel);
        }
        self.catch_up();
        if let Syncing::Deletion(answer) = what {
            let _ = answer.send(outcome);
        }
        self.go_on(channel, waiting);
    }

    /// What was asked of a channel meanwhile.
    fn go_on(&mut self, channel: ChannelId, mut waiting: VecDeque<Ask>) {
        while let Some(ask) = waiting.pop_front() {
            self.ask(channel, ask);
            if let Some(busy) = self.busy.get_mut(&channel) {
                busy.waiting.append(&mut waiting);
            }
        }
    }

    fn end(self, outcome: Result<(), StoreError>) {
        let Self { mut desk, closing, .. } = self;
        // What they held is in the channels' files, which are synced, or else they stay.
        if outcome.is_ok() {
            desk.log.seal();
            remove_files(desk.log.take_empty());
        }
        // A caller that is told that it is closed can open it again.
        drop(desk);
        if let Some(answer) = closing {
            let _ = answer.send(outcome);
        }
    }
}

/// What a commit comes to before anything is written.
enum Prepared {
    New(Revision, Vec<u8>, Durability),
    Conflict(Revision),
}
