//! Runs code of the host, so that a panic in it ends neither the driver nor other channels.
//!
//! Unwind safety is asserted for this reason: the host's code may leave only its own state half done. It gets values,
//! and shared references to the library's state only through methods that finish what they begin. After a panic its
//! answer is not used, and the request counts as made and not answered.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, TryFutureExt};

use crate::Clock;
use crate::values::error::{ApiError, ErrorKind};

/// The message of a panic in the host's code. It is the source of the error that replaces its answer.
#[derive(Debug, thiserror::Error)]
#[error("the host's code panicked: {0}")]
pub(crate) struct Panicked(pub(crate) Arc<str>);

impl Panicked {
    pub(crate) fn from_payload(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Self(text.unwrap_or("without words").into())
    }
}

/// Returns the error of a request that panicked. It is unknown whether the request was carried out.
pub(crate) fn no_answer(what: &str, payload: &(dyn Any + Send)) -> ApiError {
    let panicked = Panicked::from_payload(payload);
    tracing::error!(%what, panic = %panicked.0, "the host's code panicked; it counts as a request without an answer");
    ApiError::new(ErrorKind::NoAnswer).with_source(panicked)
}

/// Runs a function of the host. `None` if it panicked.
pub(crate) fn caught<T>(what: &str, work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(payload) => {
            let panicked = Panicked::from_payload(&*payload);
            tracing::error!(%what, panic = %panicked.0, "the host's code panicked");
            None
        }
    }
}

/// Waits for a future of the host. An `async fn` would reserve memory for `work` twice.
pub(crate) fn answered<T>(
    what: &str,
    work: impl Future<Output = T>,
) -> impl Future<Output = Result<T, ApiError>> {
    AssertUnwindSafe(work).catch_unwind().map_err(move |payload| no_answer(what, &*payload))
}

/// Waits for a future, at most for the time limit. If the host's code panics in it, no answer came.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, ApiError> {
    let deadline = clock.now() + limit;
    tokio::select! {
        biased;
        done = answered("a request", work) => done,
        // It is made when it is first polled, so that work that is ready at once costs no timer.
        () = async { clock.sleep_until(deadline).await } => Err(ApiError::new(ErrorKind::NoAnswer)),
    }
}
