//! The stage's clock as the process sees it: every wait that ends is a crash point.

use async_trait::async_trait;
use dirigent::Clock;
use dirigent::ports::Timestamp;
use dirigent_testkit::ManualClock;

use super::points::Points;

/// A [`ManualClock`] whose waits end at crash points.
#[derive(Clone, Debug)]
pub(crate) struct StageClock {
    clock: ManualClock,
    points: Points,
}

impl StageClock {
    pub(crate) const fn new(clock: ManualClock, points: Points) -> Self {
        Self { clock, points }
    }
}

#[async_trait]
impl Clock for StageClock {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        if self.clock.now() >= deadline {
            return;
        }
        self.clock.sleep_until(deadline).await;
        self.points.pass("a wait is over").await;
    }
}
