//! The time of a scene, which starts with its first event and never goes back.

use std::time::Duration;

use dirigent_core::Timestamp;

/// The start and the current time of a scene.
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

    /// Returns the time of an event that is recorded now. The first event begins the scene.
    pub(super) const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Starts the time with the first event.
    pub(super) fn begin(&mut self) {
        self.start.get_or_insert(self.now);
    }
}
