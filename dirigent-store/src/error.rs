//! The errors of the stores, and what you can conclude from each.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent::store::{Barred, CommitError, LoadError};

/// The step of a store that the system refused.
///
/// ```
/// assert_eq!(dirigent_store::Action::Read.to_string(), "read");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Resolving the path.
    Find,
    /// Creating a folder.
    CreateFolder,
    /// Taking the lock, so that no other process or handle can open the same data.
    Lock,
    /// Reading the file.
    Read,
    /// Writing the new content beside the old.
    Write,
    /// Waiting until the disk has the data.
    Sync,
    /// Replacing the old content with the new.
    Replace,
    /// Renaming a corrupt file.
    KeepAside,
    /// Removing the files that an interrupted write left.
    RemoveStray,
    /// Removing the files of a deletion.
    Remove,
    /// Starting the thread that works on the files.
    StartThread,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Find => "find",
            Self::CreateFolder => "create the folder",
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Write => "write beside",
            Self::Sync => "sync",
            Self::Replace => "replace",
            Self::KeepAside => "keep aside",
            Self::RemoveStray => "remove the stray file",
            Self::Remove => "remove",
            Self::StartThread => "start the thread for",
        })
    }
}

/// Why a file cannot be read as a whole. It tells you where the error is, but never quotes the file.
///
/// ```
/// use dirigent_store::{BadFile, parse_identities};
///
/// let error = parse_identities(b"[ {} ").unwrap_err();
/// assert!(matches!(error, BadFile::NotJson { line: 1, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFile {
    /// The file is larger than any that this store writes.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The largest size, in bytes.
        limit: usize,
    },
    /// The file is not UTF-8 text.
    #[error("it is no UTF-8 text")]
    NotText,
    /// The file is not JSON, or its end is missing.
    #[error("it is no JSON at line {line}, column {column}")]
    NotJson {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1. It is 0 before the first character of a line.
        column: usize,
    },
    /// The file is JSON of another shape.
    #[error("it is JSON, but not {expected}")]
    WrongShape {
        /// The expected shape.
        expected: &'static str,
    },
    /// The checksum is wrong, so the file was changed after it was written, for example by hand, or a part of it is
    /// missing.
    #[error("its checksum is wrong: it was changed, or only half of it arrived")]
    Checksum,
    /// The file belongs to another channel than its name says.
    #[error("it is the file of channel {found}")]
    OtherChannel {
        /// The channel in the file.
        found: ChannelId,
    },
    /// The file is not a complete SQLite database.
    #[error("it is no SQLite database, or a damaged one")]
    BadDatabase,
    /// An older or a newer version of this crate wrote the file. It is not damaged, and it was not changed.
    #[error("it has version {found}, and this crate reads version {reads} only: {}", advice(*found, *reads))]
    OtherVersion {
        /// The version in the file.
        found: u64,
        /// The version that this crate reads and writes.
        reads: u64,
    },
    /// The checksum is right, so the file is not damaged. It contains a value that this version does not know, because
    /// a newer version wrote it.
    #[error("it is whole, but holds a value that this version of the crate does not know")]
    UnknownValue,
}

impl BadFile {
    /// Returns true if the file is complete and this version just cannot interpret it. The version of this crate that
    /// wrote it can read it.
    ///
    /// ```
    /// use dirigent_store::BadFile;
    /// assert!(BadFile::OtherVersion { found: 1, reads: 2 }.is_other_version());
    /// assert!(!BadFile::Checksum.is_other_version());
    /// ```
    pub const fn is_other_version(&self) -> bool {
        matches!(self, Self::OtherVersion { .. } | Self::UnknownValue)
    }

    /// Returns the reason why the channel of this record cannot be used.
    #[doc(hidden)]
    pub const fn bars(&self) -> Barred {
        if self.is_other_version() { Barred::OtherVersion } else { Barred::Damaged }
    }

    /// Returns the place where the parser stopped. The parser's own message is dropped, because it can quote the file.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::NotJson { line: error.line(), column: error.column() }
    }

    /// Returns the reason why a text was not read as a value of the expected shape.
    pub(crate) fn not_read(error: &serde_json::Error, expected: &'static str) -> Self {
        if error.is_data() { Self::WrongShape { expected } } else { Self::not_json(error) }
    }
}

