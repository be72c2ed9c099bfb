//! Interrupted reads of who sees a channel.

use std::collections::HashMap;

use dirigent::UserId;

use crate::unfinished::Unfinished;
use crate::wire;

/// Interrupted reads of audiences.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedReads {
    /// All members, by guild.
    pub(crate) lists: Unfinished<Pages>,
    /// Accounts and their state as members, by guild.
    pub(crate) members: Unfinished<HashMap<UserId, Option<wire::Member>>>,
    /// Webhooks, by channel. Their reads store no data.
    pub(crate) webhooks: Unfinished<()>,
    /// Accounts, and whether they were added, by thread.
    pub(crate) threads: Unfinished<HashMap<UserId, bool>>,
}

/// The pages so far.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) members: Vec<wire::Member>,
    /// The highest id among them.
    pub(crate) after: Option<u64>,
}
