//! The life of a store's threads: they start with the first call and are joined after the last.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::queue::{Queue, Sender};
use crate::error::{Action, StoreError};

/// Where the answer to a job goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// What waits for a store's threads.
pub(crate) trait Jobs: Queue {
    type Job;

    fn push(&mut self, job: Self::Job);
}

/// What a store works on before its threads are started.
pub(crate) trait Start: Send + Sized {
    /// Starts them, and returns the one that ends last. What cannot be started stays as it is.
    fn start(self) -> Result<JoinHandle<()>, (Self, io::Error)>;
}

/// A thread that works on `W` and takes jobs; before the first call, the `W` that the thread is to get.
pub(crate) struct Life<W, Q: Jobs> {
    /// What it is about, for errors.
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

    /// Has a job done, even if its caller no longer waits for the answer.
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

    /// Lets the threads finish what they were given, and end.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        match self.closing() {
            // They were cut short.
            Some(told) => {
                told.await.map_err(|_| StoreError::Interrupted { path: self.path.clone() })
            }
            None => Ok(()),
        }
    }

    /// Tells the threads to end; what is to be waited for, if they run.
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

    /// Why there is none.
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
