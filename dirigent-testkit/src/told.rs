//! Numbers that a test gets from outside.

use std::env;
use std::ffi::OsStr;

/// The number that an environment variable tells a test, such as how many worlds it tries; `None` where the variable is not
/// set, so that the test takes its usual number.
///
/// Underscores may stand between the digits: `DIRIGENT_STEPS=20_000_000`.
///
/// ```
/// let worlds: u64 = dirigent_testkit::told("WORLDS_OF_THIS_TEST").unwrap_or(200);
/// assert_eq!(worlds, 200);
/// ```
///
/// # Panics
///
/// If the variable is set to what is no number, or to one that is too large for the type. A hunt that silently does what it
/// always does would look like one that found nothing. The message names the variable and the text.
pub fn told<T: TryFrom<u64>>(variable: &str) -> Option<T> {
    env::var_os(variable).map(|text| read(variable, &text))
}

fn read<T: TryFrom<u64>>(variable: &str, text: &OsStr) -> T {
    let number = || {
        let digits = text.to_str()?;
        let begins = digits.starts_with(|first: char| first.is_ascii_digit());
        let number = digits.replace('_', "").parse::<u64>().ok().filter(|_| begins)?;
        T::try_from(number).ok()
    };
    number().unwrap_or_else(|| {
        panic!("{variable} must be a number that fits, such as 20_000_000, and is {text:?}")
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

    #[test]
    fn a_variable_that_is_not_set_tells_nothing() {
        assert_eq!(told::<u64>("NO_TEST_SETS_THIS_VARIABLE"), None);
    }
}
