//! Captures log lines, for tests and for programs that show them.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

/// Captures the warnings and errors that are logged on this thread.
///
/// ```
/// let log = dirigent_testkit::Log::default();
/// log.during(|| tracing::warn!(agent = "poet", "a run was lost"));
/// assert_eq!(log.lines(), ["WARN a run was lost agent=poet"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    with_info: bool,
}

/// A guard that keeps a [`Log`] capturing on this thread until you drop it.
///
/// ```
/// let log = dirigent_testkit::Log::default();
/// let listening = log.listen();
/// tracing::warn!("a run was lost");
/// drop(listening);
/// tracing::warn!("nothing hears this");
/// assert_eq!(log.lines(), ["WARN a run was lost"]);
/// ```
#[derive(Debug)]
#[must_use = "the log listens until this is dropped"]
pub struct Listening {
    _subscribed: DefaultGuard,
}

/// With only one subscriber, a line that another thread logs first would be disabled for all threads.
static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Lines(Level::WARN, |_| ())));

impl Log {
    /// Creates a log that also captures lines at level info, for example what people do to channels.
    pub fn with_info() -> Self {
        Self { with_info: true, ..Self::default() }
    }

    /// Runs `work`, and captures what it logs on this thread.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _listening = self.listen();
        work()
    }

    /// Captures everything that is logged on this thread from now on. Use it in tests that await.
    pub fn listen(&self) -> Listening {
        LazyLock::force(&OTHER);
        let log = self.clone();
        let most = if self.with_info { Level::INFO } else { Level::WARN };
        let lines = Lines(most, move |line| log.lock().push(line));
        Listening { _subscribed: tracing::subscriber::set_default(lines) }
    }

    /// Returns the lines so far. Each has a level, words, and the fields in order.
    pub fn lines(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the warnings and errors of all threads to standard error from now on, one line each, in the form
/// of [`Log::lines`]. If the process already has a subscriber, that one stays and this has no effect.
///
/// ```
/// dirigent_testkit::print_warnings();
/// tracing::warn!(agent = "poet", "a run was lost");
/// ```
pub fn print_warnings() {
    // A failure to write to standard error cannot be reported anywhere.
    let lines = Lines(Level::WARN, |line| drop(writeln!(io::stderr(), "{line}")));
    // It is no error if there is already a subscriber.
    let _ = tracing::subscriber::set_global_default(lines);
}

/// Makes a line from each event up to this level.
struct Lines<F>(Level, F);

impl<F: Fn(String) + 'static> Subscriber for Lines<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.0
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
        self.1(format!("{} {words}{fields}", event.metadata().level()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An event as one line.
#[derive(Default)]
struct Line {
    words: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.words, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}
