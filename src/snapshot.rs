//! The state of a channel's turns as a value: what [`Status`](crate::operate::Status) shows of it, and what a store keeps.

pub use dirigent_core::{
    AgentKey, AgentState, Deadline, DeadlineReason, Pause, PhaseKind, RestoreError, Seat, SeatTurn,
    Snapshot, Timestamp, TurnState,
};
