//! Decides who may speak next in one channel: the turn machine of Dirigent, as a value.
//!
//! | You want to | Start here |
//! | --- | --- |
//! | run a channel yourself: your own loop, clock and chat | [`TurnMachine::handle`], [`Input`], [`Effect`] |
//! | ask whether an agent may speak, and why not | [`Input::Gate`], [`Answer`], [`Verdict`], [`Reason`] |
//! | set what the rules leave open | [`Config`], [`config`] |
//! | show a channel | [`TurnMachine::view`], [`view`] |
//! | keep a channel and bring it back | [`TurnMachine::snapshot`], [`TurnMachine::restore`], [`snapshot`] |
//! | tell silence from a reply, and a reply's end | [`text`] |
//!
//! You tell a [`TurnMachine`] what happened and when, and it writes down what you must do. It has no clock, no I/O, no
//! dependency and no feature, so you can run it anywhere, for example in a test that steps through a whole evening. The
//! loop around it is always the same:
//!
//! ```
//! use dirigent_core::{AgentKey, TurnMachine, Config, Effect, Input, Mode, Settlement, Timestamp};
//!
//! let mut channel = TurnMachine::new(Config::default().into(), 42);
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
pub mod config;
mod machine;
pub mod snapshot;
mod state;
pub mod text;
mod turn_machine;
mod values;
pub mod view;

pub use snapshot::Snapshot;
pub use turn_machine::TurnMachine;
pub use values::config::Config;
pub use values::deadline::{Deadline, DeadlineReason};
pub use values::effect::{Effect, Notice, ReminderPlace};
pub use values::id::{AgentKey, MessageId, RunId, Ticket, TurnId};
pub use values::input::{
    Author, Creation, Input, Message, MessageKind, Outcome, Settlement, WakeCause,
};
pub use values::mode::{Mode, TurnState, UnknownMode};
pub use values::refusal::Refusal;
pub use values::tail::Tail;
pub use values::time::Timestamp;
pub use values::transition::{Cause, PhaseKind, Transition};
pub use values::verdict::{Answer, Reason, Verdict};
pub use view::View;

/// Runs the code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
