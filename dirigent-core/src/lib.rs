//! Who may speak now? The turn machine of Dirigent, as a value.
#![no_std]

extern crate alloc;

mod audit;
mod channel;
mod config;
mod deadline;
mod debts;
mod delivery;
mod effect;
mod id;
mod input;
mod limits;
mod mode;
mod refusal;
mod reply;
mod rng;
mod seen;
mod snapshot;
mod speaker_list;
mod tail;
mod time;
mod transition;
mod verdict;
mod view;

pub use audit::Breach;
pub use channel::{AGENTS_MAX, Archived, Channel, Litter, Permit, PermitRun, Refresh};
pub use config::{Config, ConfigError, InterruptPolicy, TriggerCleanup};
pub use deadline::{Deadline, DeadlineReason};
pub use debts::Debt;
pub use delivery::Piece;
pub use effect::{Effect, IDLE_REMINDER, Notice, ReminderPlace};
pub use id::{AgentKey, MessageId, RunId, Ticket, TurnId};
pub use input::{Author, Creation, Input, Message, MessageKind, Outcome, Settlement, WakeCause};
pub use mode::{Mode, TurnState, UnknownMode};
pub use refusal::Refusal;
pub use reply::SilencePolicy;
pub use seen::RunFate;
pub use snapshot::{DeliveryData, PhaseData, RestoreError, Snapshot};
pub use speaker_list::Slot;
pub use tail::Tail;
pub use time::Timestamp;
pub use transition::{Cause, PhaseKind, Transition};
pub use verdict::{Answer, Reason, Verdict};
pub use view::{Rest, Seat, SeatTurn, View};
