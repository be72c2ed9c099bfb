//! What [`Config`](crate::Config) is made of, and why one cannot be obeyed.

pub use crate::state::speaker_list::AGENTS_MAX;
pub use crate::values::config::{
    BudgetRules, Ceiling, Ceilings, ConfigError, Confirmation, Deadlines, DiscussionRules,
    HumanInterrupt, InterruptPolicy, MemberRules, MentionRule, OrderRules, PeopleRules,
    TriggerCleanup, WakeRule,
};
