//! The time axis. Short waits are drawn to scale, and long ones are folded.

use dirigent::ports::Timestamp;

/// The distance for each second between two moments.
const PER_SECOND: f64 = 16.0;
/// The longest distance between two neighbouring moments.
const LONGEST: f64 = 96.0;
/// The shortest distance between two neighbouring moments.
const SHORTEST: f64 = 4.0;
/// The shortest wait that is folded. The fold shows its length.
const FOLDED_FROM_MS: u64 = 20_000;

/// The places of moments, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The moments in order, with their places.
    moments: Vec<(Timestamp, f64)>,
    /// The folded waits, each with its place and its length.
    pub(crate) folds: Vec<(f64, u64)>,
}

impl Axis {
    pub(crate) fn of(mut moments: Vec<Timestamp>) -> Self {
        moments.sort_unstable();
        moments.dedup();
        let (mut placed, mut folds) = (Vec::with_capacity(moments.len()), Vec::new());
        let mut place = 0.0;
        let mut before: Option<Timestamp> = None;
        for at in moments {
            if let Some(before) = before {
                let wait = u64::try_from(at.since(before).as_millis()).unwrap_or(u64::MAX);
                let far = at.since(before).as_secs_f64() * PER_SECOND;
                let far = far.clamp(SHORTEST, LONGEST);
                if wait >= FOLDED_FROM_MS {
                    folds.push((place + far / 2.0, wait));
                }
                place += far;
            }
            placed.push((at, place));
            before = Some(at);
        }
        Self { moments: placed, folds }
    }

    /// Returns the width of the axis.
    pub(crate) fn width(&self) -> f64 {
        self.moments.last().map_or(0.0, |(_, place)| *place)
    }

    /// Returns the place of a moment. Between two known moments the place is in proportion. A moment before the first
    /// one or after the last one is placed at that end.
    pub(crate) fn place(&self, at: Timestamp) -> f64 {
        let next = self.moments.partition_point(|(known, _)| *known < at);
        let after = self.moments.get(next);
        let before = next.checked_sub(1).and_then(|before| self.moments.get(before));
        match (before, after) {
            (_, Some((known, place))) if *known == at => *place,
            (Some((from, left)), Some((to, right))) => {
                let whole = to.since(*from).as_secs_f64();
                left + (right - left) * (at.since(*from).as_secs_f64() / whole)
            }
            (Some((_, place)), None) | (None, Some((_, place))) => *place,
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn short_waits_are_to_scale_and_long_ones_are_folded() {
        let axis = Axis::of(vec![at(2_000), at(0), at(1_000), at(3_602_000), at(1_000)]);
        assert!((axis.place(at(1_000)) - 16.0).abs() < 1e-9);
        assert!((axis.place(at(1_500)) - 24.0).abs() < 1e-9, "in proportion");
        assert!((axis.width() - (32.0 + LONGEST)).abs() < 1e-9);
        assert_eq!(axis.folds.len(), 1);
        assert_eq!(axis.folds[0].1, 3_600_000);
    }

    #[test]
    fn what_is_outside_is_at_the_ends_and_nothing_is_at_zero() {
        let axis = Axis::of(vec![at(1_000), at(2_000)]);
        assert!(axis.place(at(0)).abs() < 1e-9);
        assert!((axis.place(at(9_000)) - axis.width()).abs() < 1e-9);
        assert!(Axis::of(Vec::new()).place(at(7)).abs() < 1e-9);
    }

    #[test]
    fn two_moments_never_fall_together() {
        let axis = Axis::of((0..50).map(at).collect());
        assert!(axis.place(at(49)) >= 49.0 * SHORTEST);
    }
}
