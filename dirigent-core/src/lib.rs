//! Who may speak now? The turn machine of Dirigent, as a value.
//!
//! A [`Channel`] is given what happened, with its time, and writes down what is to be done. It has
//! no clock, no I/O, no dependency and no feature. The loop around it is always the same:
//!
//! ```
//! use dirigent_core::{AgentKey, Channel, Config, Effect, Input, Mode, Settlement, Timestamp};
//!
//! let mut channel = Channel::new(Config::default().into(), 42);
//! let mut effects = Vec::new();
//! let mut waiting = vec![Input::SetMode(Mode::Chat)];
//! let mut now = Timestamp::from_millis(0);
//! while let Some(input) = waiting.pop() {
//!     // A refusal means that the input changed nothing; what is due has expired all the same.
//!     let _answer = channel.handle(now, &input, &mut effects);
//!     // Here a host stores the channel, if its revision has risen. Then:
//!     for effect in effects.drain(..) {
//!         match (effect, effect.ticket()) {
//!             (Effect::FetchMembers { ticket }, _) => {
//!                 let agents = vec![AgentKey::new(1), AgentKey::new(2)];
//!                 waiting.push(Input::Members { ticket, agents });
//!             }
//!             (Effect::Transition(change), _) => println!("{}", change.cause.as_str()),
//!             // Post, delete, poll, ...; then say what became of it.
//!             (_, Some(ticket)) => {
//!                 let settlement = Settlement::Done { message: None };
//!                 waiting.push(Input::Settled { ticket, settlement });
//!             }
//!             (_, None) => {}
//!         }
//!     }
//!     // Sleep until something happens, or the next deadline; then `Input::Tick`.
//!     now = channel.next_deadline().map_or(now, |deadline| deadline.at.min(now));
//! }
//! assert_eq!(channel.view().list().len(), 2);
//! ```
#![no_std]

extern crate alloc;

mod audit;
mod channel;
mod machine;
mod snapshot;
mod state;
mod text;
mod values;
mod view;

pub use audit::Breach;
pub use channel::Channel;
pub use snapshot::{DeliveryData, PhaseData, RestoreError, Snapshot, Steering};
pub use state::attendance::Away;
pub use state::budget::Budget;
pub use state::delivery::Piece;
pub use state::floor::TurnTerms;
pub use state::hourly::SpokenTurn;
pub use state::interruption::{Rested, Waiting};
pub use state::outage::Outage;
pub use state::pending::{PendingEffect, StaleTrigger};
pub use state::queue::Span;
pub use state::reminders::{Permit, PermitRun};
pub use state::roster::Refresh;
pub use state::seen::RunFate;
pub use state::speaker_list::{AGENTS_MAX, SeatTurn, Slot};
pub use state::standing::{Archived, Pause};
pub use text::completion::{CompletionPolicy, HumanMarker, Reading, Signal};
pub use text::reply::SilencePolicy;
pub use text::tail::Tail;
pub use values::config::{
    Config, ConfigError, HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule,
};
pub use values::deadline::{Deadline, DeadlineReason};
pub use values::effect::{Effect, IDLE_REMINDER, Notice, ReminderPlace};
pub use values::id::{AgentKey, MessageId, RunId, Ticket, TurnId};
pub use values::input::{
    Author, Creation, Input, Message, MessageKind, Outcome, Settlement, WakeCause,
};
pub use values::mode::{Mode, TurnState, UnknownMode};
pub use values::refusal::Refusal;
pub use values::time::Timestamp;
pub use values::transition::{Cause, PhaseKind, Transition};
pub use values::verdict::{Answer, Reason, Verdict};
pub use view::{AgentState, PendingReply, Seat, View};
