//! The jobs that a store has received and not finished. Jobs of one channel are done one at a time and in order. A
//! read does not wait for the jobs of other channels.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use dirigent::ChannelId;

/// What a job is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// It reads a channel.
    Read(ChannelId),
    /// It changes a channel.
    Change(ChannelId),
    /// It is about no channel.
    Rest,
}

/// A job that can overtake others or be overtaken.
pub(crate) trait Queued {
    /// Returns what the job is about.
    fn about(&self) -> About;
}

/// The jobs that wait.
#[derive(Debug)]
pub(crate) struct Inbox<J> {
    reads: VecDeque<J>,
    rest: VecDeque<J>,
    /// The jobs behind another job of the same channel. That job waits, too, or it is running.
    behind: HashMap<ChannelId, VecDeque<J>>,
}

impl<J> Default for Inbox<J> {
    fn default() -> Self {
        let (reads, rest) = (VecDeque::new(), VecDeque::new());
        Self { reads, rest, behind: HashMap::new() }
    }
}

impl<J: Queued> Inbox<J> {
    /// Takes the next read that need not wait, if there is one.
    pub(crate) fn next_read(&mut self) -> Option<J> {
        self.reads.pop_front()
    }

    /// Takes the next job that is not a read and need not wait, if there is one.
    pub(crate) fn next_of_rest(&mut self) -> Option<J> {
        self.rest.pop_front()
    }

    /// Marks a job as done, so that the next job of its channel need not wait any longer.
    pub(crate) fn done(&mut self, about: About) {
        let (About::Read(channel) | About::Change(channel)) = about else { return };
        if let Entry::Occupied(mut behind) = self.behind.entry(channel) {
            match behind.get_mut().pop_front() {
                Some(job) => self.ready(job),
                None => drop(behind.remove()),
            }
        }
    }

    pub(crate) fn push(&mut self, job: J) {
        if let About::Read(channel) | About::Change(channel) = job.about() {
            match self.behind.entry(channel) {
                Entry::Occupied(mut behind) => return behind.get_mut().push_back(job),
                Entry::Vacant(none) => drop(none.insert(VecDeque::new())),
            }
        }
        self.ready(job);
    }

    fn ready(&mut self, job: J) {
        match job.about() {
            About::Read(_) => self.reads.push_back(job),
            About::Change(_) | About::Rest => self.rest.push_back(job),
        }
    }
}

#[cfg(test)]
mod tests {
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

    fn next(inbox: &mut Inbox<Job>) -> Option<Job> {
        inbox.next_read().or_else(|| inbox.next_of_rest())
    }

    /// B34
    #[test]
    fn a_read_waits_for_what_was_asked_of_its_channel_before_and_for_nothing_else() {
        let mut inbox = Inbox::default();
        for job in [change(1), change(2), read(1), read(3), change(1), Job(About::Rest), read(4)] {
            inbox.push(job);
        }
        // What is taken is done before the next one is.
        for expected in
            [read(3), read(4), change(1), read(1), change(2), Job(About::Rest), change(1)]
        {
            let job = next(&mut inbox);
            inbox.done(expected.0);
            assert_eq!(job, Some(expected));
        }
        assert_eq!(next(&mut inbox), None);
        assert!(inbox.behind.is_empty());
    }

    #[test]
    fn of_a_channel_one_job_is_taken_at_a_time() {
        let mut inbox = Inbox::default();
        for job in [change(1), change(1), read(1), change(2), read(2)] {
            inbox.push(job);
        }
        assert_eq!(next(&mut inbox), Some(change(1)));
        assert_eq!(next(&mut inbox), Some(change(2)));
        assert_eq!(next(&mut inbox), None);
        inbox.done(change(2).0);
        assert_eq!(next(&mut inbox), Some(read(2)));
        inbox.done(change(1).0);
        assert_eq!(next(&mut inbox), Some(change(1)));
        assert_eq!(next(&mut inbox), None);
        inbox.done(change(1).0);
        assert_eq!(next(&mut inbox), Some(read(1)));
    }
}
