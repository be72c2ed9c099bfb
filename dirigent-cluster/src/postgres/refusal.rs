//! What PostgreSQL refuses, in this crate's words.

use std::fmt;
use std::io;
use std::path::Path;

use dirigent::ports::Certainty;
use dirigent_store::{Action, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// What the server said, without its text, which may quote what was to be stored; or how the connection failed.
#[derive(Debug)]
enum Said {
    Code(SqlState),
    Nothing(Option<String>),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "the server answered with SQLSTATE {}", code.code()),
            Self::Nothing(Some(reason)) => write!(f, "the connection failed: {reason}"),
            Self::Nothing(None) => f.write_str("the connection failed"),
        }
    }
}

impl std::error::Error for Said {}

/// What was refused, as the store's error.
pub(super) fn refused(address: &Path, action: Action, error: &Error) -> StoreError {
    let code = error.code().cloned();
    let kind = kind_of(code.as_ref());
    // A statement that the server has refused has changed nothing. One that was cut off may have.
    let is_refused = code.as_ref().is_some_and(|code| !is_cut_off(code));
    let certainty =
        if is_refused || action == Action::Read { Certainty::NotDone } else { Certainty::Unknown };
    let said = code.map_or_else(|| Said::Nothing(Some(reason(error))), Said::Code);
    let source = io::Error::new(kind, said);
    StoreError::Io { action, path: address.to_owned(), certainty, source }
}

/// What the client says of a connection that failed: nothing of what was to be stored.
fn reason(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

/// The statement was not sent: there is no connection.
pub(super) fn away(address: &Path, action: Action) -> StoreError {
    let source = io::Error::new(io::ErrorKind::NotConnected, Said::Nothing(None));
    StoreError::not_done(action, address, source)
}

/// The answer did not come in time.
pub(super) fn no_answer(address: &Path, action: Action) -> StoreError {
    StoreError::unknown(action, address, io::ErrorKind::TimedOut.into())
}

/// The same error once more, for others whose changes were made with the same statement.
pub(super) fn same(error: &StoreError) -> StoreError {
    if let StoreError::Io { action, path, certainty, source } = error {
        let (action, path, certainty) = (*action, path.clone(), *certainty);
        return StoreError::Io { action, path, certainty, source: source.kind().into() };
    }
    StoreError::Interrupted { path: error.path().to_owned() }
}

fn kind_of(code: Option<&SqlState>) -> io::ErrorKind {
    let Some(code) = code else {
        return io::ErrorKind::ConnectionAborted;
    };
    match code.code() {
        "53100" => io::ErrorKind::StorageFull,
        "53200" => io::ErrorKind::OutOfMemory,
        "25006" | "42501" => io::ErrorKind::PermissionDenied,
        "57014" => io::ErrorKind::TimedOut,
        "57P03" | "53300" => io::ErrorKind::NotConnected,
        _ => io::ErrorKind::Other,
    }
}

/// Whether the server was ended, or failed, while it worked on the statement.
fn is_cut_off(code: &SqlState) -> bool {
    let code = code.code();
    ["08", "58", "XX"].iter().any(|class| code.starts_with(class))
        || ["57P01", "57P02", "57P05", "40003"].contains(&code)
}
