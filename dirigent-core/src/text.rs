//! What the machine knows of texts: their ends, when a reply is silence, and what completes a turn.

pub(crate) mod completion;
pub(crate) mod reply;
pub(crate) mod tail;
