//! Writes times for people, in UTC.

use std::time::{Duration, UNIX_EPOCH};

use dirigent::ports::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// The newest time that has a year of four digits, in milliseconds of Unix time.
const NEWEST: u64 = 253_402_300_799_999;

/// A moment on a clock.
pub(crate) struct When {
    year: String,
    /// The day without its year, for example `29 Nov`.
    pub(crate) day: String,
    /// The time of the day, for example `06:41:07`.
    pub(crate) time: String,
}

impl When {
    /// The widest time of a day, as a visitor's own browser may write it.
    pub(crate) const WIDEST_TIME: &str = "12:41:07 PM";
    /// The widest time with its day.
    pub(crate) const WIDEST_DAY_AND_TIME: &str = "29 Sept, 12:41 PM";

    pub(crate) fn of(at: Timestamp) -> Self {
        let at = UNIX_EPOCH + Duration::from_millis(at.as_millis().min(NEWEST));
        // For example 2026-11-29T06:41:07Z.
        let text = humantime::format_rfc3339_seconds(at).to_string();
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
        let month = part(5, 7).parse::<usize>().ok().and_then(|month| MONTHS.get(month - 1));
        let day = format!("{} {}", part(8, 10).trim_start_matches('0'), month.unwrap_or(&""));
        Self { year: part(0, 4).to_owned(), day, time: part(11, 19).to_owned() }
    }

    pub(crate) fn day_and_year(&self) -> String {
        format!("{} {}", self.day, self.year)
    }

    pub(crate) fn day_and_time(&self) -> String {
        format!("{}, {}", self.day, self.time.get(..5).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_day_and_a_time_whatever_it_is() {
        let when = When::of(Timestamp::from_millis(1_795_934_467_999));
        assert_eq!((&*when.day_and_year(), &*when.time), ("29 Nov 2026", "06:41:07"));
        assert_eq!(when.day_and_time(), "29 Nov, 06:41");
        assert_eq!(When::of(Timestamp::from_millis(0)).day_and_year(), "1 Jan 1970");
        assert_eq!(When::of(Timestamp::from_millis(u64::MAX)).day_and_year(), "31 Dec 9999");
    }
}
