//! The errors of tool calls, in sentences that an agent can act on.

use std::fmt;
use std::time::Duration;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::ports::identity::RegisterError;
use crate::runtime::creations::TooMany;
use crate::settings::Pace;
use crate::values::error::{ApiError, ErrorKind};
use crate::{AgentId, CallError, ChannelId, UserId};

/// The reason why a call was not carried out. `Display` is for the agent, and says what is wrong and what to do. Of the
/// arguments it repeats only ids and a channel's checked name.
///
/// Its serialized form is `{"error": code, "message": text}`.
///
/// ```
/// use dirigent::tools::ToolError;
///
/// let error = ToolError::MissingArgument { argument: "name" };
/// assert_eq!(error.code(), "missing-argument");
/// assert_eq!(
///     serde_json::to_string(&error)?,
///     r#"{"error":"missing-argument","message":"The argument `name` is missing. Call the tool again with it."}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no such tool.
    #[error(
        "There is no tool of this name. The tools are create-chat-channel, create-report-channel, \
         create-work-channel, create-discussion-channel, discussion-complete and dirigent-register."
    )]
    UnknownTool,
    /// The arguments are not a JSON object.
    #[error(
        "The arguments must be one JSON object with the tool's parameters in it, not a list, a \
         string or a number."
    )]
    NotAnObject,
    /// A required argument is missing or null.
    #[error("The argument `{argument}` is missing. Call the tool again with it.")]
    MissingArgument {
        /// The name of the missing argument.
        argument: &'static str,
    },
    /// An argument is present in both of its spellings.
    #[error("The argument `{argument}` is given twice, in two spellings. Keep one of them.")]
    ArgumentTwice {
        /// The name of the argument, in its documented spelling.
        argument: &'static str,
    },
    /// An argument is of the wrong kind.
    #[error(
        "The argument `{argument}` must be {expected}. Call the tool again with it in that form."
    )]
    WrongKind {
        /// The name of the argument.
        argument: &'static str,
        /// The kind that it must have.
        expected: &'static str,
    },
    /// A Discord id was written as a number.
    #[error(
        "The Discord ids in `{argument}` must be strings, for example \"123456789012345678\". As a \
         number the id has lost its last digits on the way, so look it up again."
    )]
    IdAsNumber {
        /// The name of the argument.
        argument: &'static str,
    },
    /// A text that should be a Discord id is not one.
    #[error(
        "The argument `{argument}` holds something that is no Discord id. An id is 15 to 20 digits \
         and nothing else: no name, no mention, no brackets."
    )]
    BadId {
        /// The name of the argument.
        argument: &'static str,
    },
    /// A name is empty, too long, or not in one plain line.
    #[error(
        "The argument `{argument}` must be 1 to 100 visible characters in one line, without line \
         breaks or control characters."
    )]
    BadName {
        /// The name of the argument.
        argument: &'static str,
    },
    /// The discussion's guide has no visible character.
    #[error(
        "The discussion-guide is empty. Write the topic, the goals, and when the discussion is done."
    )]
    GuideEmpty,
    /// The discussion's guide is too long.
    #[error("The discussion-guide is too long: at most 16,000 characters. Shorten it.")]
    GuideTooLong,
    /// There are more accounts than a channel takes.
    #[error("A channel takes at most {max} members, you included. Leave some out.")]
    TooManyMembers {
        /// The most that a channel takes.
        max: usize,
    },
    /// The session is in no guild.
    #[error(
        "You are not in a Discord server (guild) now, so this tool has no server to act in. Call it \
         from a channel of a server."
    )]
    NotInGuild,
    /// The moderator is not in the guild.
    #[error(
        "The moderator bot is not in this Discord server, so nothing was created. Ask a person to \
         invite it, then try again."
    )]
    ModeratorMissing,
    /// The moderator is not an administrator of the callback guild.
    #[error(
        "The moderator bot is not an administrator of the callback-guild, so nothing was created. \
         Ask a person to give it that right, or name another server."
    )]
    NotAdministrator,
    /// The calling agent has no identity.
    #[error(
        "You have no registered Discord account yet. Call dirigent-register with your Discord user \
         id first, then try again."
    )]
    CallerUnregistered,
    /// The callback guild is not the session's guild.
    #[error(
        "The callback-guild is not the Discord server in which you are now. Give the ids of the \
         server and the channel in which you are."
    )]
    OtherGuild,
    /// The calling agent cannot see the callback channel.
    #[error(
        "Your own account cannot see the callback-channel, so no result can be posted there for you. \
         Give the id of the channel in which you are now."
    )]
    CallbackUnseen,
    /// The callback channel does not exist, or the moderator cannot see it.
    #[error(
        "The callback-channel does not exist, or the moderator bot cannot see it. Check the id, or \
         ask a person to let the bot in."
    )]
    CallbackNotFound,
    /// The callback channel is of a kind in which no result can be posted.
    #[error(
        "The callback-channel must be a text channel, an announcement channel or a thread of a \
         server; direct messages, forums, categories and voice channels will not do."
    )]
    CallbackKind,
    /// The callback channel belongs to another guild.
    #[error(
        "The callback-channel does not belong to the callback-guild. Give the ids of one channel \
         and of the server in which it is."
    )]
    CallbackElsewhere,
    /// Some accounts are not in the guild.
    #[error(
        "These accounts are not in that Discord server: {}. Nothing was created. Leave them out, or \
         ask a person to invite them.", List(.users)
    )]
    Strangers {
        /// The accounts that are not in the guild.
        users: Vec<UserId>,
    },
    /// The agent created as many channels within a period as the host allows. No channel was created.
    #[error(
        "Nothing was created: you may create at most {} channels within {}. {}",
        .limit.burst, Span(.limit.window), Retry(*.retry_after)
    )]
    CreationLimit {
        /// The limit.
        limit: Pace,
        /// The time after which the same call is allowed again, if no other channel is created before. `None` means
        /// never, because the limit is 0.
        retry_after: Option<Duration>,
    },
    /// Discord did not create the channel. It is certain that there is no new channel.
    #[error("Discord did not create the channel: {source}. {}", advice(.source))]
    CreationRefused {
        /// Discord's error.
        source: ApiError,
    },
    /// It is unknown whether Discord created the channel.
    #[error(
        "Discord's answer was lost, so a channel named \"{name}\" may exist or not. Ask a person to \
         look, and to delete it if it is there, before you call this tool again."
    )]
    CreationInDoubt {
        /// The name that the channel would have.
        name: String,
        /// The error that lost the answer.
        source: ApiError,
    },
    /// The mode could not be stored, and the channel was deleted again.
    #[error(
        "The channel's mode could not be stored, so the channel was deleted again. Try again later."
    )]
    NotStored {
        /// The store's error.
        source: CallError,
    },
    /// The mode could not be stored, and the channel could not be deleted either.
    #[error(
        "Channel {channel} was created, but its mode could not be stored and it could not be \
         deleted. Ask a person to delete it, then try again."
    )]
    LeftBehind {
        /// The channel.
        channel: ChannelId,
        /// The reason why the mode was not stored.
        source: CallError,
    },
    /// The channel is not a discussion.
    #[error(
        "The discussion-channel is no discussion. Give the id of a channel that \
         create-discussion-channel made."
    )]
    NotADiscussion,
    /// The caller did not open the discussion.
    #[error(
        "Only the agent that opened this discussion can complete it. Tell that agent that you think \
         it is done."
    )]
    NotTheInitiator,
    /// The discussion was completed before.
    #[error(
        "This discussion was completed before, and its result was handed over then. Nothing is left \
         to do."
    )]
    AlreadyConcluded,
    /// An operator archived the discussion.
    #[error("This discussion was closed by an operator. It cannot be completed any more.")]
    Archived,
    /// The host named no workspace, or a workspace that cannot be opened.
    #[error(
        "Your workspace folder is not known or cannot be opened, so the summary cannot be found. \
         Tell a person; this is a fault of the installation."
    )]
    NoWorkspace,
    /// The caller gave both a summary's path and its text.
    #[error(
        "Give either `summary`, the path of a file, or `summary-text`, the summary itself; not both."
    )]
    TwoSummaries,
    /// The summary's text has no visible character, or is too long.
    #[error("The `summary-text` must be 1 to 6,000 characters that can be seen. Shorten it.")]
    SummaryText,
    /// The summary path is empty, too long, or cannot be shown in one line.
    #[error(
        "The path in `summary` must be 1 to 1,000 characters in one line, without backticks and \
         control characters. Rename the file."
    )]
    SummaryPath,
    /// The summary is not in the folder for summaries.
    #[error(
        "The summary must be a file in the folder discussion-summary/ of your workspace, given \
         without \"..\". Write it there and pass its path, for example discussion-summary/result.md."
    )]
    SummaryOutside,
    /// The summary, or a folder on the way to it, is a symbolic link.
    #[error(
        "The summary path goes through a symbolic link, which is not followed. Write the summary \
         itself into discussion-summary/ of your workspace."
    )]
    SummaryLink,
    /// There is no such file.
    #[error("There is no file at the summary path. Write the summary first, then call again.")]
    SummaryMissing,
    /// The path leads to something else than a file.
    #[error("The summary path leads to a folder or a device. Give the path of a file.")]
    SummaryNotAFile,
    /// The file cannot be read.
    #[error("The summary file cannot be read. Check its permissions, then call again.")]
    SummaryUnreadable,
    /// The account is the moderator's.
    #[error(
        "This Discord account is the moderator bot's and cannot be an agent's. Give the id of your \
         own account."
    )]
    ModeratorAccount,
    /// The account is a person's.
    #[error(
        "This Discord account is a person's and cannot be an agent's. Give the id of your own bot \
         account."
    )]
    PersonsAccount,
    /// The account is not in the session's guild.
    #[error(
        "This Discord account is not in the Discord server in which you are now. Check the id, or ask \
         a person to invite your bot."
    )]
    AccountNotInGuild,
    /// The account is another agent's.
    #[error(
        "This Discord account belongs to agent {} already. Give the id of your own account.",
        Short(.owner)
    )]
    AccountTaken {
        /// The agent that has the account.
        owner: AgentId,
    },
    /// The library is not running.
    #[error("Dirigent is not running at the moment. Try again later.")]
    NotRunning,
    /// The chat or the store failed. The request may have been carried out or not, as the source says.
    #[error("A service that this needs failed: {0}. {advice}", advice = advice(.0))]
    Failed(#[source] ApiError),
    /// The channel's state does not allow the call, or cannot be read.
    #[error("The channel cannot be used for this: {0}.")]
    Channel(#[source] CallError),
}

impl ToolError {
    /// Returns a name for programs, in lower case with hyphens. It stays even if the sentence changes.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown-tool",
            Self::NotAnObject => "not-an-object",
            Self::MissingArgument { .. } => "missing-argument",
            Self::ArgumentTwice { .. } => "argument-twice",
            Self::WrongKind { .. } => "wrong-kind",
            Self::IdAsNumber { .. } => "id-as-number",
            Self::BadId { .. } => "bad-id",
            Self::BadName { .. } => "bad-name",
            Self::GuideEmpty => "guide-empty",
            Self::GuideTooLong => "guide-too-long",
            Self::TooManyMembers { .. } => "too-many-members",
            Self::NotInGuild => "not-in-guild",
            Self::ModeratorMissing => "moderator-missing",
            Self::NotAdministrator => "not-administrator",
            Self::CallerUnregistered => "caller-unregistered",
            Self::OtherGuild => "other-guild",
            Self::CallbackUnseen => "callback-unseen",
            Self::CallbackNotFound => "callback-not-found",
            Self::CallbackKind => "callback-kind",
            Self::CallbackElsewhere => "callback-elsewhere",
            Self::Strangers { .. } => "strangers",
            Self::CreationLimit { .. } => "creation-limit",
            Self::CreationRefused { .. } => "creation-refused",
            Self::CreationInDoubt { .. } => "creation-in-doubt",
            Self::NotStored { .. } => "not-stored",
            Self::LeftBehind { .. } => "left-behind",
            Self::NotADiscussion => "not-a-discussion",
            Self::NotTheInitiator => "not-the-initiator",
            Self::AlreadyConcluded => "already-concluded",
            Self::Archived => "archived",
            Self::NoWorkspace => "no-workspace",
            Self::TwoSummaries => "two-summaries",
            Self::SummaryText => "summary-text",
            Self::SummaryPath => "summary-path",
            Self::SummaryOutside => "summary-outside",
            Self::SummaryLink => "summary-link",
            Self::SummaryMissing => "summary-missing",
            Self::SummaryNotAFile => "summary-not-a-file",
            Self::SummaryUnreadable => "summary-unreadable",
            Self::ModeratorAccount => "moderator-account",
            Self::PersonsAccount => "persons-account",
            Self::AccountNotInGuild => "account-not-in-guild",
            Self::AccountTaken { .. } => "account-taken",
            Self::NotRunning => "not-running",
            Self::Failed(_) => "failed",
            Self::Channel(_) => "channel",
        }
    }
}

