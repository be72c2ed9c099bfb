//! Times in Discord's form.

use dirigent::MessageId;
use dirigent::ports::Timestamp;

/// The first time that an id can contain, in Unix milliseconds.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

const DAY_MS: u64 = 86_400_000;

/// Writes a time as RFC 3339 in UTC, with microseconds.
pub fn written(at: Timestamp) -> String {
    let millis = at.as_millis();
    let (year, month, day) = date(millis / DAY_MS);
    let time = millis % DAY_MS;
    let (hour, minute, second) = (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60);
    let micros = time % 1_000 * 1_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

/// Reads a time as clients write it: RFC 3339 with any offset from UTC.
pub fn read(text: &str) -> Option<Timestamp> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let rest = text.get(19..)?;
    let offset_at = rest.find(['Z', '+', '-'])?;
    let (fraction, offset) = rest.split_at(offset_at);
    let digits: String =
        fraction.trim_start_matches('.').chars().chain("000".chars()).take(3).collect();
    let millis: u64 = digits.parse().ok()?;
    // Dates can only be computed from days, so search the day among all that its year may have.
    let days = (year.checked_sub(1970)? * 365..(year - 1969) * 366)
        .find(|it| date(*it) == (year, month, day))?;
    let at = ((days * 24 + hour) * 60 + minute) * 60 + second;
    let minutes = |text: &str| {
        let (hours, minutes) = text.split_once(':')?;
        Some(hours.parse::<u64>().ok()? * 60 + minutes.parse::<u64>().ok()?)
    };
    let at = match (offset.chars().next()?, offset.get(1..)?) {
        ('+', ahead) => at.checked_sub(minutes(ahead)? * 60)?,
        ('-', behind) => at + minutes(behind)? * 60,
        _ => at,
    };
    Some(Timestamp::from_millis(at * 1_000 + millis))
}

/// Returns the time in an id.
pub fn of_id(id: u64) -> Timestamp {
    Timestamp::from_millis((id >> 22) + DISCORD_EPOCH_MS)
}

/// Returns the time of a message in Discord's form.
pub fn of_message(id: MessageId) -> String {
    written(of_id(id.get()))
}

/// Returns the year, month and day of the day with this number since 1970.
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
    fn a_moment_is_read_with_its_offset() {
        let noon = read("2025-06-15T12:00:00Z");
        assert!(noon.is_some());
        assert_eq!(read("2025-06-15T14:30:00.000+02:30"), noon);
        assert_eq!(read("2025-06-15T07:00:00.0-05:00"), noon);
        for wrong in ["", "2025-06-15", "2025-06-31T12:00:00Z", "yesterday at twelve o'clock"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

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
            assert_eq!(read(expected), Some(Timestamp::from_millis(millis)));
        }
    }
}
