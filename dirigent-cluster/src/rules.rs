//! What processes that act for channels ask each other: of a channel, and what they tell of it. The values are those of [`dirigent`], whose
//! JSON is what is written.

use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{Carried, ChannelAnswer, ChannelRequest, GatewayEvent};
use dirigent_relay::parts::WAY;
use dirigent_relay::{Client, HostId, Refused, RelayError, RelayQuestion};
use serde::{Deserialize, Serialize};

use crate::Owners;

/// Something is asked of a channel for which the asked process acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskChannel {
    pub(crate) channel_id: ChannelId,
    pub(crate) request: ChannelRequest,
    /// How long the asked process may take.
    pub(crate) within_ms: u64,
}

impl RelayQuestion for AskChannel {
    const RULE: &'static str = "channel-request";
    type Answer = ChannelAnswer;
}

impl AskChannel {
    /// Asks it, with an answer within this time here.
    pub(crate) fn new(channel: ChannelId, request: ChannelRequest, within: Duration) -> Self {
        let within = within.saturating_sub(WAY);
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        Self { channel_id: channel, request, within_ms }
    }

    pub(crate) const fn within(&self) -> Duration {
        Duration::from_millis(self.within_ms)
    }
}

/// The process that acts for the channel, if it is another one.
pub(crate) fn other_owner(
    client: &Client,
    owners: &dyn Owners,
    channel: ChannelId,
) -> Option<HostId> {
    owners.owner(channel).filter(|host| host != client.me())
}

/// Carries a request to the process that acts for the channel.
pub(crate) async fn carry_request(
    client: &Client,
    owners: &dyn Owners,
    channel: ChannelId,
    request: &ChannelRequest,
    within: Duration,
) -> Carried<ChannelAnswer> {
    let Some(owner) = other_owner(client, owners, channel) else { return Carried::NoOwner };
    let question = AskChannel::new(channel, request.clone(), within);
    carried(client.ask_within(&owner, &question, within).await)
}

/// What came of it.
pub(crate) fn carried(answer: Result<ChannelAnswer, RelayError>) -> Carried<ChannelAnswer> {
    let error = match answer {
        Ok(answer) => return Carried::Answered(answer),
        Err(error) => error,
    };
    tracing::debug!(%error, "a request to a channel could not be carried");
    match error.refused() {
        Some(Refused::Elsewhere) => Carried::NoOwner,
        _ if error.is_certain() => Carried::NotCarried,
        _ => Carried::InDoubt,
    }
}

/// What was heard of channels for which the asked process acts, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeardElsewhere {
    /// Whether anything may have been missed in any channel before it.
    pub(crate) missed: bool,
    pub(crate) events: Vec<GatewayEvent>,
}

/// Which of the events were not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotOurs {
    /// The places of the events of channels for which the asked process does not act either.
    pub(crate) elsewhere: Vec<usize>,
}

impl RelayQuestion for HeardElsewhere {
    const RULE: &'static str = "gateway-events";
    type Answer = NotOurs;
}

/// Why an agent may, or may not, speak, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The process that acts for the channel.
    pub owner: HostId,
    /// Whether the agent may speak now.
    pub allows: bool,
    /// Why, in sentences.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use dirigent_relay::CarryError;

    use super::*;

    #[test]
    fn a_request_is_carried_again_only_where_it_was_surely_not_done() {
        let host = || "bot-1".parse().unwrap();
        let refused = |source| RelayError::Refused { host: host(), source };
        let lost = |source| RelayError::Carry { host: host(), source };
        let failed =
            |may_be_done| refused(Refused::Failed { why: "the store".to_owned(), may_be_done });
        for (error, expected) in [
            (refused(Refused::Elsewhere), Carried::NoOwner),
            (refused(Refused::UnknownRule), Carried::NotCarried),
            (failed(false), Carried::NotCarried),
            (failed(true), Carried::InDoubt),
            (lost(CarryError::unreachable("refused")), Carried::NotCarried),
            (lost(CarryError::no_answer("lost")), Carried::InDoubt),
            (RelayError::NoAnswer { host: host(), within_ms: 2_000 }, Carried::InDoubt),
        ] {
            let told = error.to_string();
            assert_eq!(carried(Err(error)), expected, "{told}");
        }
    }
}
