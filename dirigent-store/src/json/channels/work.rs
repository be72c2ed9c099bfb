//! The threads of a store, and the jobs that wait for them.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::store::Store;
use crate::worker::{About, Inbox, Jobs, Queue, Queued, Receiver, Start, start};

/// The most files that are written at the same time. A commit waits twice for the disk, and the file system lets
/// commits that wait together wait once. So 16 threads make more than ten times as many commits as one.
const WRITERS: usize = 16;

/// The work for one caller.
pub(super) struct Job {
    pub(super) about: About,
    pub(super) work: Box<dyn FnOnce(&Store) + Send>,
}

impl Queued for Job {
    fn about(&self) -> About {
        self.about
    }
}

/// The jobs that wait for the threads.
#[derive(Default)]
pub(super) struct Waiting {
    inbox: Inbox<Job>,
    /// The number of threads that do something other than reading.
    writing: usize,
}

impl Jobs for Waiting {
    type Job = Job;

    fn push(&mut self, job: Job) {
        self.inbox.push(job);
    }
}

impl Queue for Waiting {
    type Work = Job;

    /// Takes a read first. One thread is always free for reads.
    fn take(&mut self, _: Instant, _: bool) -> Option<Job> {
        if let Some(read) = self.inbox.next_read() {
            return Some(read);
        }
        if self.writing == WRITERS {
            return None;
        }
        let job = self.inbox.next_of_rest()?;
        self.writing += 1;
        Some(job)
    }
}

impl Waiting {
    /// Marks a job as done, so that the next job of its channel can start.
    fn done(&mut self, about: About) {
        self.inbox.done(about);
        if !matches!(about, About::Read(_)) {
            self.writing -= 1;
        }
    }
}

/// The data for the threads before they start.
pub(super) struct Ready {
    pub(super) store: Store,
    pub(super) jobs: Receiver<Waiting>,
}

impl Start for Ready {
    fn start(self) -> Result<JoinHandle<()>, (Self, io::Error)> {
        match start(NAME, Self::run) {
            Ok(run) => Ok(run(self)),
            Err(source) => Err((self, source)),
        }
    }
}

/// The name of the threads.
const NAME: &str = "dirigent-store";

impl Ready {
    /// Works until the store is closed. If the system starts fewer threads, less work is done at the same time.
    fn run(self) {
        let Self { store, jobs } = self;
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                let thread = thread::Builder::new().name(NAME.to_owned());
                if thread.spawn_scoped(scope, || work(&store, &jobs)).is_err() {
                    break;
                }
            }
            work(&store, &jobs);
        });
        // A caller that sees the closed store can open it again.
        drop(store);
        jobs.end();
    }
}

fn work(store: &Store, jobs: &Receiver<Waiting>) {
    while let Some(Job { about, work }) = jobs.next() {
        // A job that panics drops its answer, so its caller gets an error. The next job is done.
        let _ = catch_unwind(AssertUnwindSafe(|| work(store)));
        jobs.look(|waiting| waiting.done(about));
    }
}

#[cfg(test)]
mod tests {
    use dirigent::ChannelId;

    use super::*;

    fn job(about: About) -> Job {
        Job { about, work: Box::new(|_| ()) }
    }

    #[expect(clippy::disallowed_methods, reason = "no time is looked at")]
    fn take(waiting: &mut Waiting) -> Option<About> {
        waiting.take(Instant::now(), false).map(|job| job.about)
    }

    /// B34
    #[test]
    fn a_thread_is_left_for_reads_however_many_files_are_written() {
        let mut waiting = Waiting::default();
        let change = |number: usize| About::Change(ChannelId::new(number as u64));
        (0..WRITERS + 2).for_each(|number| waiting.push(job(change(number))));
        (0..WRITERS).for_each(|number| assert_eq!(take(&mut waiting), Some(change(number))));
        assert_eq!(take(&mut waiting), None);
        let read = About::Read(ChannelId::new(99));
        waiting.push(job(read));
        assert_eq!(take(&mut waiting), Some(read));
        waiting.done(read);
        assert_eq!(take(&mut waiting), None);
        waiting.done(change(3));
        assert_eq!(take(&mut waiting), Some(change(WRITERS)));
        assert_eq!(take(&mut waiting), None);
    }
}
