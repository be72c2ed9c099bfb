//! What the gateway's loop calls returns at once, whatever the driver's store does.

use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::CreatedChannel;
use dirigent::replay::Input;
use dirigent::{AgentId, ChannelId, Mode};
use serde_json::{Value, json};

use crate::account::CHANNEL;
use crate::account::fixture::{Fixture, MESSAGE, Plan, everybody, settle, until};
use crate::account::server::Reply;
use crate::account::troubled_store::TroubledStore;

pub(crate) const OTHER: ChannelId = ChannelId::new(702);

/// Two chats that are in the store and not in memory, and the store, which loads neither.
async fn two_chats() -> (Fixture, TroubledStore) {
    stored_chats(&[CHANNEL, OTHER], Plan::default()).await
}

/// Chats that are in the store and not in memory, and the store, which loads none of them.
pub(crate) async fn stored_chats(channels: &[ChannelId], plan: Plan) -> (Fixture, TroubledStore) {
    let store = TroubledStore::new();
    let before = Fixture::with(Plan { store: Arc::new(store.clone()), ..Plan::default() }).await;
    for channel in channels {
        let members = ["a", "b"].map(AgentId::from).to_vec();
        let chat = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
        before.dirigent.channel(*channel).register(chat).await.unwrap();
    }
    before.dirigent.shutdown(Duration::ZERO).await;
    store.hang(channels);
    let fixture = Fixture::with(Plan { store: Arc::new(store.clone()), ..plan }).await;
    settle().await;
    (fixture, store)
}

pub(crate) fn push(fixture: &Fixture, kind: &str, data: &Value) {
    fixture.shard.text(&json!({"op": 0, "s": 1, "t": kind, "d": data}).to_string());
}

pub(crate) fn message(channel: ChannelId, number: u64) -> Value {
    json!({"id": (MESSAGE + number).to_string(), "channel_id": channel.to_string(), "type": 0,
        "content": "hello", "author": {"id": "33", "username": "p"}})
}

/// The messages that the driver was told of, in order.
pub(crate) fn told(fixture: &Fixture, channel: ChannelId) -> Vec<u64> {
    let inputs =
        fixture.recording.channel(channel).map(|channel| channel.inputs).unwrap_or_default();
    let ids = inputs.iter().filter_map(|(_, input)| {
        if let Input::Message(message) = input { Some(message.id.get() - MESSAGE) } else { None }
    });
    ids.collect()
}

/// A thousand events are taken in while the store hangs, and no channel waits for another.
#[tokio::test]
async fn a_hanging_load_holds_back_neither_the_gateway_nor_another_channel() {
    let (fixture, store) = two_chats().await;
    store.hang(&[CHANNEL]);
    for number in 0..1_000 {
        push(&fixture, "MESSAGE_CREATE", &message(CHANNEL, number));
        push(&fixture, "MESSAGE_CREATE", &message(OTHER, number));
    }
    until("all of the other channel is told", || told(&fixture, OTHER).len() == 1_000).await;
    assert_eq!(told(&fixture, OTHER), (0..1_000).collect::<Vec<_>>());
    assert!(told(&fixture, CHANNEL).is_empty());
    store.hang(&[]);
    until("all of this channel is told", || told(&fixture, CHANNEL).len() == 1_000).await;
    assert_eq!(told(&fixture, CHANNEL), (0..1_000).collect::<Vec<_>>(), "in order");
    push(&fixture, "MESSAGE_CREATE", &message(CHANNEL, 1_000));
    assert_eq!(told(&fixture, CHANNEL).last(), Some(&1_000), "nothing waits any more");
}

/// Beyond the bound no event is kept, and what was said is read from the history.
#[tokio::test]
async fn what_does_not_fit_into_the_queue_is_read_from_the_history() {
    let (fixture, store) = two_chats().await;
    store.hang(&[CHANNEL]);
    let newest = Reply::ok(Value::from(vec![message(CHANNEL, 2_999)]).to_string());
    fixture.server.rule("GET /channels/700/messages", newest);
    for number in 0..3_000 {
        push(&fixture, "MESSAGE_CREATE", &message(CHANNEL, number));
    }
    settle().await;
    store.hang(&[]);
    until("the newest message is heard", || told(&fixture, CHANNEL).contains(&2_999)).await;
    let told = told(&fixture, CHANNEL);
    assert!(told.len() <= 1_026, "{} were kept", told.len());
    assert!(told.is_sorted(), "in order");
}

/// Beyond the bound of all channels' queues together, only what has to wait is condensed.
#[tokio::test]
async fn a_full_queue_condenses_no_event_of_a_channel_that_is_in_memory() {
    let slow: Vec<ChannelId> = (0..8).map(|number| ChannelId::new(800 + number)).collect();
    let (fixture, _store) = stored_chats(&slow, Plan::default()).await;
    fixture.chat().await;
    for channel in &slow {
        for number in 0..1_024 {
            push(&fixture, "MESSAGE_CREATE", &message(*channel, number));
        }
    }
    for number in 0..3 {
        push(&fixture, "MESSAGE_CREATE", &message(CHANNEL, number));
    }
    assert_eq!(told(&fixture, CHANNEL), [0, 1, 2]);
}

/// A store that does not answer in time is asked again, until it has taken all.
#[tokio::test]
async fn what_the_store_did_not_take_in_time_is_told_again() {
    let (fixture, store) = two_chats().await;
    store.hang(&[CHANNEL]);
    fixture.connect(everybody()).await;
    let newest = Reply::ok(Value::from(vec![message(CHANNEL, 9)]).to_string());
    fixture.server.rule("GET /channels/700/messages", newest);
    for number in 0..10 {
        push(&fixture, "MESSAGE_CREATE", &message(CHANNEL, number));
    }
    push(&fixture, "GUILD_MEMBER_REMOVE", &json!({"guild_id": "1", "user": {"id": "31"}}));
    // Each attempt may take ten seconds.
    for _ in 0..60 {
        fixture.pass(1_000);
        settle().await;
    }
    assert!(store.loads_of(CHANNEL) >= 3, "it is asked again");
    assert!(told(&fixture, CHANNEL).is_empty());
    store.hang(&[]);
    for _ in 0..80 {
        fixture.pass(1_000);
        settle().await;
    }
    assert!(told(&fixture, CHANNEL).contains(&9), "the newest message is heard");
    assert_eq!(fixture.present().await, ["b"], "who left meanwhile has left");
}

/// A feed whose work is not run keeps no channel from being loaded by others.
#[tokio::test]
async fn a_feed_whose_work_is_gone_holds_no_channel() {
    let (fixture, store) = two_chats().await;
    let intents = dirigent_discord::Feed::INTENTS;
    let feed =
        dirigent_discord::Feed::builder(fixture.dirigent.clone(), fixture.account.clone(), intents);
    let (feed, work) = feed.build();
    let shard = feed.shard(twilight_model::gateway::ShardId::ONE);
    let event = json!({"op": 0, "t": "MESSAGE_CREATE", "d": message(CHANNEL, 1)}).to_string();
    shard.text(&event);
    drop(work);
    shard.text(&event);
    store.hang(&[]);
    assert_eq!(fixture.status().await.mode, Mode::Chat);
    shard.text(&event);
    assert_eq!(told(&fixture, CHANNEL).last(), Some(&1), "what needs no waiting is told");
}
