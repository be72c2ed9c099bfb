//! Threads for work on files, so that no runtime waits for a disk. A caller on any runtime sends a job and awaits its
//! answer. `inbox` keeps the order of a channel's jobs, and lets reads overtake the commits of other channels.

mod inbox;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::{oneshot, watch};

pub(crate) use self::inbox::{About, Inbox};
use crate::error::{Action, StoreError};

pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// Returns the time by which work on files is delayed. No rule of a channel depends on it.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the disk is spared is no matter of the host's clock"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// One or several threads that do jobs. Jobs that were accepted are done before they end. When this is dropped, it
/// waits for that.
pub(crate) struct Worker<J> {
    /// The path for errors.
    path: PathBuf,
    jobs: Arc<Jobs<J>>,
    /// The thread that ends last.
    thread: Option<JoinHandle<()>>,
    /// True once the threads have ended, but not by a panic.
    ended: watch::Receiver<bool>,
}

impl<J: Send + 'static> Worker<J> {
    /// Starts a thread that calls `work`. It may start more threads, and it returns when there are no more jobs.
    pub(crate) fn start(
        name: &str,
        path: PathBuf,
        work: impl FnOnce(&Jobs<J>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let jobs = Arc::new(Jobs::default());
        let (tell, ended) = watch::channel(false);
        let given = Given(Arc::clone(&jobs));
        let run = move || {
            work(&given.0);
            drop(given);
            let _ = tell.send(true);
        };
        match thread::Builder::new().name(name.to_owned()).spawn(run) {
            Ok(thread) => Ok(Self { path, jobs, thread: Some(thread), ended }),
            Err(source) => Err(StoreError::not_done(Action::StartThread, &path, source)),
        }
    }

    /// Sends a job to the threads. It is done even if its caller stops waiting for the answer.
    pub(crate) async fn call<T>(
        &self,
        about: About,
        job: impl FnOnce(Answer<T>) -> J,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        if !self.jobs.push(about, job(answer)) {
            return Err(self.no_answer());
        }
        answered.await.unwrap_or_else(|_| Err(self.no_answer()))
    }

    /// Lets the threads finish their work and end. All later calls fail.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.jobs.close();
        let mut ended = self.ended.clone();
        let told = ended.wait_for(|ended| *ended).await.map(drop);
        told.map_err(|_| StoreError::Interrupted { path: self.path.clone() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn no_answer(&self) -> StoreError {
        let path = self.path.clone();
        if self.jobs.lock().is_closed {
            StoreError::Closed { path }
        } else {
            StoreError::Interrupted { path }
        }
    }
}

/// Does one job on a thread of its own.
pub(crate) async fn once<T: Send + 'static>(
    name: &str,
    path: &Path,
    job: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    type Job = Box<dyn FnOnce() + Send>;
    let worker = Worker::<Job>::start(name, path.to_owned(), |jobs| jobs.work(1, |job| job()))?;
    let job = |answer: Answer<T>| -> Job { Box::new(move || drop(answer.send(job()))) };
    worker.call(About::Rest, job).await
}

impl<J> fmt::Debug for Worker<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.jobs.close();
        // A job may own the last handle, and a thread cannot wait for itself.
        let is_own = |thread: &JoinHandle<()>| thread.thread().id() == thread::current().id();
        if let Some(thread) = self.thread.take().filter(|thread| !is_own(thread)) {
            let _ = thread.join();
        }
    }
}

pub(crate) struct Jobs<J> {
    state: Mutex<WorkerState<J>>,
    changed: Condvar,
}

struct WorkerState<J> {
    inbox: Inbox<J>,
    /// True once no more jobs are accepted, because the store was closed.
    is_closed: bool,
    /// True once there is no thread left.
    is_over: bool,
}

