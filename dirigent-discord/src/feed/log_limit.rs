//! Keeps repeated warnings out of the log.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dirigent::ports::Timestamp;

/// The shortest time between two lines of one kind.
const INTERVAL: Duration = Duration::from_secs(60);

/// Lets one line a minute of each kind through, and counts the others.
#[derive(Debug, Default)]
pub(super) struct LogLimit(Mutex<HashMap<String, (Timestamp, u64)>>);

impl LogLimit {
    /// Returns how many lines of this kind were suppressed since the last one, if one may be written now.
    pub(super) fn admit(&self, kind: &str, now: Timestamp) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kinds.get_mut(kind) {
            Some((written, suppressed)) if now < *written + INTERVAL => {
                *suppressed = suppressed.saturating_add(1);
                None
            }
            known => {
                let suppressed = known.map_or(0, |(_, suppressed)| *suppressed);
                kinds.insert(kind.to_owned(), (now, 0));
                Some(suppressed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_minute_of_each_kind_and_the_rest_is_counted() {
        let (limit, start) = (LogLimit::default(), Timestamp::from_millis(1_000_000));
        assert_eq!(limit.admit("a", start), Some(0));
        for second in 0..60 {
            assert_eq!(limit.admit("a", start + Duration::from_secs(second)), None);
        }
        assert_eq!(limit.admit("b", start), Some(0), "another kind");
        assert_eq!(limit.admit("a", start + INTERVAL), Some(60));
        assert_eq!(limit.admit("a", start + INTERVAL), None);
    }
}
