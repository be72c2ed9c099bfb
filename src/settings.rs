//! The settings that you can choose. The rules themselves are in [`Config`](crate::Config), and [`Settings`] says how
//! they are carried out.

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

/// Settings, in groups, of how decisions are carried out. The rules themselves are in [`Config`](crate::Config).
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
    /// The texts of all the moderator's messages.
    pub texts: Texts,
    /// The meaning of texts: silence, the end of a turn, stop words.
    pub reading: ReadingRules,
    /// Calls of agents, and when an agent counts as away.
    pub hooks: Hooks,
    /// Limits on amounts, and on work at the same time.
    pub limits: LimitRules,
    /// Limits on waits, and on how far back messages are read.
    pub time_limits: TimeLimits,
    /// If `true`, a hosted agent's account shows that it is typing while the agent runs. The default is `false`.
    pub typing: bool,
    /// If `true`, a thread that was never given a mode takes over its parent's mode, chat or report. This happens when
    /// someone writes in the thread, or wrote there in the last hour while the gateway or the process was away. The
    /// default is `false`, so that each thread stands alone.
    pub inherit_parent_mode: bool,
}

impl Settings {
    /// The age limit for the newest message of a thread without a mode, if people wrote it while the gateway or the
    /// process was away. Up to this age the thread takes over its parent's mode
    /// ([`inherit_parent_mode`](Self::inherit_parent_mode)). It is an hour.
    pub const MISSED_IN_THREAD: Duration = Duration::from_secs(60 * 60);

    /// Changes the settings and returns them. You need it because outside of this crate you cannot write `Settings`
    /// with `..`.
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

    /// Settings that follow the original specification literally. They have no stop word, no resume word and no limit
    /// on the channels that agents create, and only the bare `NO_REPLY` counts as silence.
    ///
    /// A setting that the specification leaves out has its default. Posts keep their pace, because Discord refuses them
    /// otherwise. A reply has at most ten messages, because otherwise one agent could fill the channel. Messages that
    /// were missed in a gap are read, because people wait for an answer to them.
    pub fn seed_literal() -> Self {
        let mut settings = Self::default();
        settings.reading.silence = SilencePolicy::Strict;
        settings.reading.stop_words.clear();
        settings.reading.resume_words.clear();
        settings.reading.skip_repetitions = false;
        settings.limits.creations = None;
        settings
    }

    /// Settings of the message flow, with its signal. The signal is removed from what is posted.
    pub fn message_flow() -> Self {
        let mut settings = Self::default();
        settings.reading.completion = CompletionPolicy::Signal(Signal::default());
        settings
    }
}
