//! Ids as Discord makes them: time first, then a number.

use dirigent::ports::Timestamp;

/// The first moment that an id can name: the start of 2015, in Unix milliseconds.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

/// The bits below the time: worker, process and increment, here one single number.
const NUMBER_BITS: u32 = 22;

/// Makes ids that only rise, also when the clock steps back.
#[derive(Debug, Default)]
pub struct Snowflakes {
    /// The newest id given.
    last: u64,
    /// The moment that ids hold instead of the clock's.
    fixed: Option<Timestamp>,
}

impl Snowflakes {
    /// The next id at this moment.
    pub fn next(&mut self, now: Timestamp) -> u64 {
        let now = self.fixed.unwrap_or(now);
        let time = now.as_millis().saturating_sub(DISCORD_EPOCH_MS) << NUMBER_BITS;
        self.last = time.max(self.last.saturating_add(1));
        self.last
    }

    /// Lets ids hold this moment; `None` lets them hold the clock's again.
    pub(crate) fn fix(&mut self, moment: Option<Timestamp>) {
        self.fixed = moment;
    }

    /// Lets all further ids be higher than this one.
    pub fn skip_to(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    /// The newest id given.
    pub const fn last(&self) -> u64 {
        self.last
    }
}
