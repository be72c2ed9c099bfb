//! The questions that processes which act for channels ask each other: requests to a channel, and events heard of it.
//! The values are those of [`dirigent`], written as its JSON.

use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{Carried, ChannelAnswer, ChannelRequest, GatewayEvent};
use dirigent_relay::parts::WAY;
use dirigent_relay::{Client, HostId, Refused, RelayError, RelayQuestion};
use serde::{Deserialize, Serialize};

use crate::Owners;

/// A request to a channel that the asked process owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskChannel {
    pub(crate) channel_id: ChannelId,
    pub(crate) request: ChannelRequest,
    /// The time that the asked process may take.
    pub(crate) within_ms: u64,
}

impl RelayQuestion for AskChannel {
    const RULE: &'static str = "channel-request";
    type Answer = ChannelAnswer;
}

impl AskChannel {
    /// Creates the question. The answer must be here within this time, so the asked process gets a little less.
    pub(crate) fn new(channel: ChannelId, request: ChannelRequest, within: Duration) -> Self {
        let within = within.saturating_sub(WAY);
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        Self { channel_id: channel, request, within_ms }
    }

    pub(crate) const fn within(&self) -> Duration {
        Duration::from_millis(self.within_ms)
    }
}

/// Returns the process that owns the channel, if it is another one.
pub(crate) fn other_owner(
    client: &Client,
    owners: &dyn Owners,
    channel: ChannelId,
) -> Option<HostId> {
    owners.owner(channel).filter(|host| host != client.me())
}

/// Sends a request to the process that owns the channel.
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

/// Says whether the request was carried, surely not carried, or is in doubt.
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

/// Events of channels that the asked process owns, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeardElsewhere {
    /// `true` if events of any channel may have been missed before these.
    pub(crate) missed: bool,
    pub(crate) events: Vec<GatewayEvent>,
}

/// The answer to [`HeardElsewhere`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotOurs {
    /// The places of the events that were not taken, because the process is not the owner or could not store them.
    pub(crate) elsewhere: Vec<usize>,
}

impl RelayQuestion for HeardElsewhere {
    const RULE: &'static str = "gateway-events";
    type Answer = NotOurs;
}

/// The reason why an agent may, or may not, speak, and the process that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The channel's owner.
    pub owner: HostId,
    /// `true` if the agent may speak now.
    pub allows: bool,
    /// The reason, in sentences.
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
