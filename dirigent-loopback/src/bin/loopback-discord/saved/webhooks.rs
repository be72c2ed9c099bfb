//! Webhooks in the file.

use dirigent::{ChannelId, UserId};
use dirigent_testkit::memory_discord::webhooks::Webhook;
use dirigent_testkit::memory_discord::world::World;
use serde::{Deserialize, Serialize};

/// A webhook.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedWebhook {
    id: u64,
    channel: u64,
    name: String,
    avatar: Option<String>,
    token: String,
    creator: u64,
}

impl SavedWebhook {
    pub(super) fn of(id: UserId, webhook: &Webhook) -> Self {
        Self {
            id: id.get(),
            channel: webhook.channel.get(),
            name: webhook.name.clone(),
            avatar: webhook.avatar.clone(),
            token: webhook.token.clone(),
            creator: webhook.creator.get(),
        }
    }

    pub(super) fn restore(self, world: &mut World) {
        let webhook = Webhook {
            channel: ChannelId::new(self.channel),
            name: self.name,
            avatar: self.avatar,
            token: self.token,
            creator: UserId::new(self.creator),
        };
        world.webhooks.by_id.insert(UserId::new(self.id), webhook);
    }
}
