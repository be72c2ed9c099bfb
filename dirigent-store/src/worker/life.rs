//! The life of a store's threads. They start with the first call and are joined after the last.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::queue::{Queue, Sender};
use crate::error::{Action, StoreError};

/// The sender for the answer to a job.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// The jobs that wait for a store's threads.
pub(crate) trait Jobs: Queue {
    type Job;

    fn push(&mut self, job: Self::Job);
}

/// The data of a store before its threads start.
pub(crate) trait Start: Send + Sized {
    /// Starts the threads, and returns the one that ends last. If they cannot be started, the data is
    /// returned unchanged.
    fn start(self) -> Result<JoinHandle<()>, (Self, io::Error)>;
}

/// A thread that works on `W` and takes jobs. Before the first call, this has the `W` for the thread.
pub(crate) struct Life<W, Q: Jobs> {
    /// The path for errors.
    path: PathBuf,
    closed: AtomicBool,
    jobs: Sender<Q>,
    stage: Mutex<ThreadState<W>>,
}

enum ThreadState<W> {
    /// There was no call yet.
    Ready(Box<W>),
    Running(JoinHandle<()>),
    Ended,
}

impl<W: Start, Q: Jobs> Life<W, Q> {
    pub(crate) fn new(path: PathBuf, jobs: Sender<Q>, work: W) -> Self {
        let stage = Mutex::new(ThreadState::Ready(Box::new(work)));
        Self { path, closed: AtomicBool::new(false), jobs, stage }
    }

    /// Sends a job to the threads. It is done even if its caller stops waiting for the answer.
    pub(crate) async fn call<T>(
        &self,
        job: impl FnOnce(Answer<T>) -> Q::Job,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.start()?;
        let given = self.jobs.change(|queue| queue.push(job(answer)));
        given.ok_or_else(|| self.no_answer())?;
        answered.await.unwrap_or_else(|_| Err(self.no_answer()))
    }

    fn start(&self) -> Result<(), StoreError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(self.no_answer());
        }
        let mut stage = self.lock();
        match &*stage {
            ThreadState::Running(_) => return Ok(()),
            ThreadState::Ended => return Err(self.no_answer()),
            ThreadState::Ready(_) => {}
        }
        if let ThreadState::Ready(work) = std::mem::replace(&mut *stage, ThreadState::Ended) {
            match work.start() {
                Ok(thread) => *stage = ThreadState::Running(thread),
                Err((work, source)) => {
                    *stage = ThreadState::Ready(Box::new(work));
                    return Err(StoreError::not_done(Action::StartThread, &self.path, source));
                }
            }
        }
        Ok(())
    }
}

impl<W, Q: Jobs> Life<W, Q> {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets the threads finish their work and end.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        match self.closing() {
            // They were interrupted.
            Some(told) => {
                told.await.map_err(|_| StoreError::Interrupted { path: self.path.clone() })
            }
            None => Ok(()),
        }
    }

    /// Asks the threads to end. Returns the receiver to wait for if they run.
    fn closing(&self) -> Option<oneshot::Receiver<()>> {
        self.closed.store(true, Ordering::Release);
        let mut stage = self.lock();
        let ready = match &*stage {
            ThreadState::Running(_) => {
                drop(stage);
                return self.jobs.close_and_tell();
            }
            ThreadState::Ready(_) | ThreadState::Ended => {
                std::mem::replace(&mut *stage, ThreadState::Ended)
            }
        };
        drop(stage);
        drop(ready);
        None
    }

    /// Returns the reason why there is no answer.
    fn no_answer(&self) -> StoreError {
        let path = self.path.clone();
        if self.closed.load(Ordering::Acquire) {
            StoreError::Closed { path }
        } else {
            StoreError::Interrupted { path }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ThreadState<W>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W, Q: Jobs> Drop for Life<W, Q> {
    fn drop(&mut self) {
        drop(self.closing());
        let stage = self.stage.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let ThreadState::Running(thread) = std::mem::replace(stage, ThreadState::Ended) {
            let _ = thread.join();
        }
    }
}
