//! Answers the rules of turns for the channels that this process acts for.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::operate::DriverEnd;
use dirigent::ports::ChannelAnswer;
use dirigent::{AgentId, CallError, Dirigent, IdentityStore};

use crate::rule::{read, write};
use crate::rules::{ChannelRule, CheckTurn, GetChannelState, GetIdentity, TurnComplete};
use crate::{Asker, Client, Refused, RelayQuestion, Service};

/// The time that the asking process waits.
const TIME_LIMIT: std::time::Duration = Client::TIME_LIMIT;

/// Answers [`CheckTurn`], [`TurnComplete`], [`GetIdentity`] and [`GetChannelState`]. Add it to a
/// [`Server`](crate::Server).
///
/// All state is here. A turn that is granted to another process has the deadlines that it would have in this one, so a
/// process that ends in the middle of a run stalls no channel. A slave may ask and report only for the agents that are
/// [bound](crate::ProcessRole::slave) to it.
///
/// If another process acts for a channel, questions about it are refused with [`Refused::Elsewhere`]. An `Instance` of
/// `dirigent-cluster` asks that process instead.
pub struct Master {
    dirigent: Dirigent,
    identities: Arc<dyn IdentityStore>,
}

impl Master {
    /// Creates a master that answers for the channels of this Dirigent, and from its registry.
    pub const fn new(dirigent: Dirigent, identities: Arc<dyn IdentityStore>) -> Self {
        Self { dirigent, identities }
    }

    /// Asks a channel of this process.
    ///
    /// # Errors
    ///
    /// Returns the refusal that the asking process gets.
    #[doc(hidden)]
    pub async fn ask<Q: ChannelRule>(&self, question: &Q) -> Result<Q::Answer, Refused> {
        let asked =
            self.dirigent.request_here(question.channel(), &question.request(), TIME_LIMIT).await;
        let answer = asked.and_then(ChannelAnswer::into_result).map_err(|error| refused(&error))?;
        // The channel answers the kind of question that was asked, so this does not fail.
        Q::answer(answer).ok_or(Refused::UnknownRule)
    }

    async fn serve_channel<Q: ChannelRule>(
        &self,
        asker: &Asker,
        question: &[u8],
    ) -> Result<Vec<u8>, Refused> {
        let question: Q = read(question)?;
        bound(asker, question.agent())?;
        self.ask(&question).await.map(|answer| write(&answer))
    }

    async fn identity(&self, question: GetIdentity) -> Result<Vec<u8>, Refused> {
        let all = self.identities.all().await.map_err(|error| failed(&error, false))?;
        let entry = all.into_iter().find(|entry| entry.discord_user_id == question.discord_user_id);
        Ok(write(&entry))
    }
}

#[async_trait]
impl Service for Master {
    fn rules(&self) -> &'static [&'static str] {
        &[CheckTurn::RULE, TurnComplete::RULE, GetIdentity::RULE, GetChannelState::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        match rule {
            CheckTurn::RULE => self.serve_channel::<CheckTurn>(asker, question).await,
            TurnComplete::RULE => self.serve_channel::<TurnComplete>(asker, question).await,
            GetChannelState::RULE => self.serve_channel::<GetChannelState>(asker, question).await,
            GetIdentity::RULE => self.identity(read(question)?).await,
            _ => Err(Refused::UnknownRule),
        }
    }
}

impl std::fmt::Debug for Master {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Master").finish_non_exhaustive()
    }
}

/// Checks that the asker may act for the agent, if there is one.
///
/// # Errors
///
/// Returns [`Refused::NotBound`] if it may not.
pub fn bound(asker: &Asker, agent: Option<&AgentId>) -> Result<(), Refused> {
    match agent.filter(|agent| !asker.role.may_act_for(agent)) {
        Some(agent) => Err(Refused::NotBound { agent: agent.clone() }),
        None => Ok(()),
    }
}

/// Returns the answer for an error of the handle. It contains no message text and no secret.
pub fn refused(error: &CallError) -> Refused {
    match error {
        // The next process will act for the channel in a moment.
        CallError::Elsewhere | CallError::Ended(DriverEnd::ShutDown) => Refused::Elsewhere,
        CallError::NotStored | CallError::Failed(_) => failed(error, true),
        CallError::NotRunning
        | CallError::Ended(_)
        | CallError::UnknownChannel
        | CallError::UnknownAgent(_)
        | CallError::Refused(_)
        | CallError::Barred(_)
        | CallError::Unreadable(_)
        | CallError::Config(_)
        | _ => failed(error, false),
    }
}

fn failed(error: &impl std::fmt::Display, may_be_done: bool) -> Refused {
    Refused::Failed { why: error.to_string(), may_be_done }
}
