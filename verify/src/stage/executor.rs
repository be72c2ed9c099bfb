//! Polling by hand: a few tasks on one thread, in a fixed order, without a runtime.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// Anything that runs on the stage.
pub(crate) type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How many polls one settling may take; more means that something wakes itself for ever.
const POLLS_MAX: u32 = 2_000_000;

/// Whether a task was woken since it was last polled.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

struct Task {
    job: Job,
    flag: Arc<Flag>,
    waker: Waker,
}

/// Takes new tasks, from inside other tasks too.
#[derive(Clone, Default)]
pub(crate) struct Spawner {
    new: Arc<Mutex<Vec<Job>>>,
}

impl Spawner {
    pub(crate) fn spawn(&self, job: impl Future<Output = ()> + Send + 'static) {
        self.lock().push(Box::pin(job));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Job>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tasks of one process. Dropping it is the end of the process.
#[derive(Default)]
pub(crate) struct Executor {
    tasks: Vec<Task>,
    spawner: Spawner,
}

impl Executor {
    pub(crate) const fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    /// Polls the tasks that were woken, in the order of their beginnings, until none is or `halted`
    /// says so. A task that is done is dropped.
    pub(crate) fn settle(&mut self, halted: impl Fn() -> bool) {
        let mut polls = 0;
        while self.round(&halted, &mut polls) {
            assert!(polls < POLLS_MAX, "something wakes itself without end: the driver spins");
        }
    }

    /// Polls every task at most once; says whether any was.
    fn round(&mut self, halted: &impl Fn() -> bool, polls: &mut u32) -> bool {
        self.take_new();
        let before = *polls;
        let mut at = 0;
        while let Some(task) = self.tasks.get_mut(at) {
            if halted() {
                return false;
            }
            if !task.flag.0.swap(false, Ordering::AcqRel) {
                at += 1;
                continue;
            }
            *polls += 1;
            let polled = task.job.as_mut().poll(&mut Context::from_waker(&task.waker));
            if polled.is_ready() {
                drop(self.tasks.remove(at));
            } else {
                at += 1;
            }
        }
        *polls > before || !self.spawner.lock().is_empty()
    }

    fn take_new(&mut self) {
        let new = std::mem::take(&mut *self.spawner.lock());
        self.tasks.extend(new.into_iter().map(|job| {
            let flag = Arc::new(Flag(AtomicBool::new(true)));
            let waker = Waker::from(Arc::clone(&flag));
            Task { job, flag, waker }
        }));
    }
}

/// A task that never began may hold the spawner that holds it.
impl Drop for Executor {
    fn drop(&mut self) {
        self.tasks.clear();
        let never_begun = std::mem::take(&mut *self.spawner.lock());
        drop(never_begun);
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

/// The value of a future that is ready at once.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
