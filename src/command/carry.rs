//! Commands in channels that another process acts for.

use std::time::Duration;

use super::{CommandAnswer, CommandCall, ELSEWHERE, Invoker, SlashCommand};
use crate::ports::ownership::Standing;
use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::runtime::carry;
use crate::values::carried::Carried;
use crate::{CallError, Channel};

const NO_OWNER: &str = "No process of this bot acts for this channel at the moment. Nothing was changed; try again in some seconds.";
const NOT_CARRIED: &str = "The process of this bot that acts for this channel cannot be reached. Nothing was changed; try again in \
     some seconds.";
const IN_DOUBT: &str = "The process of this bot that acts for this channel does not answer. The command may have been carried out: look \
     with /status in some seconds, before you repeat it.";

impl Channel<'_> {
    /// Carries out a command that another process received. It works like [`command`](Self::command), but passes the
    /// command on to no third process.
    ///
    /// # Errors
    ///
    /// Fails with [`CallError::Ended`] if the driver ends, because the next process will carry out the command.
    pub(crate) async fn command_here(
        self,
        (command, invoker): (SlashCommand, Invoker),
        input: &str,
        within: Duration,
    ) -> Result<CommandAnswer, CallError> {
        self.dirigent.not_ended()?;
        let call = CommandCall { channel: self, invoker, within };
        Ok(call.carry_out(command, input).await)
    }

    /// Returns whether this process answers a command that reaches it. It does if it acts for the channel, or if you
    /// set [`Builder::neighbours`](crate::host::Builder::neighbours) so that it carries the command to the process that
    /// does. Otherwise that process receives the same command itself.
    pub fn answers_commands(self) -> bool {
        let neighbours = self.dirigent.runtime.neighbours.as_ref();
        self.standing() != Standing::Elsewhere || neighbours.is_some_and(|it| !it.hear_all())
    }
}

/// Lets the process that acts for the channel carry out the command. While the channel changes hands, the command is
/// carried again.
pub(super) async fn carried(
    channel: Channel<'_>,
    command: SlashCommand,
    invoker: Invoker,
    input: &str,
    within: Duration,
) -> CommandAnswer {
    let Channel { dirigent, id } = channel;
    let runtime = &dirigent.runtime;
    let request = &ChannelRequest::Command { command, invoker, input: input.to_owned() };
    let begun = runtime.clock.now();
    // The channel may come to this process in the meantime.
    let here = async || {
        let left = (begun + within).since(runtime.clock.now());
        dirigent.request_here(id, request, left).await.ok()
    };
    let until = begun + within.min(SlashCommand::ANSWER_WITHIN);
    let answer = carry::carried(runtime, until, here, |neighbours, left| async move {
        neighbours.request(id, request, left).await
    });
    match answer.await {
        Carried::Answered(ChannelAnswer::Command(answer)) => answer,
        Carried::NoOwner => CommandAnswer::unchanged(NO_OWNER),
        Carried::NotCarried => CommandAnswer::unchanged(NOT_CARRIED),
        Carried::NoWay => CommandAnswer::unchanged(ELSEWHERE),
        // Any other answer belongs to another request.
        Carried::InDoubt | Carried::Answered(_) => CommandAnswer::unchanged(IN_DOUBT),
    }
}
