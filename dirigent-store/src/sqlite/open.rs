//! Opens the database: locks it, checks it, and refuses a damaged one. If the caller wants to begin
//! anew, a damaged one is renamed.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::problem::SqliteProblem;
use super::refusal::{is_busy, is_damage, refused};
use super::tables::Tables;
use crate::disk::Lock;
use crate::disk::{self, private};
use crate::error::{Action, BadFile, OpenError, StoreError};

/// The version that this crate writes, and the only one that it reads (`PRAGMA user_version`).
const VERSION: i64 = 2;

/// Marks a database as one of this crate (`PRAGMA application_id`).
const APPLICATION: i64 = 0x6469_7267;

/// The endings of the other files that belong to a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The expected shape of a database, for errors.
const SHAPE: &str = "a database of this store";

/// SQLite's integers are signed, so an id or a revision from 2^63 on is negative there.
const SCHEMA: &str = "
CREATE TABLE channels (
    id INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE TABLE corrupt (
    row INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    reason TEXT NOT NULL,
    revision ANY,
    checksum ANY,
    record ANY
) STRICT;
CREATE TABLE agents (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE identities (
    place INTEGER PRIMARY KEY,
    account INTEGER NOT NULL UNIQUE,
    agent TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
) STRICT;
CREATE TABLE history (
    channel INTEGER NOT NULL,
    number INTEGER NOT NULL,
    change TEXT NOT NULL,
    PRIMARY KEY (channel, number)
) STRICT, WITHOUT ROWID;
";

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    /// Its path, with links resolved.
    pub(super) path: PathBuf,
    /// It is dropped before the lock, so that the next store that opens the database finds it closed.
    pub(super) conn: Connection,
    pub(super) lock: Lock,
}

impl Database {
    /// Opens the database, and returns what was renamed for it. A damaged database is refused and not
    /// changed, unless the caller wants to begin anew.
    pub(super) fn open(
        path: &Path,
        begins_anew: bool,
    ) -> Result<(Self, Option<SqliteProblem>), OpenError> {
        let (folder, _) = disk::place_of(path)?;
        disk::create_folder(folder)?;
        let path = disk::resolve(path)?;
        let lock = Lock::on_file(&path)?;
        let refused = |path| OpenError::Damaged { path, source: BadFile::BadDatabase };
        if is_orphan(&path) && !begins_anew {
            return Err(refused(path));
        }
        let orphan = keep_orphan(&path)?;
        let (conn, aside) = match connect(&path) {
            Err(error) if is_damage(&error) && !begins_anew => return Err(refused(path)),
            Err(error) if is_damage(&error) => {
                let kept = keep_all_aside(&path)?;
                (connect(&path), Some(kept))
            }
            other => (other, orphan),
        };
        let conn = match conn {
            Err(error) if is_busy(&error) => return Err(OpenError::InUse { path }),
            other => other?,
        };
        let reason = BadFile::BadDatabase;
        let problem = aside.map(|kept| SqliteProblem::KeptAside { kept, reason });
        Ok((Self { path, conn, lock }, problem))
    }
}

/// Opens the file as a database. If this fails, nothing was changed.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    make_file(path)?;
    let refused = |error: rusqlite::Error| refused(path, Action::Read, &error);
    let bad = |source| StoreError::BadFile { path: path.to_owned(), source };
    // The path is not a URI, so that every path means itself.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(refused)?;
    // The program that wrote another version finds the database unchanged, with or without its
    // write-ahead log.
    keep_log(&conn, with_end(path, "-wal").exists()).map_err(refused)?;
    conn.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(refused)?;
    conn.pragma_update(None, "cell_size_check", true).map_err(refused)?;
    // Deleted and replaced data is overwritten with zeros.
    conn.pragma_update(None, "secure_delete", true).map_err(refused)?;
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(refused)?;
    let version = number("user_version").map_err(refused)?;
    let count = "SELECT count(*) FROM sqlite_schema";
    let count: i64 = conn.query_row(count, [], |row| row.get(0)).map_err(refused)?;
    let is_new = (application, version, count) == (0, 0, 0);
    if !is_new && application != APPLICATION {
        return Err(bad(BadFile::WrongShape { expected: SHAPE }));
    }
    if !is_new && version != VERSION {
        let number = |version| u64::try_from(version).unwrap_or_default();
        let (found, reads) = (number(version), number(VERSION));
        return Err(bad(BadFile::OtherVersion { found, reads }));
    }
    let check = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let sound = conn.query_row("PRAGMA quick_check(1)", [], check).map_err(refused)?;
    if sound != "ok" {
        return Err(bad(BadFile::BadDatabase));
    }
    conn.pragma_update_and_check(None, "journal_mode", "WAL", check).map_err(refused)?;
    // The log is synced apart from the commits (see `sync`).
    conn.pragma_update(None, "synchronous", "NORMAL").map_err(refused)?;
    if is_new {
        let marks =
            format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
        conn.execute_batch(&format!("BEGIN; {SCHEMA} {marks} COMMIT;")).map_err(refused)?;
    }
    // This checks that the tables exist and can be read.
    drop(Tables::new(&conn, path, 0)?);
    keep_log(&conn, false).map_err(refused)?;
    Ok(conn)
}

/// Empties the write-ahead log. It contains the data that was replaced or deleted since it was last
/// emptied.
pub(super) fn empty_log(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let is_busy = |row: &rusqlite::Row<'_>| row.get::<_, bool>(0);
    let emptied = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], is_busy);
    if emptied.map_err(|error| refused(path, Action::Write, &error))? {
        let source = io::ErrorKind::ResourceBusy.into();
        return Err(StoreError::unknown(Action::Write, path, source));
    }
    Ok(())
}

/// Sets whether the write-ahead log stays, and the database unchanged, when the connection is closed.
pub(super) fn keep_log(conn: &Connection, is_kept: bool) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept).map(drop)
}

/// Creates an empty file if there is none, for the owner alone. SQLite gives the files beside it the
/// same mode.
fn make_file(path: &Path) -> Result<(), StoreError> {
    let refused = |source| StoreError::not_done(Action::Write, path, source);
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => {
            let other = io::Error::new(io::ErrorKind::InvalidInput, "not an ordinary file");
            Err(StoreError::not_done(Action::Read, path, other))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private(OpenOptions::new().write(true).create_new(true)).open(path).map_err(refused)?;
            disk::sync_folder(disk::place_of(path)?.0)
        }
        Err(error) => Err(StoreError::not_done(Action::Read, path, error)),
    }
}

/// Returns true if there is a write-ahead log without its database, because SQLite would remove such a
/// log. It is left if a process ends while it renames a database.
fn is_orphan(path: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    size(path) == 0 && size(&with_end(path, "-wal")) > 0
}

/// Renames a write-ahead log without its database.
fn keep_orphan(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    if !is_orphan(path) {
        return Ok(None);
    }
    make_file(path)?;
    keep_all_aside(path).map(Some)
}

/// Renames the database to `<name>.corrupt-N`, and the files beside it so that SQLite finds them there.
fn keep_all_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let kept = disk::keep_aside(path)?;
    for end in BESIDE {
        let (from, to) = (with_end(path, end), with_end(&kept, end));
        if from.exists() && to.exists() {
            disk::keep_aside(&from)?;
        } else if from.exists() {
            fs::rename(&from, &to)
                .map_err(|source| StoreError::not_done(Action::KeepAside, &from, source))?;
        }
    }
    disk::sync_folder(disk::place_of(path)?.0)?;
    Ok(kept)
}

/// Returns the path of the file beside the database whose name has this ending.
pub(super) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}
