//! What a host may choose: the rules themselves are in [`Config`](crate::Config), how they are carried out in
//! [`Settings`].

pub(crate) mod hooks;
mod identity_line;
pub(crate) mod limits;
pub(crate) mod observed;
pub mod profiles;
pub(crate) mod reading;
mod rules;
pub(crate) mod texts;
mod words;
mod written;

use std::time::Duration;

#[doc(hidden)] // hosts leave it as it is
pub use dirigent_core::config::MemberRules;
#[doc(no_inline)]
pub use dirigent_core::config::{
    BudgetRules, Ceiling, Ceilings, ConfigError, Confirmation, Deadlines, DiscussionRules,
    HumanInterrupt, InterruptPolicy, MentionRule, OrderRules, PeopleRules, TriggerCleanup,
    WakeRule,
};
use dirigent_core::text::Signal;
#[doc(no_inline)]
pub use dirigent_core::text::{CompletionPolicy, HumanMarker, SilencePolicy};

pub use hooks::{Heartbeat, Hooks, LostRuns};
pub use identity_line::{IdentityLine, UnknownField};
pub use limits::{LimitRules, Pace, Pacing, TimeLimits};
pub use observed::ObservedBot;
pub use reading::ReadingRules;
pub use rules::Rules;
#[doc(hidden)] // for the stores of this workspace
pub use rules::config as config_form;
pub use texts::Texts;

/// How decisions are carried out, in groups; the rules themselves are in [`Config`](crate::Config).
///
/// ```
/// use dirigent::Settings;
///
/// let mut settings = Settings::default();
/// settings.texts.trigger_template = "<@{discordUserId}> your turn".to_owned();
/// assert_eq!(settings.texts.trigger_identifier, "➡️");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The words of everything that the moderator says.
    pub texts: Texts,
    /// What a text means: silence, the end of a turn, stop words.
    pub reading: ReadingRules,
    /// How agents are called, and when one counts as away.
    pub hooks: Hooks,
    /// How much, and how many at once.
    pub limits: LimitRules,
    /// How long is waited, and how far is looked back.
    pub time_limits: TimeLimits,
    /// Whether a hosted agent's account shows that it is typing while the agent runs. Default: no.
    pub typing: bool,
    /// Whether a thread that was never given a mode takes over that of its parent, chat or report,
    /// when something is said in it, or was said in the last hour while the gateway or the process was away. Default: no, each
    /// stands alone.
    pub inherit_parent_mode: bool,
}

impl Settings {
    /// How old the newest message of a thread without a mode may be that was said while the gateway or the process was away, so that
    /// the thread takes over its parent's mode ([`inherit_parent_mode`](Self::inherit_parent_mode)): an hour.
    pub const MISSED_IN_THREAD: Duration = Duration::from_secs(60 * 60);

    /// The same with a change: outside this crate `Settings` cannot be written with `..`.
    ///
    /// ```
    /// let settings = dirigent::Settings::default().with(|settings| settings.limits.reply_parts_max = 3);
    /// assert_eq!(settings.limits.reply_parts_max, 3);
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Carries decisions out as the specification describes it that this library began with, which knows no stop word, no resume word and
    /// no limit on the channels that agents create, and takes only the bare word for silence. Where it says nothing it is as by default: posts keep
    /// their pace, since Discord refuses them otherwise; a reply is ten messages at most, since one agent would
    /// fill the channel; what was missed in a gap is read, since people would wait for an answer.
    pub fn seed_literal() -> Self {
        let mut settings = Self::default();
        settings.reading.silence = SilencePolicy::Strict;
        settings.reading.stop_words.clear();
        settings.reading.resume_words.clear();
        settings.reading.skip_repetitions = false;
        settings.limits.creations = None;
        settings
    }

    /// How the message flow carries decisions out: with its signal, which is taken off.
    pub fn message_flow() -> Self {
        let mut settings = Self::default();
        settings.reading.completion = CompletionPolicy::Signal(Signal::default());
        settings
    }
}
