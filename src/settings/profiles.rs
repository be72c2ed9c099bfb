//! Whole sets of rules to choose from, and the JSON form of one of them, the message flow.

use std::time::Duration;

use dirigent_core::Config;
use dirigent_core::config::{ConfigError, HumanInterrupt};
use serde::{Deserialize, Serialize};

use super::Texts;
use crate::Settings;

/// A set of rules that belong together. Written `dirigent`, `seed_literal` or `message_flow`.
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
    /// The specification that this library began with, to the letter, without safety nets and stop words: see
    /// [`Config::seed_literal`] and [`Settings::seed_literal`].
    SeedLiteral,
    /// The message flow: a turn lasts until its signal, sixty seconds at most, and what
    /// happens to it is announced: see [`Config::message_flow`].
    MessageFlow,
}

impl Profile {
    /// The rules, and how they are carried out.
    pub fn rules(self) -> (Config, Settings) {
        match self {
            Self::Dirigent => (Config::default(), Settings::default()),
            Self::SeedLiteral => (Config::seed_literal(), Settings::seed_literal()),
            Self::MessageFlow => (Config::message_flow(), Settings::message_flow()),
        }
    }
}

/// The configuration of the message flow, as JSON. Every key may be left out.
/// Beside `turnBehavior` there may be keys of other programs, which share the file; inside of it an
/// unknown key is refused, since a misspelt deadline would be none.
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
    /// What becomes of a turn.
    pub turn_behavior: TurnBehavior,
}

/// The part of [`FlowConfig`] that is about turns.
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
    /// How long a turn may last, in seconds; at least 1.
    pub timeout_seconds: u32,
    /// Whether a notice in the channel says that a turn took longer.
    pub announce_timeouts: bool,
    /// The words of that notice; `{agent}` is the agent's name.
    pub timeout_message: String,
    /// What a person's message does to a turn under way: the message flow of other
    /// programs has no such key.
    pub human_interrupt: InterruptMode,
}

/// What a person's message does to a turn under way, as it is written in JSON: `inject`, `queue` or
/// `interrupt`.
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
    /// It is handed to the speaker at once.
    #[default]
    Inject,
    /// It is held until the turn ends.
    Queue,
    /// The turn waits until the orchestrator has answered it.
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
    /// The rules of [`Profile::MessageFlow`] with these choices.
    ///
    /// # Errors
    ///
    /// A value that cannot be obeyed.
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
