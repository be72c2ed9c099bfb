//! The vocabulary of the machine: inputs, effects, answers, refusals, settings and time. It holds no state, because
//! every other folder builds on it.

pub(crate) mod config;
pub(crate) mod deadline;
pub(crate) mod effect;
pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod mode;
pub(crate) mod refusal;
pub(crate) mod tail;
pub(crate) mod time;
pub(crate) mod transition;
pub(crate) mod verdict;
