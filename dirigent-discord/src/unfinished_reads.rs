//! What was read of who sees a channel, and goes on where it was broken off.

use std::collections::HashMap;

use dirigent::UserId;

use crate::unfinished::Unfinished;
use crate::wire;

/// What was read of audiences and is not finished.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedReads {
    /// Of guilds: all members.
    pub(crate) lists: Unfinished<Pages>,
    /// Of guilds: accounts, and what they are there if they are members.
    pub(crate) members: Unfinished<HashMap<UserId, Option<wire::Member>>>,
    /// Of channels: webhooks, of which nothing is kept.
    pub(crate) webhooks: Unfinished<()>,
    /// Of threads: accounts, and whether they were added.
    pub(crate) threads: Unfinished<HashMap<UserId, bool>>,
}

/// The pages read so far.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) members: Vec<wire::Member>,
    /// The highest id among them.
    pub(crate) after: Option<u64>,
}
