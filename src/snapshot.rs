//! The state of a channel's turns as a value: what [`Status`](crate::operate::Status) shows of it, and what a store keeps.

#[doc(no_inline)]
pub use dirigent_core::snapshot::RestoreError;
#[doc(no_inline)]
pub use dirigent_core::view::{AgentState, Budget, Pause, Seat, SeatTurn};
#[doc(no_inline)]
pub use dirigent_core::{AgentKey, Deadline, DeadlineReason, PhaseKind, Snapshot, TurnState};
