//! The shortest way to a failure.

use std::sync::Arc;

use dirigent_core::Config;

use super::{Failure, Step, check};

/// Leaves out steps as long as the check still fails, and returns what is left with its failure.
///
/// Returns `None` when the steps do not fail at all.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::Config;
/// use dirigent_testkit::check::{Step, minimize};
/// assert!(minimize(&Arc::new(Config::default()), 1, &[Step::DeadlineTick]).is_none());
/// ```
pub fn minimize(config: &Arc<Config>, seed: u64, steps: &[Step]) -> Option<(Vec<Step>, Failure)> {
    let mut failure = check(config, seed, steps).err()?;
    let mut left = steps.to_vec();
    left.truncate(failure.step + 1);
    let mut chunk = left.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let before = left.len();
        while start < left.len() {
            let kept = left.iter().take(start);
            let without = kept.chain(left.iter().skip(start + chunk));
            let shorter: Vec<Step> = without.cloned().collect();
            match check(config, seed, &shorter) {
                Err(still) => {
                    left = shorter;
                    left.truncate(still.step + 1);
                    failure = still;
                }
                Ok(_) => start += chunk,
            }
        }
        if chunk == 1 && left.len() == before {
            return Some((left, failure));
        }
        chunk = (chunk / 2).max(1);
    }
}
