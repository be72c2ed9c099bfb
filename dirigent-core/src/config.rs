//! What [`Config`](crate::Config) is made of, and why one cannot be obeyed.

pub use crate::state::speaker_list::AGENTS_MAX;
pub use crate::values::config::{
    ConfigError, HumanInterrupt, InterruptPolicy, MentionRule, TriggerCleanup, WakeRule,
};
