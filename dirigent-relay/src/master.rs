//! Answers the rules of turns for the channels that this process acts for.

use async_trait::async_trait;
use dirigent::hooks::{EndTaken, RunReport};
use dirigent::operate::{DriverEnd, Refusal};
use dirigent::ports::Standing;
use dirigent::{AgentId, CallError, ChannelId, Denial, Dirigent, IdentityStore};
use std::sync::Arc;

use crate::rule::{read, write};
use crate::rules::{
    ChannelState, CheckAnswer, CheckTurn, CompleteAnswer, GetChannelState, GetIdentity,
    TurnComplete,
};
use crate::{Asker, Refused, RelayQuestion, Service};

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

    /// May the agent run?
    ///
    /// # Errors
    ///
    /// What the asking process is answered.
    #[doc(hidden)]
    pub async fn check(&self, question: CheckTurn) -> Result<CheckAnswer, Refused> {
        let CheckTurn { agent_id: agent, channel_id, run_id } = question;
        let channel = self.dirigent.channel(channel_id);
        match channel.may_speak(&agent, run_id).await {
            Ok(permit) => {
                let (reason, holds_floor) = (permit.reason().to_string(), permit.holds_floor());
                // `turn-complete` ends the run, or its deadline does.
                permit.keep();
                let current_speaker =
                    if holds_floor { Some(agent) } else { self.speaker(channel_id).await };
                let no_reply_model = None;
                Ok(CheckAnswer {
                    allowed: true,
                    current_speaker,
                    reason,
                    holds_floor,
                    no_reply_model,
                })
            }
            Err(Denial::Denied { reason, no_reply_model, .. }) => Ok(CheckAnswer {
                allowed: false,
                current_speaker: self.speaker(channel_id).await,
                reason: reason.to_string(),
                holds_floor: false,
                no_reply_model: Some(no_reply_model),
            }),
            Err(Denial::Failed(error)) => Err(refused(&error)),
            // Deferrals are not asked for, and what a newer library may say is no permission.
            Err(denial) => Err(failed(&denial, false)),
        }
    }

    /// The run ended. It is accepted once that is stored: what goes on with the channel after this process knows of it.
    ///
    /// # Errors
    ///
    /// What the asking process is answered.
    #[doc(hidden)]
    pub async fn complete(&self, end: TurnComplete) -> Result<CompleteAnswer, Refused> {
        let outcome = end.read_outcome()?;
        let TurnComplete { agent_id: agent, channel_id, run_id, .. } = end;
        let channel = self.dirigent.channel(channel_id);
        // The owner knows its agents: this process may not have read them since they were registered.
        if channel.standing() == Standing::Elsewhere {
            return Err(Refused::Elsewhere);
        }
        let ended = channel.turn_ended(&agent, run_id, RunReport::Outcome(&outcome)).await;
        let taken = match ended {
            Ok(taken) => taken,
            Err(CallError::Refused(Refusal::StaleRun)) => return Ok(CompleteAnswer::default()),
            Err(error) => return Err(refused(&error)),
        };
        let arrived: Vec<_> = end.delivered_message_ids.iter().map(|id| id.0).collect();
        if !arrived.is_empty() {
            // The end counts; where the receipt does not, the messages are recognised as they come.
            if let Err(error) = channel.delivered(&agent, run_id, arrived).await {
                tracing::debug!(channel = %channel_id, %agent, %error, "a receipt was not taken");
            }
        }
        Ok(CompleteAnswer { accepted: true, duplicate: taken == EndTaken::Before })
    }

    async fn identity(&self, question: GetIdentity) -> Result<Vec<u8>, Refused> {
        let all = self.identities.all().await.map_err(|error| failed(&error, false))?;
        let entry = all.into_iter().find(|entry| entry.discord_user_id == question.discord_user_id);
        Ok(write(&entry))
    }

    /// How the channel stands.
    ///
    /// # Errors
    ///
    /// What the asking process is answered.
    #[doc(hidden)]
    pub async fn state(&self, question: &GetChannelState) -> Result<ChannelState, Refused> {
        let status = self.dirigent.channel(question.channel_id).status().await;
        let status = status.map_err(|error| refused(&error))?;
        Ok(match status {
            Some(status) => ChannelState {
                mode: status.mode.as_str().to_owned(),
                tm_state: status.turn_state.as_str().to_owned(),
                current_speaker: status.speaker,
            },
            None => ChannelState {
                mode: dirigent::Mode::None.as_str().to_owned(),
                tm_state: "disabled".to_owned(),
                current_speaker: None,
            },
        })
    }

    /// Who has the floor. The answer is about one moment; the channel may have gone on since.
    async fn speaker(&self, channel: ChannelId) -> Option<AgentId> {
        self.dirigent.channel(channel).status().await.ok().flatten()?.speaker
    }
}

#[async_trait]
impl Service for Master {
    fn rules(&self) -> &'static [&'static str] {
        &[CheckTurn::RULE, TurnComplete::RULE, GetIdentity::RULE, GetChannelState::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        match rule {
            CheckTurn::RULE => {
                let question: CheckTurn = read(question)?;
                bound(asker, &question.agent_id)?;
                self.check(question).await.map(|answer| write(&answer))
            }
            TurnComplete::RULE => {
                let end: TurnComplete = read(question)?;
                bound(asker, &end.agent_id)?;
                self.complete(end).await.map(|answer| write(&answer))
            }
            GetIdentity::RULE => self.identity(read(question)?).await,
            GetChannelState::RULE => {
                self.state(&read(question)?).await.map(|answer| write(&answer))
            }
            _ => Err(Refused::UnknownRule),
        }
    }
}

impl std::fmt::Debug for Master {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Master").finish_non_exhaustive()
    }
}

/// Whether the asker may act for the agent.
///
/// # Errors
///
/// [`Refused::NotBound`].
pub fn bound(asker: &Asker, agent: &AgentId) -> Result<(), Refused> {
    let is_bound = asker.role.may_act_for(agent);
    is_bound.then_some(()).ok_or_else(|| Refused::NotBound { agent: agent.clone() })
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
