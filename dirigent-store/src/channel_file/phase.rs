//! Where a channel stands, as it stands in a file.

use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, PhaseData, RunId, Ticket};
use serde::{Deserialize, Serialize};

use super::scalar::{Id, Millis};

/// The phase with its details.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum PhaseFile {
    Disabled,
    Dead,
    Archived,
    Dormant,
    RefreshingBoundary,
    RefreshingWake {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u32>,
    },
    Granted {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
        attempt: u8,
    },
    Running {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
        receipt: bool,
    },
    Confirming {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Id>,
        since: Millis,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        poll: Option<u64>,
        poll_next: Millis,
        poll_interval: Duration,
    },
    RefreshingWakeAfter {
        sender: u32,
    },
    Continuing {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
    },
    Waiting {
        agent: u32,
    },
    Delivering {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Id>,
        receipt: bool,
    },
    Unknown {
        failures: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask_at: Option<Millis>,
    },
}

impl From<&PhaseData> for PhaseFile {
    fn from(phase: &PhaseData) -> Self {
        let id = |message: MessageId| Id(message.get());
        let run_id = |run: RunId| Id(run.get());
        match *phase {
            PhaseData::Disabled => Self::Disabled,
            PhaseData::Dead => Self::Dead,
            PhaseData::Archived => Self::Archived,
            PhaseData::Dormant => Self::Dormant,
            PhaseData::RefreshingBoundary => Self::RefreshingBoundary,
            PhaseData::RefreshingWake { first } => {
                Self::RefreshingWake { first: first.map(AgentKey::get) }
            }
            PhaseData::RefreshingWakeAfter { sender } => {
                Self::RefreshingWakeAfter { sender: sender.get() }
            }
            PhaseData::Continuing { agent, until } => {
                Self::Continuing { agent: agent.get(), until: until.map(Millis) }
            }
            PhaseData::Waiting { agent } => Self::Waiting { agent: agent.get() },
            PhaseData::Delivering { agent, run, anchor, receipt } => Self::Delivering {
                agent: agent.get(),
                run: run.map(run_id),
                anchor: anchor.map(id),
                receipt,
            },
            PhaseData::Unknown { failures, ask_at } => {
                Self::Unknown { failures, ask_at: ask_at.map(Millis) }
            }
            PhaseData::Granted { agent, until, attempt } => {
                Self::Granted { agent: agent.get(), until: until.map(Millis), attempt }
            }
            PhaseData::Running { agent, run, anchor, until, receipt } => Self::Running {
                agent: agent.get(),
                run: run.map(run_id),
                anchor: anchor.map(id),
                until: until.map(Millis),
                receipt,
            },
            PhaseData::Confirming { agent, run, anchor, since, poll, poll_next, poll_interval } => {
                Self::Confirming {
                    agent: agent.get(),
                    run: run.map(run_id),
                    anchor: anchor.map(id),
                    since: Millis(since),
                    poll: poll.map(Ticket::get),
                    poll_next: Millis(poll_next),
                    poll_interval,
                }
            }
        }
    }
}

impl From<PhaseFile> for PhaseData {
    fn from(file: PhaseFile) -> Self {
        let message = |id: Id| MessageId::new(id.0);
        let run_of = |id: Id| RunId::new(id.0);
        match file {
            PhaseFile::Disabled => Self::Disabled,
            PhaseFile::Dead => Self::Dead,
            PhaseFile::Archived => Self::Archived,
            PhaseFile::Dormant => Self::Dormant,
            PhaseFile::RefreshingBoundary => Self::RefreshingBoundary,
            PhaseFile::RefreshingWake { first } => {
                Self::RefreshingWake { first: first.map(AgentKey::new) }
            }
            PhaseFile::RefreshingWakeAfter { sender } => {
                Self::RefreshingWakeAfter { sender: AgentKey::new(sender) }
            }
            PhaseFile::Continuing { agent, until } => {
                Self::Continuing { agent: AgentKey::new(agent), until: until.map(|until| until.0) }
            }
            PhaseFile::Waiting { agent } => Self::Waiting { agent: AgentKey::new(agent) },
            PhaseFile::Delivering { agent, run, anchor, receipt } => Self::Delivering {
                agent: AgentKey::new(agent),
                run: run.map(run_of),
                anchor: anchor.map(message),
                receipt,
            },
            PhaseFile::Unknown { failures, ask_at } => {
                Self::Unknown { failures, ask_at: ask_at.map(|at| at.0) }
            }
            PhaseFile::Granted { agent, until, attempt } => Self::Granted {
                agent: AgentKey::new(agent),
                until: until.map(|until| until.0),
                attempt,
            },
            PhaseFile::Running { agent, run, anchor, until, receipt } => Self::Running {
                agent: AgentKey::new(agent),
                run: run.map(run_of),
                anchor: anchor.map(message),
                until: until.map(|until| until.0),
                receipt,
            },
            PhaseFile::Confirming { agent, run, anchor, since, poll, poll_next, poll_interval } => {
                Self::Confirming {
                    agent: AgentKey::new(agent),
                    run: run.map(run_of),
                    anchor: anchor.map(message),
                    since: since.0,
                    poll: poll.map(Ticket::new),
                    poll_next: poll_next.0,
                    poll_interval,
                }
            }
        }
    }
}
