//! What bounds a world of leases.

/// What bounds the world, and which rule is left out on purpose.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) processes: u8,
    pub(super) ticks_max: u8,
    pub(super) turns_max: u8,
    pub(super) crashes_max: u8,
    pub(super) pauses_max: u8,
    /// How often a process is cut off from the table and the record, until it is connected again; Discord it reaches.
    pub(super) partitions_max: u8,
    /// How many processes resign.
    pub(super) resigns_max: u8,
    /// How many beats, or their answers, and commits are lost one by one.
    pub(super) cuts_max: u8,
    /// How many ticks a clock may miss.
    pub(super) lags_max: u8,
    /// How many of them the margin is for.
    pub(super) lag_promised: u8,
    /// How often the table's clock is set back.
    pub(super) backs_max: u8,
    /// How many requests that were given up may still arrive.
    pub(super) late_max: usize,
    pub(super) without: Option<Rule>,
}

/// A rule of the leases, which a world may be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A lease that lasts for longer than it can is taken over when it was seen unchanged for TTL and margin, not at once.
    AheadIsWatched,
    /// What is taken so is the row that was seen, not one that was renewed meanwhile.
    ExpiredNamesTheRow,
    /// A commit is refused where the shard has been given back, though its epoch is the newest.
    CommitNamesTheOwner,
    /// It is refused where the shard is held in another epoch than the one that it names.
    CommitNamesTheEpoch,
    /// Nothing is posted before it is stored.
    StoreBeforeEffect,
    /// A lease is trusted for less than it lasts.
    Margin,
    /// It is trusted from the start of the attempt, not from when the answer came.
    TrustFromTheStart,
    /// In the last of that time nothing new is started.
    QuietEnd,
    /// A renewal is without effect where the owner or the epoch has changed.
    RenewalNamesTheTerm,
    /// It is without effect where the epoch alone has changed.
    RenewalNamesTheEpoch,
    /// What is given back stays where the owner or the epoch has changed.
    ResignationNamesTheTerm,
    /// A lease is taken over when it has expired, and not earlier.
    TakeOverAfterTheEnd,
    /// Each owner has an epoch of its own.
    NextEpoch,
    /// A process that has resigned starts nothing new.
    ResignFirst,
    /// It gives its shards back when nothing is under way any more.
    DrainBeforeTheEnd,
    /// What was refused, or is not known to be stored, is forgotten, and the record loaded.
    LoadAfterRefusal,
}

impl Setting {
    /// Nothing goes wrong, and no process resigns.
    pub(super) fn of(processes: u8) -> Self {
        Self {
            processes,
            ticks_max: TICKS + more(),
            turns_max: 2,
            crashes_max: 0,
            pauses_max: 0,
            partitions_max: 0,
            resigns_max: 0,
            cuts_max: 0,
            lags_max: 0,
            lag_promised: 1,
            backs_max: 0,
            late_max: 0,
            without: None,
        }
    }

    pub(super) fn crash(self) -> Self {
        Self { crashes_max: self.crashes_max + 1, ..self }
    }

    pub(super) fn pause(self) -> Self {
        Self { pauses_max: self.pauses_max + 1, ..self }
    }

    pub(super) fn partition(self) -> Self {
        Self { partitions_max: self.partitions_max + 1, ..self }
    }

    /// A clock misses a tick.
    pub(super) fn drift(self) -> Self {
        Self { lags_max: self.lags_max + 1, ..self }
    }

    /// The table's clock is set back, and the world lives until a row that stands unchanged has expired.
    pub(super) fn set_back(self) -> Self {
        Self { backs_max: 1, ticks_max: self.ticks_max + 4, ..self }
    }

    /// A request or an answer is lost.
    pub(super) fn loss(self) -> Self {
        Self { cuts_max: self.cuts_max + 1, ..self }
    }

    /// A request is given up and arrives all the same.
    pub(super) fn late(self) -> Self {
        Self { late_max: self.late_max + 1, ..self.loss() }
    }

    pub(super) fn resignation(self) -> Self {
        Self { resigns_max: self.resigns_max + 1, ..self }
    }

    /// It lives for one tick more.
    pub(super) fn longer(self) -> Self {
        Self { ticks_max: self.ticks_max + 1, ..self }
    }

    pub(super) fn without(self, rule: Rule) -> Self {
        Self { without: Some(rule), ..self }
    }

    /// Whether anything goes wrong that can cost a process its lease.
    pub(super) fn has_faults(&self) -> bool {
        self.crashes_max + self.pauses_max + self.partitions_max + self.cuts_max > 0
    }

    pub(super) fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}

/// How long the world lives: until a lease that is renewed never has expired.
const TICKS: u8 = 4;

/// How many ticks longer than usual: `DIRIGENT_LEASE_MORE` makes a hunt of it.
fn more() -> u8 {
    dirigent_testkit::told("DIRIGENT_LEASE_MORE").unwrap_or(0)
}
