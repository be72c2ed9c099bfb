//! Answers the rules of turns for the channels that this process acts for.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::operate::DriverEnd;
use dirigent::ports::ChannelAnswer;
use dirigent::{AgentId, CallError, Dirigent, IdentityStore};

use crate::rule::{read, write};
use crate::rules::{ChannelRule, CheckTurn, GetChannelState, GetIdentity, TurnComplete};
use crate::{Asker, Client, Refused, RelayQuestion, Service};

/// How long the asking process waits.
const TIME_LIMIT: std::time::Duration = Client::TIME_LIMIT;

/// Answers [`CheckTurn`], [`TurnComplete`], [`GetIdentity`] and [`GetChannelState`]: given to a [`Server`](crate::Server).
///
/// All state is here: what is granted to another process counts as if it had been granted to this one, with the same deadlines, so that
/// a process that ends in the middle of a run stalls nothing. A slave may ask and report only for the agents that are
/// [bound](crate::ProcessRole::slave) to it.
///
/// The questions of a channel for which another process acts are refused with [`Refused::Elsewhere`]: an `Instance` of `dirigent-cluster` asks
/// that process.
pub struct Master {
    dirigent: Dirigent,
    identities: Arc<dyn IdentityStore>,
}

impl Master {
    /// Answers for the channels of this Dirigent, and from its registry.
    pub const fn new(dirigent: Dirigent, identities: Arc<dyn IdentityStore>) -> Self {
        Self { dirigent, identities }
    }

    /// Asks a channel of this process.
    ///
    /// # Errors
    ///
    /// What the asking process is answered.
    #[doc(hidden)]
    pub async fn ask<Q: ChannelRule>(&self, question: &Q) -> Result<Q::Answer, Refused> {
        let asked =
            self.dirigent.request_here(question.channel(), &question.request(), TIME_LIMIT).await;
        let answer = asked.and_then(ChannelAnswer::into_result).map_err(|error| refused(&error))?;
        // The answer is to what was asked.
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

/// Whether the asker may act for the agent, if it acts for one.
///
/// # Errors
///
/// [`Refused::NotBound`].
pub fn bound(asker: &Asker, agent: Option<&AgentId>) -> Result<(), Refused> {
    match agent.filter(|agent| !asker.role.may_act_for(agent)) {
        Some(agent) => Err(Refused::NotBound { agent: agent.clone() }),
        None => Ok(()),
    }
}

/// The answer for an error of the handle. None of these has a message's text or a secret.
pub fn refused(error: &CallError) -> Refused {
    match error {
        // The next process acts for the channel in a moment.
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
