//! The values that go into the machine and come out of it: inputs, effects, settings. No state.

pub(crate) mod config;
pub(crate) mod deadline;
pub(crate) mod effect;
pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod mode;
pub(crate) mod refusal;
pub(crate) mod time;
pub(crate) mod transition;
pub(crate) mod verdict;
