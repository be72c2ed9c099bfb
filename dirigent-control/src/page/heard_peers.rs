//! When each other process was last asked for its sign-outs, and whether it answered.

use std::collections::HashMap;
use std::time::Duration;

use dirigent::ports::Timestamp;
use tokio::sync::Mutex;

/// The time for which an answer of another process counts.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// The pause before a process that did not answer is asked again.
const SILENT_FOR: Duration = Duration::from_secs(3);

/// The other processes, as they were last asked for their sign-outs.
#[derive(Default)]
pub(crate) struct HeardPeers(pub(crate) Mutex<HashMap<String, Heard>>);

#[derive(Clone, Copy)]
pub(crate) struct Heard {
    pub(crate) at: Timestamp,
    pub(crate) has_answered: bool,
}

impl Heard {
    pub(crate) fn is_fresh(self, now: Timestamp) -> bool {
        now.since(self.at) < if self.has_answered { FRESH_FOR } else { SILENT_FOR }
    }
}
