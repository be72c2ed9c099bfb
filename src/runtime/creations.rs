//! Counts the channels that agents created recently, and those that are being created.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::AgentId;
use crate::settings::Pace;
use crate::values::sync::locked;

/// The error if no further channel may be created now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) limit: Pace,
    /// The time after which it may be tried again. `None` means never.
    pub(crate) retry_after: Option<Duration>,
}

#[derive(Debug, Default)]
pub(crate) struct Creations {
    counted: Mutex<HashMap<AgentId, Moments>>,
}

type Moments = Vec<Timestamp>;

/// A creation that counts while it is in progress. Afterwards it counts if it was started, unless
/// [`Creation::created_nothing`] was called. If the future is dropped in between, it stays counted.
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
    /// Fails if the limit is reached. In that case it is not counted.
    pub(crate) fn begin(
        &self,
        now: Timestamp,
        limit: Option<Pace>,
        agent: AgentId,
    ) -> Result<Creation<'_>, TooMany> {
        let mut counted = locked(&self.counted);
        let window = limit.map_or(Duration::ZERO, |limit| limit.window);
        // An agent that is not seen again must leave nothing behind.
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
        // The clock may have been set back since the others were counted.
        moments.insert(place, now);
        Ok(Creation { creations: self, agent, at: now, remains: false })
    }
}

impl Creation<'_> {
    /// Records that a channel may be created from now on.
    pub(crate) const fn start(&mut self) {
        self.remains = true;
    }

    /// Records that it surely created no channel.
    pub(crate) const fn created_nothing(&mut self) {
        self.remains = false;
    }
}

impl Drop for Creation<'_> {
    fn drop(&mut self) {
        // A future that is dropped in between may have created the channel.
        if self.remains {
            return;
        }
        let mut counted = locked(&self.creations.counted);
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
