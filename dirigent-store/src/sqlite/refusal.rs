//! Converts SQLite's errors into those of this crate.

use std::io;
use std::path::Path;

use rusqlite::ffi;

use crate::error::{Action, BadFile, StoreError};

/// Returns the store's error for one of SQLite's. SQLite's own text names only columns and codes
/// and never values, but this drops it to be safe.
pub(super) fn refused(path: &Path, action: Action, error: &rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(said, _) = error else {
        // The row does not fit its table.
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
        // All of it was written, but it is unknown whether it is on the disk.
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => {
            StoreError::unknown(Action::Sync, path, source)
        }
        _ => StoreError::not_done(action, path, source),
    }
}

/// Returns true if another process or handle has the database.
pub(super) fn is_busy(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
}

/// Returns true if the database itself is damaged.
pub(super) fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::BadFile { source: BadFile::BadDatabase, .. })
}
