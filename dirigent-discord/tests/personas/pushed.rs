//! What the gateway pushes before the webhooks of a channel were read.

use dirigent::DiscordApi as _;
use dirigent::ports::WriteBar;
use dirigent::snapshot::Pause;
use dirigent_discord::Persona;
use serde_json::json;

use crate::account::CHANNEL;
use crate::account::fixture::{Fixture, Plan, everybody, settle};
use crate::account::server::Reply;

/// It may be a persona's, posted by the process before this one: the history is read, once it is known whose it is.
#[tokio::test]
async fn a_webhooks_message_is_not_taken_for_anothers_before_its_channels_webhooks_are_known() {
    let fixture = Fixture::with(Plan::default()).await;
    fixture.connect(everybody()).await;
    fixture.chat().await;
    settle().await;
    let said = |id: u64| {
        json!({"id": id.to_string(), "channel_id": "700", "type": 0, "content": "a", "webhook_id": "77",
            "author": {"id": "77", "username": "Critic", "bot": true}})
    };
    let reads = || fixture.count("GET /channels/700/messages");
    let before = reads();
    fixture.push("MESSAGE_CREATE", &said(crate::account::fixture::MESSAGE)).await;
    settle().await;
    assert_eq!(reads(), before, "without personas it is another's");
    fixture.account.persona(Persona::new("Critic")).unwrap();
    fixture.push("MESSAGE_CREATE", &said(crate::account::fixture::MESSAGE + 1)).await;
    settle().await;
    assert!(reads() > before);
    let before = reads();
    fixture.push("MESSAGE_CREATE", &said(crate::account::fixture::MESSAGE + 2)).await;
    settle().await;
    assert_eq!(reads(), before, "now it is known that it is none of a persona's");
}

#[tokio::test]
async fn the_reaction_that_stops_works_on_a_personas_message_too() {
    let fixture = Fixture::with(Plan { stop_reaction: Some("🛑"), ..Plan::default() }).await;
    for (start, reply) in [
        ("GET /channels/700/webhooks ", "[]"),
        ("POST /channels/700/webhooks ", r#"{"id":"77","token":"hush"}"#),
        ("PATCH /webhooks/77 ", "{}"),
        ("POST /webhooks/77/hush", r#"{"id":"900","channel_id":"700"}"#),
    ] {
        fixture.server.rule(start, Reply::ok(reply));
    }
    fixture.chat().await;
    let reaction = json!({
        "user_id": "33", "channel_id": "700", "message_id": "900", "guild_id": "1", "message_author_id": "77",
        "type": 0, "burst": false, "member": {"user": {"id": "33", "bot": false}, "roles": [], "flags": 0}, "emoji": {"id": null, "name": "🛑"},
    });
    fixture.push("MESSAGE_REACTION_ADD", &reaction).await;
    assert_eq!(fixture.status().await.rest, None, "a webhook of others");
    let critic = fixture.account.persona(Persona::new("Critic")).unwrap();
    critic.post(super::post(CHANNEL, "hello", 1)).await.unwrap();
    fixture.push("MESSAGE_REACTION_ADD", &reaction).await;
    assert_eq!(fixture.status().await.rest, Some(Pause::Stopped));
}

/// A channel that is deleted, or left with its guild, is forgotten with its webhooks.
#[tokio::test]
async fn what_is_known_of_webhooks_is_forgotten_with_their_channel() {
    for (gone, data) in [
        ("CHANNEL_DELETE", json!({"id": "700", "guild_id": "1"})),
        ("GUILD_DELETE", json!({"id": "1"})),
    ] {
        let fixture = Fixture::with(Plan::default()).await;
        fixture.connect(everybody()).await;
        fixture.chat().await;
        let herald =
            |id: u64| json!({"id": id.to_string(), "name": "herald", "application_id": null});
        let full: serde_json::Value = (60..75).map(herald).collect();
        fixture.server.rule("GET /channels/700/webhooks ", Reply::ok(full.to_string()));
        let critic = fixture.account.persona(Persona::new("Critic")).unwrap();
        let critic = critic.me().await.unwrap();
        assert_eq!(fixture.account.members(CHANNEL, vec![critic]).await.unwrap(), []);
        let bars = || fixture.account.write_bars(CHANNEL, &[critic]);
        assert_eq!(bars(), [(critic, WriteBar::NoWebhook)]);
        fixture.push(gone, &data).await;
        fixture.connect(everybody()).await;
        assert_eq!(bars(), [], "{gone}");
    }
}
