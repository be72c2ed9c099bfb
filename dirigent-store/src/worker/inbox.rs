//! What a store's thread was told and has not done: a read waits for what was asked of its channel before, and for no
//! other channel's commits.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Receiver;
#[cfg(feature = "sqlite")]
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use dirigent::ChannelId;

/// What a job is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// It reads a channel.
    Read(ChannelId),
    /// It changes a channel.
    Change(ChannelId),
    /// It has its place among all others.
    Rest,
}

/// A job that may overtake others, or be overtaken.
pub(crate) trait Queued {
    /// What it is about.
    fn about(&self) -> About;
}

/// What comes next.
#[cfg(feature = "sqlite")]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<J> {
    Job(J),
    /// The time has come, and there was no job before.
    Due,
    /// There will be no more jobs.
    End,
}

/// The time by which work on files is put off. No rule of a channel hangs on it.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the disk is spared is no matter of the host's clock"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The jobs that wait.
#[derive(Debug)]
pub(crate) struct Inbox<J> {
    reads: VecDeque<J>,
    rest: VecDeque<J>,
    /// How much is asked of a channel in `rest`, and of what was taken from it and is not done.
    asked: HashMap<ChannelId, usize>,
    /// What was taken from `rest` and is not done.
    taken: Vec<ChannelId>,
}

impl<J: Queued> Inbox<J> {
    pub(crate) fn new() -> Self {
        Self {
            reads: VecDeque::new(),
            rest: VecDeque::new(),
            asked: HashMap::new(),
            taken: Vec::new(),
        }
    }

    /// The next job, a read where there is one; `None` when there will be no more. Waits for one.
    pub(crate) fn next(&mut self, jobs: &Receiver<J>) -> Option<J> {
        if self.reads.is_empty() && self.rest.is_empty() {
            self.push(jobs.recv().ok()?);
        }
        self.next_read(jobs).or_else(|| self.next_of_rest())
    }

    /// The same, but waits no longer than until then.
    #[cfg(feature = "sqlite")]
    pub(crate) fn next_until(&mut self, jobs: &Receiver<J>, due: Option<Instant>) -> Next<J> {
        if let (true, true, Some(due)) = (self.reads.is_empty(), self.rest.is_empty(), due) {
            match jobs.recv_timeout(due.saturating_duration_since(now())) {
                Ok(job) => self.push(job),
                Err(RecvTimeoutError::Timeout) => return Next::Due,
                Err(RecvTimeoutError::Disconnected) => return Next::End,
            }
        }
        self.next(jobs).map_or(Next::End, Next::Job)
    }

    /// The next read that need not wait, if there is one.
    pub(crate) fn next_read(&mut self, jobs: &Receiver<J>) -> Option<J> {
        while let Ok(job) = jobs.try_recv() {
            self.push(job);
        }
        self.reads.pop_front()
    }

    /// The next job that is no such read, if there is one.
    pub(crate) fn next_of_rest(&mut self) -> Option<J> {
        let job = self.rest.pop_front()?;
        if let About::Read(channel) | About::Change(channel) = job.about() {
            self.taken.push(channel);
        }
        Some(job)
    }

    /// All that was taken is done: what is read now is what it left.
    pub(crate) fn done(&mut self) {
        for channel in self.taken.drain(..) {
            if let Entry::Occupied(mut asked) = self.asked.entry(channel) {
                *asked.get_mut() -= 1;
                if *asked.get() == 0 {
                    asked.remove();
                }
            }
        }
    }

    fn push(&mut self, job: J) {
        match job.about() {
            About::Read(channel) if !self.asked.contains_key(&channel) => {
                self.reads.push_back(job);
                return;
            }
            About::Read(channel) | About::Change(channel) => {
                *self.asked.entry(channel).or_default() += 1;
            }
            About::Rest => {}
        }
        self.rest.push_back(job);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Job(About);

    impl Queued for Job {
        fn about(&self) -> About {
            self.0
        }
    }

    fn read(channel: u64) -> Job {
        Job(About::Read(ChannelId::new(channel)))
    }

    fn change(channel: u64) -> Job {
        Job(About::Change(ChannelId::new(channel)))
    }

    #[test]
    fn a_read_waits_for_what_was_asked_of_its_channel_before_and_for_nothing_else() {
        let (give, jobs) = channel();
        for job in [change(1), change(2), read(1), read(3), change(1), Job(About::Rest), read(4)] {
            give.send(job).unwrap();
        }
        let mut inbox = Inbox::new();
        let mut next = || {
            inbox.done();
            inbox.next(&jobs)
        };
        let early = [read(3), read(4), change(1), change(2), read(1)];
        for expected in early {
            assert_eq!(next(), Some(expected));
        }
        // Its own channel is still to be changed.
        give.send(read(1)).unwrap();
        drop(give);
        for expected in [change(1), Job(About::Rest), read(1)] {
            assert_eq!(next(), Some(expected));
        }
        assert_eq!(next(), None);
        assert!(inbox.asked.is_empty());
    }

    #[test]
    fn a_read_waits_until_the_change_of_its_channel_is_done() {
        let (give, jobs) = channel();
        give.send(change(1)).unwrap();
        let mut inbox = Inbox::new();
        assert_eq!(inbox.next(&jobs), Some(change(1)));
        give.send(read(1)).unwrap();
        give.send(read(2)).unwrap();
        assert_eq!((inbox.next_read(&jobs), inbox.next_read(&jobs)), (Some(read(2)), None));
        inbox.done();
        assert_eq!(inbox.next_of_rest(), Some(read(1)));
    }
}
