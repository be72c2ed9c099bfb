//! The chat as an account sees it, with the texts that it may read.

use dirigent::{ChatMessage, UserId};
use serde_json::{Map, Value, json};

use crate::parts::AllParts;
use dirigent_testkit::memory_discord::world::World;

/// The chat as one account sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) world: &'a World,
    pub(crate) parts: &'a AllParts,
    pub(crate) account: UserId,
    /// True if the account reads others' texts. The intent must be switched on for its application, and the gateway
    /// session must have asked for it.
    pub(crate) has_content_intent: bool,
}

impl<'a> View<'a> {
    /// Returns the view over REST, which depends only on the application's switch.
    pub(crate) fn over_rest(world: &'a World, parts: &'a AllParts, account: UserId) -> Self {
        let is_hidden = world.accounts.get(account).is_some_and(|account| account.content_hidden);
        Self { world, parts, account, has_content_intent: !is_hidden }
    }

    /// Returns true if the account may read this message. Without the intent it reads only its own messages, direct
    /// ones, and those that mention it (events/gateway, message content intent).
    pub(super) fn reads(self, message: &ChatMessage, mentioned: &[UserId]) -> bool {
        let room = self.world.places.rooms.get(&message.channel);
        self.has_content_intent
            || message.author == self.account
            || room.is_some_and(|room| room.guild.is_none())
            || mentioned.contains(&self.account)
    }
}

/// Removes the parts of a message that the intent guards (resources/message).
pub(super) fn hide_content(message: &mut Map<String, Value>) {
    message.insert("content".to_owned(), json!(""));
    for list in ["attachments", "embeds", "components"] {
        message.insert(list.to_owned(), json!([]));
    }
    message.remove("poll");
    let snapshots = message.get_mut("message_snapshots").and_then(Value::as_array_mut);
    for snapshot in snapshots.into_iter().flatten() {
        snapshot
            .get_mut("message")
            .and_then(Value::as_object_mut)
            .into_iter()
            .for_each(hide_content);
    }
}
