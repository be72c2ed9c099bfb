//! What the machine knows of texts: their ends, when a reply is silence, what completes a turn, and what a reminder
//! says.

pub(crate) mod completion;
pub(crate) mod reply;

pub use crate::values::effect::IDLE_REMINDER;
pub use completion::{CompletionPolicy, HumanMarker, Reading, Signal};
pub use reply::SilencePolicy;
