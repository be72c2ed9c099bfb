//! The life of a store's thread: it starts with the first call and is joined after the last.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::error::{Action, StoreError};

/// Where the answer to a job goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// What a thread is told.
pub(crate) trait Job: Send + 'static {
    /// Finish, end, and say when that is done.
    fn close(answer: Answer<()>) -> Self;
}

/// What came of a start: where jobs go and the thread, or what it should have worked on, and why not.
pub(crate) type Started<W, J> = Result<(Sender<J>, JoinHandle<()>), (Box<W>, io::Error)>;

/// A thread that works on `W` and is told `J`, or what it will work on, before the first call.
pub(crate) struct Life<W, J: Job> {
    /// What it is about, for errors.
    path: PathBuf,
    closed: AtomicBool,
    stage: Mutex<Stage<W, J>>,
}

enum Stage<W, J> {
    /// There was no call yet.
    Ready(Box<W>),
    Running {
        jobs: Sender<J>,
        thread: JoinHandle<()>,
    },
    Ended,
}

impl<W, J: Job> Life<W, J> {
    pub(crate) fn new(path: PathBuf, work: W) -> Self {
        let stage = Mutex::new(Stage::Ready(Box::new(work)));
        Self { path, closed: AtomicBool::new(false), stage }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Has a job done, even if its caller no longer waits for the answer.
    pub(crate) fn give(
        &self,
        job: J,
        start: impl FnOnce(Box<W>) -> Started<W, J>,
    ) -> Result<(), StoreError> {
        let mut stage = self.lock();
        if let Stage::Ready(_) = &*stage {
            self.start(&mut stage, start)?;
        }
        match &*stage {
            Stage::Running { jobs, .. } => jobs.send(job).map_err(|_| self.no_answer()),
            Stage::Ready(_) | Stage::Ended => Err(self.no_answer()),
        }
    }

    fn start(
        &self,
        stage: &mut Stage<W, J>,
        start: impl FnOnce(Box<W>) -> Started<W, J>,
    ) -> Result<(), StoreError> {
        let Stage::Ready(work) = std::mem::replace(stage, Stage::Ended) else {
            return Ok(());
        };
        match start(work) {
            Ok((jobs, thread)) => {
                *stage = Stage::Running { jobs, thread };
                Ok(())
            }
            Err((work, source)) => {
                *stage = Stage::Ready(work);
                Err(StoreError::not_done(Action::StartThread, &self.path, source))
            }
        }
    }

    /// Lets the thread finish what it was given, and end.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let closing = self.closing();
        match closing {
            Some(answered) => answered.await.unwrap_or_else(|_| self.already_closed()),
            None => Ok(()),
        }
    }

    /// Tells the thread to end; what is to be waited for, if it runs.
    fn closing(&self) -> Option<oneshot::Receiver<Result<(), StoreError>>> {
        self.closed.store(true, Ordering::Release);
        let (answer, answered) = oneshot::channel();
        let mut stage = self.lock();
        let ready = match &*stage {
            Stage::Running { jobs, .. } => {
                return jobs.send(J::close(answer)).is_ok().then_some(answered);
            }
            Stage::Ready(_) | Stage::Ended => std::mem::replace(&mut *stage, Stage::Ended),
        };
        drop(stage);
        drop(ready);
        None
    }

    /// Another handle closed it first, or the thread did not come so far.
    fn already_closed(&self) -> Result<(), StoreError> {
        let error = self.no_answer();
        if matches!(error, StoreError::Closed { .. }) { Ok(()) } else { Err(error) }
    }

    /// Why there is none.
    pub(crate) fn no_answer(&self) -> StoreError {
        let path = self.path.clone();
        if self.closed.load(Ordering::Acquire) {
            StoreError::Closed { path }
        } else {
            StoreError::Interrupted { path }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stage<W, J>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W, J: Job> Drop for Life<W, J> {
    fn drop(&mut self) {
        drop(self.closing());
        let stage = self.stage.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Stage::Running { jobs, thread } = std::mem::replace(stage, Stage::Ended) {
            drop(jobs);
            let _ = thread.join();
        }
    }
}
