//! Decides where the host's code runs, and measures how long one step of it keeps its thread.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::Timestamp;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::host_code::{answered, caught};
use super::tally::Counts;
use crate::{AgentError, Clock};

/// The longest step without a warning. The driver serves no channel during a step.
const STEP_MAX: Duration = Duration::from_secs(1);

/// Runs the given future on a task of its own.
pub(crate) type SpawnCalls = Arc<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync>;

/// Waits for a future of the host. `told` gets the time of each step that is too long, and the step is counted.
/// `begins` is the start of the first step if it is known, because reading a clock costs as much as a small step.
pub(super) fn watched<T>(
    clock: &dyn Clock,
    counts: &Counts,
    mut begins: Option<Timestamp>,
    mut work: impl Future<Output = T> + Unpin,
    told: impl Fn(Duration),
) -> impl Future<Output = T> {
    poll_fn(move |context| {
        let began = begins.take().unwrap_or_else(|| clock.now());
        let polled = work.poll_unpin(context);
        let took = clock.now().since(began);
        if took > STEP_MAX {
            counts.took_long();
            told(took);
        }
        polled
    })
}

/// Waits for a future that the host spawns. If it is no longer waited for, it ends before its next step. A panic in it
/// goes on here.
///
/// # Errors
///
/// Fails if the spawned future was dropped before it was over.
pub(super) async fn elsewhere<T: Send + 'static>(
    spawn: &SpawnCalls,
    work: BoxFuture<'static, T>,
) -> Result<T, AgentError> {
    let (mut answer, waiting) = oneshot::channel();
    let call = async move {
        let mut work = AssertUnwindSafe(work).catch_unwind();
        let done = tokio::select! {
            biased;
            // The run was cancelled or dropped. A spawned call must not go on beside the next turn.
            () = answer.closed() => return,
            done = &mut work => done,
        };
        // Dropping the future may run the host's code, so the waiter learns of the end after that.
        drop(work);
        let _ = answer.send(done);
    };
    // A panic here would end the host's task.
    let call = answered("the end of a spawned call", call).map(drop);
    caught("the function given to Builder::spawn_calls", || spawn(Box::pin(call)));
    match waiting.await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(payload)) => resume_unwind(payload),
        Err(_) => {
            tracing::error!(
                "a call was dropped where Builder::spawn_calls had given it: its function has to run what it is given"
            );
            Err("the call was dropped where it was spawned".into())
        }
    }
}
