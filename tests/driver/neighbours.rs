//! Several processes share the gateway's events: what is heard of another's channel goes to the neighbours, and what they
//! tell is taken here (D78).

use std::sync::{Arc, Mutex};

use dirigent::ports::{GatewayEvent, Neighbours, Ownership, Standing};
use dirigent::{CallError, ChannelId, ChatMessage, Dirigent, MessageId, Mode, UserId, async_trait};
use dirigent_testkit::{ManualClock, MemoryDiscord};

/// Channels with an even id are this process's.
struct Even;

#[async_trait]
impl Ownership for Even {
    fn standing(&self, channel: ChannelId) -> Standing {
        if channel.get() % 2 == 0 { Standing::Held } else { Standing::Elsewhere }
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

#[derive(Default)]
struct Queue {
    events: Mutex<Vec<GatewayEvent>>,
    gaps: Mutex<u32>,
}

impl Neighbours for Queue {
    fn heard(&self, event: GatewayEvent) {
        self.events.lock().unwrap().push(event);
    }

    fn reconnected(&self) {
        *self.gaps.lock().unwrap() += 1;
    }
}

fn started(queue: Option<Arc<Queue>>) -> Dirigent {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let builder =
        Dirigent::builder(discord.account(discord.add_bot())).clock(clock).ownership(Even);
    let builder = match queue {
        Some(queue) => builder.neighbours(queue),
        None => builder,
    };
    let (dirigent, driver) = builder.build().unwrap();
    tokio::spawn(driver.run());
    dirigent
}

const OURS: ChannelId = ChannelId::new(200_000_000_000_000_000);
const THEIRS: ChannelId = ChannelId::new(200_000_000_000_000_001);

/// One event of each kind, told by the function for it.
async fn tell_all(dirigent: &Dirigent, channel: ChannelId) -> Vec<GatewayEvent> {
    let (message, user) = (MessageId::new(7), UserId::new(9));
    let said = ChatMessage::new(message, channel, user, "Hello");
    dirigent.message_created(said.clone()).await.unwrap();
    dirigent.message_updated(said.clone()).await.unwrap();
    dirigent.message_deleted(channel, message).await.unwrap();
    dirigent.member_joined(channel, user).await.unwrap();
    dirigent.member_left(channel, user).await.unwrap();
    dirigent.newest_message(channel, message).await.unwrap();
    dirigent.thread_seen(channel, OURS).await.unwrap();
    dirigent.channel_deleted(channel).await.unwrap();
    vec![
        GatewayEvent::MessageCreated(said.clone()),
        GatewayEvent::MessageUpdated(said),
        GatewayEvent::MessageDeleted { channel, message },
        GatewayEvent::MemberJoined { channel, user },
        GatewayEvent::MemberLeft { channel, user },
        GatewayEvent::NewestMessage { channel, message },
        GatewayEvent::ThreadSeen { thread: channel, parent: OURS },
        GatewayEvent::ChannelDeleted(channel),
    ]
}

#[tokio::test]
async fn each_event_of_anothers_channel_goes_to_the_neighbours_once_and_none_of_ones_own() {
    let queue = Arc::<Queue>::default();
    let dirigent = started(Some(Arc::clone(&queue)));
    let told = tell_all(&dirigent, THEIRS).await;
    assert_eq!(*queue.events.lock().unwrap(), told);
    tell_all(&dirigent, OURS).await;
    assert_eq!(*queue.events.lock().unwrap(), told);
}

#[tokio::test]
async fn what_a_neighbour_tells_is_carried_no_further() {
    let queue = Arc::<Queue>::default();
    let dirigent = started(Some(Arc::clone(&queue)));
    for event in tell_all(&started(None), THEIRS).await {
        let refused = dirigent.event_here(event).await;
        assert!(matches!(refused, Err(CallError::Elsewhere)), "{refused:?}");
    }
    for event in tell_all(&started(None), OURS).await {
        dirigent.event_here(event).await.unwrap();
    }
    assert!(queue.events.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_gap_that_concerns_all_is_told_to_all_once() {
    let queue = Arc::<Queue>::default();
    let dirigent = started(Some(Arc::clone(&queue)));
    dirigent.reconnected().await.unwrap();
    assert_eq!(*queue.gaps.lock().unwrap(), 1);
    dirigent.reconnected_here().await.unwrap();
    assert_eq!(*queue.gaps.lock().unwrap(), 1);
}

/// What is told by a neighbour is heard as if the gateway had told it.
#[tokio::test]
async fn a_channel_hears_what_a_neighbour_tells() {
    let dirigent = started(None);
    dirigent.channel(OURS).set_mode(Mode::Chat).await.unwrap();
    let said = ChatMessage::new(MessageId::new(7), OURS, UserId::new(9), "stop");
    dirigent.event_here(GatewayEvent::MessageCreated(said)).await.unwrap();
    let status = dirigent.channel(OURS).status().await.unwrap().unwrap();
    assert!(status.rest.is_some(), "a person's stop word was told: {status:?}");
}
