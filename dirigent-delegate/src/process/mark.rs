//! A mark that identifies a process and its descendants.

use std::env;
use std::ffi::OsString;
use std::io;

use tokio::process::Command;

use crate::random::letters;

/// The variable that holds the mark. A process that is itself started for a delegation has both its own mark and that
/// of the one above it.
pub(super) const VARIABLE: &str = "DIRIGENT_DELEGATION";

/// A unique mark: 128 random bits, written as letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> io::Result<Self> {
        letters::<16>().map(Self)
    }

    /// Reads a mark that another process wrote.
    pub(super) fn read(text: &str) -> Option<Self> {
        let is_mark = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_mark.then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Marks a process that is about to start.
    pub(super) fn put_into(&self, command: &mut Command) {
        let mut marks = env::var_os(VARIABLE).unwrap_or_default();
        if !marks.is_empty() {
            marks.push(":");
        }
        marks.push(OsString::from(&self.0));
        command.env(VARIABLE, marks);
    }

    /// Returns true if a process with this environment, as the system shows it, has the mark.
    #[cfg(any(test, target_os = "linux"))]
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        let marks = environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
        marks
            .flat_map(|marks| marks.split(|byte| *byte == b':'))
            .any(|mark| mark == self.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_alone_and_below_others_and_nowhere_else() {
        let mark = Mark::new().unwrap();
        assert_eq!(Mark::read(mark.as_str()), Some(mark.clone()));
        let environment = |value: &str| format!("PATH=/bin\0{VARIABLE}={value}\0HOME=/\0");
        let is_in = |value: &str| mark.is_in(environment(value).as_bytes());
        let other = Mark::new().unwrap();
        assert!(is_in(mark.as_str()));
        assert!(is_in(&format!("{}:{}", mark.as_str(), other.as_str())));
        assert!(is_in(&format!("{}:{}", other.as_str(), mark.as_str())));
        assert!(!is_in(other.as_str()) && !is_in(""));
        assert!(!is_in(&mark.as_str()[1..]) && !is_in(&format!("{}0", mark.as_str())));
        assert!(!mark.is_in(format!("X{VARIABLE}={}\0", mark.as_str()).as_bytes()));
    }

    #[test]
    fn what_is_no_mark_is_not_read() {
        for text in
            ["", "0", "g0000000000000000000000000000000", "0000 000000000000000000000000000"]
        {
            assert_eq!(Mark::read(text), None, "{text}");
        }
    }
}
