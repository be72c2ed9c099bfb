//! Commands in channels for which another process acts.

use std::time::Duration;

use super::{
    ANSWER_WITHIN, CommandAnswer, CommandCall, CommandCarried, CommandUse, ELSEWHERE, Invoker,
    SlashCommand,
};
use crate::ports::ownership::Standing;
use crate::runtime::carry;
use crate::{CallError, Channel, Dirigent};

const NO_OWNER: &str = "No process of this bot acts for this channel at the moment. Nothing was changed; try again in some seconds.";
const NOT_CARRIED: &str = "The process of this bot that acts for this channel cannot be reached. Nothing was changed; try again in \
     some seconds.";
const IN_DOUBT: &str = "The process of this bot that acts for this channel does not answer. The command may have been carried out: look \
     with /status in some seconds, before you repeat it.";

impl Dirigent {
    /// Carries out a command that another process was given in a channel for which this one acts
    /// ([`Neighbours`](crate::ports::Neighbours)). As [`Channel::command`], but that it is carried no further.
    ///
    /// # Errors
    ///
    /// [`CallError::Elsewhere`] where this process does not act for the channel either, [`CallError::Ended`] where its driver ends:
    /// the next process will carry it out.
    pub async fn command_here(
        &self,
        used: &CommandUse,
        within: Duration,
    ) -> Result<CommandAnswer, CallError> {
        let channel = self.channel(used.channel);
        if channel.standing() == Standing::Elsewhere {
            return Err(CallError::Elsewhere);
        }
        self.not_ended()?;
        let call = CommandCall { channel, invoker: used.invoker, within };
        Ok(call.carry_out(used.command, &used.input).await)
    }
}

impl Channel<'_> {
    /// Whether a command that reaches this process is answered by it: it acts for the channel, or has the command carried to the process that
    /// does, as the host chose with [`Builder::neighbours`](crate::host::Builder::neighbours). If not, that process gets the same
    /// command by itself.
    pub fn answers_commands(self) -> bool {
        self.standing() != Standing::Elsewhere || self.dirigent.runtime.neighbours.is_some()
    }
}

/// Has the process that acts for the channel carry it out. While the channel changes hands it is carried again.
pub(super) async fn carried(
    channel: Channel<'_>,
    command: SlashCommand,
    invoker: Invoker,
    input: &str,
    within: Duration,
) -> CommandAnswer {
    let Channel { dirigent, id } = channel;
    let runtime = &dirigent.runtime;
    let used = &CommandUse { channel: id, command, invoker, input: input.to_owned() };
    let begun = runtime.clock.now();
    // It may come to this process meanwhile.
    let here = async || {
        let left = (begun + within).since(runtime.clock.now());
        dirigent.command_here(used, left).await.ok()
    };
    let until = begun + within.min(ANSWER_WITHIN);
    let answer = carry::carried(runtime, until, here, |neighbours, left| async move {
        neighbours.command(used, left).await
    });
    match answer.await {
        CommandCarried::Answered(answer) => answer,
        CommandCarried::NoOwner => CommandAnswer::unchanged(NO_OWNER),
        CommandCarried::NotCarried => CommandAnswer::unchanged(NOT_CARRIED),
        CommandCarried::NoWay => CommandAnswer::unchanged(ELSEWHERE),
        CommandCarried::InDoubt => CommandAnswer::unchanged(IN_DOUBT),
    }
}
