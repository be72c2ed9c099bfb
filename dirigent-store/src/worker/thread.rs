//! A thread for work on files, so that no runtime waits for a disk.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::oneshot;

use super::queue::{Queue, Receiver, Sender, queue, start};

use crate::error::{Action, StoreError};

/// Does jobs one after the other on its own thread. The thread starts with the first job and is joined when
/// the last handle is dropped. Jobs that were accepted are done before it ends.
pub(crate) struct Worker {
    /// The name of the thread.
    name: &'static str,
    /// The thread, once there was a job.
    started: Mutex<Option<(Sender<Jobs>, JoinHandle<()>)>>,
}

/// A function that does one job.
type Job = Box<dyn FnOnce() + Send>;

/// The jobs, in order.
#[derive(Default)]
struct Jobs(VecDeque<Job>);

impl Queue for Jobs {
    type Work = Job;

    fn take(&mut self, _: Instant, _: bool) -> Option<Job> {
        self.0.pop_front()
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Worker {
    /// Creates a worker without a thread.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, started: Mutex::new(None) }
    }

    /// Runs a job on this file, after the jobs before it. The job is accepted by this call itself, and it is
    /// done even if the future is dropped.
    pub(crate) fn call<T, F>(
        &self,
        path: &Path,
        job: F,
    ) -> impl Future<Output = Result<T, StoreError>> + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let given = self.give(Box::new(move || {
            // The caller may have stopped waiting, but the job is done all the same.
            let _ = answer.send(job());
        }));
        let path = path.to_owned();
        async move {
            given.map_err(|source| StoreError::not_done(Action::StartThread, &path, source))?;
            // The job panicked, so it is unknown how far it got.
            answered.await.map_err(|_| StoreError::Interrupted { path })
        }
    }

    fn give(&self, job: Job) -> io::Result<()> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let (jobs, _) = match &mut *started {
            Some(started) => started,
            none => {
                let (jobs, given) = queue(Jobs::default());
                none.insert((jobs, start(self.name, |given| work(&given))?(given)))
            }
        };
        let given = jobs.change(|jobs| jobs.0.push_back(job));
        given.ok_or_else(|| io::Error::other("the thread ended"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let started = self.started.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((jobs, thread)) = started {
            jobs.close();
            // A job may own the last handle, and a thread cannot wait for itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

fn work(jobs: &Receiver<Jobs>) {
    while let Some(job) = jobs.next() {
        // A job that panics drops its answer, so its caller gets an error. The next job is done.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn jobs_are_done_in_order_on_a_thread_of_that_name() {
        let (path, worker) = (Path::new("any"), Worker::new("files"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut answers = Vec::new();
        for number in 0..10 {
            let seen = Arc::clone(&seen);
            answers.push(worker.call(path, move || {
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
        let (path, worker) = (Path::new("any"), Worker::new("files"));
        let broken = worker.call(path, || -> u32 { panic!("on purpose") });
        let whole = worker.call(path, || 7);
        assert!(matches!(broken.await, Err(StoreError::Interrupted { .. })));
        assert_eq!(whole.await.unwrap(), 7);
    }

    #[test]
    fn jobs_that_were_given_are_done_before_it_ends() {
        let (path, worker) = (Path::new("any"), Worker::new("files"));
        let done = Arc::new(AtomicU32::new(0));
        let (go, gone) = channel::<()>();
        drop(worker.call(path, move || gone.recv()));
        for _ in 0..5 {
            let done = Arc::clone(&done);
            drop(worker.call(path, move || done.fetch_add(1, Ordering::SeqCst)));
        }
        go.send(()).unwrap();
        drop(worker);
        assert_eq!(done.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn a_job_may_own_the_worker() {
        let (path, worker) = (Path::new("any"), Arc::new(Worker::new("files")));
        let (go, gone) = channel::<()>();
        let (end, ended) = channel();
        let last = Arc::clone(&worker);
        drop(worker.call(path, move || {
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
        let (path, worker) = (Path::new("any"), Worker::new("files"));
        assert!(worker.started.lock().unwrap().is_none());
        drop(worker.call(path, || ()));
        assert!(worker.started.lock().unwrap().is_some());
    }
}
