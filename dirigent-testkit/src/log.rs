//! What the library logs, for tests.

use std::fmt::{self, Write};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

/// Keeps the warnings and errors that are logged on this thread while something is done.
///
/// ```
/// let log = dirigent_testkit::Log::default();
/// log.during(|| tracing::warn!(agent = "poet", "a run was lost"));
/// assert_eq!(log.lines(), ["WARN a run was lost agent=poet"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: Arc<Mutex<Vec<String>>>,
}

/// With one subscriber alone, what another thread logs first without one would be switched off for all.
static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Log::default()));

impl Log {
    /// Does the work and keeps what it logs on this thread.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        LazyLock::force(&OTHER);
        tracing::subscriber::with_default(self.clone(), work)
    }

    /// The lines so far: level, words, and the fields in their order.
    pub fn lines(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let Line { words, fields } = line;
        self.lock().push(format!("{} {words}{fields}", event.metadata().level()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An event in one line.
#[derive(Default)]
struct Line {
    words: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.words, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}
