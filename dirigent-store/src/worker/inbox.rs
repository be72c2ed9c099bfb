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

/// The jobs that wait, each with what it is about.
#[derive(Debug)]
pub(crate) struct Inbox<J> {
    reads: VecDeque<(About, J)>,
    rest: VecDeque<(About, J)>,
    /// The jobs behind another job of the same channel. That job waits, too, or it is running.
    behind: HashMap<ChannelId, VecDeque<(About, J)>>,
    /// The number of jobs other than reads that were taken and are not done.
    changing: usize,
}

impl<J> Default for Inbox<J> {
    fn default() -> Self {
        let (reads, rest) = (VecDeque::new(), VecDeque::new());
        Self { reads, rest, behind: HashMap::new(), changing: 0 }
    }
}

impl<J> Inbox<J> {
    /// Takes the next job that need not wait, a read first. If so many other jobs are being done, it takes only reads.
    pub(crate) fn next(&mut self, changes_max: usize) -> Option<(About, J)> {
        let may_change = self.changing < changes_max;
        self.next_read().or_else(|| if may_change { self.next_of_rest() } else { None })
    }

    pub(crate) fn next_read(&mut self) -> Option<(About, J)> {
        self.reads.pop_front()
    }

    pub(crate) fn next_of_rest(&mut self) -> Option<(About, J)> {
        let job = self.rest.pop_front()?;
        self.changing += 1;
        Some(job)
    }

    /// Marks a job as done, so that the next job of its channel need not wait any longer.
    pub(crate) fn done(&mut self, about: About) {
        if !matches!(about, About::Read(_)) {
            self.changing -= 1;
        }
        let (About::Read(channel) | About::Change(channel)) = about else { return };
        if let Entry::Occupied(mut behind) = self.behind.entry(channel) {
            match behind.get_mut().pop_front() {
                Some((about, job)) => self.ready(about, job),
                None => drop(behind.remove()),
            }
        }
    }

    pub(crate) fn push(&mut self, about: About, job: J) {
        if let About::Read(channel) | About::Change(channel) = about {
            match self.behind.entry(channel) {
                Entry::Occupied(mut behind) => return behind.get_mut().push_back((about, job)),
                Entry::Vacant(none) => drop(none.insert(VecDeque::new())),
            }
        }
        self.ready(about, job);
    }

    fn ready(&mut self, about: About, job: J) {
        match about {
            About::Read(_) => self.reads.push_back((about, job)),
            About::Change(_) | About::Rest => self.rest.push_back((about, job)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(channel: u64) -> About {
        About::Read(ChannelId::new(channel))
    }

    fn change(channel: u64) -> About {
        About::Change(ChannelId::new(channel))
    }

    fn inbox<const N: usize>(jobs: [About; N]) -> Inbox<()> {
        let mut inbox = Inbox::default();
        for about in jobs {
            inbox.push(about, ());
        }
        inbox
    }

    fn next(inbox: &mut Inbox<()>) -> Option<About> {
        inbox.next(3).map(|(about, ())| about)
    }

    /// B34
    #[test]
    fn a_read_waits_for_what_was_asked_of_its_channel_before_and_for_nothing_else() {
        let mut inbox =
            inbox([change(1), change(2), read(1), read(3), change(1), About::Rest, read(4)]);
        // What is taken is done before the next one is.
        for expected in [read(3), read(4), change(1), read(1), change(2), About::Rest, change(1)] {
            assert_eq!(next(&mut inbox), Some(expected));
            inbox.done(expected);
        }
        assert_eq!(next(&mut inbox), None);
        assert!(inbox.behind.is_empty());
    }

    #[test]
    fn of_a_channel_one_job_is_taken_at_a_time() {
        let mut inbox = inbox([change(1), change(1), read(1), change(2), read(2)]);
        assert_eq!(next(&mut inbox), Some(change(1)));
        assert_eq!(next(&mut inbox), Some(change(2)));
        assert_eq!(next(&mut inbox), None);
        inbox.done(change(2));
        assert_eq!(next(&mut inbox), Some(read(2)));
        inbox.done(change(1));
        assert_eq!(next(&mut inbox), Some(change(1)));
        assert_eq!(next(&mut inbox), None);
        inbox.done(change(1));
        assert_eq!(next(&mut inbox), Some(read(1)));
    }

    /// B34
    #[test]
    fn a_thread_is_left_for_reads_however_many_files_are_written() {
        let mut inbox = inbox([change(1), change(2), change(3), change(4), change(5)]);
        (1..=3).for_each(|number| assert_eq!(next(&mut inbox), Some(change(number))));
        assert_eq!(next(&mut inbox), None);
        inbox.push(read(99), ());
        assert_eq!(next(&mut inbox), Some(read(99)));
        inbox.done(read(99));
        assert_eq!(next(&mut inbox), None);
        inbox.done(change(3));
        assert_eq!(next(&mut inbox), Some(change(4)));
        assert_eq!(next(&mut inbox), None);
    }
}
