//! What another store keeps moves into the database, and nothing that stands there is overwritten.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::operate::{Cause, Transition};
use dirigent::ports::{Identity, Timestamp};
use dirigent::snapshot::{AgentKey, PhaseKind};
use dirigent::store::{ChannelRecord, ChannelStore, Commit, Durability, Revision};
use dirigent::{AgentId, ChannelId, IdentityStore, MemoryIdentities, MessageId, UserId};
use dirigent_cluster::{MoveError, Moved, PostgresOptions, PostgresStore};
use dirigent_store::JsonChannels;

use crate::postgres::place::{Opened, Place};

const AGENTS: [&str; 3] = ["poet", "critic", "clerk"];

fn channel(number: u64) -> ChannelId {
    ChannelId::new(200_000_000_000_000_000 + number)
}

/// A line of a channel's history: what the second agent did.
fn line(number: u64) -> Transition {
    Transition {
        at: Timestamp::from_millis(1_000 + number),
        turn: dirigent::hooks::TurnId::new(number),
        agent: Some(AgentKey::new(1)),
        from: PhaseKind::Granted,
        to: PhaseKind::Running,
        cause: Cause::RunStarted,
    }
}

/// Stores a channel that was heard up to this message.
async fn store(store: &dyn ChannelStore, number: u64, heard: u64) {
    let heard = Some(MessageId::new(heard));
    let commit = Commit {
        channel: channel(number),
        expected: Revision::default(),
        record: Arc::new(ChannelRecord { heard, ..ChannelRecord::default() }),
        durability: Durability::Fact,
        transitions: Arc::new(vec![line(number), line(number + 1)]),
        replaces_damaged: false,
    };
    store.commit(commit).await.unwrap();
}

/// Three agents and these channels.
async fn fill(into: &dyn ChannelStore, channels: &[u64]) {
    for agent in AGENTS {
        into.add_agent(agent.into()).await.unwrap();
    }
    for number in channels {
        store(into, *number, 7).await;
    }
}

/// Leases that no pause of a busy machine outlasts.
fn lasting(place: &Place) -> PostgresOptions {
    place.options().ttl(Duration::from_secs(20))
}

async fn open(place: &Place) -> Opened {
    place.open_as(lasting(place)).await
}

async fn moved(from: &dyn ChannelStore, into: &PostgresStore) -> Result<Moved, MoveError> {
    into.move_from(from, None, |_, _| {}).await
}

