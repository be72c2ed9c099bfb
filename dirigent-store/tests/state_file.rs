//! The picture of all channels follows what happens.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use dirigent_store::OrchestrationState;
use dirigent_testkit::scripted_agent::Line;
use dirigent_testkit::stage::Setup;
use serde_json::Value;

const SECOND: Duration = Duration::from_secs(1);

/// R254, R279
#[test]
fn the_state_file_is_written_on_every_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OrchestrationState::FILE_NAME);
    let read =
        || -> Option<Value> { serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok() };
    let mut stage = Setup::new()
        .hosted("pm", [Line::from("p1").taking(SECOND * 10)])
        .hosted("dev", [Line::from("d1").taking(SECOND * 10)])
        .stage();
    let (store, clock, to) = (stage.store().clone(), stage.clock().clone(), path.clone());
    let kept = stage.begin(|dirigent| {
        let config = Arc::new(dirigent::Config::default());
        let (store, clock) = (Arc::new(store), Arc::new(clock));
        OrchestrationState::keep_saved(dirigent, store, config, clock, to, SECOND)
    });
    stage.chat();
    assert!(read().is_none(), "not at once: changes come in crowds");
    stage.say("Hello");
    let channel = stage.channel().to_string();
    for (seconds, active) in [(2, "pm"), (10, "dev")] {
        stage.advance(SECOND * seconds);
        let picture = read().unwrap();
        let room = &picture["channels"][&channel];
        assert_eq!(room["activeAgent"], active);
        assert_eq!(room["queue"], serde_json::json!(["pm", "dev"]));
        assert_eq!(picture["agents"][active]["activeIn"], serde_json::json!([channel]));
    }
    stage.until_dormant();
    stage.advance(SECOND * 2);
    assert_eq!(read().unwrap()["channels"][&channel]["activeAgent"], Value::Null);
    stage.crash();
    assert!(kept.take().is_none());
}
