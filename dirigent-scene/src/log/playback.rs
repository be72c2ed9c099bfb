//! Replays a log in time, without actors.

use std::time::Duration;

use dirigent::Clock;

use crate::event::SceneEvent;
use crate::log::SceneLog;

/// The speed and the end of a replay.
///
/// ```
/// use dirigent_scene::{SceneLog, Playback};
/// use std::time::Duration;
///
/// let log = SceneLog::parse(br#"[
///   {"t": 0.0, "from": "coordinator", "type": "spawn", "target": "sam", "text": "Spawning actor for character sam"},
///   {"t": 3.0, "from": "sam", "type": "speak", "text": "Hello."},
///   {"t": 9.0, "from": "sam", "type": "speak", "text": "Anyone here?"}
/// ]"#)?;
/// let twice_as_fast = Playback::scaled(2.0).until(Duration::from_secs(5));
/// let waits: Vec<_> = twice_as_fast.steps(&log).map(|step| step.wait.as_millis()).collect();
/// assert_eq!(waits, [0, 1_500]);
/// # Ok::<(), dirigent_scene::LogError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// The factor by which the log's time is divided. With `None` there are no waits.
    speed: Option<f64>,
    until: Option<Duration>,
}

/// One step of a replay.
///
/// ```
/// use dirigent_scene::{SceneLog, Playback};
/// assert!(Playback::real_time().steps(&SceneLog::default()).next().is_none());
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step<'a> {
    /// The wait between the event before and this one.
    pub wait: Duration,
    /// The event.
    pub event: &'a SceneEvent,
}

impl Playback {
    /// Replays at the original speed.
    pub const fn real_time() -> Self {
        Self { speed: Some(1.0), until: None }
    }

    /// Replays this many times as fast, for example twice with 2.0. Any value that is not positive and finite counts
    /// as 1.
    pub fn scaled(speed: f64) -> Self {
        let is_speed = speed.is_finite() && speed > 0.0;
        Self { speed: Some(if is_speed { speed } else { 1.0 }), until: None }
    }

    /// Replays everything at once.
    pub const fn at_once() -> Self {
        Self { speed: None, until: None }
    }

    /// Ends the replay at this time of the scene. Events at exactly this time are included.
    #[must_use]
    pub const fn until(mut self, at: Duration) -> Self {
        self.until = Some(at);
        self
    }

    /// Returns the events, each with the wait before it.
    pub fn steps<'a>(&self, log: &'a SceneLog) -> impl Iterator<Item = Step<'a>> + use<'a> {
        let Self { speed, until } = *self;
        let events = log.events().iter();
        let events = events.take_while(move |event| until.is_none_or(|until| event.at <= until));
        events.scan(Duration::ZERO, move |last, event| {
            let gap = event.at.saturating_sub(*last);
            *last = event.at;
            let wait = speed.map_or(Duration::ZERO, |speed| {
                Duration::try_from_secs_f64(gap.as_secs_f64() / speed).unwrap_or(Duration::MAX)
            });
            Some(Step { wait, event })
        })
    }

    /// Replays the log with this clock, and passes on each event at its time.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the replay. It has no other effect.
    pub async fn play(
        &self,
        log: &SceneLog,
        clock: &dyn Clock,
        mut show: impl FnMut(&SceneEvent) + Send,
    ) {
        // Times are counted from the start, so that rounding errors do not add up.
        let start = clock.now();
        let mut elapsed = Duration::ZERO;
        for Step { wait, event } in self.steps(log) {
            elapsed = elapsed.saturating_add(wait);
            clock.sleep_until(start + elapsed).await;
            show(event);
        }
    }
}
