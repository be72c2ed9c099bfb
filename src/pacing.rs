//! When the next post may go out: a sliding window for each channel, agent and for all.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use dirigent_core::{AgentKey, Timestamp};

use crate::settings::Pace;
use crate::{ChannelId, Pacing};

/// Keeps the moments of recent posts. A place is reserved when it is asked for, so that two posts
/// never count on the same one.
#[derive(Debug)]
pub(crate) struct Pacer {
    pacing: Pacing,
    windows: Mutex<Windows>,
}

#[derive(Debug, Default)]
struct Windows {
    channels: HashMap<ChannelId, Window>,
    agents: HashMap<(ChannelId, AgentKey), Window>,
    global: Window,
}

/// The moments at which posts of one kind go out, oldest first.
#[derive(Debug, Default)]
struct Window {
    reserved: VecDeque<Timestamp>,
}

impl Pacer {
    pub(crate) fn new(pacing: Pacing) -> Self {
        Self { pacing, windows: Mutex::default() }
    }

    /// Reserves a place for a post, and for a trigger also among the agent's. Returns when it may
    /// go out: now or later.
    pub(crate) fn reserve(
        &self,
        now: Timestamp,
        channel: ChannelId,
        agent: Option<AgentKey>,
    ) -> Timestamp {
        let Pacing { channel: by_channel, agent: by_agent, global } = self.pacing;
        if by_channel.is_none() && by_agent.is_none() && global.is_none() {
            return now;
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let Windows { channels, agents, global: all } = &mut *windows;
        let mut at = now;
        let mut paced = Vec::with_capacity(3);
        if let Some(pace) = by_channel {
            paced.push((pace, window_of(channels, channel, now, pace)));
        }
        if let (Some(pace), Some(agent)) = (by_agent, agent) {
            paced.push((pace, window_of(agents, (channel, agent), now, pace)));
        }
        if let Some(pace) = global {
            paced.push((pace, all));
        }
        for (pace, window) in &mut paced {
            at = at.max(window.earliest(now, *pace));
        }
        for (_, window) in paced {
            window.reserve(at);
        }
        at
    }
}

/// How many windows are kept before those that no longer matter are dropped.
const SWEEP_AT: usize = 4_096;

/// The window under this key. Drops those that say nothing any more, now and then, so that memory
/// follows the channels that talk and not those that ever did.
fn window_of<K: Eq + Hash>(
    windows: &mut HashMap<K, Window>,
    key: K,
    now: Timestamp,
    pace: Pace,
) -> &mut Window {
    if windows.len() >= SWEEP_AT && windows.len().is_power_of_two() {
        windows
            .retain(|_, window| window.reserved.back().is_some_and(|at| *at + pace.window > now));
    }
    windows.entry(key).or_default()
}

impl Window {
    /// When the next post fits in.
    fn earliest(&mut self, now: Timestamp, pace: Pace) -> Timestamp {
        while self.reserved.front().is_some_and(|at| *at + pace.window <= now) {
            self.reserved.pop_front();
        }
        let full_since = self.reserved.len().checked_sub(pace.burst.max(1));
        full_since.and_then(|at| self.reserved.get(at)).map_or(now, |at| now.max(*at + pace.window))
    }

    fn reserve(&mut self, at: Timestamp) {
        let place = self.reserved.partition_point(|known| *known <= at);
        self.reserved.insert(place, at);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_window_ever_holds_more_than_the_burst() {
        let pace = Pace { burst: 5, window: Duration::from_secs(5) };
        let pacing = Pacing { channel: Some(pace), ..Pacing::off() };
        let pacer = Pacer::new(pacing);
        let mut sent = Vec::new();
        for i in 0..100_u64 {
            let now = Timestamp::from_millis(i * 130);
            sent.push(pacer.reserve(now, ChannelId::new(1), None));
        }
        for window in sent.windows(6) {
            assert!(window[5].since(window[0]) >= pace.window, "{window:?}");
        }
    }
}
