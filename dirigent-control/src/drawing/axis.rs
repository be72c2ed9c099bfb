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

    /// Returns the first moment and the last one.
    pub(crate) fn ends(&self) -> Option<(Timestamp, Timestamp)> {
        Some((self.moments.first()?.0, self.moments.last()?.0))
    }

    /// Returns the width of the axis.
    pub(crate) fn width(&self) -> f64 {
        self.moments.last().map_or(0.0, |(_, place)| *place)
    }

    /// Returns the moments whose times are written, with the middle of each label, from left to right. A label is at most
    /// this wide, and lies between these two ends. The newest moment and the oldest one have labels, then the first one
    /// after each folded wait, because there the time jumps. Others fill wide gaps.
    pub(crate) fn labelled(&self, wide: f64, (left, right): (f64, f64)) -> Vec<(Timestamp, f64)> {
        let whole = |place: f64| place.min(right - wide / 2.0).max(left + wide / 2.0);
        let (Some(oldest), Some(newest)) = (self.moments.first(), self.moments.last()) else {
            return Vec::new();
        };
        let mut labelled = vec![(newest.0, whole(newest.1))];
        // In a short score the newest label stands beside the oldest one.
        let beside = whole(oldest.1) + wide;
        if oldest.0 < newest.0 && beside <= right - wide / 2.0 {
            labelled = vec![(oldest.0, whole(oldest.1)), (newest.0, whole(newest.1).max(beside))];
        }
        let after_folds = self.folds.iter().filter_map(|(fold, _)| {
            self.moments.get(self.moments.partition_point(|(_, place)| place <= fold))
        });
        let far = self.moments.iter().map(|moment| (moment, wide * 1.5));
        for ((at, place), apart) in after_folds.map(|moment| (moment, wide)).chain(far) {
            let middle = whole(*place);
            let next = labelled.partition_point(|(_, taken)| *taken < middle);
            let neighbours = [next.checked_sub(1), Some(next)].into_iter().flatten();
            let mut taken = neighbours.filter_map(|at| labelled.get(at));
            if taken.all(|(_, taken)| (taken - middle).abs() >= apart) {
                labelled.insert(next, (*at, middle));
            }
        }
        labelled
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
    fn the_newest_the_oldest_and_what_follows_a_fold_have_their_times_before_the_others() {
        let moments = [0, 1_000, 2_000, 3_602_000, 3_603_000, 3_620_000].map(at);
        let axis = Axis::of(moments.to_vec());
        let labelled = axis.labelled(90.0, (-20.0, axis.width() + 60.0));
        let times: Vec<_> = labelled.iter().map(|(at, _)| at.as_millis()).collect();
        assert_eq!(times, [0, 3_602_000, 3_620_000]);
        assert!((labelled[0].1 - 25.0).abs() < 1e-9, "it is moved to where it is whole");
        assert!((labelled[1].1 - axis.place(at(3_602_000))).abs() < 1e-9);
        // Two that are close together stand beside each other.
        let axis = Axis::of(vec![at(0), at(1_000)]);
        assert_eq!(axis.labelled(90.0, (-20.0, 200.0)), [(at(0), 25.0), (at(1_000), 115.0)]);
        assert_eq!(axis.labelled(90.0, (-20.0, 100.0)), [(at(1_000), 25.0)]);
        assert_eq!(Axis::of(vec![at(7)]).labelled(90.0, (0.0, 200.0)).len(), 1);
        assert!(Axis::of(Vec::new()).labelled(90.0, (0.0, 200.0)).is_empty());
    }

    #[test]
    fn two_moments_never_fall_together() {
        let axis = Axis::of((0..50).map(at).collect());
        assert!(axis.place(at(49)) >= 49.0 * SHORTEST);
    }
}
