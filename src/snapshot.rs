//! The state of a channel's turns as a value: what [`Status`](crate::operate::Status) shows of it, and what a store keeps.

pub use dirigent_core::snapshot::RestoreError;
pub use dirigent_core::view::{AgentState, Budget, Pause, Seat, SeatTurn};
pub use dirigent_core::{AgentKey, Deadline, DeadlineReason, PhaseKind, Snapshot, TurnState};
