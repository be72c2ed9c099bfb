//! The state of a channel's turns as a value. [`Status`](crate::operate::Status) shows a part of it, and a store keeps
//! it.

#[doc(no_inline)]
pub use dirigent_core::snapshot::RestoreError;
#[doc(no_inline)]
pub use dirigent_core::view::{AgentState, Budget, Pause, Seat, SeatTurn};
#[doc(no_inline)]
pub use dirigent_core::{AgentKey, Deadline, DeadlineReason, PhaseKind, Snapshot, TurnState};
