//! What happened, recorded: inputs of the machine enter, and a recording or a trace leaves.

pub(crate) mod recorder;
pub(crate) mod trace;
