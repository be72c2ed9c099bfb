//! Moments as Discord writes them.

use dirigent::MessageId;
use dirigent::snapshot::Timestamp;

/// The first moment that an id can name, in Unix milliseconds.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

const DAY_MS: u64 = 86_400_000;

/// A moment: RFC 3339 in UTC, with microseconds.
pub(crate) fn written(at: Timestamp) -> String {
    let millis = at.as_millis();
    let (year, month, day) = date(millis / DAY_MS);
    let time = millis % DAY_MS;
    let (hour, minute, second) = (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60);
    let micros = time % 1_000 * 1_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

/// When an id was made.
pub(crate) fn of_id(id: u64) -> Timestamp {
    Timestamp::from_millis((id >> 22) + DISCORD_EPOCH_MS)
}

/// When a message was made, as Discord writes it.
pub(crate) fn of_message(id: MessageId) -> String {
    written(of_id(id.get()))
}

/// Year, month and day of the day with this number since 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_its_date() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000000+00:00"),
            (951_782_399_999, "2000-02-28T23:59:59.999000+00:00"),
            (951_782_400_000, "2000-02-29T00:00:00.000000+00:00"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001000+00:00"),
            (1_750_000_000_000, "2025-06-15T15:06:40.000000+00:00"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000000+00:00"),
        ] {
            assert_eq!(written(Timestamp::from_millis(millis)), expected);
        }
    }
}
