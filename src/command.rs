//! What people can do with slash commands: `/set-channel-mode`, `/stop`, `/resume`, `/status`, `/why` and `/next`, but
//! for the way in which a chat carries them.
//!
//! An adapter registers each [`SlashCommand`] with what stands here and gives every use of it to
//! [`Channel::command`]. The answer is meant only for the person who asked ([`EPHEMERAL`]); it comes
//! within three seconds, as Discord wants it, or within that time an answer says that the result will follow. `/stop` and
//! `/resume` are answered within a second.
//!
//! ```
//! use dirigent::command::{CHOICES, NAME, SlashCommand, parse};
//! assert_eq!(NAME, "set-channel-mode");
//! assert!(CHOICES.iter().all(|mode| parse(mode.as_str()) == Ok(*mode)));
//! assert_eq!(SlashCommand::named("stop"), Some(SlashCommand::Stop));
//! ```

use std::time::Duration;

use dirigent_core::{Mode, Refusal};

use crate::values::id::GuildId;
use crate::{CallError, Channel};

mod look;
mod next;
mod pause;

pub use pause::PAUSE_WITHIN;

/// The name of the command that sets a channel's mode.
pub const NAME: &str = "set-channel-mode";
/// What people are told of it.
pub const DESCRIPTION: &str = "Sets how agents take turns in this channel";
/// What may be chosen: exactly these.
pub const CHOICES: [Mode; 3] = [Mode::None, Mode::Chat, Mode::Report];
/// Who may set a channel's mode unless the guild says otherwise: Discord's permission bits, of which it
/// is Manage Channels.
pub const DEFAULT_PERMISSIONS: u64 = MANAGE_CHANNELS;
/// Whether the commands are offered in direct messages.
pub const IN_DIRECT_MESSAGES: bool = false;
/// Whether the answers are shown only to the person who asked.
pub const EPHEMERAL: bool = true;

const ADMINISTRATOR: u64 = 1 << 3;
const MANAGE_CHANNELS: u64 = 1 << 4;
const SEND_MESSAGES: u64 = 1 << 11;
const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

/// A command that people use.
///
/// ```
/// use dirigent::command::SlashCommand;
/// let names = SlashCommand::ALL.map(SlashCommand::name);
/// assert_eq!(names, ["set-channel-mode", "stop", "resume", "status", "why", "next"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SlashCommand {
    /// Sets how agents take turns in the channel.
    SetChannelMode,
    /// Stops all agents of the channel until it is resumed.
    Stop,
    /// Ends a stop or a hold.
    Resume,
    /// Says how the channel stands: its mode, who has the floor, who follows.
    Status,
    /// Says why an agent may or may not speak now: the one that is named, or each one that takes turns here.
    Why,
    /// Chooses which agent speaks next.
    Next,
}

/// The option of a command: each has one at most.
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
    /// Its name.
    pub name: &'static str,
    /// What people are told of it; at most 100 characters.
    pub description: &'static str,
    /// What may be given.
    pub kind: OptionKind,
    /// Whether the command is not carried out without it.
    pub is_required: bool,
}

/// What may be given for an option.
///
/// ```
/// use dirigent::command::OptionKind;
/// assert_ne!(OptionKind::Mode, OptionKind::Agent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionKind {
    /// One of [`CHOICES`], as its word.
    Mode,
    /// An agent: the id of its account, its mention, its id in the registry, or its name.
    Agent,
}

impl SlashCommand {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::SetChannelMode, Self::Stop, Self::Resume, Self::Status, Self::Why, Self::Next];

    /// The command of this name, if it is one of these.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Its name, without the slash.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SetChannelMode => NAME,
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::Status => "status",
            Self::Why => "why",
            Self::Next => "next",
        }
    }

    /// Its option, if it has one.
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

    /// What people are told of it; at most 100 characters.
    pub const fn description(self) -> &'static str {
        match self {
            Self::SetChannelMode => DESCRIPTION,
            Self::Stop => "Stops the agents in this channel until it is resumed",
            Self::Resume => "Lets the agents in this channel take turns again",
            Self::Status => "Shows whose turn it is in this channel, and who follows",
            Self::Why => "Says why an agent may or may not speak now",
            Self::Next => "Chooses which agent speaks next",
        }
    }

    /// Who may use it unless the guild says otherwise: Discord's permission bits. A mode is set by who
    /// may manage channels. The others take only the right to write, as the stop word does.
    pub const fn default_permissions(self) -> u64 {
        match self {
            Self::SetChannelMode => DEFAULT_PERMISSIONS,
            Self::Stop | Self::Resume | Self::Status | Self::Why | Self::Next => SEND_MESSAGES,
        }
    }
}

