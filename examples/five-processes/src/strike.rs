//! What happens to the processes.

use std::fmt;
use std::time::Duration;

use crate::orders::Way;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strike {
    Kill,
    /// It stands still for so long.
    Pause(Duration),
    /// It is cut off for so long.
    Cut(Way, Duration),
    /// The NATS server is killed, and started again after so long.
    Nats(Duration),
    /// All are restarted, one after the other.
    Roll,
}

impl Strike {
    /// These numbers of each kind, in turn.
    pub(crate) fn all(
        kills: u32,
        (pauses, pause): (u32, Duration),
        (cuts, cut): (u32, Duration),
        nats: u32,
        rolls: u32,
    ) -> Vec<Self> {
        let ways = [Way::Relay, Way::Database, Way::All];
        let rounds = kills.max(pauses).max(cuts).max(nats).max(rolls);
        let mut all = Vec::new();
        let mut way = ways.into_iter().cycle();
        for round in 0..rounds {
            all.extend((round < kills).then_some(Self::Kill));
            all.extend((round < pauses).then_some(Self::Pause(pause)));
            all.extend((round < cuts).then(|| way.next()).flatten().map(|way| Self::Cut(way, cut)));
            all.extend((round < nats).then_some(Self::Nats(cut)));
            all.extend((round < rolls).then_some(Self::Roll));
        }
        all
    }
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill => f.write_str("a process is killed"),
            Self::Pause(time) => write!(f, "a process stands still for {time:?}"),
            Self::Cut(Way::Relay, time) => {
                write!(f, "a process does not reach the others for {time:?}")
            }
            Self::Cut(Way::Database, time) => {
                write!(f, "a process does not reach the database for {time:?}")
            }
            Self::Cut(Way::All, time) => {
                write!(
                    f,
                    "a process reaches neither the others nor the database and hears nothing for {time:?}"
                )
            }
            Self::Nats(time) => write!(f, "the NATS server is away for {time:?}"),
            Self::Roll => f.write_str("all are restarted, one after the other"),
        }
    }
}
