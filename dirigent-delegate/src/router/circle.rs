//! Remembers which routers are answering at this point, so that none waits for itself.
//!
//! If an agent asks the router that runs it, the router needs a place while that agent holds one. If all places are
//! held like this, every message waits until its deadline. Routers are tracked by the call, not by the task. A circle
//! through several routers is therefore detected, but not one through another task (`tokio::spawn`).

use std::future::Future;
use std::iter;
use std::sync::Arc;

use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static ABOVE: Arc<Above>;
}

/// A router, and the routers that called it.
pub(super) struct Above {
    router: usize,
    above: Option<Arc<Above>>,
}

/// Returns true if this router is answering a message at this point.
pub(super) fn contains(router: usize) -> bool {
    let is_above = |first: &Arc<Above>| {
        let mut all = iter::successors(Some(&**first), |here| here.above.as_deref());
        all.any(|here| here.router == router)
    };
    ABOVE.try_with(is_above).unwrap_or(false)
}

/// Runs a future as part of an answer of this router.
pub(super) fn within<F: Future>(router: usize, doing: F) -> TaskLocalFuture<Arc<Above>, F> {
    let above = ABOVE.try_with(Arc::clone).ok();
    ABOVE.scope(Arc::new(Above { router, above }), doing)
}
