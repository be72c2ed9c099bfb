//! What went wrong with a file, and what may be concluded from it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent::store::{Barred, CommitError, LoadError};

/// What a store was about to do when the system refused.
///
/// ```
/// assert_eq!(dirigent_store::Action::Read.to_string(), "read");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Finding out where the path leads.
    Find,
    /// Making a folder.
    CreateFolder,
    /// Locking, so that no other process or handle opens the same.
    Lock,
    /// Reading the file.
    Read,
    /// Writing the new content beside the old.
    Write,
    /// Waiting until the disk has it.
    Sync,
    /// Putting the new content in the place of the old.
    Replace,
    /// Renaming a corrupt file.
    KeepAside,
    /// Removing what an interrupted write left.
    RemoveStray,
    /// Removing what is to be deleted.
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

/// Why a file cannot be read as a whole. It says where, never what stands there.
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
    /// It is larger than anything that this store writes.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// How large it may be.
        limit: usize,
    },
    /// It is no UTF-8 text.
    #[error("it is no UTF-8 text")]
    NotText,
    /// It is no JSON, or not all of it.
    #[error("it is no JSON at line {line}, column {column}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1; 0 before the first character of a line.
        column: usize,
    },
    /// It is JSON of another shape.
    #[error("it is JSON, but not {expected}")]
    WrongShape {
        /// What it should be.
        expected: &'static str,
    },
    /// It is not as it was written: its checksum is another.
    #[error("its checksum is wrong: it was changed, or only half of it arrived")]
    Checksum,
    /// It is of another channel than its name says.
    #[error("it is the file of channel {found}")]
    OtherChannel {
        /// Whose file it is.
        found: ChannelId,
    },
    /// It is no whole SQLite database.
    #[error("it is no SQLite database, or a damaged one")]
    BadDatabase,
    /// It was written by an older or a newer version of this crate, which is no damage. It was not changed.
    #[error("it has version {found}, and this crate reads version {reads} only: {}", advice(*found, *reads))]
    OtherVersion {
        /// The version that stands in it.
        found: u64,
        /// The version that this crate reads and writes.
        reads: u64,
    },
    /// Its checksum is right, so it is as it was written, and it holds a value that this version does
    /// not know: a newer version wrote it. That is no damage.
    #[error("it is whole, but holds a value that this version of the crate does not know")]
    UnknownValue,
}

impl BadFile {
    /// Returns whether it is whole and only not understood, so that the version of this crate that wrote it can read it.
    ///
    /// ```
    /// use dirigent_store::BadFile;
    /// assert!(BadFile::OtherVersion { found: 1, reads: 2 }.is_other_version());
    /// assert!(!BadFile::Checksum.is_other_version());
    /// ```
    pub const fn is_other_version(&self) -> bool {
        matches!(self, Self::OtherVersion { .. } | Self::UnknownValue)
    }

    /// What bars the channel whose record this is.
    #[doc(hidden)]
    pub const fn bars(&self) -> Barred {
        if self.is_other_version() { Barred::OtherVersion } else { Barred::Damaged }
    }

    /// Where the parser stopped. Its own words may quote the file.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::NotJson { line: error.line(), column: error.column() }
    }
}

/// Says what to do with a file of another version.
const fn advice(found: u64, reads: u64) -> &'static str {
    if found < reads {
        "move it away to begin anew without what it holds, or go on with the older version that wrote it"
    } else {
        "go on with the newer version that wrote it"
    }
}

/// The record holds a value that is newer than this crate, which has no name for it yet.
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
        /// What was tried.
        action: Action,
        /// On which file or folder.
        path: PathBuf,
        /// Whether the change that was asked for may have been made.
        certainty: Certainty,
        /// What the system says.
        source: io::Error,
    },
    /// The file was made unreadable while the store was open. It is left as it is.
    #[error("{} was not touched: mend it, or move it away", path.display())]
    BadFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: BadFile,
    },
    /// A channel's record cannot be read and bars its channel. It is left where it is.
    #[error("the record of channel {channel} in {} cannot be read and was not touched", path.display())]
    BadRecord {
        /// The file or the database that holds the record.
        path: PathBuf,
        /// The channel that the record is of.
        channel: ChannelId,
        /// What is wrong with the record; [`BadFile::is_other_version`] tells damage from what a newer version
        /// reads.
        source: BadFile,
    },
    /// A sync failed before: what the disk has is not known any more, and asking again would not
    /// tell.
    #[error("{} could not be synced before: open the store again", path.display())]
    Broken {
        /// Which file or folder.
        path: PathBuf,
    },
    /// The store was closed.
    #[error("{} was closed: open the store again", path.display())]
    Closed {
        /// Which file or folder.
        path: PathBuf,
    },
    /// What was to be stored cannot be written down.
    #[error("cannot write {}", path.display())]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// What of it.
        source: Unwritable,
    },
    /// What was to be stored is larger than anything that the store takes.
    #[error("what is to be written to {} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// How many bytes it may have.
        limit: usize,
    },
    /// The work was cut short by a panic, a mistake of this crate.
    #[error("the work on {} was cut short", path.display())]
    Interrupted {
        /// Which file or folder.
        path: PathBuf,
    },
}

