//! Numbers for tests from the environment.

use std::env;
use std::ffi::OsStr;

/// Returns the number in an environment variable, for example how many worlds a test tries. It returns `None` if the
/// variable is not set, so that the test uses its default.
///
/// Digits may have underscores between them: `DIRIGENT_STEPS=20_000_000`.
///
/// ```
/// let worlds: u64 = dirigent_testkit::told("WORLDS_OF_THIS_TEST").unwrap_or(200);
/// assert_eq!(worlds, 200);
/// ```
///
/// # Panics
///
/// Panics if the variable is not a number, or if the number is too large for the type. The message names the variable
/// and the text. A silent default would be dangerous, because a hunt that did not happen would look like one that found
/// no failure.
pub fn told<T: TryFrom<u64>>(variable: &str) -> Option<T> {
    env::var_os(variable).map(|text| read(variable, &text))
}

fn read<T: TryFrom<u64>>(variable: &str, text: &OsStr) -> T {
    let number = || T::try_from(number(text.to_str()?)?).ok();
    number().unwrap_or_else(|| {
        panic!("{variable} must be a number that fits, such as 20_000_000, and is {text:?}")
    })
}

/// Reads digits that may have underscores between them.
fn number(digits: &str) -> Option<u64> {
    let begins = digits.starts_with(|first: char| first.is_ascii_digit());
    digits.replace('_', "").parse().ok().filter(|_| begins)
}

/// Returns the numbers that an environment variable lists, for example `3-7,12`. They rise, and none comes twice.
///
/// # Panics
///
/// Panics if it lists anything else.
pub(crate) fn listed(variable: &str) -> Option<Vec<u64>> {
    env::var_os(variable).map(|text| read_list(variable, &text))
}

fn read_list(variable: &str, text: &OsStr) -> Vec<u64> {
    let read = || {
        let mut numbers = Vec::new();
        for part in text.to_str()?.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            let rises = first <= last && numbers.last().is_none_or(|before| *before < first);
            numbers.extend(rises.then_some(first..=last)?);
        }
        Some(numbers)
    };
    read().unwrap_or_else(|| {
        panic!("{variable} must be a list of rising numbers, such as 3-7,12, and is {text:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_may_stand_between_digits() {
        for (text, number) in [("0", 0), ("7", 7), ("20_000_000", 20_000_000), ("1_", 1)] {
            assert_eq!(read::<u64>("STEPS", OsStr::new(text)), number);
        }
        assert_eq!(read::<u8>("TICKS", OsStr::new("255")), 255);
    }

    /// WD14: what cannot be read is never taken for nothing.
    #[test]
    fn what_cannot_be_read_is_refused_with_the_variable_and_the_text() {
        let largest_and_one = "18446744073709551616";
        for text in ["", "_", "_1", "+1", "-1", "1e6", "1.5", " 1", "many", largest_and_one] {
            let refused = std::panic::catch_unwind(|| read::<u64>("STEPS", OsStr::new(text)));
            let why = *refused.unwrap_err().downcast::<String>().unwrap();
            assert!(why.starts_with("STEPS ") && why.ends_with(&format!("{text:?}")), "{why}");
        }
        assert!(std::panic::catch_unwind(|| read::<u8>("TICKS", OsStr::new("256"))).is_err());
    }

    /// WD14
    #[test]
    fn a_list_of_numbers_rises_or_is_refused() {
        let read = |text: &str| read_list("ONLY", OsStr::new(text));
        assert_eq!(read("7"), [7]);
        assert_eq!(read("3-5,8,1_0-11"), [3, 4, 5, 8, 10, 11]);
        for text in ["", ",", "3,", "3-", "-3", "5-3", "3,3", "4-6,5", "3 4", "3..4", "all"] {
            let refused = std::panic::catch_unwind(|| read(text)).unwrap_err();
            let why = *refused.downcast::<String>().unwrap();
            assert!(why.starts_with("ONLY ") && why.ends_with(&format!("{text:?}")), "{why}");
        }
    }

    #[test]
    fn a_variable_that_is_not_set_tells_nothing() {
        assert_eq!(told::<u64>("NO_TEST_SETS_THIS_VARIABLE"), None);
    }
}
