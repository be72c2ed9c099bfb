//! Where a channel stands, as it stands in a file.

use std::time::Duration;

use dirigent_core::snapshot::PhaseData;
use dirigent_core::{AgentKey, MessageId, RunId, Ticket, Timestamp};

use crate::record::form::enums;

enums! {
    enum PhaseFile for PhaseData {
        Disabled,
        Dead,
        Archived,
        Dormant,
        RefreshingBoundary,
        RefreshingWake { [opt] first: Option<AgentKey>, },
        Granted { agent: AgentKey, [opt] until: Option<Timestamp>, attempt: u8, },
        Running {
            agent: AgentKey,
            [opt] run: Option<RunId>,
            [opt] anchor: Option<MessageId>,
            [opt] until: Option<Timestamp>,
            receipt: bool,
        },
        Confirming {
            agent: AgentKey,
            [opt] run: Option<RunId>,
            [opt] anchor: Option<MessageId>,
            since: Timestamp,
            [opt] poll: Option<Ticket>,
            poll_next: Timestamp,
            poll_interval: Duration,
        },
        RefreshingWakeAfter { sender: AgentKey, },
        Continuing { agent: AgentKey, [opt] until: Option<Timestamp>, },
        Waiting { agent: AgentKey, },
        Delivering {
            agent: AgentKey,
            [opt] run: Option<RunId>,
            [opt] anchor: Option<MessageId>,
            receipt: bool,
        },
        Unknown { failures: u8, [opt] ask_at: Option<Timestamp>, },
    }
}
