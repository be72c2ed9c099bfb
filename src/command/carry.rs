//! Commands in channels for which another process acts.

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
    /// Carries out a command that another process was given. As [`command`](Self::command), but that it is carried no further.
    ///
    /// # Errors
    ///
    /// [`CallError::Ended`] where the driver ends: the next process will carry it out.
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

    /// Whether a command that reaches this process is answered by it: it acts for the channel, or has the command carried to the process that
    /// does, as the host chose with [`Builder::neighbours`](crate::host::Builder::neighbours). If not, that process gets the same
    /// command by itself.
    pub fn answers_commands(self) -> bool {
        let neighbours = self.dirigent.runtime.neighbours.as_ref();
        self.standing() != Standing::Elsewhere || neighbours.is_some_and(|it| !it.hear_all())
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
    let request = &ChannelRequest::Command { command, invoker, input: input.to_owned() };
    let begun = runtime.clock.now();
    // It may come to this process meanwhile.
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
        // Another answer is one to something else.
        Carried::InDoubt | Carried::Answered(_) => CommandAnswer::unchanged(IN_DOUBT),
    }
}
