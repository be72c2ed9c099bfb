//! The thread that everything passes: the order in which it is done.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::thread::JoinHandle;

use dirigent::operate::Transition;
use dirigent::snapshot::AgentKey;
use dirigent::store::{Commit, Durability, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};

use super::agents::Agents;
use super::catch_up::CatchUp;
use super::history::Histories;
use super::job::{Ask, Committed, Job};
use super::options::FileDurability;
use super::records::Records;
use super::sync::Write;
use super::turn_log;
use crate::disk::Lock;
use crate::error::StoreError;
use crate::record::ParsedChannel;
use crate::worker::{Answer, Inbox, Receiver};

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
    Fact(Answer<Committed>, Arc<Vec<Transition>>),
    Deletion(Answer<bool>),
}

/// What the thread works on.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) records: Records,
    pub(super) histories: Histories,
    pub(super) agents: Agents,
    pub(super) catch_up: CatchUp,
    busy: HashMap<ChannelId, Busy>,
    closing: Option<Answer<()>>,
    /// Why a turn did not become its channel's file while the store was being closed.
    failed: Option<StoreError>,
    /// No other store has the folder meanwhile.
    lock: Lock,
}

impl Work {
    /// What was found, and nothing to do yet.
    pub(super) fn new(records: Records, histories: Histories, agents: Agents, lock: Lock) -> Self {
        let (catch_up, busy) = (CatchUp::default(), HashMap::new());
        Self { records, histories, agents, catch_up, busy, closing: None, failed: None, lock }
    }

