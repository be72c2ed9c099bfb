//! The problems that an operator should look at.

use std::fmt;

use dirigent::ChannelId;
use dirigent::store::Barred;
use dirigent_store::BadFile;

use crate::lease::SameName;

/// A record that could not be read and was left unchanged, or a part that does not work as it should.
///
/// ```
/// use dirigent_cluster::PostgresProblem;
/// assert!(PostgresProblem::Silent.to_string().contains("pooler"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostgresProblem {
    /// A channel's record cannot be read and bars its channel. It stands in the table `channels`, or once replaced in
    /// `corrupt`.
    BadRecord {
        /// The channel of the record.
        channel: ChannelId,
        /// The error in the record.
        reason: BadFile,
        /// The reason why the channel is barred, and what lifts it.
        bars: Barred,
    },
    /// Notifications do not arrive, this process's own included, because a pooler in between holds them back. The store
    /// looks at the tables instead.
    Silent,
    /// The server refused what the store needs, for example because its disk is full or the role lacks a right. The
    /// store tries again.
    Refused {
        /// The server's code (SQLSTATE).
        code: String,
        /// The code's meaning, and what to do.
        why: String,
    },
    /// The database's clock was set back, so that leases of other processes expire too late. One that is not renewed is
    /// taken over once it stayed unchanged for 1.1 TTL by this process's clock.
    ClockSetBack,
    /// Another process with this one's name ([`PostgresOptions::process`](crate::PostgresOptions::process)) runs at the
    /// same time. The later one acts for no channel until the other has ended. You can end or rename one without loss.
    SameName {
        /// The name of both.
        name: String,
        /// Says if the other process is the earlier or the later one.
        which: SameName,
    },
}

impl PostgresProblem {
    /// The problem of a server that takes no writes.
    pub(super) fn read_only() -> Self {
        let why = "the database is read-only here, for example a standby: this process acts for no channel until it takes writes";
        Self::Refused { code: "25006".to_owned(), why: why.to_owned() }
    }
}

impl fmt::Display for PostgresProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRecord { channel, reason, bars } => {
                write!(f, "the record of channel {channel} cannot be read: {reason}; {bars}")
            }
            Self::Silent => f.write_str(
                "notifications of the database do not arrive, perhaps because of a pooler in between: \
                 the tables are looked at instead",
            ),
            Self::Refused { why, .. } => f.write_str(why),
            Self::ClockSetBack => f.write_str(
                "the database's clock was set back: a lease that another process left is taken over when this process saw it \
                 unchanged for the TTL and a tenth",
            ),
            Self::SameName { name, which: SameName::Earlier } => write!(
                f,
                "an earlier process has the name {name} and still runs: this one acts for no channel until that one has \
                 ended. End one of them, or give this one a name of its own (PostgresOptions::process)"
            ),
            Self::SameName { name, which: SameName::Later } => write!(
                f,
                "a second process was started with this one's name, {name}: it acts for no channel while this one runs. \
                 End one of them, or give that one a name of its own (PostgresOptions::process)"
            ),
        }
    }
}
