//! What happens to the state: one file a topic. A handler borrows the fields that its topic changes,
//! and [`Out`](out::Out); where the turn ends by what it decided, it returns that to the
//! [`Step`](step::Step), which carries it out.
//!
//! `#[inline]` stands on the way of a plain turn: the compiler takes the files apart, and without it a full
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
