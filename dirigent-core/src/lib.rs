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
mod completion;
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
mod steering;
mod tail;
mod time;
mod transition;
mod verdict;
mod view;

pub use audit::Breach;
pub use channel::{AGENTS_MAX, Archived, Channel, Litter, Permit, PermitRun, Refresh};
pub use completion::{CompletionPolicy, HumanMarker, Reading, Signal};
pub use config::{Config, ConfigError, HumanInterrupt, InterruptPolicy, TriggerCleanup, WakeRule};
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
pub use steering::{Away, Budget, Outage, Rested, Span, SpokenTurn, Steering, TurnTerms, Waiting};
pub use tail::Tail;
pub use time::Timestamp;
pub use transition::{Cause, PhaseKind, Transition};
pub use verdict::{Answer, Reason, Verdict};
pub use view::{AgentState, PendingReply, Rest, Seat, SeatTurn, View};
