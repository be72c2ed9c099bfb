//! The slash commands of people: `/set-channel-mode`, `/stop`, `/resume`, `/status`, `/why` and `/next`. The adapter of
//! a chat decides how the chat carries them.
//!
//! An adapter registers each [`SlashCommand`] with its texts, and passes every use of it to [`Channel::command`]. Show
//! the answer only to the person who asked ([`SlashCommand::EPHEMERAL`]). The answer comes within three seconds, as
//! Discord requires, or an answer within that time says that the result will follow. `/stop` and `/resume` are answered
//! within a second.
//!
//! ```
//! use dirigent::command::SlashCommand;
//! assert_eq!(SlashCommand::SetChannelMode.name(), "set-channel-mode");
//! assert_eq!(SlashCommand::MODES.map(|mode| mode.as_str()), ["none", "chat", "report"]);
//! assert_eq!(SlashCommand::named("stop"), Some(SlashCommand::Stop));
//! ```

use std::time::Duration;

use dirigent_core::{Mode, Refusal};

use crate::ports::ownership::Standing;
use crate::{CallError, Channel};

mod carry;
mod look;
mod next;
mod pause;

pub use crate::values::command::{CommandAnswer, CommandOption, Invoker, OptionKind, SlashCommand};

/// The reason why a word is not accepted. `Display` is the answer to the person who used the command.
///
/// ```
/// use dirigent::command::{BadMode, parse};
/// assert_eq!(parse("work"), Err(BadMode::CreationOnly));
/// assert_eq!(parse("loud"), Err(BadMode::Unknown));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[doc(hidden)]
pub enum BadMode {
    /// The word is not a mode.
    #[error("There is no such mode. Choose none, chat or report.")]
    Unknown,
    /// The mode can only be given when a channel is created.
    #[error(
        "The modes work and discussion are given when a channel is created, by the tools \
         create-work-channel and create-discussion-channel. Choose none, chat or report."
    )]
    CreationOnly,
}

/// Reads the option, which is exactly `none`, `chat` or `report`.
///
/// # Errors
///
/// Fails with [`BadMode`], which contains the answer.
#[doc(hidden)] // `Channel::command` reads it
pub fn parse(input: &str) -> Result<Mode, BadMode> {
    match input.parse::<Mode>() {
        Ok(mode) if SlashCommand::MODES.contains(&mode) => Ok(mode),
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
    /// Carries out a command. `input` is the value of the command's option, and is ignored for a command without one.
    /// The call answers within the time `within`, whatever the store does. Use [`SlashCommand::ANSWER_WITHIN`], unless
    /// you told the chat to wait. [`SlashCommand::Stop`] and [`SlashCommand::Resume`] take at most
    /// [`SlashCommand::PAUSE_WITHIN`]. If a stop is not stored in that time, it is still in force, and the answer says
    /// so.
    ///
    /// If another process acts for the channel, that process carries out the command, provided that the
    /// [neighbours](crate::ports::OtherProcesses) carry commands. This call waits for it for at most
    /// [`SlashCommand::ANSWER_WITHIN`].
    ///
    /// # Cancellation
    ///
    /// If you drop the future, the command may have been carried out or not.
    ///
    /// ```no_run
    /// use dirigent::command::{Invoker, SlashCommand};
    /// use dirigent::{ChannelId, Dirigent};
    ///
    /// # async fn example(dirigent: Dirigent, name: &str, id: ChannelId, invoker: Invoker) {
    /// if let Some(command) = SlashCommand::named(name) {
    ///     let answer = dirigent.channel(id).command(command, invoker, "", SlashCommand::ANSWER_WITHIN).await;
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
        if self.standing() == Standing::Elsewhere {
            return carry::carried(self, command, invoker, input, within).await;
        }
        CommandCall { channel: self, invoker, within }.carry_out(command, input).await
    }
}

/// A command as a person gave it.
struct CommandCall<'a> {
    channel: Channel<'a>,
    invoker: Invoker,
    /// The time that it may take.
    within: Duration,
}

impl CommandCall<'_> {
    async fn carry_out(&self, command: SlashCommand, input: &str) -> CommandAnswer {
        match command {
            SlashCommand::SetChannelMode => self.set_mode(input).await,
            SlashCommand::Stop => self.stop().await,
            SlashCommand::Resume => self.resume().await,
            SlashCommand::Status => self.status().await,
            SlashCommand::Why => self.why(input).await,
            SlashCommand::Next => self.next(input).await,
        }
    }

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
    match channel.set_mode_here(mode).await {
        Ok(here) => {
            let directory = channel.dirigent.runtime.registry.directory();
            let here = here.with_names(|agent| look::name(&directory, agent));
            let mut text = format!("The mode of this channel is now {mode}.");
            if mode.keeps_turns() {
                text = look::cut(format!("{text} {here}"));
            }
            CommandAnswer { text, changed: mode != before }
        }
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
        | CallError::NoChannel
        | CallError::UnknownAgent(_)
        | CallError::Config(_) => UNREADABLE,
    })
}
