//! What the server says, in Discord's own form.

use dirigent::UserId;
use serde_json::Value;

use crate::memory_discord::Event;
use crate::memory_discord::world::World;

pub(crate) mod intent;

/// An event as the gateway pushes it.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    /// Its name, for instance `MESSAGE_CREATE`.
    pub(crate) name: &'static str,
    /// Its data, for the account that it was made for.
    pub(crate) data: Value,
    /// The intents of which one must be asked for; 0 needs none.
    pub(crate) intents: u64,
}

/// An event as the gateway pushes it to this account; none for what the gateway does not push, or what
/// is over already. Texts are hidden where the account's message-content intent is switched off; where
/// a session did not ask for it, [`hide_content`] hides them.
pub(crate) fn dispatch(world: &World, account: UserId, event: &Event) -> Option<Dispatch> {
    let _ = (world, account, event);
    None
}

/// Empties what the message-content intent guards in the data of a message's dispatch, if it is not
/// for the account to see all the same: its own message, a direct one, one that mentions it.
pub(crate) fn hide_content(account: UserId, data: &mut Value) {
    let _ = (account, data);
}