impl<J> Default for Jobs<J> {
    fn default() -> Self {
        let state = WorkerState { inbox: Inbox::default(), is_closed: false, is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<J> Jobs<J> {
    fn lock(&self) -> MutexGuard<'_, WorkerState<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns false if the job is not accepted.
    fn push(&self, about: About, job: J) -> bool {
        let mut state = self.lock();
        if state.is_closed || state.is_over {
            return false;
        }
        state.inbox.push(about, job);
        drop(state);
        self.changed.notify_one();
        true
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until `take` finds work. It is called again when there are more jobs, and at `due`. Returns `None` if there
    /// will be no more.
    pub(crate) fn next<W>(
        &self,
        due: Option<Instant>,
        mut take: impl FnMut(&mut Inbox<J>) -> Option<W>,
    ) -> Option<W> {
        let mut state = self.lock();
        loop {
            if let Some(work) = take(&mut state.inbox) {
                return Some(work);
            }
            if state.is_closed {
                return None;
            }
            state = match due {
                Some(due) => {
                    let wait = due.saturating_duration_since(now());
                    let woken = self.changed.wait_timeout(state, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Looks at the waiting jobs in the middle of other work.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Inbox<J>) -> T) -> T {
        look(&mut self.lock().inbox)
    }

    /// Does jobs until there are no more. At most `changes_max` threads at a time do something other than reading.
    pub(crate) fn work(&self, changes_max: usize, mut work: impl FnMut(J)) {
        while let Some((about, job)) = self.next(None, |inbox| inbox.next(changes_max)) {
            // A job that panics drops its answer, so its caller gets an error. The next job is done.
            let _ = catch_unwind(AssertUnwindSafe(|| work(job)));
            self.look(|inbox| inbox.done(about));
        }
    }
}

/// The threads' side of the jobs. However the threads end, the waiting jobs are dropped, and with them the senders of
/// the answers.
struct Given<J>(Arc<Jobs<J>>);

impl<J> Drop for Given<J> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_over = true;
        let waiting = std::mem::take(&mut state.inbox);
        // The drop of the waiting jobs may need this lock.
        drop(state);
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    type Job = Box<dyn FnOnce() + Send>;

    fn files() -> Worker<Job> {
        Worker::start("files", "any".into(), |jobs| jobs.work(1, |job: Job| job())).unwrap()
    }

    fn send(worker: &Worker<Job>, job: impl FnOnce() + Send + 'static) {
        assert!(worker.jobs.push(About::Rest, Box::new(job)));
    }

    #[test]
    fn jobs_are_done_in_order_on_a_thread_of_that_name_and_before_it_ends() {
        let (worker, (seen, all)) = (files(), channel());
        for number in 0..10 {
            let seen = seen.clone();
            let name = || thread::current().name().map(str::to_owned);
            send(&worker, move || seen.send((number, name())).unwrap());
        }
        drop((worker, seen));
        let expected = (0..10).map(|number| (number, Some("files".to_owned())));
        assert_eq!(all.iter().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_panic_costs_one_job() {
        let worker = files();
        let broken = worker.call(About::Rest, |_: Answer<u32>| Box::new(|| panic!("on purpose")));
        assert!(matches!(broken.await, Err(StoreError::Interrupted { .. })));
        let whole = |answer: Answer<u32>| -> Job { Box::new(|| answer.send(Ok(7)).unwrap()) };
        assert_eq!(worker.call(About::Rest, whole).await.unwrap(), 7);
        worker.close().await.unwrap();
        assert!(matches!(worker.call(About::Rest, whole).await, Err(StoreError::Closed { .. })));
    }

    #[tokio::test]
    async fn where_the_thread_has_panicked_calls_and_the_end_tell() {
        let worker = Worker::<Job>::start("files", "any".into(), |_| panic!("on purpose")).unwrap();
        let call = worker
            .call(About::Rest, |answer: Answer<u32>| Box::new(|| answer.send(Ok(7)).unwrap()));
        assert!(matches!(call.await, Err(StoreError::Interrupted { .. })));
        assert!(matches!(worker.close().await, Err(StoreError::Interrupted { .. })));
    }

    #[test]
    fn a_job_may_own_the_worker() {
        let worker = Arc::new(files());
        let (go, gone) = channel::<()>();
        let (end, ended) = channel();
        let last = Arc::clone(&worker);
        send(&worker, move || {
            gone.recv().unwrap();
            drop(last);
            end.send(()).unwrap();
        });
        drop(worker);
        go.send(()).unwrap();
        ended.recv().unwrap();
    }

    #[test]
    fn a_thread_that_sleeps_wakes_for_what_is_due() {
        let jobs = Jobs::<()>::default();
        let due = now() + Duration::from_millis(1);
        let woken = jobs.next(Some(due), |_| (now() >= due).then_some(7));
        assert_eq!(woken, Some(7));
    }
}
