//! The thread that everything passes: what it is told, and the order in which it is done.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use dirigent::{
    AgentId, AgentKey, ChannelId, Commit, Durability, Revision, StoredChannel, Transition,
};

use super::desk::Desk;
use super::folders::FileKind;
use super::history;
use super::options::FileDurability;
use super::sync::Write;
use crate::channel_file::ParsedChannel;
use crate::error::{Action, StoreError};
use crate::life::Answer;

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
    /// A turn was synced.
    Turn { channel: ChannelId, revision: Revision },
    /// The other thread has ended; what its last turns came to.
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
}

/// How a commit ended that the files have nothing against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// It was made.
    Done(Revision),
    /// It was made from another revision than the one that is stored.
    Conflict(Revision),
}

/// A fact that is being synced.
#[derive(Debug)]
struct Busy {
    answer: Answer<Committed>,
    transitions: Vec<Transition>,
    /// What else is wanted of the channel meanwhile, in order.
    waiting: VecDeque<Ask>,
}

/// The desk at work.
pub(super) struct Work {
    desk: Desk,
    busy: HashMap<ChannelId, Busy>,
    closing: Option<Answer<()>>,
}

impl Work {
    /// A desk without work.
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, busy: HashMap::new(), closing: None }
    }

    /// Works until it is told to end.
    pub(super) fn run(mut self, jobs: &Receiver<Job>, syncing: Option<JoinHandle<()>>) {
        self.desk.take_up_turns();
        while let Ok(job) = jobs.recv() {
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
                Job::Turn { channel, revision } => self.desk.remove_turn(channel, revision),
                Job::Close(answer) => {
                    self.closing = Some(answer);
                    self.desk.queue.close();
                    if syncing.is_none() {
                        return self.end(Ok(()));
                    }
                }
                Job::SyncEnded(outcome) => {
                    if let Some(thread) = syncing {
                        let _ = thread.join();
                    }
                    return self.end(outcome);
                }
            }
        }
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
                self.busy.insert(channel, Busy { answer, transitions, waiting: VecDeque::new() });
                desk.queue.push_fact(Write { channel, revision, content });
                return;
            }
            (FileDurability::Full, Durability::Turn) => {
                let placed = desk.put(channel, FileKind::Turn, &content);
                if placed.is_ok() {
                    desk.channels.entry(channel).or_default().has_turn = true;
                    desk.queue.push_turn(Write { channel, revision, content });
                }
                placed
            }
            (FileDurability::None, _) => {
                let placed = desk.put(channel, FileKind::Main, &content);
                if placed.is_ok() {
                    desk.remove_turn(channel, revision);
                }
                placed
            }
        };
        if placed.is_ok() {
            desk.made(channel, revision, &transitions);
        }
        let _ = answer.send(placed.map(|()| Committed::Done(revision)));
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
        let Some(Busy { answer, transitions, mut waiting }) = self.busy.remove(&channel) else {
            return;
        };
        if outcome.is_ok() {
            self.desk.remove_turn(channel, revision);
            self.desk.made(channel, revision, &transitions);
        } else {
            // The fact had taken the place of a turn that waited.
            self.desk.take_up_turn(channel);
        }
        let _ = answer.send(outcome.map(|()| Committed::Done(revision)));
        while let Some(ask) = waiting.pop_front() {
            self.ask(channel, ask);
            if let Some(busy) = self.busy.get_mut(&channel) {
                busy.waiting.append(&mut waiting);
            }
        }
    }

    fn end(self, outcome: Result<(), StoreError>) {
        let Self { desk, closing, .. } = self;
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
