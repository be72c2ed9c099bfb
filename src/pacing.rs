//! When the next post may go out: a sliding window for each channel, agent and for all.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use dirigent_core::{AgentKey, Timestamp};

use crate::settings::Pace;
use crate::{ChannelId, Pacing, UserId};

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
    /// Until when the chat takes no posts in a channel: of an agent's account, or of the moderator's.
    barred: HashMap<(ChannelId, Option<UserId>), Timestamp>,
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
        let Windows { channels, agents, global: all, .. } = &mut *windows;
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
            window.forget(now, *pace);
        }
        // Where one window moves the post, another may be full: until it fits into all of them.
        loop {
            let fits = paced.iter().fold(at, |at, (pace, window)| window.earliest(at, *pace));
            if fits == at {
                break;
            }
            at = fits;
        }
        for (_, window) in paced {
            window.reserve(at);
        }
        at
    }
}

impl Pacer {
    /// The chat takes no more posts of this account in this channel until then.
    pub(crate) fn bar(
        &self,
        now: Timestamp,
        channel: ChannelId,
        account: Option<UserId>,
        until: Timestamp,
    ) {
        let barred = &mut self.windows.lock().unwrap_or_else(PoisonError::into_inner).barred;
        if barred.len() >= SWEEP_AT {
            barred.retain(|_, until| *until > now);
        }
        // With so many limits at once one more is found out by asking.
        if barred.len() < SWEEP_AT {
            barred.insert((channel, account), until);
        }
    }

    /// Until when the chat takes no posts of this account in this channel, if that is not over.
    pub(crate) fn barred_until(
        &self,
        now: Timestamp,
        channel: ChannelId,
        account: Option<UserId>,
    ) -> Option<Timestamp> {
        let barred = &mut self.windows.lock().unwrap_or_else(PoisonError::into_inner).barred;
        let until = *barred.get(&(channel, account))?;
        if until <= now {
            barred.remove(&(channel, account));
        }
        Some(until).filter(|until| *until > now)
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
    /// Drops what no longer matters.
    fn forget(&mut self, now: Timestamp, pace: Pace) {
        while self.reserved.front().is_some_and(|at| *at + pace.window <= now) {
            self.reserved.pop_front();
        }
    }

    /// When a post fits in, at this moment or later. What is reserved far ahead counts only for its
    /// own surroundings.
    fn earliest(&self, from: Timestamp, pace: Pace) -> Timestamp {
        if self.fits(from, pace) {
            return from;
        }
        // A place becomes free only when an earlier post leaves the window.
        let freed = self.reserved.iter().map(|at| *at + pace.window);
        let mut later = freed.filter(|at| *at > from);
        later.find(|at| self.fits(*at, pace)).unwrap_or(from)
    }

    /// Whether no stretch of the window's length holds more than the burst, with a post at this
    /// moment.
    fn fits(&self, at: Timestamp, pace: Pace) -> bool {
        let burst = pace.burst.max(1);
        let before = self.reserved.partition_point(|known| *known <= at);
        let after = self.reserved.len() - before;
        // With one more there are `burst + 1` in a row: so many of them before, the rest after.
        let in_a_row = burst.saturating_sub(after)..=burst.min(before);
        in_a_row.into_iter().all(|earlier| {
            let first = before.checked_sub(earlier).filter(|_| earlier > 0);
            let last = (before + burst - earlier).checked_sub(1).filter(|_| earlier < burst);
            let moment = |place: Option<usize>| place.and_then(|at| self.reserved.get(at)).copied();
            let (first, last) = (moment(first).unwrap_or(at), moment(last).unwrap_or(at));
            first + pace.window <= last
        })
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

    #[test]
    fn what_is_reserved_far_ahead_leaves_room_for_now() {
        let second = Duration::from_secs(1);
        let pacing = Pacing {
            channel: Some(Pace { burst: 1, window: second * 30 }),
            agent: None,
            global: Some(Pace { burst: 3, window: second }),
        };
        let pacer = Pacer::new(pacing);
        let now = Timestamp::from_millis(1_000_000);
        for channel in 1..=3 {
            assert_eq!(pacer.reserve(now, ChannelId::new(channel), None), now);
        }
        let now = now + second * 5;
        for channel in 1..=3 {
            assert!(pacer.reserve(now, ChannelId::new(channel), None) > now + second * 20);
        }
        assert_eq!(pacer.reserve(now, ChannelId::new(9), None), now, "nobody posts now");
    }

    #[test]
    fn no_window_is_overfull_however_reservations_mix() {
        let second = Duration::from_secs(1);
        let by_channel = Pace { burst: 2, window: second * 7 };
        let global = Pace { burst: 5, window: second };
        let pacing = Pacing { channel: Some(by_channel), agent: None, global: Some(global) };
        let pacer = Pacer::new(pacing);
        let (mut now, mut chance) = (Timestamp::from_millis(1_000_000), 7_u64);
        let mut sent: Vec<(Timestamp, u64)> = Vec::new();
        for _ in 0..2_000 {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            now = now + Duration::from_millis((chance >> 33) % 400);
            let channel = (chance >> 50) % 12;
            let at = pacer.reserve(now, ChannelId::new(channel), None);
            assert!(at >= now);
            sent.push((at, channel));
        }
        sent.sort_unstable();
        for window in sent.windows(6) {
            assert!(window[5].0.since(window[0].0) >= global.window, "{window:?}");
        }
        for channel in 0..12 {
            let own: Vec<_> = sent.iter().filter(|(_, of)| *of == channel).collect();
            for window in own.windows(3) {
                assert!(window[2].0.since(window[0].0) >= by_channel.window, "{window:?}");
            }
        }
    }
}
