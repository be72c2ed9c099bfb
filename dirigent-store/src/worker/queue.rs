//! A channel to threads whose queue is one of ours: what waits may be overtaken, done together, or due at a moment.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::oneshot;

/// What waits for one or several threads.
pub(crate) trait Queue: Default + Send + 'static {
    /// What a thread does at a time.
    type Work;

    /// Takes out what is to be done now. When the queue is closing nothing will come any more.
    fn take(&mut self, now: Instant, closing: bool) -> Option<Self::Work>;

    /// When there is work although nothing came.
    fn next_due(&self) -> Option<Instant> {
        None
    }
}

/// The time by which work on files is put off. No rule of a channel hangs on it.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the disk is spared is no matter of the host's clock"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The side of those who have something done.
#[derive(Debug)]
pub(crate) struct Sender<Q>(Arc<LockedQueue<Q>>);

/// The side of the threads. Once it is gone, what waits is dropped, and with it the answers that its callers wait for.
#[derive(Debug)]
pub(crate) struct Receiver<Q: Queue>(Arc<LockedQueue<Q>>);

#[derive(Debug)]
struct LockedQueue<Q> {
    state: Mutex<QueueContents<Q>>,
    changed: Condvar,
}

#[derive(Debug)]
struct QueueContents<Q> {
    queue: Q,
    /// How many threads wait: only then a call to the system wakes one.
    sleeping: usize,
    closing: bool,
    /// Those who wait for the end.
    closers: Vec<oneshot::Sender<()>>,
    /// There is no thread any more.
    ended: bool,
}

/// The two sides of a queue.
pub(crate) fn queue<Q: Queue>(queue: Q) -> (Sender<Q>, Receiver<Q>) {
    let closers = Vec::new();
    let state = QueueContents { queue, sleeping: 0, closing: false, closers, ended: false };
    let shared = Arc::new(LockedQueue { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<Q> Clone for Sender<Q> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Q: Queue> Sender<Q> {
    /// Changes what waits, and has a thread look at it. `None` when there is no thread any more.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Q) -> T) -> Option<T> {
        let mut state = self.0.lock();
        if state.ended {
            return None;
        }
        let answer = change(&mut state.queue);
        let wakes = state.sleeping > 0;
        drop(state);
        if wakes {
            self.0.changed.notify_one();
        }
        Some(answer)
    }

    /// Looks at what waits.
    #[cfg(test)]
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Q) -> T) -> T {
        look(&mut self.0.lock().queue)
    }

    /// Lets the threads end when all is done that waits.
    pub(crate) fn close(&self) {
        self.0.lock().closing = true;
        self.0.changed.notify_all();
    }

    /// The same. Returns what tells that everything has [ended](Receiver::end); `None` if it has already.
    pub(crate) fn close_and_tell(&self) -> Option<oneshot::Receiver<()>> {
        let mut state = self.0.lock();
        if state.ended {
            return None;
        }
        let (closer, told) = oneshot::channel();
        state.closers.push(closer);
        drop(state);
        self.close();
        Some(told)
    }
}

impl<Q: Queue> Receiver<Q> {
    /// Waits for work; `None` when there will be no more.
    pub(crate) fn next(&self) -> Option<Q::Work> {
        let mut state = self.0.lock();
        loop {
            let (now, closing) = (now(), state.closing);
            if let Some(work) = state.queue.take(now, closing) {
                return Some(work);
            }
            if closing {
                return None;
            }
            state.sleeping += 1;
            let changed = &self.0.changed;
            state = match state.queue.next_due() {
                Some(due) => {
                    let woken = changed.wait_timeout(state, due.saturating_duration_since(now));
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.sleeping -= 1;
        }
    }

    /// Looks at what waits, in the middle of some work.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Q) -> T) -> T {
        look(&mut self.0.lock().queue)
    }

    /// Says that everything has ended, to those who closed it.
    pub(crate) fn end(self) {
        let closers = std::mem::take(&mut self.0.lock().closers);
        drop(self);
        for closer in closers {
            let _ = closer.send(());
        }
    }
}

impl<Q: Queue> Drop for Receiver<Q> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        let waiting = (std::mem::take(&mut state.queue), std::mem::take(&mut state.closers));
        // What is dropped may have this lock to take.
        drop(state);
        drop(waiting);
    }
}

impl<Q> LockedQueue<Q> {
    fn lock(&self) -> MutexGuard<'_, QueueContents<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that was started and waits for what it works on, or for that to be dropped: where another thread cannot be
/// started, nothing is lost with this one.
pub(crate) fn start<W: Send + 'static>(
    name: &str,
    work: impl FnOnce(W) + Send + 'static,
) -> io::Result<impl FnOnce(W) -> JoinHandle<()>> {
    let (give, given) = std::sync::mpsc::sync_channel::<W>(1);
    let run = move || given.recv().map_or((), work);
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run)?;
    Ok(move |with| {
        // The thread waits for it.
        let _ = give.send(with);
        thread
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Numbers by themselves, and what is due at a moment.
    #[derive(Debug, Default)]
    struct Numbers {
        waiting: Vec<u32>,
        due: Option<Instant>,
    }

    impl Queue for Numbers {
        type Work = u32;

        fn take(&mut self, now: Instant, _: bool) -> Option<u32> {
            if self.due.is_some_and(|due| due <= now) {
                self.due = None;
                return Some(0);
            }
            self.waiting.pop()
        }

        fn next_due(&self) -> Option<Instant> {
            self.due
        }
    }

    #[test]
    fn work_is_taken_as_the_queue_has_it_and_what_waits_is_done_before_the_end() {
        let (sender, receiver) = queue(Numbers::default());
        for number in [1, 2] {
            sender.change(|queue| queue.waiting.push(number)).unwrap();
        }
        assert_eq!(receiver.next(), Some(2));
        sender.close();
        assert_eq!((receiver.next(), receiver.next()), (Some(1), None));
        drop(receiver);
        assert!(sender.change(|queue| queue.waiting.push(3)).is_none());
        assert!(sender.look(|queue| queue.waiting.is_empty()));
    }

    #[test]
    fn a_thread_that_sleeps_wakes_for_work_and_for_what_is_due() {
        let (sender, receiver) = queue(Numbers::default());
        let run = start("numbers", move |receiver: Receiver<Numbers>| {
            let (mut sum, mut due) = (0, 0);
            while let Some(number) = receiver.next() {
                sum += number;
                due += u32::from(number == 0);
            }
            assert_eq!((sum, due), (6, 1));
        });
        let thread = run.unwrap()(receiver);
        for number in 1..=3 {
            while sender.look(|queue| !queue.waiting.is_empty()) {
                thread::yield_now();
            }
            sender.change(|queue| queue.waiting.push(number)).unwrap();
        }
        let due = Some(now() + Duration::from_millis(1));
        sender.change(|queue| queue.due = due).unwrap();
        while sender.look(|queue| queue.due.is_some()) {
            thread::yield_now();
        }
        sender.close();
        thread.join().unwrap();
    }

    #[test]
    fn a_thread_that_is_given_nothing_ends() {
        drop(start("nothing", |(): ()| panic!("it was given nothing")).unwrap());
    }
}
