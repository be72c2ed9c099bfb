//! Where the chat takes no posts for a while.

use std::collections::HashMap;

use dirigent_core::Timestamp;

use super::claim::AccountKey;
use super::windows::SWEEP_AT;
use crate::ChannelId;

/// The rate limits that the chat told, by channel and account.
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
    /// A clock that was set back says nothing: then asking tells.
    fn holds(self, now: Timestamp) -> bool {
        self.since <= now && now < self.until
    }
}

impl Bars {
    /// The chat takes no more posts of this account in this channel until then.
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
        // Beyond this number, a limit is found out by asking.
        if barred.len() < SWEEP_AT {
            barred.insert((channel, account), Bar { since: now, until });
        }
    }

    /// Until when the chat takes no posts of this account in this channel, if that is not over.
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
