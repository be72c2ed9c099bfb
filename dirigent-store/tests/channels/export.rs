//! The picture of all channels.

use std::fs;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::store::{ChannelRecord, ChannelStore, Commit, Durability, Revision};
use dirigent::{ChannelId, Config, Mode};
use dirigent_core::{AgentKey, Creation, Input, RunId, TurnMachine, WakeCause};
use dirigent_store::JsonChannels;
use dirigent_store::export::OrchestrationState;
use serde_json::json;

use crate::channels::place::{HERE, Place, THERE, fact};

/// A chat of three that went through this.
async fn talk(store: &JsonChannels, channel: ChannelId, started: bool) {
    talk_then(store, channel, started, &[]).await;
}

/// A chat of three that went through this, and then more.
async fn talk_then(store: &JsonChannels, channel: ChannelId, started: bool, more: &[Input]) {
    let mut members = Vec::new();
    for name in ["ada", "bob", "eve"] {
        members.push(store.add_agent(name.into()).await.unwrap());
    }
    let first = members.first().copied();
    let mut machine = TurnMachine::new(Arc::default(), 7);
    let mut effects = Vec::new();
    let create = Creation { mode: Mode::Chat, members, initiator: None };
    let mut inputs = vec![Input::Create(create)];
    if started {
        inputs.push(Input::Wake { first: None, cause: WakeCause::Operator });
        inputs.push(Input::Gate { agent: first, run: Some(RunId::new(5)), latest: None });
    }
    inputs.extend_from_slice(more);
    for (input, second) in inputs.iter().zip(1..) {
        machine.handle(Timestamp::from_millis(second * 1_000), input, &mut effects).unwrap();
    }
    let mut record = ChannelRecord::default();
    record.snapshot.clone_from(machine.snapshot());
    let record = record.into();
    let transitions = effects.iter().filter_map(dirigent_core::Effect::transition);
    let transitions = transitions.collect::<Vec<_>>().into();
    let (expected, durability) = (Revision::default(), Durability::Fact);
    let replaces_damaged = false;
    let commit = Commit { channel, expected, record, durability, transitions, replaces_damaged };
    store.commit(commit).await.unwrap();
}

async fn picture(store: &JsonChannels) -> OrchestrationState {
    let now = Timestamp::from_millis(9_000);
    OrchestrationState::of(store, Arc::new(Config::default()), now).await.unwrap()
}

/// R254
#[tokio::test]
async fn the_picture_shows_who_has_the_floor_since_when_and_why() {
    let (_place, store) = Place::opened();
    talk(&store, HERE, true).await;
    talk(&store, THERE, false).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OrchestrationState::FILE_NAME);
    picture(&store).await.save(&path).unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(
        shown["channels"][HERE.to_string()],
        json!({
            "mode": "chat", "turnState": "shuffle", "phase": "running",
            "queue": ["ada", "bob", "eve"], "currentIndex": 0, "activeAgent": "ada",
            "turnStartedAt": 2_000, "turnTimeoutAt": 603_000,
        })
    );
    let silent = &shown["channels"][THERE.to_string()];
    assert_eq!((&silent["phase"], &silent["activeAgent"]), (&json!("dormant"), &json!(null)));
    assert_eq!(silent["turnTimeoutAt"], json!(null));
    let ada = json!({ "activeIn": [HERE], "queuedIn": [THERE] });
    assert_eq!((&shown["agents"]["ada"], &shown["version"]), (&ada, &json!(1)));
    assert_eq!(shown["lastUpdated"], json!(9_000));
    let history = shown["history"].as_array().unwrap();
    assert!(history.is_sorted_by_key(|entry| entry["time"].as_u64()), "oldest first");
    let granted = history.iter().find(|entry| entry["to"] == "granted").unwrap();
    assert_eq!(
        granted,
        &json!({
            "time": 2_000, "channel": HERE, "agent": "ada",
            "from": "dormant", "to": "granted", "cause": "operator-wake",
        })
    );
}

#[tokio::test]
async fn a_channel_that_cannot_be_used_is_listed_and_the_rest_shown() {
    let (place, store) = Place::opened();
    talk(&store, HERE, true).await;
    let mut record = ChannelRecord::default();
    record.snapshot.version = 99;
    let (expected, durability) = (Revision::default(), Durability::Fact);
    let commit = Commit {
        channel: THERE,
        expected,
        record: record.into(),
        durability,
        transitions: Vec::new().into(),
        replaces_damaged: false,
    };
    store.commit(commit).await.unwrap();
    // Nor do damaged records and a newer version's cost the others their place.
    let (damaged, newer) = (ChannelId::new(1), ChannelId::new(2));
    fact(&store, damaged, 0, 1).await;
    fact(&store, newer, 0, 1).await;
    fs::write(place.main(damaged), "no JSON").unwrap();
    fs::write(place.main(newer), "{\"version\": 2}").unwrap();
    let state = picture(&store).await;
    assert_eq!(state.unreadable, [damaged, newer, THERE]);
    assert_eq!(state.channels.keys().collect::<Vec<_>>(), [&HERE]);
}

#[tokio::test]
async fn the_picture_tells_the_newest_hundred_changes_of_all_channels() {
    let (_place, store) = Place::opened();
    for number in 0..60 {
        talk(&store, ChannelId::new(200_000_000_000_000_000 + number), true).await;
    }
    let state = picture(&store).await;
    assert_eq!((state.channels.len(), state.history.len()), (60, 100));
    assert_eq!(state.history.back().map(|entry| entry.cause), Some("run-started"));
}

/// R279, R270
#[tokio::test]
async fn the_queue_is_without_those_who_are_away() {
    let (_place, store) = Place::opened();
    talk_then(&store, HERE, true, &[Input::Offline(AgentKey::new(1))]).await;
    let state = picture(&store).await;
    let shown = &state.channels[&HERE];
    let queue: Vec<_> = shown.queue.iter().map(ToString::to_string).collect();
    assert_eq!((queue.join(" "), shown.current_index), ("ada eve".to_owned(), Some(0)));
    let [bob, eve] = ["bob", "eve"].map(|name| &state.agents[&name.into()]);
    assert_eq!((&bob.offline_in[..], &bob.queued_in[..]), (&[HERE][..], &[][..]));
    assert_eq!((&eve.offline_in[..], &eve.queued_in[..]), (&[][..], &[HERE][..]));
}
