//! What the driver could not be told because of its store is told again.

use dirigent::{ChannelId, Mode, Settings};
use serde_json::json;

use crate::account::CHANNEL;
use crate::account::fixture::{Fixture, MESSAGE, Plan, everybody, guild, settle};
use crate::account::server::Reply;
use crate::account::slow_store::{OTHER, message, push, stored_chats, told};

async fn pass_seconds(fixture: &Fixture, seconds: u64) {
    for _ in 0..seconds {
        fixture.pass(1_000);
        settle().await;
    }
}

fn delete(fixture: &Fixture, channel: ChannelId) {
    let gone = json!({"id": channel.to_string(), "type": 0, "guild_id": "1"});
    push(fixture, "CHANNEL_DELETE", &gone);
}

/// Its end is in force at once, but its record is deleted only when that was stored.
#[tokio::test]
async fn the_deletion_of_a_channel_is_told_again_if_it_was_not_stored_in_time() {
    let (fixture, store) = stored_chats(&[CHANNEL], Plan::default()).await;
    store.hang(&[]);
    store.hang_commits(true);
    delete(&fixture, CHANNEL);
    pass_seconds(&fixture, 30).await;
    assert!(store.holds(CHANNEL).await, "no commit was made");
    store.hang_commits(false);
    pass_seconds(&fixture, 90).await;
    assert!(!store.holds(CHANNEL).await, "nothing is kept of it");
}

/// A store that fails at once has the driver told again as one that does not answer.
#[tokio::test]
async fn joins_leaves_and_deletions_are_told_again_where_the_store_fails_at_once() {
    let (fixture, store) = stored_chats(&[CHANNEL, OTHER], Plan::default()).await;
    store.fail(&[CHANNEL, OTHER]);
    fixture.connect(everybody()).await;
    push(&fixture, "GUILD_MEMBER_REMOVE", &json!({"guild_id": "1", "user": {"id": "31"}}));
    delete(&fixture, OTHER);
    settle().await;
    store.fail(&[]);
    pass_seconds(&fixture, 10).await;
    assert_eq!(fixture.present().await, ["b"], "who left meanwhile has left");
    assert!(!store.holds(OTHER).await, "nothing is kept of what was deleted");
}

/// Before it has its parent's mode nothing is read from its history: the message must be told whole.
#[tokio::test]
async fn a_threads_first_message_is_heard_once_its_parent_can_be_loaded() {
    let mut settings = Settings::default();
    settings.inherit_parent_mode = true;
    settings.time_limits.backfill = None;
    let (fixture, store) = stored_chats(&[CHANNEL], Plan { settings, ..Plan::default() }).await;
    store.fail(&[CHANNEL]);
    fixture.connect(everybody()).await;
    let thread = ChannelId::new(701);
    let created =
        json!({"id": "701", "type": 11, "guild_id": "1", "parent_id": "700", "name": "t"});
    push(&fixture, "THREAD_CREATE", &created);
    push(&fixture, "MESSAGE_CREATE", &message(thread, 1));
    push(&fixture, "MESSAGE_CREATE", &message(thread, 2));
    pass_seconds(&fixture, 30).await;
    assert!(told(&fixture, thread).is_empty());
    store.fail(&[]);
    pass_seconds(&fixture, 60).await;
    assert_eq!(fixture.dirigent.channel(thread).status().await.unwrap().unwrap().mode, Mode::Chat);
    assert_eq!(told(&fixture, thread).first(), Some(&1), "it is heard");
}

/// A thread may begin while the bot is away: its words are heard with the next session, once its parent can be loaded.
#[tokio::test]
async fn a_thread_that_began_before_the_session_is_heard_once_its_parent_can_be_loaded() {
    for is_recent in [true, false] {
        let mut settings = Settings::default();
        settings.inherit_parent_mode = true;
        let plan = Plan { settings, ..Plan::default() };
        let (fixture, store) = stored_chats(&[CHANNEL], plan).await;
        store.fail(&[CHANNEL]);
        let thread = ChannelId::new(701);
        let newest = if is_recent { MESSAGE + 1 } else { 1 };
        let mut whole = guild(everybody());
        whole["threads"] = json!([{"id": "701", "type": 11, "guild_id": "1", "parent_id": "700",
            "name": "t", "last_message_id": newest.to_string()}]);
        // A channel in a category is no thread.
        whole["channels"].as_array_mut().unwrap().push(json!({"id": "702", "type": 0,
            "parent_id": "700", "name": "c", "last_message_id": newest.to_string()}));
        fixture
            .server
            .rule("GET /channels/701/messages", Reply::ok(json!([message(thread, 1)]).to_string()));
        fixture.push("READY", &json!({"user": {"id": "500"}})).await;
        fixture.push("GUILD_CREATE", &whole).await;
        pass_seconds(&fixture, 30).await;
        assert!(told(&fixture, thread).is_empty());
        store.fail(&[]);
        pass_seconds(&fixture, 60).await;
        let status = fixture.dirigent.channel(thread).status().await.unwrap();
        assert_eq!(status.map(|status| status.mode), is_recent.then_some(Mode::Chat));
        assert_eq!(told(&fixture, thread).first(), is_recent.then_some(&1));
        assert!(fixture.dirigent.channel(ChannelId::new(702)).status().await.unwrap().is_none());
    }
}