impl StoreError {
    /// An error of the system at a point where nothing was changed yet.
    #[doc(hidden)]
    pub fn not_done(action: Action, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), certainty: Certainty::NotDone, source }
    }

    /// An error of the system after the change was made, before it was made to last.
    #[doc(hidden)]
    pub fn unknown(action: Action, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), certainty: Certainty::Unknown, source }
    }

    /// The same error once more, for others who waited for the same sync.
    #[cfg(feature = "sqlite")]
    pub(crate) fn again(&self) -> Self {
        if let Self::Io { path, source, .. } = self {
            return Self::unknown(Action::Sync, path, source.kind().into());
        }
        Self::Interrupted { path: self.path().to_owned() }
    }

    /// The file or folder that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::BadFile { path, .. }
            | Self::BadRecord { path, .. }
            | Self::Broken { path }
            | Self::Closed { path }
            | Self::Unwritable { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Interrupted { path } => path,
        }
    }

    /// Whether the change that was asked for may have been made.
    pub fn certainty(&self) -> Certainty {
        match self {
            Self::Io { certainty, .. } => *certainty,
            Self::BadFile { .. }
            | Self::BadRecord { .. }
            | Self::Broken { .. }
            | Self::Closed { .. }
            | Self::Unwritable { .. }
            | Self::TooLarge { .. } => Certainty::NotDone,
            Self::Interrupted { .. } => Certainty::Unknown,
        }
    }

    /// What kind of failure it is for the library: [`ErrorKind::Invalid`] where the same request would be refused again,
    /// because what it holds cannot be written or is too large; [`ErrorKind::Store`] where it may succeed later, as
    /// on a disk that is full, or once an operator has acted.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Unwritable { .. } | Self::TooLarge { .. } => ErrorKind::Invalid,
            Self::Io { .. }
            | Self::BadFile { .. }
            | Self::BadRecord { .. }
            | Self::Broken { .. }
            | Self::Closed { .. }
            | Self::Interrupted { .. } => ErrorKind::Store,
        }
    }

    /// What bars the channel, where it is its record that cannot be read.
    pub(crate) fn barred(&self) -> Option<Barred> {
        match self {
            Self::BadRecord { source, .. } => Some(source.bars()),
            Self::Io { .. }
            | Self::BadFile { .. }
            | Self::Broken { .. }
            | Self::Closed { .. }
            | Self::Unwritable { .. }
            | Self::TooLarge { .. }
            | Self::Interrupted { .. } => None,
        }
    }

    /// Whether a channel's record is damaged, so that an operator's commit may replace it.
    #[doc(hidden)]
    pub fn is_damaged_record(&self) -> bool {
        self.barred() == Some(Barred::Damaged)
    }

    /// Whether a sync failed, after which a store must not go on (the system may have dropped what
    /// it could not write, and says so only once).
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
    /// It is open already, in another process or in this one.
    #[error(
        "{} is open already: end the other process, use the store that is open, \
         or choose another path",
        path.display()
    )]
    InUse {
        /// What was to be opened.
        path: PathBuf,
    },
    /// The home folder of the process's user is not known, so that there is no default path.
    #[error("the home folder is not known: set HOME to an absolute path, or name the file's path")]
    NoHome,
    /// The file is damaged as a whole. It was not touched, since starting without it would forget every
    /// stop, hold, mode and registration that it holds. `open_or_begin_anew` of the same store keeps it
    /// aside and starts empty.
    #[error(
        "{} is damaged and was not touched: restore it from a backup or mend it; or begin anew with \
         `open_or_begin_anew`, which keeps it aside and forgets every stop, hold, mode and \
         registration that it holds",
        path.display()
    )]
    Damaged {
        /// The file that was to be opened.
        path: PathBuf,
        /// What is wrong with it.
        source: BadFile,
    },
    /// The tables of the database are those of another cluster, or of one with other shards or another TTL. Nothing was
    /// changed.
    #[error(
        "{} holds the tables of the cluster {found}: give the same name, shards and TTL, or choose another \
         database",
        path.display()
    )]
    OtherCluster {
        /// The database.
        path: PathBuf,
        /// Whose tables they are, with how many shards and which TTL.
        found: String,
    },
    /// A file could not be read, locked or kept aside.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// In words, as `Display`: a `main` that returns the error prints this.
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