/// The database has all that the other store has.
async fn has_all(of: &dyn ChannelStore, database: &PostgresStore) {
    let mut channels = of.channels().await.unwrap();
    let mut here = database.channels().await.unwrap();
    channels.sort_unstable();
    here.sort_unstable();
    assert_eq!(here, channels);
    assert_eq!(database.agents().await.unwrap(), of.agents().await.unwrap());
    for channel in channels {
        let (there, here) =
            (of.load(channel).await.unwrap(), database.load(channel).await.unwrap());
        assert_eq!(here.unwrap().record, there.unwrap().record);
        let history = of.history(channel).await.unwrap();
        assert_eq!(history.len(), 2);
        assert_eq!(database.history(channel).await.unwrap(), history);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_histories_agents_and_the_registry_move() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    fill(&from, &[1, 2, 3]).await;
    let (registry, user) = (MemoryIdentities::new(), UserId::new(100_000_000_000_000_005));
    let poet = Identity {
        discord_user_id: user,
        agent_id: AgentId::from("poet"),
        agent_name: "Poet".to_owned(),
    };
    registry.add(poet.clone()).unwrap();
    let opened = open(&place).await;
    let told = Mutex::new(Vec::new());
    let moved = opened.store.move_from(&from, Some(&registry), |done, of| {
        told.lock().unwrap().push((done, of));
    });
    let moved = moved.await.unwrap();
    assert_eq!((moved.channels, moved.agents, moved.transitions), (3, 3, 6));
    assert_eq!(moved.registered, 1);
    assert_eq!(*told.lock().unwrap(), [(0, 3), (1, 3), (2, 3), (3, 3)]);
    has_all(&from, &opened.store).await;
    assert_eq!(IdentityStore::all(&opened.store).await.unwrap(), std::slice::from_ref(&poet));

    registry.remove("poet".into()).await.unwrap();
    registry.add(Identity { agent_name: "Bard".to_owned(), ..poet.clone() }).unwrap();
    let refused = opened.store.move_from(&from, Some(&registry), |_, _| {}).await.unwrap_err();
    assert!(matches!(refused, MoveError::NotEmpty(_)), "{refused}");
    assert_eq!(IdentityStore::all(&opened.store).await.unwrap(), [poet]);
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_was_interrupted_goes_on() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    fill(&from, &[1]).await;
    let opened = open(&place).await;
    moved(&from, &opened.store).await.unwrap();
    store(&from, 2, 8).await;
    from.add_agent("scribe".into()).await.unwrap();
    let again = moved(&from, &opened.store).await.unwrap();
    assert_eq!((again.channels, again.agents, again.transitions), (2, 4, 2));
    has_all(&from, &opened.store).await;
    assert_eq!(moved(&from, &opened.store).await.unwrap().transitions, 0, "all is there");
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_stands_in_the_database_is_overwritten() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    fill(&from, &[1, 2]).await;
    let opened = open(&place).await;
    store(&opened.store, 1, 9).await;
    let refused = moved(&from, &opened.store).await.unwrap_err();
    assert!(matches!(refused, MoveError::NotEmpty(_)), "{refused}");
    let here = opened.store.load(channel(1)).await.unwrap().unwrap();
    assert_eq!(here.record.heard, Some(MessageId::new(9)));
    assert!(opened.store.load(channel(2)).await.unwrap().is_none(), "nor is anything added");
    assert!(opened.store.agents().await.unwrap().is_empty());
    opened.close().await;

    let Some(place) = Place::new() else { return };
    let opened = open(&place).await;
    opened.store.add_agent("critic".into()).await.unwrap();
    let refused = moved(&from, &opened.store).await.unwrap_err();
    assert!(matches!(refused, MoveError::NotEmpty(_)), "the keys would be others: {refused}");
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_cannot_be_read_stops_the_move_before_it_begins() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    fill(&from, &[1, 2]).await;
    let file = folder.path().join(format!("channels/{}.json", channel(2)));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"heard\"", "\"herad\"")).unwrap();
    drop(from);
    let from = JsonChannels::open(folder.path()).unwrap();
    let opened = open(&place).await;
    let refused = moved(&from, &opened.store).await.unwrap_err();
    assert!(
        matches!(refused, MoveError::Load { channel: it, .. } if it == channel(2)),
        "{refused}"
    );
    assert!(opened.store.channels().await.unwrap().is_empty());
    opened.close().await;
}

/// Named by mistake, for example the folder above the right one.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_keeps_nothing_is_refused() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    let opened = open(&place).await;
    let refused = moved(&from, &opened.store).await.unwrap_err();
    assert!(matches!(refused, MoveError::Nothing), "{refused}");
    opened.close().await;
}

/// The row of a process that was killed counts until it has expired.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_was_killed_goes_on_once_its_row_has_expired() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    fill(&from, &[1, 2]).await;
    let options = || place.options().ttl(Duration::from_secs(5));
    place.open_as(options()).await.kill().await;
    let again = Opened::new(options()).await;
    moved(&from, &again.store).await.unwrap();
    has_all(&from, &again.store).await;
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_store_moves_while_another_process_uses_the_database() {
    let Some(place) = Place::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = JsonChannels::open(folder.path()).unwrap();
    fill(&from, &[1]).await;
    let options = || place.options().ttl(Duration::from_secs(5));
    let (other, opened) = (place.open_as(options()).await, Opened::new(options()).await);
    let refused = moved(&from, &opened.store).await.unwrap_err();
    assert!(matches!(refused, MoveError::InUse(1)), "{refused}");
    assert!(opened.store.channels().await.unwrap().is_empty());
    opened.close().await;
    other.close().await;
}