/// Returns the advice for a file of another version.
const fn advice(found: u64, reads: u64) -> &'static str {
    if found < reads {
        "move it away to begin anew without what it holds, or go on with the older version that wrote it"
    } else {
        "go on with the newer version that wrote it"
    }
}

/// The record contains a value that is newer than this crate, which has no name for it yet.
///
/// ```
/// fn explain(error: &dirigent_store::Unwritable) -> String {
///     error.to_string()
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record holds a value that this version of dirigent-store has no name for")]
#[non_exhaustive]
pub struct Unwritable;

/// A store failed at a file.
///
/// ```
/// use std::io;
/// use dirigent::ports::{ApiError, Certainty, ErrorKind};
/// use dirigent_store::{Action, StoreError};
///
/// let error = StoreError::Io {
///     action: Action::Write,
///     path: "agents.json".into(),
///     certainty: Certainty::NotDone,
///     source: io::ErrorKind::StorageFull.into(),
/// };
/// assert_eq!(error.to_string(), "cannot write beside agents.json");
/// let error = ApiError::from(error);
/// assert_eq!((error.kind(), error.certainty()), (ErrorKind::Store, Certainty::NotDone));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The step that failed.
        action: Action,
        /// The file or the folder.
        path: PathBuf,
        /// Whether the requested change may have been made.
        certainty: Certainty,
        /// The error of the system.
        source: io::Error,
    },
    /// The file became unreadable while the store was open. The store does not change it.
    #[error("{} was not touched: mend it, or move it away", path.display())]
    BadFile {
        /// The file's path.
        path: PathBuf,
        /// What is wrong with the file.
        source: BadFile,
    },
    /// The record of a channel cannot be read, so the channel cannot be used. The record stays in its place.
    #[error("the record of channel {channel} in {} cannot be read and was not touched", path.display())]
    BadRecord {
        /// The file or the database that contains the record.
        path: PathBuf,
        /// The channel of the record.
        channel: ChannelId,
        /// What is wrong with the record. Call [`BadFile::is_other_version`] to tell damage from a record that a newer
        /// version can read.
        source: BadFile,
    },
    /// A sync failed before. The content of the disk is unknown since then, and another request would not show it.
    #[error("{} could not be synced before: open the store again", path.display())]
    Broken {
        /// The file or the folder.
        path: PathBuf,
    },
    /// The store was closed.
    #[error("{} was closed: open the store again", path.display())]
    Closed {
        /// The file or the folder.
        path: PathBuf,
    },
    /// The data contains a value that the store cannot write, for example one of a newer version.
    #[error("cannot write {}", path.display())]
    Unwritable {
        /// The file's path.
        path: PathBuf,
        /// The reason.
        source: Unwritable,
    },
    /// The data is larger than the store accepts.
    #[error("what is to be written to {} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file's path.
        path: PathBuf,
        /// The largest size, in bytes.
        limit: usize,
    },
    /// The server of the database refused the work, or cannot be reached.
    #[error("{}: {why}", path.display())]
    Server {
        /// The database.
        path: PathBuf,
        /// Whether the change that was asked for may have been made.
        certainty: Certainty,
        /// The server's code for it (SQLSTATE), where it answered.
        code: Option<String>,
        /// What that means, and what to do. Nothing of what was to be stored.
        why: String,
    },
    /// A panic interrupted the work. That is a bug of this crate.
    #[error("the work on {} was cut short", path.display())]
    Interrupted {
        /// The file or the folder.
        path: PathBuf,
    },
}

