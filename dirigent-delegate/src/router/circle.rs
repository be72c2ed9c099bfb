//! Which routers are answering a message at this point, so that none waits for itself.
//!
//! A router that one of its own agents asks would need places while that agent holds one: with all of them held so, every message
//! waits until its deadline. The routers are known by the call, not by the task: a circle through several routers is seen, and
//! one that leads through another task (`tokio::spawn`) is not.

use std::future::Future;
use std::iter;
use std::sync::Arc;

use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static ABOVE: Arc<Above>;
}

/// A router, and those that it was asked by.
pub(super) struct Above {
    router: usize,
    above: Option<Arc<Above>>,
}

/// Whether this router is answering a message at this point.
pub(super) fn contains(router: usize) -> bool {
    let is_above = |first: &Arc<Above>| {
        let mut all = iter::successors(Some(&**first), |here| here.above.as_deref());
        all.any(|here| here.router == router)
    };
    ABOVE.try_with(is_above).unwrap_or(false)
}

/// Does this as part of an answer of this router.
pub(super) fn within<F: Future>(router: usize, doing: F) -> TaskLocalFuture<Arc<Above>, F> {
    let above = ABOVE.try_with(Arc::clone).ok();
    ABOVE.scope(Arc::new(Above { router, above }), doing)
}
