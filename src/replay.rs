//! What happened, recorded: inputs of the machine enter, and a recording or a trace leaves, with which each decision
//! can be made again and looked at.

pub(crate) mod recorder;
pub(crate) mod trace;

#[doc(no_inline)]
pub use dirigent_core::Input;
pub use recorder::{RecordedChannel, Recorder, Recording, ReplayedStep};
pub use trace::{Trace, TraceEntry, TraceEvent};
