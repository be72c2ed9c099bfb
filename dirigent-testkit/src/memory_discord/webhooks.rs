//! Webhooks, which post into a channel with a token of their own.

use std::collections::BTreeMap;

use dirigent::{ChannelId, UserId};

/// The name and picture of one message, if its webhook chose them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostedAs {
    /// The name instead of the webhook's.
    pub name: Option<String>,
    /// The mark of a picture instead of the webhook's.
    pub avatar: Option<String>,
}

/// A webhook. Its id is also that of an account, which speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub channel: ChannelId,
    pub name: String,
    /// The mark of its picture.
    pub avatar: Option<String>,
    pub token: String,
    /// The account that created it.
    pub creator: UserId,
}

/// All webhooks that can be used over HTTP.
#[derive(Debug, Default)]
pub struct Webhooks {
    pub by_id: BTreeMap<UserId, Webhook>,
}

impl Webhooks {
    pub fn get(&self, webhook: UserId) -> Option<&Webhook> {
        self.by_id.get(&webhook)
    }

    /// Returns the webhooks of a channel, by rising id.
    pub fn of_channel(&self, channel: ChannelId) -> impl Iterator<Item = (UserId, &Webhook)> {
        let all = self.by_id.iter().map(|(id, webhook)| (*id, webhook));
        all.filter(move |(_, webhook)| webhook.channel == channel)
    }
}
