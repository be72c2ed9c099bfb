//! The picture of all channels follows what happens.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use dirigent::settings::LostRuns;
use dirigent_store::export::OrchestrationState;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};
use serde_json::Value;

const SECOND: Duration = Duration::from_secs(1);

/// A room of two whose state is kept in a file.
struct Kept {
    stage: Stage,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Kept {
    fn new(at_most_every: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OrchestrationState::FILE_NAME);
        let mut stage = Setup::new()
            .hosted("pm", [Line::from("p1").taking(SECOND * 10)])
            .hosted("dev", [Line::from("d1").taking(SECOND * 10)])
            .settings(|settings| settings.hooks.lost_runs = LostRuns::Rerun)
            .stage();
        let (store, clock, to) = (stage.store().clone(), stage.clock().clone(), path.clone());
        drop(stage.begin(|dirigent| {
            let config = Arc::new(dirigent::Config::default());
            let (store, clock) = (Arc::new(store), Arc::new(clock));
            OrchestrationState::keep_saved(dirigent, store, config, clock, to, at_most_every)
        }));
        Self { stage, path, _folder: folder }
    }

    fn read(&self) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(&self.path).ok()?).ok()
    }

    /// Waits, without letting time pass, until the file says this; how long it takes is the disk's affair.
    fn until(&mut self, what: impl Fn(&Value) -> bool) -> Value {
        loop {
            self.stage.advance(Duration::ZERO);
            if let Some(picture) = self.read().filter(&what) {
                return picture;
            }
            thread::yield_now();
        }
    }
}

/// R254, R279
#[test]
fn the_state_file_is_written_on_every_change() {
    let mut kept = Kept::new(Duration::ZERO);
    kept.stage.chat();
    let channel = kept.stage.channel().to_string();
    kept.until(|picture| picture["channels"][&channel]["phase"] == "dormant");
    kept.stage.say("Hello");
    for active in ["pm", "dev"] {
        let picture = kept.until(|picture| picture["channels"][&channel]["activeAgent"] == active);
        assert_eq!(picture["channels"][&channel]["queue"], serde_json::json!(["pm", "dev"]));
        assert_eq!(picture["agents"][active]["activeIn"], serde_json::json!([channel]));
        kept.stage.advance(SECOND * 10);
    }
    kept.stage.until_dormant();
    kept.until(|picture| picture["channels"][&channel]["activeAgent"] == Value::Null);
    kept.stage.crash();
}

/// SD4, R279: what a kill left of the export is older than the store, or is not there at all.
#[test]
fn a_restart_reads_the_store_and_not_the_export() {
    for left in [None, Some("{}"), Some("half of a pict")] {
        let mut kept = Kept::new(Duration::ZERO);
        kept.stage.chat();
        kept.stage.say("Hello");
        kept.stage.advance(SECOND * 12);
        let before = kept.stage.status().unwrap();
        assert_eq!(before.speaker, Some("dev".into()));
        kept.stage.crash();
        match left {
            Some(text) => std::fs::write(&kept.path, text).unwrap(),
            None => drop(std::fs::remove_file(&kept.path)),
        }
        kept.stage.restart();
        let after = kept.stage.status().unwrap();
        assert_eq!((after.turn, &after.list), (before.turn, &before.list), "queue and index");
        assert_eq!(after.speaker, before.speaker);
    }
}

#[test]
fn changes_that_come_in_crowds_are_written_together() {
    let mut kept = Kept::new(SECOND);
    kept.stage.chat();
    assert!(kept.read().is_none(), "a file was written before its time");
    kept.stage.say("Hello");
    let channel = kept.stage.channel().to_string();
    kept.stage.advance(SECOND * 2);
    kept.until(|picture| picture["channels"][&channel]["activeAgent"] == "pm");
    kept.stage.crash();
}
