//! Decides when the next post may go out, with a sliding window for each channel, for each agent and for all.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use dirigent_core::{AgentKey, Timestamp};

use crate::ChannelId;
use crate::settings::{Pace, Pacing};

/// The number of entries above which old ones are dropped.
pub(super) const SWEEP_AT: usize = 4_096;

/// Keeps the moments of recent posts. A place is reserved when a room asks for it, so that two posts never count on one
/// place.
#[derive(Debug)]
pub(super) struct Windows {
    pacing: Pacing,
    channels: HashMap<ChannelId, Window>,
    agents: HashMap<(ChannelId, AgentKey), Window>,
    global: Window,
}

/// The moments at which posts of one kind go out, oldest first.
#[derive(Debug, Default)]
struct Window {
    reserved: VecDeque<Timestamp>,
}

impl Windows {
    pub(super) fn new(pacing: Pacing) -> Self {
        Self { pacing, channels: HashMap::new(), agents: HashMap::new(), global: Window::default() }
    }

    pub(super) const fn is_off(&self) -> bool {
        let Pacing { channel, agent, global } = self.pacing;
        channel.is_none() && agent.is_none() && global.is_none()
    }

    /// Reserves a place for a post, and for a trigger also among the agent's. Returns the time when it may go out,
    /// which is now or later.
    pub(super) fn reserve(
        &mut self,
        now: Timestamp,
        channel: ChannelId,
        agent: Option<AgentKey>,
    ) -> Timestamp {
        let mut paced = self.paced(now, channel, agent);
        for (pace, window) in paced.iter_mut().flatten() {
            window.forget(now, *pace);
        }
        let mut at = now;
        // If one window delays the post, another may be full at that time, so the search goes on until the post fits
        // into all of them.
        loop {
            let windows = paced.iter().flatten();
            let fits = windows.fold(at, |at, (pace, window)| window.earliest(at, *pace));
            if fits == at {
                break;
            }
            at = fits;
        }
        for (_, window) in paced.iter_mut().flatten() {
            window.reserve(at);
        }
        at
    }

    /// Moves a place that was reserved for `from` to `now`, whether or not it fits there, because its post goes out
    /// late. The posts behind it keep their places.
    pub(super) fn moved(
        &mut self,
        from: Timestamp,
        now: Timestamp,
        channel: ChannelId,
        agent: Option<AgentKey>,
    ) {
        for (_, window) in self.paced(now, channel, agent).iter_mut().flatten() {
            window.give_back(from);
            window.reserve(now);
        }
    }

    pub(super) fn give_back(&mut self, at: Timestamp, channel: ChannelId, agent: Option<AgentKey>) {
        give_back_in(&mut self.channels, &channel, at);
        if let Some(agent) = agent {
            give_back_in(&mut self.agents, &(channel, agent), at);
        }
        self.global.give_back(at);
    }

    /// Returns the windows that a post counts in, with their paces.
    fn paced(
        &mut self,
        now: Timestamp,
        channel: ChannelId,
        agent: Option<AgentKey>,
    ) -> [Option<(Pace, &mut Window)>; 3] {
        let Pacing { channel: by_channel, agent: by_agent, global } = self.pacing;
        let Self { channels, agents, global: all, .. } = self;
        [
            by_channel.map(|pace| (pace, window_of(channels, channel, now, pace))),
            by_agent
                .zip(agent)
                .map(|(pace, agent)| (pace, window_of(agents, (channel, agent), now, pace))),
            global.map(|pace| (pace, all)),
        ]
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.channels.len() + self.agents.len()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.channels.capacity() + self.agents.capacity() + self.global.reserved.capacity()
    }
}

/// Returns the window under this key. It also drops old windows from time to time, so that memory depends on the
/// channels that talk, and not on those that ever did.
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

/// Gives a place back, and drops a window without other places.
fn give_back_in<K: Eq + Hash>(windows: &mut HashMap<K, Window>, key: &K, at: Timestamp) {
    if let Some(window) = windows.get_mut(key) {
        window.give_back(at);
        if window.reserved.is_empty() {
            windows.remove(key);
        }
    }
}

impl Window {
    /// Drops entries that no longer matter.
    fn forget(&mut self, now: Timestamp, pace: Pace) {
        while self.reserved.front().is_some_and(|at| *at + pace.window <= now) {
            self.reserved.pop_front();
        }
    }

    /// Returns the first moment, from this one on, at which a post fits in, so that no period of the window's length
    /// has more posts than the burst. A place that is reserved far ahead affects only the time around it.
    fn earliest(&self, from: Timestamp, pace: Pace) -> Timestamp {
        let behind = pace.burst.max(1) - 1;
        let mut at = from;
        // Each burst of places, from `first` to `last`, that fits into a window blocks other posts from a window before
        // `last` to a window after `first`. These spans come in order.
        let mut index = self.first_after(at, pace);
        while let (Some(first), Some(last)) =
            (self.reserved.get(index), self.reserved.get(index.saturating_add(behind)))
        {
            if *last >= at + pace.window {
                break;
            }
            let freed = *first + pace.window;
            if *last < freed {
                at = freed;
                index = self.first_after(at, pace);
            } else {
                index += 1;
            }
        }
        at
    }

    /// Returns the first place that may share a window with a post at this moment.
    fn first_after(&self, at: Timestamp, pace: Pace) -> usize {
        self.reserved.partition_point(|known| *known + pace.window <= at)
    }

    fn reserve(&mut self, at: Timestamp) {
        let place = self.reserved.partition_point(|known| *known <= at);
        self.reserved.insert(place, at);
    }

    fn give_back(&mut self, at: Timestamp) {
        if let Ok(place) = self.reserved.binary_search(&at) {
            self.reserved.remove(place);
        }
    }
}

#[cfg(test)]
mod tests;
