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

/// The longest step that nothing is said of: the driver serves no channel meanwhile.
const STEP_MAX: Duration = Duration::from_secs(1);

/// Begins what it is given, on a task of its own.
pub(crate) type SpawnCalls = Arc<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync>;

/// Waits for something of the host's. `told` learns how long a step of it took, where that is too long: it is counted, too. `begins`: when
/// the first step begins, where that is known; reading a clock costs as much as a small step.
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

/// Waits for something that the host spawns. What is not waited for any more ends before its next step. A panic in it goes on here.
///
/// # Errors
///
/// What was spawned was dropped before it was over.
pub(super) async fn elsewhere<T: Send + 'static>(
    spawn: &SpawnCalls,
    work: BoxFuture<'static, T>,
) -> Result<T, AgentError> {
    let (mut answer, waiting) = oneshot::channel();
    let call = async move {
        let mut work = AssertUnwindSafe(work).catch_unwind();
        let done = tokio::select! {
            biased;
            () = answer.closed() => return,
            done = &mut work => done,
        };
        // It may be the host's code that runs now: who waits learns of the end when nothing is left.
        drop(work);
        let _ = answer.send(done);
    };
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
