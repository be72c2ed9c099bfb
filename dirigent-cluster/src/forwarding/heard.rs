//! Takes events and requests that other processes carry to the channels of this one.

use async_trait::async_trait;
use dirigent::operate::DriverEnd;
use dirigent::ports::{ChannelAnswer, GatewayEvent};
use dirigent::{CallError, Dirigent};
use dirigent_relay::parts::{read, refused, write};
use dirigent_relay::{Asker, ProcessRole, Refused, RelayQuestion, Service};
use futures_util::future::join_all;

use crate::rules::{AskChannel, HeardElsewhere, NotOurs};

/// Answers peers, as a service of the [`Server`](dirigent_relay::Server).
pub(crate) struct Heard {
    pub(crate) dirigent: Dirigent,
}

impl Heard {
    /// Gives each channel its events in order, all channels at once. Returns the places of events that were not taken.
    async fn tell(&self, heard: HeardElsewhere) -> Vec<usize> {
        if heard.missed {
            // If the driver does not run, it reads everything when it starts.
            let _ = self.dirigent.reconnected_here().await;
        }
        let mut channels = std::collections::BTreeMap::<_, Vec<_>>::new();
        for (place, event) in heard.events.into_iter().enumerate() {
            channels.entry(event.channel()).or_default().push((place, event));
        }
        let told = channels.into_values().map(|events| async {
            let mut elsewhere = Vec::new();
            for (place, event) in events {
                // Later events of the channel wait behind one that was not taken.
                if !elsewhere.is_empty()
                    || !is_taken(&event, &self.dirigent.event_here(event.clone()).await)
                {
                    elsewhere.push(place);
                }
            }
            elsewhere
        });
        join_all(told).await.concat()
    }

    async fn answer(&self, asked: &AskChannel) -> Result<ChannelAnswer, Refused> {
        let AskChannel { channel_id: channel, request, .. } = asked;
        let mut answer = self.dirigent.request_here(*channel, request, asked.within()).await;
        let is_unknown = matches!(answer, Ok(ChannelAnswer::UnknownAgent(_)));
        if is_unknown && self.dirigent.identities_changed().await.is_ok() {
            // The agent may have been registered a moment ago, in the process that asks.
            answer = self.dirigent.request_here(*channel, request, asked.within()).await;
        }
        answer.map_err(|error| refused(&error))
    }
}

#[async_trait]
impl Service for Heard {
    fn rules(&self) -> &'static [&'static str] {
        &[HeardElsewhere::RULE, AskChannel::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        if asker.role != ProcessRole::Peer {
            return Err(Refused::OnlyPeers);
        }
        if rule == AskChannel::RULE {
            return self.answer(&read(question)?).await.map(|answer| write(&answer));
        }
        let elsewhere = self.tell(read(question)?).await;
        Ok(write(&NotOurs { elsewhere }))
    }
}

/// Returns whether the event need not be repeated. If the channel cannot be read now, a message is read from its
/// history later, and typing is over by then. Other events leave no trace, so they are repeated. A process that is shut
/// down leaves its events to the next owner.
pub(super) fn is_taken(event: &GatewayEvent, told: &Result<(), CallError>) -> bool {
    match told {
        Err(CallError::Elsewhere | CallError::Ended(DriverEnd::ShutDown)) => false,
        Err(CallError::Failed(_) | CallError::NotStored) => {
            matches!(event, GatewayEvent::MessageCreated(_) | GatewayEvent::TypingStarted { .. })
        }
        Ok(()) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use dirigent::ports::{ApiError, ErrorKind};
    use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

    use super::*;

    /// A message that is not read now is read later, and typing is over by then. Other events leave no trace.
    #[test]
    fn an_event_is_told_again_where_nothing_would_be_left_of_it() {
        let (channel, message, user) = (ChannelId::new(1), MessageId::new(2), UserId::new(3));
        let said = ChatMessage::new(message, channel, user, "Hello");
        let created = GatewayEvent::MessageCreated(said.clone());
        let others = [
            GatewayEvent::MessageUpdated(said),
            GatewayEvent::MessageDeleted { channel, message },
            GatewayEvent::MemberJoined { channel, user },
            GatewayEvent::MemberLeft { channel, user },
            GatewayEvent::NewestMessage { channel, message, parent: None },
            GatewayEvent::ThreadSeen { thread: channel, parent: channel },
            GatewayEvent::ChannelDeleted(channel),
        ];
        let failed = || Err(CallError::Failed(ApiError::new(ErrorKind::Store)));
        for answer in [failed(), Err(CallError::NotStored)] {
            assert!(is_taken(&created, &answer), "{answer:?}");
            for event in &others {
                assert!(!is_taken(event, &answer), "{event:?} {answer:?}");
            }
        }
        for event in others.iter().chain([&created]) {
            assert!(is_taken(event, &Ok(())), "{event:?}");
            assert!(!is_taken(event, &Err(CallError::Elsewhere)), "{event:?}");
            assert!(!is_taken(event, &Err(CallError::Ended(DriverEnd::ShutDown))), "{event:?}");
            assert!(is_taken(event, &Err(CallError::Ended(DriverEnd::Dropped))), "{event:?}");
            assert!(is_taken(event, &Err(CallError::NotRunning)), "{event:?}");
        }
    }
}
