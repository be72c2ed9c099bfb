//! Shows what the server complains about.

use std::fmt;
use std::io::{self, Write};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Shows errors and warnings from now on.
pub(crate) fn listen() {
    // Only a second call could fail.
    let _ = tracing::subscriber::set_global_default(Loud);
}

/// Writes every complaint to standard error.
struct Loud;

impl Subscriber for Loud {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        // A failure to write to standard error cannot be reported anywhere.
        let _ = writeln!(io::stderr(), "{}:{}", event.metadata().level(), line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of a complaint, in one line.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let shown = if field.name() == "message" {
            format!(" {value:?}")
        } else {
            format!(" {}={value:?}", field.name())
        };
        self.0.push_str(&shown);
    }
}
