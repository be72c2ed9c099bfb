//! Ids in Discord's form: first the time, then a number.

use dirigent::ports::Timestamp;

/// The first time that an id can contain: the start of 2015, in Unix milliseconds.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

/// The bits below the time. Discord has worker, process and increment there; here they are a single
/// number.
const NUMBER_BITS: u32 = 22;

/// Makes ids that only rise, even if the clock steps back.
#[derive(Debug, Default)]
pub struct Snowflakes {
    /// The newest id.
    last: u64,
    /// The time that ids contain instead of the clock's.
    fixed: Option<Timestamp>,
}

impl Snowflakes {
    /// Returns the next id at this time.
    pub fn next(&mut self, now: Timestamp) -> u64 {
        let now = self.fixed.unwrap_or(now);
        let time = now.as_millis().saturating_sub(DISCORD_EPOCH_MS) << NUMBER_BITS;
        self.last = time.max(self.last.saturating_add(1));
        self.last
    }

    /// Makes ids contain this time. With `None` they contain the clock's again.
    pub(crate) fn fix(&mut self, moment: Option<Timestamp>) {
        self.fixed = moment;
    }

    /// Makes all further ids higher than this one.
    pub fn skip_to(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    /// Returns the newest id.
    pub const fn last(&self) -> u64 {
        self.last
    }
}
