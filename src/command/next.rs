//! `/next`.

use super::look::refusal;
use super::{CommandAnswer, CommandCall};
use crate::CallError;

const NOT_STORED: &str =
    "Chosen. This could not be stored yet; if the bot is restarted now, the choice may be lost.";

impl CommandCall<'_> {
    pub(super) async fn next(&self, input: &str) -> CommandAnswer {
        self.answer(async {
            let agent = match self.agent(input) {
                Ok(agent) => agent,
                Err(unknown) => return Ok(unknown),
            };
            Ok(match self.channel.speak_next(&agent).await {
                Ok(()) => format!("{agent} speaks next."),
                Err(CallError::NotStored) => NOT_STORED.to_owned(),
                Err(error) => refusal(&error),
            })
        })
        .await
    }
}
