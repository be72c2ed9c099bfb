//! A thread for work on files, so that no runtime waits for a disk.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use crate::error::{Action, StoreError};

/// Does jobs one after the other on a thread of its own, which starts with the first job and ends,
/// joined, when the last handle is dropped. Jobs that were taken are done before it ends.
#[derive(Debug)]
pub(crate) struct Worker {
    /// What the thread is called.
    name: &'static str,
    /// The thread, once there was a job.
    started: Mutex<Option<Started>>,
}

/// What does one job.
type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs.
#[derive(Debug)]
struct Started {
    /// Where its jobs go; it ends when this is dropped.
    jobs: Sender<Job>,
    handle: JoinHandle<()>,
}

/// Why there is no answer to a job.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The thread could not be started; the job was not begun.
    NoThread(io::Error),
    /// The job panicked; how far it came is not known.
    Panicked,
}

impl NoAnswer {
    /// The error of a store at this file.
    pub(crate) fn into_error(self, path: &Path) -> StoreError {
        match self {
            Self::NoThread(source) => StoreError::not_done(Action::StartThread, path, source),
            Self::Panicked => StoreError::Interrupted { path: path.to_owned() },
        }
    }
}

impl Worker {
    /// A worker without a thread yet.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, started: Mutex::new(None) }
    }

    /// Has a job done, after those given before. It is given when this is called and is done even
    /// if the future is dropped.
    pub(crate) fn call<T, F>(&self, job: F) -> impl Future<Output = Result<T, NoAnswer>> + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let given = self.give(Box::new(move || {
            // The caller may have stopped waiting; the job is done all the same.
            let _ = answer.send(job());
        }));
        async move {
            given.map_err(NoAnswer::NoThread)?;
            answered.await.map_err(|_| NoAnswer::Panicked)
        }
    }

    fn give(&self, job: Job) -> io::Result<()> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let thread = match started.take() {
            Some(thread) => thread,
            None => Started::new(self.name)?,
        };
        // Fails only without its receiver, which lives as long as the thread, whatever a job does.
        let sent = thread.jobs.send(job);
        *started = Some(thread);
        sent.map_err(|_| io::Error::other("the thread ended"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let started = self.started.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Started { jobs, handle }) = started {
            drop(jobs);
            // A job may own the last handle; a thread cannot wait for itself.
            if handle.thread().id() != thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}

impl Started {
    fn new(name: &str) -> io::Result<Self> {
        let (jobs, given) = channel();
        let handle = thread::Builder::new().name(name.to_owned()).spawn(move || work(&given))?;
        Ok(Self { jobs, handle })
    }
}

fn work(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        // A job that panics drops its answer, by which its caller learns it; the next one is done.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn jobs_are_done_in_order_on_a_thread_of_that_name() {
        let worker = Worker::new("files");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut answers = Vec::new();
        for number in 0..10 {
            let seen = Arc::clone(&seen);
            answers.push(worker.call(move || {
                seen.lock().unwrap().push(number);
                thread::current().name().map(str::to_owned)
            }));
        }
        for answer in answers.into_iter().rev() {
            assert_eq!(answer.await.unwrap().as_deref(), Some("files"));
        }
        assert_eq!(*seen.lock().unwrap(), (0..10).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_panic_costs_one_job() {
        let worker = Worker::new("files");
        let broken = worker.call(|| -> u32 { panic!("on purpose") });
        let whole = worker.call(|| 7);
        assert!(matches!(broken.await, Err(NoAnswer::Panicked)));
        assert_eq!(whole.await.unwrap(), 7);
    }

    #[test]
    fn jobs_that_were_given_are_done_before_it_ends() {
        let worker = Worker::new("files");
        let done = Arc::new(AtomicU32::new(0));
        let (go, gone) = channel::<()>();
        drop(worker.call(move || gone.recv()));
        for _ in 0..5 {
            let done = Arc::clone(&done);
            drop(worker.call(move || done.fetch_add(1, Ordering::SeqCst)));
        }
        go.send(()).unwrap();
        drop(worker);
        assert_eq!(done.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn a_job_may_own_the_worker() {
        let worker = Arc::new(Worker::new("files"));
        let (go, gone) = channel::<()>();
        let (end, ended) = channel();
        let last = Arc::clone(&worker);
        drop(worker.call(move || {
            gone.recv().unwrap();
            drop(last);
            end.send(()).unwrap();
        }));
        drop(worker);
        go.send(()).unwrap();
        ended.recv().unwrap();
    }

    #[test]
    fn no_thread_starts_before_the_first_job() {
        let worker = Worker::new("files");
        assert!(worker.started.lock().unwrap().is_none());
        drop(worker.call(|| ()));
        assert!(worker.started.lock().unwrap().is_some());
    }
}
