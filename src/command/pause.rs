//! `/stop` and `/resume`.

use dirigent_core::view::Pause;
use dirigent_core::{Input, Refusal};

use super::{
    ARCHIVED, CommandAnswer, CommandCall, ELSEWHERE, NOT_RUNNING, SlashCommand, UNREADABLE,
};
use crate::{CallError, Channel};

const NO_GUILD: &str =
    "Agents are stopped in the channels of a server. There is nothing to stop in a direct message.";
const NOT_ALLOWED: &str =
    "You need to be able to write in this channel to stop or resume its agents.";
const NOT_MANAGED: &str = "Agents answer freely in this channel: there are no turns to stop. /set-channel-mode gives it turns.";
const STOPPED: &str = "Stopped: no agent speaks in this channel until it is resumed.";
const STOPPED_BEFORE: &str = "This channel is stopped already.";
const STOPPED_NOT_STORED: &str = "Stopped: no agent speaks in this channel until it is resumed. This could not be stored yet; \
     if the bot is restarted now, the channel may go on.";
const RESUMED: &str = "Resumed: agents take turns again. If none goes on, write a message.";
const RESUMED_NOT_STORED: &str = "Resumed: agents take turns again. This could not be stored yet; if the bot is restarted \
     now, the channel may be as before.";
const IN_DOUBT: &str = "This could not be stored, and another process of this bot may act for this channel by now: the command may have no \
     effect. Look with /status in some seconds, before you repeat it.";
const NOT_PAUSED: &str = "This channel is not stopped.";

impl CommandCall<'_> {
    pub(super) async fn stop(&self) -> CommandAnswer {
        match self.pause(&Input::Stop).await {
            Ok(Paused::Stored { was: Some(Pause::Stopped) }) => {
                CommandAnswer::unchanged(STOPPED_BEFORE)
            }
            Ok(Paused::Stored { .. }) => CommandAnswer { text: STOPPED.to_owned(), changed: true },
            Ok(Paused::InMemory) => CommandAnswer::unchanged(STOPPED_NOT_STORED),
            Err(answer) => answer,
        }
    }

    pub(super) async fn resume(&self) -> CommandAnswer {
        match self.pause(&Input::Resume).await {
            Ok(Paused::Stored { .. }) => CommandAnswer { text: RESUMED.to_owned(), changed: true },
            Ok(Paused::InMemory) => CommandAnswer::unchanged(RESUMED_NOT_STORED),
            Err(answer) => answer,
        }
    }

    async fn pause(&self, input: &Input) -> Result<Paused, CommandAnswer> {
        if self.invoker.guild.is_none() {
            return Err(CommandAnswer::unchanged(NO_GUILD));
        }
        if !self.invoker.may_pause() {
            return Err(CommandAnswer::unchanged(NOT_ALLOWED));
        }
        let channel = self.channel;
        let stating = async {
            let was = channel.status().await?.and_then(|status| status.rest);
            channel.fact(input).await.map(|()| Paused::Stored { was })
        };
        let in_time = channel
            .dirigent
            .runtime
            .within(self.within.min(SlashCommand::PAUSE_WITHIN), stating)
            .await;
        match in_time.unwrap_or_else(|late| Err(late.into())) {
            Ok(paused) => Ok(paused),
            Err(CallError::NotStored | CallError::Failed(_)) if !channel.standing().acts() => {
                Err(CommandAnswer::unchanged(IN_DOUBT))
            }
            // The change is in force since the channel received it, and only the store is late.
            Err(CallError::NotStored) => Ok(Paused::InMemory),
            Err(CallError::Failed(_)) if is_in_force(channel, input) => Ok(Paused::InMemory),
            Err(error) => Err(CommandAnswer::unchanged(refusal(&error))),
        }
    }
}

/// Returns whether the channel is in memory, and has the state that the input asked for.
fn is_in_force(channel: Channel<'_>, input: &Input) -> bool {
    let Some(room) = channel.dirigent.runtime.rooms.awake(channel.id) else {
        return false;
    };
    let rest = room.lock().room.look().machine().view().pause();
    if *input == Input::Stop { rest == Some(Pause::Stopped) } else { rest.is_none() }
}

/// The result of a stop or a resume that the channel accepted.
enum Paused {
    /// It is stored. `was` is the pause before it.
    Stored { was: Option<Pause> },
    /// It is in force, and the store is late.
    InMemory,
}

fn refusal(error: &CallError) -> &'static str {
    match error {
        CallError::Refused(Refusal::NotManaged) | CallError::UnknownChannel => NOT_MANAGED,
        CallError::Refused(Refusal::NotPaused) => NOT_PAUSED,
        CallError::Refused(Refusal::Archived) => ARCHIVED,
        CallError::NotRunning | CallError::Ended(_) => NOT_RUNNING,
        CallError::Elsewhere => ELSEWHERE,
        CallError::NotStored
        | CallError::Failed(_)
        | CallError::Unreadable(_)
        | CallError::Barred(_)
        | CallError::Refused(_)
        | CallError::NoChannel
        | CallError::UnknownAgent(_)
        | CallError::Config(_) => UNREADABLE,
    }
}
