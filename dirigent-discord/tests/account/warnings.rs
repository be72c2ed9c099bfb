//! What a host finds in its log of events that went no further.

use dirigent_testkit::Log;
use serde_json::json;

use crate::account::fixture::{Fixture, said};

/// An event that cannot be read leaves a line with its kind and nothing else, at most one a minute.
#[tokio::test]
async fn an_event_that_cannot_be_read_is_a_warning_without_its_content() {
    let log = Log::default();
    let _listening = log.listen();
    let fixture = Fixture::open().await;
    let odd = json!({"id": true, "content": "confidential", "channel_id": "700"});
    for _ in 0..100 {
        fixture.push("MESSAGE_CREATE", &odd).await;
        fixture.push("PRESENCE_UPDATE", &odd).await;
    }
    fixture.push("GUILD_CREATE", &json!({"id": []})).await;
    let lines = log.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("MESSAGE_CREATE") && lines[1].contains("GUILD_CREATE"), "{lines:?}");
    assert!(!lines.concat().contains("confidential"), "{lines:?}");
    fixture.pass(60_000);
    fixture.push("MESSAGE_CREATE", &odd).await;
    let lines = log.lines();
    // Besides, that nothing was told since the start: so it is.
    assert!(lines.len() == 4 && lines[2].contains("suppressed=99"), "{lines:?}");
}

/// A driver that has ended is told nothing: the log says so, at most once a minute.
#[tokio::test]
async fn events_for_a_driver_that_has_ended_are_a_warning() {
    let log = Log::default();
    let _listening = log.listen();
    let fixture = Fixture::open().await;
    fixture.chat().await;
    fixture.dirigent.shutdown(std::time::Duration::ZERO).await;
    for id in 1..10 {
        fixture.push("MESSAGE_CREATE", &said(id, "confidential")).await;
    }
    let lines = log.lines();
    assert!(
        lines.len() == 1 && lines[0].contains("the driver has ended: it was shut down"),
        "{lines:?}"
    );
    assert!(!lines.concat().contains("confidential"), "{lines:?}");
}

/// A bot that nobody has invited is connected, and hears nothing.
#[tokio::test]
async fn a_moderator_in_no_server_is_told_to_be_invited() {
    for (ready, is_told) in [
        (json!({"user": {"id": "500"}, "guilds": []}), true),
        (json!({"user": {"id": "500"}, "guilds": [{"id": "600", "unavailable": true}]}), false),
        (json!({"user": {"id": "500"}}), false),
    ] {
        let log = Log::default();
        let _listening = log.listen();
        let fixture = Fixture::open().await;
        fixture.push("READY", &ready).await;
        let told =
            log.lines().iter().filter(|line| line.contains("in no server: invite it")).count();
        assert_eq!(told, usize::from(is_told), "{ready}: {:?}", log.lines());
    }
}