/// How long to wait for an answer where it cannot be given later: Discord waits three seconds for it, and
/// the way there and back takes some of them.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Who uses the command, as the chat says it.
///
/// ```
/// use dirigent::ports::GuildId;
/// use dirigent::command::{DEFAULT_PERMISSIONS, Invoker};
///
/// let guild = Some(GuildId::new(7));
/// assert!(Invoker { guild, permissions: DEFAULT_PERMISSIONS, host_word: None }.is_allowed());
/// assert!(!Invoker { guild, permissions: 0, host_word: None }.is_allowed());
/// assert!(Invoker { guild, permissions: 0, host_word: Some(true) }.is_allowed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct Invoker {
    /// The guild in which it is used; none in a direct message.
    pub guild: Option<GuildId>,
    /// The invoker's permissions in the channel: Discord's bits.
    pub permissions: u64,
    /// What the host says, where it decides itself who may use the command.
    pub host_word: Option<bool>,
}

impl Invoker {
    /// Whether the invoker may change a channel's mode.
    pub fn is_allowed(self) -> bool {
        let may_manage = self.permissions & (MANAGE_CHANNELS | ADMINISTRATOR) != 0;
        self.host_word.unwrap_or(may_manage)
    }

    /// Whether the invoker may stop and resume a channel: who may write there, and who manages it.
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts pass on")]
pub struct CommandAnswer {
    /// What to answer.
    pub text: String,
    /// Whether the command changed the channel, stored for good.
    pub changed: bool,
}

impl CommandAnswer {
    fn unchanged(text: impl Into<String>) -> Self {
        Self { text: text.into(), changed: false }
    }
}

/// Why a word is not accepted. `Display` is the answer to the person who used the command.
///
/// ```
/// use dirigent::command::{BadMode, parse};
/// assert_eq!(parse("work"), Err(BadMode::CreationOnly));
/// assert_eq!(parse("loud"), Err(BadMode::Unknown));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadMode {
    /// It is no mode.
    #[error("There is no such mode. Choose none, chat or report.")]
    Unknown,
    /// It can only be given when a channel is created.
    #[error(
        "The modes work and discussion are given when a channel is created, by the tools \
         create-work-channel and create-discussion-channel. Choose none, chat or report."
    )]
    CreationOnly,
}

/// Reads the option: exactly `none`, `chat` or `report`.
///
/// # Errors
///
/// [`BadMode`], with the answer to give.
pub fn parse(input: &str) -> Result<Mode, BadMode> {
    match input.parse::<Mode>() {
        Ok(mode) if CHOICES.contains(&mode) => Ok(mode),
        Ok(_) => Err(BadMode::CreationOnly),
        Err(_) => Err(BadMode::Unknown),
    }
}

const NOT_ALLOWED: &str = "You need the permission Manage Channels to change a channel's mode.";
const NO_GUILD: &str = "Modes are for the channels of a server. There is none in a direct message.";
const LOCKED: &str = "The mode of this channel is locked: it was given when the channel was created and cannot be \
     changed.";
const ARCHIVED: &str = "This channel is archived. It cannot be changed any more.";
const NOT_RUNNING: &str = "Dirigent is not running at the moment. Nothing was changed.";
const ELSEWHERE: &str = "Another process of this bot acts for this channel, or will in a moment. Try again in some seconds.";
const UNREADABLE: &str =
    "The stored state of this channel cannot be read now. Nothing was changed.";
const NOT_STORED: &str = "The mode could not be stored yet. It may change a little later; look again before you repeat \
     the command.";

