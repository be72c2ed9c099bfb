//! PostgreSQL's refusals in this crate's words. The server's own text is left out, because it may quote data.

use std::path::Path;

use dirigent::ports::Certainty;
use dirigent_store::{Action, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// Converts a refusal into the store's error.
pub(super) fn refused(address: &Path, action: Action, error: &Error) -> StoreError {
    let Some(said) = error.as_db_error() else {
        let why = format!("the connection failed: {}", reason(error));
        let certainty =
            if action == Action::Read { Certainty::NotDone } else { Certainty::Unknown };
        return server(address, certainty, None, why);
    };
    let code = said.code();
    // A statement that the server refused has changed no row. One that was cut off may have.
    let is_refused = !is_cut_off(code) || action == Action::Read;
    let certainty = if is_refused { Certainty::NotDone } else { Certainty::Unknown };
    let why = format!("{} (SQLSTATE {})", meaning(said), code.code());
    server(address, certainty, Some(code.code().to_owned()), why)
}

fn server(address: &Path, certainty: Certainty, code: Option<String>, why: String) -> StoreError {
    StoreError::Server { path: address.to_owned(), certainty, code, why }
}

/// An error that this crate found before anything was done.
pub(super) fn unfit(address: &Path, why: impl Into<String>) -> StoreError {
    server(address, Certainty::NotDone, None, why.into())
}

/// Returns the client's reason for a failed connection. It quotes no stored data.
fn reason(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

/// There is no connection, so the statement was not sent.
pub(super) fn away(address: &Path) -> StoreError {
    server(address, Certainty::NotDone, None, "there is no connection".to_owned())
}

const LATE: &str = "the server did not answer in time";

/// The answer did not come in time.
pub(super) fn no_answer(address: &Path) -> StoreError {
    server(address, Certainty::Unknown, None, LATE.to_owned())
}

/// Returns whether the answer did not come in time. Then the state of the connection is unknown.
pub(super) fn is_late(error: &StoreError) -> bool {
    matches!(error, StoreError::Server { code: None, why, .. } if why == LATE)
}

/// Copies the error for another job of its statement.
pub(super) fn same(error: &StoreError) -> StoreError {
    if let StoreError::Server { path, certainty, code, why } = error {
        return server(path, *certainty, code.clone(), why.clone());
    }
    StoreError::Interrupted { path: error.path().to_owned() }
}

/// Returns whether an operator must look at it. The restart of a server, for example, ends by itself.
pub(super) fn is_lasting(code: &str) -> bool {
    !["57P", "08", "40"].iter().any(|class| code.starts_with(class)) && code != "57014"
}

/// Returns the meaning of a code here, and what to do.
fn meaning(said: &DbError) -> &'static str {
    // A pooler has one code for everything that it refuses.
    if said.message().contains("statement pooling") {
        return "the pooler lends a connection for one statement (pool_mode = statement), and the tables are made in one \
            transaction: open the store once without the pooler, or set pool_mode = transaction";
    }
    match said.code().code() {
        "53100" => "the disk of the database's server is full",
        "53200" => "the database's server is out of memory",
        "53300" => {
            "the database's server takes no more connections: raise max_connections, or use a pooler"
        }
        "25006" => {
            "the database is read-only here, for example a standby: name the server that takes writes"
        }
        "42501" => {
            "the role lacks a right: it needs SELECT, INSERT, UPDATE and DELETE on the tables in the schema dirigent, and USAGE \
             on the schema; to make the tables it needs CREATE on the database"
        }
        "3D000" => "the server has no database of this name: create it, or name another",
        "28000" => {
            "the server does not let this role in: it is unknown, or pg_hba.conf has no line for it"
        }
        "28P01" => "the server does not take this role's password",
        "42P01" | "3F000" => {
            "a table is missing: it was removed, or this is another database than the one that was opened"
        }
        "42703" | "42883" | "42804" => "the tables are not those that this version made",
        "42601" | "0A000" => {
            "the server does not know the statement: PostgreSQL 13 or newer is needed"
        }
        "57014" => {
            "the server gave the statement up: statement_timeout is too short, or someone cancelled it"
        }
        "57P01" | "57P02" => "the server was ended",
        "57P03" => "the server is starting or ending",
        "55P03" => "a row is locked for longer than lock_timeout",
        "40001" | "40P01" => "two statements waited for each other",
        _ => "the server refused",
    }
}

/// Returns whether the server was ended, or failed, while it worked on the statement.
fn is_cut_off(code: &SqlState) -> bool {
    let code = code.code();
    ["08", "58", "XX"].iter().any(|class| code.starts_with(class))
        || ["57P01", "57P02", "57P05", "40003"].contains(&code)
}
