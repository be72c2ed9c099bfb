//! Rate limits that the chat has told.

use std::collections::HashMap;

use dirigent_core::Timestamp;

use super::claim::AccountKey;
use super::windows::SWEEP_AT;
use crate::ChannelId;

/// The rate limits that the chat has told, by channel and account.
#[derive(Debug, Default)]
pub(super) struct Bars {
    barred: HashMap<(ChannelId, AccountKey), Bar>,
}

#[derive(Clone, Copy, Debug)]
struct Bar {
    since: Timestamp,
    until: Timestamp,
}

impl Bar {
    /// Returns whether the limit still holds. After the clock was set back this is unknown, so the next request finds
    /// it out.
    fn holds(self, now: Timestamp) -> bool {
        self.since <= now && now < self.until
    }
}

impl Bars {
    /// Records that the chat takes no more posts of this account in this channel until that time.
    pub(super) fn bar(
        &mut self,
        now: Timestamp,
        channel: ChannelId,
        account: AccountKey,
        until: Timestamp,
    ) {
        let barred = &mut self.barred;
        if barred.len() >= SWEEP_AT {
            barred.retain(|_, bar| bar.holds(now));
        }
        // Beyond this number, a request finds out whether there is a limit.
        if barred.len() < SWEEP_AT {
            barred.insert((channel, account), Bar { since: now, until });
        }
    }

    /// Returns the time until when the chat takes no posts of this account in this channel, if it lies ahead.
    pub(super) fn until(
        &mut self,
        now: Timestamp,
        channel: ChannelId,
        account: AccountKey,
    ) -> Option<Timestamp> {
        let bar = *self.barred.get(&(channel, account))?;
        if !bar.holds(now) {
            self.barred.remove(&(channel, account));
            return None;
        }
        Some(bar.until)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.barred.len()
    }
}