impl StoreError {
    /// Returns an error of the system at a point where nothing was changed yet.
    #[doc(hidden)]
    pub fn not_done(action: Action, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), certainty: Certainty::NotDone, source }
    }

    /// Returns an error of the system after the change was made, but before it was durable.
    #[doc(hidden)]
    pub fn unknown(action: Action, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), certainty: Certainty::Unknown, source }
    }

    /// Returns the same error again, for the other callers that waited for this sync.
    #[cfg(feature = "sqlite")]
    pub(crate) fn again(&self) -> Self {
        if let Self::Io { path, source, .. } = self {
            return Self::unknown(Action::Sync, path, source.kind().into());
        }
        Self::Interrupted { path: self.path().to_owned() }
    }

    /// Returns the file or the folder that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::BadFile { path, .. }
            | Self::BadRecord { path, .. }
            | Self::Broken { path }
            | Self::Closed { path }
            | Self::Unwritable { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Server { path, .. }
            | Self::Interrupted { path } => path,
        }
    }

    /// Returns whether the requested change may have been made.
    pub fn certainty(&self) -> Certainty {
        match self {
            Self::Io { certainty, .. } | Self::Server { certainty, .. } => *certainty,
            Self::BadFile { .. }
            | Self::BadRecord { .. }
            | Self::Broken { .. }
            | Self::Closed { .. }
            | Self::Unwritable { .. }
            | Self::TooLarge { .. } => Certainty::NotDone,
            Self::Interrupted { .. } => Certainty::Unknown,
        }
    }

    /// Returns the kind of the failure for the library. It is [`ErrorKind::Invalid`] if the same request would be
    /// refused again, because its data cannot be written or is too large. It is [`ErrorKind::Store`] if a later try can
    /// succeed, for example once a full disk has space again or an operator has acted.
    pub const fn kind(&self) -> ErrorKind {
        if matches!(self, Self::Unwritable { .. } | Self::TooLarge { .. }) {
            ErrorKind::Invalid
        } else {
            ErrorKind::Store
        }
    }

    /// Returns the reason why the channel cannot be used, if its record cannot be read.
    pub(crate) fn barred(&self) -> Option<Barred> {
        if let Self::BadRecord { source, .. } = self { Some(source.bars()) } else { None }
    }

    /// Returns true if the record of a channel is damaged, so that an operator's commit may replace it.
    #[doc(hidden)]
    pub fn is_damaged_record(&self) -> bool {
        self.barred() == Some(Barred::Damaged)
    }

    /// Returns true if a sync failed. A store must not go on after that, because the system may have dropped the data
    /// that it could not write, and it reports that only once.
    pub(crate) fn is_failed_sync(&self) -> bool {
        matches!(self, Self::Io { action: Action::Sync, .. })
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::new(error.kind()).with_certainty(error.certainty()).with_source(error)
    }
}

impl From<StoreError> for LoadError {
    fn from(error: StoreError) -> Self {
        match error.barred() {
            Some(Barred::Damaged) => Self::damaged(error),
            Some(Barred::OtherVersion) => Self::other_version(error),
            None => Self::Store(error.into()),
        }
    }
}

impl From<StoreError> for CommitError {
    fn from(error: StoreError) -> Self {
        match error.barred() {
            Some(barred) => Self::Barred(barred),
            None => Self::Store(error.into()),
        }
    }
}

/// A store was not opened.
///
/// ```
/// use dirigent_store::{JsonIdentities, OpenError};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("agents.json");
/// let first = JsonIdentities::open(&path)?;
/// assert!(matches!(JsonIdentities::open(&path), Err(OpenError::InUse { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store is already open, in another process or in this one.
    #[error(
        "{} is open already: end the other process, use the store that is open, \
         or choose another path",
        path.display()
    )]
    InUse {
        /// The path of the store.
        path: PathBuf,
    },
    /// The home folder of the process's user is not known, so there is no default path.
    #[error("the home folder is not known: set HOME to an absolute path, or name the file's path")]
    NoHome,
    /// The whole file is damaged. It was not changed, because a start without it would forget every stop, hold, mode
    /// and registration in it. If you want to start empty, call `open_or_begin_anew` of the same store, which keeps the
    /// file under another name.
    #[error(
        "{} is damaged and was not touched: restore it from a backup or mend it; or begin anew with \
         `open_or_begin_anew`, which keeps it aside and forgets every stop, hold, mode and \
         registration that it holds",
        path.display()
    )]
    Damaged {
        /// The file's path.
        path: PathBuf,
        /// What is wrong with the file.
        source: BadFile,
    },
    /// The tables of the database belong to another cluster, or to a cluster with other shards or another TTL. They
    /// were not changed.
    #[error(
        "{} holds the tables of the cluster {found}: give the same name, shards and TTL, or choose another \
         database",
        path.display()
    )]
    OtherCluster {
        /// The database.
        path: PathBuf,
        /// The cluster of the tables, with its number of shards and its TTL.
        found: String,
    },
    /// A file could not be read, locked or kept under another name.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The same text as `Display`, because a `main` that returns the error prints this.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        Self::new(ErrorKind::Store).with_certainty(Certainty::NotDone).with_source(error)
    }
}
