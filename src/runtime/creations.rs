//! Limits how many channels each agent may create within a period of time (`LimitRules::creations`).
//!
//! The tool that opens a channel (`src/tools/opening.rs`) calls [`Creations::begin`] before it sends the request to the
//! chat, then [`Creation::start`]. If the chat surely created no channel, it calls [`Creation::created_nothing`].

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::AgentId;
use crate::settings::Pace;
use crate::values::sync::locked;

/// The error if the agent has reached the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    /// The limit that was reached.
    pub(crate) limit: Pace,
    /// The time until the agent may create a channel again. `None` means never, because the limit allows no channel.
    pub(crate) retry_after: Option<Duration>,
}

/// The moments at which each agent began to create channels, as far as they still count.
#[derive(Debug, Default)]
pub(crate) struct Creations {
    counted: Mutex<HashMap<AgentId, Moments>>,
}

type Moments = Vec<Timestamp>;

/// One creation of a channel. It counts from [`Creations::begin`] on, for one window of the limit.
///
/// If you drop it before [`Creation::start`], or after [`Creation::created_nothing`], it no longer counts. In any other
/// case the channel exists or may exist, so it goes on counting. For example, the caller's future may be dropped while
/// it waits for the chat's answer.
#[derive(Debug)]
pub(crate) struct Creation<'a> {
    creations: &'a Creations,
    agent: AgentId,
    at: Timestamp,
    /// `true` if the creation still counts after it is dropped.
    remains: bool,
}

impl Creations {
    /// Begins a creation by this agent, and counts it. Without a limit it always succeeds.
    ///
    /// It also forgets the creations of all agents that are older than the window. All callers pass the limit of one
    /// setting, so none of them forgets too early.
    ///
    /// # Errors
    ///
    /// Fails if this agent has reached the limit. The failed creation does not count.
    pub(crate) fn begin(
        &self,
        now: Timestamp,
        limit: Option<Pace>,
        agent: AgentId,
    ) -> Result<Creation<'_>, TooMany> {
        let mut counted = locked(&self.counted);
        let window = limit.map_or(Duration::ZERO, |limit| limit.window);
        // This covers all agents, because one that creates no further channel would otherwise keep its memory for ever.
        counted.retain(|_, moments| {
            moments.retain(|at| *at + window > now);
            !moments.is_empty()
        });
        let moments = counted.get(&agent).map_or(&[][..], Vec::as_slice);
        if let Some(limit) = limit.filter(|limit| moments.len() >= limit.burst) {
            // When this moment is older than the window, fewer than `burst` of the agent's moments still count.
            let last = moments.get(moments.len() - limit.burst).filter(|_| limit.burst > 0);
            let retry_after = last.map(|at| (*at + limit.window).since(now));
            return Err(TooMany { limit, retry_after });
        }
        let moments = counted.entry(agent.clone()).or_default();
        // The moments stay in order even if the clock was set back since the last one.
        let place = moments.partition_point(|known| *known <= now);
        moments.insert(place, now);
        Ok(Creation { creations: self, agent, at: now, remains: false })
    }
}

impl Creation<'_> {
    /// Records that the request to the chat is about to leave. From now on the channel may exist, so the creation goes
    /// on counting after it is dropped.
    pub(crate) const fn start(&mut self) {
        self.remains = true;
    }

    /// Records that the chat surely created no channel. The creation stops counting when it is dropped.
    pub(crate) const fn created_nothing(&mut self) {
        self.remains = false;
    }
}

impl Drop for Creation<'_> {
    fn drop(&mut self) {
        // The channel may exist, even if the caller never saw the chat's answer.
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
