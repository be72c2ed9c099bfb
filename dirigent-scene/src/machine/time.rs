//! Scene time: from the first event on, never back.

use std::time::Duration;

use dirigent_core::Timestamp;

/// When the scene began and where it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SceneTime {
    start: Option<Timestamp>,
    now: Timestamp,
    elapsed: Duration,
}

impl SceneTime {
    pub(super) fn advance(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        if let Some(start) = self.start {
            self.elapsed = self.elapsed.max(now.since(start));
        }
    }

    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// The time of an event that is recorded now. The first one begins the scene.
    pub(super) const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The first event is recorded now.
    pub(super) fn begin(&mut self) {
        self.start.get_or_insert(self.now);
    }
}