impl Channel<'_> {
    /// Carries out a command. `input` is the value of the command's option, where it has one; for the others it is
    /// ignored. Answers within this time, whatever the store does: [`ANSWER_WITHIN`], unless the chat was told to wait;
    /// [`PAUSE_WITHIN`] is the most for [`SlashCommand::Stop`] and [`SlashCommand::Resume`]. A stop that could not be
    /// stored in that time is in force all the same, and the answer says so.
    ///
    /// # Cancellation
    ///
    /// The command may have been carried out or not.
    ///
    /// ```no_run
    /// use dirigent::command::{ANSWER_WITHIN, Invoker, SlashCommand};
    /// use dirigent::{ChannelId, Dirigent};
    ///
    /// # async fn example(dirigent: Dirigent, name: &str, id: ChannelId, invoker: Invoker) {
    /// if let Some(command) = SlashCommand::named(name) {
    ///     let answer = dirigent.channel(id).command(command, invoker, "", ANSWER_WITHIN).await;
    ///     println!("{}", answer.text);
    /// }
    /// # }
    /// ```
    pub async fn command(
        self,
        command: SlashCommand,
        invoker: Invoker,
        input: &str,
        within: Duration,
    ) -> CommandAnswer {
        let call = CommandCall { channel: self, invoker, within };
        match command {
            SlashCommand::SetChannelMode => call.set_mode(input).await,
            SlashCommand::Stop => call.stop().await,
            SlashCommand::Resume => call.resume().await,
            SlashCommand::Status => call.status().await,
            SlashCommand::Why => call.why(input).await,
            SlashCommand::Next => call.next(input).await,
        }
    }
}

/// A command as a person gave it.
struct CommandCall<'a> {
    channel: Channel<'a>,
    invoker: Invoker,
    /// How long it may take.
    within: Duration,
}

impl CommandCall<'_> {
    async fn set_mode(&self, input: &str) -> CommandAnswer {
        if self.invoker.guild.is_none() {
            return CommandAnswer::unchanged(NO_GUILD);
        }
        if !self.invoker.is_allowed() {
            return CommandAnswer::unchanged(NOT_ALLOWED);
        }
        let changing = change_mode(self.channel, input);
        let in_time = self.channel.dirigent.runtime.within(self.within, changing).await;
        in_time.unwrap_or_else(|_| CommandAnswer::unchanged(NOT_STORED))
    }
}

async fn change_mode(channel: Channel<'_>, input: &str) -> CommandAnswer {
    let before = match channel.status().await {
        Ok(status) => status.map_or(Mode::None, |status| status.mode),
        Err(CallError::NotRunning | CallError::Ended(_)) => {
            return CommandAnswer::unchanged(NOT_RUNNING);
        }
        Err(CallError::Elsewhere) => return CommandAnswer::unchanged(ELSEWHERE),
        Err(_) => return CommandAnswer::unchanged(UNREADABLE),
    };
    if before.is_locked() {
        return CommandAnswer::unchanged(LOCKED);
    }
    let mode = match parse(input) {
        Ok(mode) => mode,
        Err(bad) => return CommandAnswer::unchanged(bad.to_string()),
    };
    match channel.set_mode(mode).await {
        Ok(()) => CommandAnswer {
            text: format!("The mode of this channel is now {mode}."),
            changed: mode != before,
        },
        Err(error) => refusal(&error),
    }
}

fn refusal(error: &CallError) -> CommandAnswer {
    CommandAnswer::unchanged(match error {
        CallError::Refused(Refusal::ModeLocked) => LOCKED,
        CallError::Refused(Refusal::Archived) => ARCHIVED,
        CallError::NotRunning | CallError::Ended(_) => NOT_RUNNING,
        CallError::NotStored | CallError::Failed(_) => NOT_STORED,
        CallError::Elsewhere => ELSEWHERE,
        CallError::Barred(_)
        | CallError::Unreadable(_)
        | CallError::Refused(_)
        | CallError::UnknownChannel
        | CallError::UnknownAgent(_)
        | CallError::Config(_) => UNREADABLE,
    })
}
