//! Counts the channels that agents created recently, and those that are being created.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::AgentId;
use crate::settings::Pace;

/// No further channel may be created now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) limit: Pace,
    /// After this long it may be tried again; `None`: never.
    pub(crate) retry_after: Option<Duration>,
}

/// Counts the creations of channels, by agent.
#[derive(Debug, Default)]
pub(crate) struct Creations {
    counted: Mutex<HashMap<AgentId, Moments>>,
}

/// When channels were created, in ascending order.
type Moments = Vec<Timestamp>;

/// A creation that counts while it is under way. Afterwards it counts if it was started, unless
/// [`Creation::created_nothing`] was called. A future that is dropped in between leaves it counted.
#[derive(Debug)]
pub(crate) struct Creation<'a> {
    creations: &'a Creations,
    agent: AgentId,
    at: Timestamp,
    remains: bool,
}

impl Creations {
    /// Counts a creation by this agent.
    ///
    /// # Errors
    ///
    /// Where the limit is reached; then nothing was counted.
    pub(crate) fn begin(
        &self,
        now: Timestamp,
        limit: Option<Pace>,
        agent: AgentId,
    ) -> Result<Creation<'_>, TooMany> {
        let mut counted = self.lock();
        let window = limit.map_or(Duration::ZERO, |limit| limit.window);
        counted.retain(|_, moments| {
            moments.retain(|at| *at + window > now);
            !moments.is_empty()
        });
        let moments = counted.get(&agent).map_or(&[][..], Vec::as_slice);
        if let Some(limit) = limit.filter(|limit| moments.len() >= limit.burst) {
            // Once this one is forgotten, there are fewer than the limit.
            let last = moments.get(moments.len() - limit.burst).filter(|_| limit.burst > 0);
            let retry_after = last.map(|at| (*at + limit.window).since(now));
            return Err(TooMany { limit, retry_after });
        }
        let moments = counted.entry(agent.clone()).or_default();
        let place = moments.partition_point(|known| *known <= now);
        moments.insert(place, now);
        Ok(Creation { creations: self, agent, at: now, remains: false })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AgentId, Moments>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Creation<'_> {
    /// From now on a channel may come of it.
    pub(crate) const fn start(&mut self) {
        self.remains = true;
    }

    /// It is certain that no channel came of it.
    pub(crate) const fn created_nothing(&mut self) {
        self.remains = false;
    }
}

impl Drop for Creation<'_> {
    fn drop(&mut self) {
        if self.remains {
            return;
        }
        let mut counted = self.creations.lock();
        if let Some(moments) = counted.get_mut(&self.agent) {
            if let Ok(place) = moments.binary_search(&self.at) {
                moments.remove(place);
            }
            if moments.is_empty() {
                counted.remove(&self.agent);
            }
        }
    }
}
