//! Makes a thing once for all requests that need it, for example a drawing or the list of all channels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dirigent::ports::Timestamp;

use crate::page::problem::Problem;

/// The time for which a stream reuses a thing if there is no event.
const MADE_FOR: Duration = Duration::from_secs(1);
/// The time at which something was made.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// A number that rises with every event.
    pub(crate) version: u64,
    pub(crate) at: Timestamp,
}

/// The allowed age of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Its making started after the question. Questions during that time share the next one.
    Now,
    /// It may be up to a second old if there was no event since.
    Lately,
}

/// A thing that is made at most once at a time and shared by all requests.
pub(crate) struct MadeOnce<T> {
    asked: AtomicU64,
    made: tokio::sync::Mutex<Option<Made<T>>>,
}

struct Made<T> {
    value: Result<Arc<T>, Problem>,
    /// The number of questions when its making started. All of these questions may share it.
    for_asked: u64,
    moment: Moment,
}

impl<T> Default for MadeOnce<T> {
    fn default() -> Self {
        Self { asked: AtomicU64::new(0), made: tokio::sync::Mutex::new(None) }
    }
}

impl<T: Send + Sync> MadeOnce<T> {
    /// Returns the newest thing, or makes it now. A problem is shared, too, because a store that does not answer must
    /// not be asked once for each visitor.
    pub(crate) async fn get(
        &self,
        freshness: Freshness,
        now: impl Fn() -> Moment + Send,
        make: impl Future<Output = Result<T, Problem>> + Send,
    ) -> Result<Arc<T>, Problem> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut kept = self.made.lock().await;
        let moment = now();
        if let Some(made) = kept.as_ref() {
            let is_lately =
                made.moment.version == moment.version && moment.at.since(made.moment.at) < MADE_FOR;
            if asked <= made.for_asked || (freshness == Freshness::Lately && is_lately) {
                return made.value.clone();
            }
        }
        let for_asked = self.asked.load(Ordering::SeqCst);
        let value = make.await.map(Arc::new);
        *kept = Some(Made { value: value.clone(), for_asked, moment });
        value
    }
}
