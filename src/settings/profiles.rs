//! Complete sets of rules to choose from, and the JSON form of one of them, the message flow.

use std::time::Duration;

use dirigent_core::Config;
use dirigent_core::config::{ConfigError, HumanInterrupt};
use serde::{Deserialize, Serialize};

use super::Texts;
use crate::Settings;

/// A set of rules that belong together. Its written form is `dirigent`, `seed_literal` or `message_flow`.
///
/// ```
/// use dirigent::settings::profiles::Profile;
///
/// let profile: Profile = serde_json::from_str("\"message_flow\"")?;
/// let (config, settings) = profile.rules();
/// assert!(config.announce_timeouts);
/// assert!(settings.texts.timeout_notice.starts_with("⏱️ {agent}"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Profile {
    /// The default rules: [`Config::default`] and [`Settings::default`].
    #[default]
    Dirigent,
    /// The original specification, to the letter, without safety nets and stop words. See [`Config::seed_literal`] and
    /// [`Settings::seed_literal`].
    SeedLiteral,
    /// The message flow. A turn lasts until its signal, at most sixty seconds, and notices announce what happens to it.
    /// See [`Config::message_flow`].
    MessageFlow,
}

impl Profile {
    /// Returns the rules, and the settings of how they are carried out.
    pub fn rules(self) -> (Config, Settings) {
        match self {
            Self::Dirigent => (Config::default(), Settings::default()),
            Self::SeedLiteral => (Config::seed_literal(), Settings::seed_literal()),
            Self::MessageFlow => (Config::message_flow(), Settings::message_flow()),
        }
    }
}

/// The configuration of the message flow, as JSON. You may leave out every key. Besides `turnBehavior` there may be
/// keys of other programs that share the file. Inside of it an unknown key is an error, because a misspelt deadline
/// would have no effect.
///
/// ```
/// use dirigent::settings::profiles::FlowConfig;
///
/// let flow: FlowConfig = serde_json::from_str(
///     r#"{ "turnBehavior": { "timeoutSeconds": 90, "announceTimeouts": false } }"#,
/// )?;
/// assert_eq!(flow.turn_behavior.timeout_seconds, 90);
/// let (config, _) = flow.rules()?;
/// assert!(!config.announce_timeouts);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::exhaustive_structs, reason = "the seed's own form")]
pub struct FlowConfig {
    /// The treatment of turns.
    pub turn_behavior: TurnBehavior,
}

/// The part of [`FlowConfig`] about turns.
///
/// ```
/// let behavior = dirigent::settings::profiles::TurnBehavior::default();
/// assert_eq!((behavior.timeout_seconds, behavior.announce_timeouts), (60, true));
/// assert_eq!(behavior.timeout_message, "⏱️ {agent} turn timed out, moving to next agent");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TurnBehavior {
    /// The longest time of a turn, in seconds, at least 1.
    pub timeout_seconds: u32,
    /// If `true`, a notice in the channel says that a turn timed out.
    pub announce_timeouts: bool,
    /// The text of that notice. `{agent}` is the agent's name.
    pub timeout_message: String,
    /// The effect of a person's message on the current turn. The message flow of other programs has no such key.
    pub human_interrupt: InterruptMode,
}

/// The effect of a person's message on the current turn. Its form in JSON is `inject`, `queue` or `interrupt`.
///
/// ```
/// use dirigent::settings::profiles::InterruptMode;
/// assert_eq!(serde_json::to_string(&InterruptMode::Queue)?, "\"queue\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InterruptMode {
    /// The speaker gets the message at once.
    #[default]
    Inject,
    /// The message is held until the turn ends.
    Queue,
    /// The turn waits until the orchestrator has answered the message.
    Interrupt,
}

impl From<InterruptMode> for HumanInterrupt {
    fn from(mode: InterruptMode) -> Self {
        match mode {
            InterruptMode::Inject => Self::Inject,
            InterruptMode::Queue => Self::Queue,
            InterruptMode::Interrupt => Self::Interrupt,
        }
    }
}

impl Default for TurnBehavior {
    fn default() -> Self {
        Self {
            timeout_seconds: 60,
            announce_timeouts: true,
            timeout_message: Texts::TIMEOUT_NOTICE.to_owned(),
            human_interrupt: InterruptMode::Inject,
        }
    }
}

impl FlowConfig {
    /// Returns the rules of [`Profile::MessageFlow`] with these choices.
    ///
    /// # Errors
    ///
    /// Fails if a value cannot work.
    pub fn rules(&self) -> Result<(Config, Settings), ConfigError> {
        let TurnBehavior { timeout_seconds, announce_timeouts, timeout_message, human_interrupt } =
            &self.turn_behavior;
        let (mut config, mut settings) = Profile::MessageFlow.rules();
        config.deadlines.turn = Some(Duration::from_secs((*timeout_seconds).into()));
        config.announce_timeouts = *announce_timeouts;
        config.people.human_interrupt = (*human_interrupt).into();
        settings.texts.timeout_notice.clone_from(timeout_message);
        config.validate()?;
        Ok((config, settings))
    }
}
