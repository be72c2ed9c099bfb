//! What a store's thread was told and has not done: a read waits for what was asked of its channel before, and for no
//! other channel's commits.

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
    /// It has its place among all others.
    Rest,
}

/// A job that may overtake others, or be overtaken.
pub(crate) trait Queued {
    /// What it is about.
    fn about(&self) -> About;
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

impl<J> Default for Inbox<J> {
    fn default() -> Self {
        let (reads, rest) = (VecDeque::new(), VecDeque::new());
        Self { reads, rest, asked: HashMap::new(), taken: Vec::new() }
    }
}

impl<J: Queued> Inbox<J> {
    /// The next read that need not wait, if there is one.
    pub(crate) fn next_read(&mut self) -> Option<J> {
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

    pub(crate) fn push(&mut self, job: J) {
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
        let mut inbox = Inbox::default();
        for job in [change(1), change(2), read(1), read(3), change(1), Job(About::Rest), read(4)] {
            inbox.push(job);
        }
        let next = |inbox: &mut Inbox<Job>| {
            inbox.done();
            inbox.next_read().or_else(|| inbox.next_of_rest())
        };
        for expected in [read(3), read(4), change(1), change(2), read(1)] {
            assert_eq!(next(&mut inbox), Some(expected));
        }
        // Its own channel is still to be changed.
        inbox.push(read(1));
        for expected in [change(1), Job(About::Rest), read(1)] {
            assert_eq!(next(&mut inbox), Some(expected));
        }
        assert_eq!(next(&mut inbox), None);
        assert!(inbox.asked.is_empty());
    }

    #[test]
    fn a_read_waits_until_the_change_of_its_channel_is_done() {
        let mut inbox = Inbox::default();
        inbox.push(change(1));
        assert_eq!(inbox.next_of_rest(), Some(change(1)));
        inbox.push(read(1));
        inbox.push(read(2));
        assert_eq!((inbox.next_read(), inbox.next_read()), (Some(read(2)), None));
        inbox.done();
        assert_eq!(inbox.next_of_rest(), Some(read(1)));
    }
}
