//! Places in the sliding windows that wait for their time.

use std::collections::HashMap;
use std::time::Duration;

use dirigent_core::{AgentKey, Timestamp};

use super::claim::{AccountKey, Claim};
use super::windows::{SWEEP_AT, Windows};
use crate::ChannelId;
use crate::settings::Pacing;

/// How long a place can still be claimed. After that it counts as used, so that the posts do not leave all at once
/// after a long stop of the process.
pub(super) const CLAIM_WITHIN: Duration = Duration::from_secs(1);

/// The sliding windows, and the rooms that reserved places in them.
#[derive(Debug)]
pub(super) struct Places {
    windows: Windows,
    /// The places, by the room that waits and the channel that it posts to. If the room posts something else there
    /// first, the place is given back.
    reserved: HashMap<(ChannelId, ChannelId), Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    asked: Timestamp,
    at: Timestamp,
    target: ChannelId,
    account: AccountKey,
    agent: Option<AgentKey>,
}

impl Places {
    pub(super) fn new(pacing: Pacing) -> Self {
        Self { windows: Windows::new(pacing), reserved: HashMap::new() }
    }

    /// Claims the post's place if its time has come, or reserves one. Returns the time when the post may go out, which
    /// is now or later.
    pub(super) fn claim(&mut self, now: Timestamp, claim: &Claim) -> Timestamp {
        if self.windows.is_off() {
            return now;
        }
        let Claim { room, target, account, agent, has_waited, .. } = *claim;
        if let Some(place) = self.reserved.get(&(room, target)).copied() {
            // After the clock was set back, a place from before cannot be trusted.
            let is_its = has_waited && place.asked <= now;
            if is_its && now < place.at {
                return place.at;
            }
            self.reserved.remove(&(room, target));
            // The room wants another post than the one that waited, or the clock was set back.
            if !is_its {
                self.windows.give_back(place.at, place.target, place.agent);
            } else if now.since(place.at) <= CLAIM_WITHIN {
                self.windows.moved(place.at, now, place.target, place.agent);
                return now;
            }
        }
        let at = self.windows.reserve(now, target, agent);
        if at > now {
            self.sweep(now);
            self.reserved.insert((room, target), Place { asked: now, at, target, account, agent });
        }
        at
    }

    /// Gives back the place of a room that must wait for something else first.
    pub(super) fn give_back(&mut self, room: ChannelId, target: ChannelId) {
        if let Some(place) = self.reserved.remove(&(room, target)) {
            self.windows.give_back(place.at, place.target, place.agent);
        }
    }

    pub(super) fn give_back_all_of(&mut self, account: AccountKey) {
        let Self { windows, reserved } = self;
        reserved.retain(|_, place| {
            let stays = place.account != account;
            if !stays {
                windows.give_back(place.at, place.target, place.agent);
            }
            stays
        });
    }

    /// Drops lapsed places, from time to time.
    fn sweep(&mut self, now: Timestamp) {
        if self.reserved.len() >= SWEEP_AT && self.reserved.len().is_power_of_two() {
            self.reserved.retain(|_, place| place.at + CLAIM_WITHIN >= now);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.reserved.len()
    }

    #[cfg(test)]
    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.reserved.capacity() + self.windows.capacity()
    }
}
