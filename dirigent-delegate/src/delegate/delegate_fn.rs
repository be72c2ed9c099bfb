//! Agents written as a closure.

use std::fmt;
use std::future::Future;

use async_trait::async_trait;

use super::{Delegate, Task, TaskOutcome};

/// Creates an agent from a closure.
///
/// ```
/// use dirigent_delegate::{TaskOutcome, Task, delegate_fn};
///
/// let echo = delegate_fn(|task: Task| async move { TaskOutcome::success(task.message()) });
/// # let _: Box<dyn dirigent_delegate::Delegate> = Box::new(echo);
/// ```
pub fn delegate_fn<F, R>(run: F) -> DelegateFn<F>
where
    F: Fn(Task) -> R + Send + Sync + 'static,
    R: Future<Output = TaskOutcome> + Send,
{
    DelegateFn { run }
}

/// The agent that [`delegate_fn`] returns.
///
/// ```
/// use dirigent_delegate::{DelegateFn, TaskOutcome, Task, delegate_fn};
/// fn takes<F>(_: DelegateFn<F>) {}
/// takes(delegate_fn(|_: Task| async { TaskOutcome::success("Done.") }));
/// ```
#[derive(Clone, Copy)]
pub struct DelegateFn<F> {
    run: F,
}

#[async_trait]
impl<F, R> Delegate for DelegateFn<F>
where
    F: Fn(Task) -> R + Send + Sync + 'static,
    R: Future<Output = TaskOutcome> + Send,
{
    async fn run(&self, task: Task) -> TaskOutcome {
        (self.run)(task).await
    }
}

impl<F> fmt::Debug for DelegateFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegateFn").finish_non_exhaustive()
    }
}
