//! `/next`.

use super::look::{name, refusal};
use super::{CommandAnswer, CommandCall};
use crate::CallError;

const NOT_STORED: &str =
    "Who speaks next could not be stored in time. The choice may hold all the same.";

impl CommandCall<'_> {
    pub(super) async fn next(&self, input: &str) -> CommandAnswer {
        let choosing = async {
            let agent = match self.agent(input) {
                Ok(agent) => agent,
                Err(unknown) => return Ok(CommandAnswer::unchanged(unknown)),
            };
            Ok(match self.channel.speak_next(&agent).await {
                Ok(()) => {
                    let directory = self.channel.dirigent.runtime.registry.directory();
                    let text = format!("{} speaks next.", name(&directory, &agent));
                    CommandAnswer { text, changed: true }
                }
                Err(CallError::NotStored | CallError::Failed(_)) => {
                    CommandAnswer::unchanged(NOT_STORED)
                }
                Err(error) => CommandAnswer::unchanged(refusal(&error)),
            })
        };
        self.answer(choosing, NOT_STORED).await
    }
}
