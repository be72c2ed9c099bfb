//! The rules for texts: when a reply is silence, when it completes its turn, and the default words of a reminder.

pub(crate) mod completion;
pub(crate) mod reply;

pub use crate::values::effect::IDLE_REMINDER;
pub use completion::{CompletionPolicy, HumanMarker, Reading, Signal};
pub use reply::SilencePolicy;
