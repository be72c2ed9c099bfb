//! A channel to threads, with a queue of our own. Waiting work can be overtaken, done together, or due at a certain
//! time.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::oneshot;

/// The work that waits for one or several threads.
pub(crate) trait Queue: Default + Send + 'static {
    /// The work that a thread does at a time.
    type Work;

    /// Takes out the work that is due now. If the queue is closing, no more work will arrive.
    fn take(&mut self, now: Instant, closing: bool) -> Option<Self::Work>;

    /// Returns the time at which there is work even if none arrives.
    fn next_due(&self) -> Option<Instant> {
        None
    }
}

/// Returns the time by which work on files is delayed. No rule of a channel depends on it.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the disk is spared is no matter of the host's clock"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The side of the callers.
#[derive(Debug)]
pub(crate) struct Sender<Q>(Arc<LockedQueue<Q>>);

/// The side of the threads. Once it is dropped, the waiting work is dropped, too, and with it the senders of the
/// answers.
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
    /// The number of waiting threads. If there are none, the call to the system that wakes one is saved.
    sleeping: usize,
    closing: bool,
    /// The callers that wait for the end.
    closers: Vec<oneshot::Sender<()>>,
    /// True once there is no thread left.
    ended: bool,
}

/// Creates the two sides of a queue.
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
    /// Changes the waiting work, and wakes a thread to look at it. Returns `None` if there is no thread left.
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

    /// Looks at the waiting work.
    #[cfg(test)]
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Q) -> T) -> T {
        look(&mut self.0.lock().queue)
    }

    /// Lets the threads end once all waiting work is done.
    pub(crate) fn close(&self) {
        self.0.lock().closing = true;
        self.0.changed.notify_all();
    }

    /// Closes the queue like [`close`](Self::close). Returns a receiver that reports the [end](Receiver::end) of
    /// everything, or `None` if it has already ended.
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
    /// Waits for work. Returns `None` if there will be no more.
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

    /// Looks at the waiting work in the middle of other work.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Q) -> T) -> T {
        look(&mut self.0.lock().queue)
    }

    /// Reports to the callers that closed the queue that everything has ended.
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
        // The drop of the waiting work may need this lock.
        drop(state);
        drop(waiting);
    }
}

impl<Q> LockedQueue<Q> {
    fn lock(&self) -> MutexGuard<'_, QueueContents<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a thread that waits for the data that it works on, or for the drop of that data's sender. So the data is not
/// lost if another thread cannot be started.
pub(crate) fn start<W: Send + 'static>(
    name: &str,
    work: impl FnOnce(W) + Send + 'static,
) -> io::Result<impl FnOnce(W) -> JoinHandle<()>> {
    let (give, given) = std::sync::mpsc::sync_channel::<W>(1);
    let run = move || given.recv().map_or((), work);
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run)?;
    Ok(move |with| {
        // The thread waits for the data.
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
