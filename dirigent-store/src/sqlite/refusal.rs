//! What SQLite refuses, in this crate's words.

use std::io;
use std::path::Path;

use rusqlite::ffi;

use crate::error::{Action, BadFile, StoreError};

/// What was refused, as the store's error. SQLite's own words name columns and codes, never values;
/// they are left out all the same.
pub(super) fn refused(path: &Path, action: Action, error: &rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(said, _) = error else {
        // A row that is not as its table has it.
        return StoreError::BadFile { path: path.to_owned(), source: BadFile::BadDatabase };
    };
    let kind = match said.extended_code & 0xff {
        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => {
            return StoreError::BadFile { path: path.to_owned(), source: BadFile::BadDatabase };
        }
        ffi::SQLITE_FULL => io::ErrorKind::StorageFull,
        ffi::SQLITE_READONLY | ffi::SQLITE_PERM | ffi::SQLITE_CANTOPEN => {
            io::ErrorKind::PermissionDenied
        }
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => io::ErrorKind::ResourceBusy,
        ffi::SQLITE_NOMEM => io::ErrorKind::OutOfMemory,
        ffi::SQLITE_TOOBIG => io::ErrorKind::FileTooLarge,
        _ => io::ErrorKind::Other,
    };
    let source = io::Error::new(kind, *said);
    match said.extended_code {
        // All of it was written; whether it is on the disk is not known.
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => {
            StoreError::unknown(Action::Sync, path, source)
        }
        _ => StoreError::not_done(action, path, source),
    }
}

/// Whether another process or handle has the database.
pub(super) fn is_busy(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
}

/// Whether the database itself is what is bad.
pub(super) fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::BadFile { source: BadFile::BadDatabase, .. })
}
