//! Replaying a log in time, without any actor.

use std::time::Duration;

use dirigent::Clock;

use crate::event::SceneEvent;
use crate::log::SceneLog;

/// How fast a log is replayed, and how far.
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
    /// By how much the time of the log is divided; none: no waiting.
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
    /// How long to wait after the event before this one.
    pub wait: Duration,
    /// The event.
    pub event: &'a SceneEvent,
}

impl Playback {
    /// As fast as it was.
    pub const fn real_time() -> Self {
        Self { speed: Some(1.0), until: None }
    }

    /// This many times as fast. What is no positive finite number counts as 1.
    pub fn scaled(speed: f64) -> Self {
        let is_speed = speed.is_finite() && speed > 0.0;
        Self { speed: Some(if is_speed { speed } else { 1.0 }), until: None }
    }

    /// All at once.
    pub const fn at_once() -> Self {
        Self { speed: None, until: None }
    }

    /// Ends the replay at this moment of the scene; events at the moment itself are replayed.
    #[must_use]
    pub const fn until(mut self, at: Duration) -> Self {
        self.until = Some(at);
        self
    }

    /// Returns the events with the time to wait before each.
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

    /// Replays the log: waits by this clock, and hands each event over at its time.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the replay and has no other effect.
    pub async fn play(
        &self,
        log: &SceneLog,
        clock: &dyn Clock,
        mut show: impl FnMut(&SceneEvent) + Send,
    ) {
        // Moments are counted from the start, so that the waits do not add up their errors.
        let start = clock.now();
        let mut elapsed = Duration::ZERO;
        for Step { wait, event } in self.steps(log) {
            elapsed = elapsed.saturating_add(wait);
            clock.sleep_until(start + elapsed).await;
            show(event);
        }
    }
}
