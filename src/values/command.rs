//! The slash commands of people: their names, who may use them, and their answers.

use std::time::Duration;

use dirigent_core::Mode;
use serde::{Deserialize, Serialize};

use crate::values::id::GuildId;

const ADMINISTRATOR: u64 = 1 << 3;
const MANAGE_CHANNELS: u64 = 1 << 4;
const SEND_MESSAGES: u64 = 1 << 11;
const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

/// A slash command.
///
/// ```
/// use dirigent::command::SlashCommand;
/// let names = SlashCommand::ALL.map(SlashCommand::name);
/// assert_eq!(names, ["set-channel-mode", "stop", "resume", "status", "why", "next"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SlashCommand {
    /// Sets how agents take turns in the channel.
    SetChannelMode,
    /// Stops all agents of the channel until it is resumed.
    Stop,
    /// Ends a stop or a hold.
    Resume,
    /// Shows the status of the channel: its mode, the agent that has the floor, and the agents that follow.
    Status,
    /// Explains why an agent may or may not speak now. It explains the agent that the person names, or each agent that
    /// takes turns here.
    Why,
    /// Chooses the agent that speaks next.
    Next,
}

/// The option of a command. A command has at most one.
///
/// ```
/// use dirigent::command::{OptionKind, SlashCommand};
///
/// let option = SlashCommand::Next.option().unwrap();
/// assert_eq!((option.name, option.kind, option.is_required), ("agent", OptionKind::Agent, true));
/// assert_eq!(SlashCommand::Stop.option(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CommandOption {
    /// The name of the option.
    pub name: &'static str,
    /// The description for people, at most 100 characters.
    pub description: &'static str,
    /// The kind of value.
    pub kind: OptionKind,
    /// `true` if the command needs the option.
    pub is_required: bool,
}

/// The kinds of values of an option.
///
/// ```
/// use dirigent::command::OptionKind;
/// assert_ne!(OptionKind::Mode, OptionKind::Agent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionKind {
    /// One of [`SlashCommand::MODES`], as its word.
    Mode,
    /// An agent: the id of its account, its mention, its id in the registry, or its name.
    Agent,
}

impl SlashCommand {
    /// The modes that a person can choose.
    pub const MODES: [Mode; 3] = [Mode::None, Mode::Chat, Mode::Report];
    /// `false`, because the commands are not offered in direct messages.
    pub const IN_DIRECT_MESSAGES: bool = false;
    /// `true`, because only the person who asked sees the answer.
    pub const EPHEMERAL: bool = true;
    /// The time to wait for an answer if it cannot be given later. Discord waits three seconds for it, and the way
    /// there and back takes a part of that.
    pub const ANSWER_WITHIN: Duration = Duration::from_secs(2);
    /// The longest time of `/stop` and `/resume`, whatever the store does.
    pub const PAUSE_WITHIN: Duration = Duration::from_secs(1);
    /// All commands.
    pub const ALL: [Self; 6] =
        [Self::SetChannelMode, Self::Stop, Self::Resume, Self::Status, Self::Why, Self::Next];

    /// Returns the command with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Returns the name, without the slash.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SetChannelMode => "set-channel-mode",
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::Status => "status",
            Self::Why => "why",
            Self::Next => "next",
        }
    }

    /// Returns the option, if the command has one.
    pub const fn option(self) -> Option<CommandOption> {
        let (name, kind) = ("agent", OptionKind::Agent);
        match self {
            Self::SetChannelMode => Some(CommandOption {
                name: "mode",
                description: "none: no rules; chat: one after the other; report: no agent is woken",
                kind: OptionKind::Mode,
                is_required: true,
            }),
            Self::Why => Some(CommandOption {
                name,
                description: "Which agent; all that take turns here unless one is named",
                kind,
                is_required: false,
            }),
            Self::Next => {
                let description = "Which agent is to speak next";
                Some(CommandOption { name, description, kind, is_required: true })
            }
            Self::Stop | Self::Resume | Self::Status => None,
        }
    }

    /// Returns the description for people, at most 100 characters.
    pub const fn description(self) -> &'static str {
        match self {
            Self::SetChannelMode => "Sets how agents take turns in this channel",
            Self::Stop => "Stops the agents in this channel until it is resumed",
            Self::Resume => "Lets the agents in this channel take turns again",
            Self::Status => "Shows whose turn it is in this channel, and who follows",
            Self::Why => "Says why an agent may or may not speak now",
            Self::Next => "Chooses which agent speaks next",
        }
    }

    /// Returns Discord's permission bits that a person needs, unless the guild changes them. To set a mode, a person
    /// needs the right to manage channels. The other commands need only the right to write, like the stop word.
    pub const fn default_permissions(self) -> u64 {
        match self {
            Self::SetChannelMode => MANAGE_CHANNELS,
            Self::Stop | Self::Resume | Self::Status | Self::Why | Self::Next => SEND_MESSAGES,
        }
    }
}

/// The person who uses a command, as the chat describes them.
///
/// ```
/// use dirigent::ports::GuildId;
/// use dirigent::command::{Invoker, SlashCommand};
///
/// let guild = Some(GuildId::new(7));
/// assert!(Invoker { guild, permissions: SlashCommand::SetChannelMode.default_permissions(), host_word: None }.is_allowed());
/// assert!(!Invoker { guild, permissions: 0, host_word: None }.is_allowed());
/// assert!(Invoker { guild, permissions: 0, host_word: Some(true) }.is_allowed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct Invoker {
    /// The guild of the channel. `None` in a direct message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild: Option<GuildId>,
    /// The person's permissions in the channel, as Discord's bits.
    pub permissions: u64,
    /// The host's decision, if the host decides itself who may use the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_word: Option<bool>,
}

impl Invoker {
    /// Returns whether the person may change a channel's mode.
    pub fn is_allowed(self) -> bool {
        let may_manage = self.permissions & (MANAGE_CHANNELS | ADMINISTRATOR) != 0;
        self.host_word.unwrap_or(may_manage)
    }

    /// Returns whether the person may stop and resume a channel. A person who may write there may, and so may a person
    /// who manages the channel.
    ///
    /// ```
    /// use dirigent::ports::GuildId;
    /// use dirigent::command::{Invoker, SlashCommand};
    ///
    /// let permissions = SlashCommand::Stop.default_permissions();
    /// let writer = Invoker { guild: Some(GuildId::new(7)), permissions, host_word: None };
    /// assert!(writer.may_pause() && !writer.is_allowed());
    /// ```
    pub fn may_pause(self) -> bool {
        const WRITES: u64 = SEND_MESSAGES | SEND_MESSAGES_IN_THREADS;
        let may_write = self.permissions & (WRITES | MANAGE_CHANNELS | ADMINISTRATOR) != 0;
        self.host_word.unwrap_or(may_write)
    }
}

/// The answer to the person who used the command.
///
/// ```
/// use dirigent::command::CommandAnswer;
/// let answer = CommandAnswer { text: "The mode is now chat.".to_owned(), changed: true };
/// assert!(answer.changed);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts pass on")]
pub struct CommandAnswer {
    /// The text of the answer.
    pub text: String,
    /// `true` if the command changed the channel, and the change is stored durably.
    pub changed: bool,
}

impl CommandAnswer {
    pub(crate) fn unchanged(text: impl Into<String>) -> Self {
        Self { text: text.into(), changed: false }
    }
}
