//! Recordings of what happened. A recording contains the inputs of the machine, so that you can repeat each of its
//! decisions. A trace shows them to people.

pub(crate) mod recorder;
pub(crate) mod trace;

#[doc(no_inline)]
pub use dirigent_core::Input;
pub use recorder::{RecordedChannel, Recorder, Recording, ReplayedStep};
pub use trace::{Trace, TraceEntry, TraceEvent};
