//! What an operator should look at.

use std::fmt;

use dirigent::ChannelId;
use dirigent::store::Barred;
use dirigent_store::BadFile;

use crate::lease::Namesake;

/// Something that could not be read and was kept, unchanged, or that does not work as it should.
///
/// ```
/// use dirigent_cluster::PostgresProblem;
/// assert!(PostgresProblem::Silent.to_string().contains("pooler"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostgresProblem {
    /// A channel's record cannot be read and bars its channel. It stands in the table `channels`; once
    /// it was replaced, in the table `corrupt`.
    BadRecord {
        /// The channel that the record is of.
        channel: ChannelId,
        /// What is wrong with it.
        reason: BadFile,
        /// What bars the channel because of it.
        bars: Barred,
    },
    /// Notifications do not arrive, own ones included: a pooler in between keeps them back. What they would tell is found by
    /// looking instead.
    Silent,
    /// The server refused what the store needs, for example because its disk is full or the role lacks a right. What was asked is
    /// tried again.
    Refused {
        /// The server's code for it (SQLSTATE).
        code: String,
        /// What that means, and what to do.
        why: String,
    },
    /// The database's clock was set back: leases of other processes last for longer than a lease can. What is not renewed is
    /// taken over when it stood unchanged for the TTL and a tenth by this process's clock.
    ClockSetBack,
    /// Another process that runs at the same time has this one's name
    /// ([`PostgresOptions::process`](crate::PostgresOptions::process)). The one that began later acts for no channel until the
    /// other one has ended; so one of them can be ended, or given another name, without loss.
    Namesake {
        /// The name of both.
        name: String,
        /// Which one the other process is.
        which: Namesake,
    },
}

impl PostgresProblem {
    /// The server takes no writes.
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
            Self::Namesake { name, which: Namesake::Earlier } => write!(
                f,
                "an earlier process has the name {name} and still runs: this one acts for no channel until that one has \
                 ended. End one of them, or give this one a name of its own (PostgresOptions::process)"
            ),
            Self::Namesake { name, which: Namesake::Later } => write!(
                f,
                "a second process was started with this one's name, {name}: it acts for no channel while this one runs. \
                 End one of them, or give that one a name of its own (PostgresOptions::process)"
            ),
        }
    }
}
