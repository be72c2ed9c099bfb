//! The groups of rules in [`Config`](crate::Config), and the error for a rule that cannot be obeyed.

pub use crate::state::speaker_list::AGENTS_MAX;
pub use crate::values::config::{
    BudgetRules, Ceiling, Ceilings, ConfigError, Confirmation, Deadlines, DiscussionRules,
    HumanInterrupt, InterruptPolicy, MemberRules, MentionRule, OrderRules, PeopleRules,
    TriggerCleanup, WakeRule,
};
