//! The handlers that change the state, one file for each topic. A handler borrows the fields that its topic changes,
//! and [`Out`](out::Out). If its decision ends the turn, it returns that to the [`Step`](step::Step), which applies it.
//!
//! `#[inline]` marks the functions of a plain turn. The compiler splits the crate by files, and without the mark a full
//! turn takes a tenth more instructions.

pub(crate) mod attendance;
pub(crate) mod caller;
pub(crate) mod deadlines;
pub(crate) mod ending;
pub(crate) mod gate;
pub(crate) mod hearing;
pub(crate) mod inputs;
pub(crate) mod interruption;
pub(crate) mod listing;
pub(crate) mod look;
pub(crate) mod members;
pub(crate) mod next_speaker;
pub(crate) mod operator;
pub(crate) mod out;
pub(crate) mod outage;
pub(crate) mod permits;
pub(crate) mod reminding;
pub(crate) mod rotation;
pub(crate) mod runs;
pub(crate) mod step;
pub(crate) mod writing;