    /// Works until a job ends it.
    pub(super) fn run(mut self, jobs: &Receiver<Inbox<Job>>, syncing: Option<JoinHandle<()>>) {
        // Turns that an earlier process left.
        self.roll();
        while let Some(job) = jobs.next() {
            match job {
                Job::Ask(channel, ask) => self.ask(channel, ask),
                Job::Channels(answer) => {
                    let known = self.records.queue.check().map(|()| self.records.channels());
                    let _ = answer.send(known);
                }
                Job::Agents(answer) => {
                    let known = self.check().map(|()| self.agents.names().to_vec());
                    let _ = answer.send(known);
                }
                Job::AddAgent(agent, answer) => {
                    let added = self.check().and_then(|()| self.add_agent(agent));
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
        self.catch_up.roll(&mut self.records);
        self.go_on_catching_up();
    }

    fn go_on_catching_up(&mut self) {
        let Self { records, catch_up, busy, closing, .. } = self;
        let is_done = catch_up.go_on(records, |channel| busy.contains_key(&channel));
        if closing.is_none() {
            records.remove_empty();
        } else if is_done {
            // The files of the log that are empty by then go at the end.
            records.queue.close();
        }
    }

    fn add_agent(&mut self, agent: AgentId) -> Result<AgentKey, StoreError> {
        let Records { folders, queue, durability, .. } = &self.records;
        let path = folders.agents();
        let added = self.agents.register(agent, &path, durability.of(Durability::Fact));
        added.inspect_err(|error| queue.note(error, &path))
    }

    fn turn(&mut self, channel: ChannelId, revision: Revision, outcome: Result<(), StoreError>) {
        match outcome {
            Ok(()) => self.records.log.forget(channel, revision),
            Err(error) if self.closing.is_some() => self.failed = Some(error),
            // It stays in the log, and so does what is older beside it.
            Err(_) => self.records.queue.roll_again(),
        }
        self.go_on_catching_up();
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.closing.is_some() {
            return Err(StoreError::Closed { path: self.records.folders.root().to_owned() });
        }
        self.records.queue.check()
    }

    fn ask(&mut self, channel: ChannelId, ask: Ask) {
        if let Some(busy) = self.busy.get_mut(&channel) {
            busy.waiting.push_back(ask);
            return;
        }
        let open = self.check();
        match ask {
            Ask::Load(answer) => {
                let stored = open.and_then(|()| self.records.read(channel));
                let _ = answer.send(stored.map(|found| {
                    found.map(|ParsedChannel { revision, record, .. }| StoredChannel {
                        revision,
                        record,
                    })
                }));
            }
            Ask::History(answer) => {
                let _ =
                    answer.send(open.and_then(|()| self.histories.newest(channel, &self.agents)));
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

    fn commit(&mut self, commit: Commit, answer: Answer<Committed>) {
        let prepared = self.prepare(&commit);
        let Commit { channel, record, transitions, .. } = commit;
        // Who asked uses its memory again.
        drop(record);
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
        let records = &mut self.records;
        let placed = match (records.durability, durability) {
            (FileDurability::Full, Durability::Fact) => {
                let what = Syncing::Fact(answer, transitions);
                self.busy.insert(channel, Busy { what, waiting: VecDeque::new() });
                records.queue.push_fact(Write { channel, revision, content });
                return;
            }
            (FileDurability::Full, Durability::Turn) => {
                records.put_turn(channel, revision, &content)
            }
            (FileDurability::None, _) => {
                let placed = records.put(channel, &content);
                let placed = placed.and_then(|()| records.replaced(channel));
                if placed.is_ok() {
                    records.log.forget(channel, revision);
                    records.remove_empty();
                }
                placed
            }
        };
        match placed {
            Ok(()) => self.made(channel, revision, transitions, answer),
            Err(error) => drop(answer.send(Err(error))),
        }
        if self.records.log.is_full() {
            self.roll();
        }
    }

    /// A commit was made.
    fn made(
        &mut self,
        channel: ChannelId,
        revision: Revision,
        transitions: Arc<Vec<Transition>>,
        answer: Answer<Committed>,
    ) {
        self.records.committed(channel, revision);
        self.histories.append(channel, &transitions, &self.agents);
        // Who asked uses their memory again.
        drop(transitions);
        let _ = answer.send(Ok(Committed::Done(revision)));
    }

    /// What is stored of a channel is to be read again.
    fn unlearn(&mut self, channel: ChannelId) {
        self.records.unlearn(channel);
        self.histories.unlearn(channel);
    }

    fn prepare(&mut self, commit: &Commit) -> Result<Prepared, StoreError> {
        let (found, is_damaged) = match self.records.revision(commit.channel) {
            Err(error) if commit.replaces_damaged && error.is_damaged_record() => {
                (Revision::default(), true)
            }
            found => (found?, false),
        };
        if found != commit.expected {
            return Ok(Prepared::Conflict(found));
        }
        let (channel, durability) = (commit.channel, commit.durability);
        self.records.make_folder(channel)?;
        let revision = found.next();
        let content = self.records.content(commit, revision, &self.agents)?;
        if is_damaged {
            self.records.keep_damaged(channel)?;
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
        match outcome.and_then(|()| self.records.put_fact(channel, revision)) {
            Ok(()) => self.made(channel, revision, transitions, answer),
            Err(error) => {
                // It may be in its place all the same.
                self.unlearn(channel);
                // The fact had taken the place of a turn that was to become the file.
                self.catch_up.put_back(channel);
                let _ = answer.send(Err(error));
            }
        }
        self.go_on_catching_up();
        self.go_on(channel, waiting);
    }

    fn delete(&mut self, channel: ChannelId, answer: Answer<bool>) {
        // A newer version's record is not for this one to delete.
        match self.records.read(channel) {
            Err(error) if !error.is_damaged_record() => {
                let _ = answer.send(Err(error));
                return;
            }
            Ok(_) | Err(_) => {}
        }
        let what = Syncing::Deletion(answer);
        self.busy.insert(channel, Busy { what, waiting: VecDeque::new() });
        match self.records.durability {
            FileDurability::Full => self.records.queue.push_deletion(channel),
            FileDurability::None => {
                let outcome = self.records.folders.remove(channel);
                self.deleted(channel, outcome);
            }
        }
    }

    /// The files of a channel are gone, or not; what else is kept of it goes with them.
    fn deleted(&mut self, channel: ChannelId, outcome: Result<bool, StoreError>) {
        let Some(Busy { what, waiting }) = self.busy.remove(&channel) else {
            return;
        };
        let had_turn = self.records.log.revision(channel).is_some();
        let outcome = outcome.and_then(|had_files| {
            self.records.forget(channel)?;
            self.histories.unlearn(channel);
            Ok(had_files || had_turn)
        });
        if outcome.is_err() {
            // What is left of it counts as it stands there.
            self.unlearn(channel);
            // Its turn may have waited to become the file.
            self.catch_up.put_back(channel);
        }
        self.go_on_catching_up();
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
        let Self { mut records, closing, lock, .. } = self;
        // What they held is in the channels' files, which are synced, or else they stay.
        if outcome.is_ok() {
            records.log.seal();
            turn_log::remove(records.log.take_empty());
        }
        // A caller that learns that the store is closed can open it again.
        drop(records);
        drop(lock);
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

#[cfg(test)]
mod tests;
