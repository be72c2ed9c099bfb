//! How often, and how long.

use std::time::Duration;

/// How often a process announces its agents.
pub(super) const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);
/// How long an announcement counts.
pub(super) const LEASE: Duration = Duration::from_secs(3);
/// How long a process is announced to that is not named any more: after a restart of the database, processes are named again only when they have
/// renewed their leases.
pub(super) const NAMED_FOR: Duration = Duration::from_secs(10);
/// How soon a question is asked again that has no answer.
pub(super) const ASK_AGAIN: Duration = Duration::from_millis(100);
/// How long a question may take that the other process has to ask the chat for.
pub(super) const CHAT_LIMIT: Duration = Duration::from_secs(10);
