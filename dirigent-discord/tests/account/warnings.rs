//! What a host finds in its log of events that went no further.

use std::fmt::{Debug, Write};
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use crate::town::Town;

/// Keeps the warnings of this thread, a line each.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

/// With one subscriber alone, what another thread logs first without one would be switched off for all.
static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Warnings::default()));

impl Warnings {
    fn listen() -> (Self, DefaultGuard) {
        LazyLock::force(&OTHER);
        let warnings = Self::default();
        (warnings.clone(), tracing::subscriber::set_default(warnings))
    }

    /// The lines so far, which are forgotten.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("dirigent_discord::feed")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An event that cannot be read leaves a line with its kind and nothing else, at most one a minute.
#[tokio::test]
async fn an_event_that_cannot_be_read_is_a_warning_without_its_content() {
    let (warnings, _guard) = Warnings::listen();
    let town = Town::open().await;
    let odd = json!({"id": true, "content": "confidential", "channel_id": "700"});
    for _ in 0..100 {
        town.push("MESSAGE_CREATE", &odd).await;
        town.push("TYPING_START", &odd).await;
    }
    town.push("GUILD_CREATE", &json!({"id": []})).await;
    let lines = warnings.take();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("MESSAGE_CREATE") && lines[1].contains("GUILD_CREATE"), "{lines:?}");
    assert!(!lines.concat().contains("confidential"), "{lines:?}");
    town.pass(60_000);
    town.push("MESSAGE_CREATE", &odd).await;
    let lines = warnings.take();
    assert!(lines.len() == 1 && lines[0].contains("suppressed=99"), "{lines:?}");
}

/// A driver that has ended is told nothing: the log says so, at most once a minute.
#[tokio::test]
async fn events_for_a_driver_that_has_ended_are_a_warning() {
    let (warnings, _guard) = Warnings::listen();
    let town = Town::open().await;
    town.chat().await;
    town.dirigent.shutdown(std::time::Duration::ZERO).await;
    for id in 1..10 {
        town.push("MESSAGE_CREATE", &crate::town::said(id, "confidential")).await;
    }
    let lines = warnings.take();
    assert!(lines.len() == 1 && lines[0].contains("not running"), "{lines:?}");
    assert!(!lines.concat().contains("confidential"), "{lines:?}");
}
