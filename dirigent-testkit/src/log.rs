//! What the library logs, for tests and for a program that shows it.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
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
    with_info: bool,
}

/// Until this is dropped, a [`Log`] keeps what is logged on the thread.
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

/// With one subscriber alone, what another thread logs first without one would be switched off for all.
static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Lines(Level::WARN, |_| ())));

impl Log {
    /// Keeps also what is logged at the level info: what a program has, and what people do to its channels.
    pub fn with_info() -> Self {
        Self { with_info: true, ..Self::default() }
    }

    /// Does the work and keeps what it logs on this thread.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _listening = self.listen();
        work()
    }

    /// Keeps what is logged on this thread from now on, for tests that await.
    pub fn listen(&self) -> Listening {
        LazyLock::force(&OTHER);
        let log = self.clone();
        let most = if self.with_info { Level::INFO } else { Level::WARN };
        let lines = Lines(most, move |line| log.lock().push(line));
        Listening { _subscribed: tracing::subscriber::set_default(lines) }
    }

    /// The lines so far: level, words, and the fields in their order.
    pub fn lines(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the warnings and errors of all threads to standard error from now on, a line each, in the form of
/// [`Log::lines`]. Where the process has a subscriber already, that one is kept and nothing is written.
///
/// ```
/// dirigent_testkit::print_warnings();
/// tracing::warn!(agent = "poet", "a run was lost");
/// ```
pub fn print_warnings() {
    // A failure to write to standard error cannot be reported anywhere.
    let lines = Lines(Level::WARN, |line| drop(writeln!(io::stderr(), "{line}")));
    // That there is a subscriber already is no fault.
    let _ = tracing::subscriber::set_global_default(lines);
}

/// Makes a line of each event up to this level.
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