impl From<ApiError> for ToolError {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::NotRunning | CallError::Ended(_) => Self::NotRunning,
            CallError::UnknownAgent(_) => Self::CallerUnregistered,
            CallError::NotStored => Self::Failed(ApiError::new(ErrorKind::NoAnswer)),
            CallError::NoChannel => Self::Failed(ApiError::new(ErrorKind::Gone)),
            CallError::Failed(error) => Self::Failed(error),
            error @ (CallError::UnknownChannel
            | CallError::Refused(_)
            | CallError::Barred(_)
            | CallError::Elsewhere
            | CallError::Unreadable(_)
            | CallError::Config(_)) => Self::Channel(error),
        }
    }
}

impl From<RegisterError> for ToolError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::AccountTaken { owner } => Self::AccountTaken { owner },
            RegisterError::Store(error) => Self::Failed(error),
        }
    }
}

impl Serialize for ToolError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("error", self.code())?;
        map.serialize_entry("message", &self.to_string())?;
        map.end()
    }
}

/// Returns what to do about a failed request.
const fn advice(error: &ApiError) -> &'static str {
    if error.kind().is_retryable() {
        "Try again later."
    } else {
        "Trying again will not help; ask a person to look at the bot's permissions and settings."
    }
}

/// A period in whole seconds, or from two minutes on in whole minutes, rounded up.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis().div_ceil(1_000) {
            seconds @ ..120 => write!(f, "{seconds} s"),
            seconds => write!(f, "{} min", seconds.div_ceil(60)),
        }
    }
}

/// The time when a call may be repeated.
struct Retry(Option<Duration>);

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(wait) => {
                write!(f, "Use a channel that exists, or try again in {}.", Span(wait))
            }
            None => f.write_str("Trying again will not help; use a channel that exists."),
        }
    }
}

/// Ids with commas between them, with a limit on their number.
struct List<'a>(&'a [UserId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, user) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{user}")?;
        }
        Ok(())
    }
}

/// A host's name for an agent, shortened and without special characters.
struct Short<'a>(&'a AgentId);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::text::plain::shown(self.0.as_str(), 100))
    }
}

impl From<TooMany> for ToolError {
    fn from(TooMany { limit, retry_after }: TooMany) -> Self {
        Self::CreationLimit { limit, retry_after }
    }
}
