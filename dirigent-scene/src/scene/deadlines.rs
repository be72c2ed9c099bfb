//! Limits how long a scene waits for others.

use std::time::Duration;

use dirigent::Clock;

/// The longest waits of a scene for its actors, judge and outlet; with `None` it waits for ever. When a wait is over,
/// its future is dropped. Time is that of the scene's [clock](crate::SceneBuilder::clock).
///
/// ```
/// use dirigent_scene::SceneDeadlines;
/// use std::time::Duration;
///
/// let deadlines = SceneDeadlines::default();
/// assert_eq!(deadlines.answer, Some(Duration::from_secs(600)));
/// assert_eq!(deadlines.person, Some(Duration::from_secs(86_400)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SceneDeadlines {
    /// The longest time to create, brief or restore an actor, each. Default 5 min. After it the scene ends as
    /// [`TimedOut`](crate::CloseReason::TimedOut), or is not resumed.
    pub ready: Option<Duration>,
    /// The longest time for one answer of an actor: a turn, a correction, a journal entry or an interview. Default 10
    /// min. A late turn or correction ends the scene as [`TimedOut`](crate::CloseReason::TimedOut), because it is
    /// unknown what the actor remembers of the cue. A late journal entry is missing.
    pub answer: Option<Duration>,
    /// The longest time for one answer of a [person](crate::Actor::is_person). Default 24 h.
    pub person: Option<Duration>,
    /// The longest time for the judge to judge one speech. Default 1 min. After it the scene goes on, and
    /// [`Report::unjudged`](crate::Report::unjudged) names the speech.
    pub judge: Option<Duration>,
    /// The longest time for the outlet to show one speech, including all attempts. Default 10 min. After it the scene
    /// ends as [`TimedOut`](crate::CloseReason::TimedOut).
    pub show: Option<Duration>,
}

impl Default for SceneDeadlines {
    fn default() -> Self {
        let minutes = |count: u64| Some(Duration::from_secs(60 * count));
        Self {
            ready: minutes(5),
            answer: minutes(10),
            person: minutes(24 * 60),
            judge: minutes(1),
            show: minutes(10),
        }
    }
}

impl SceneDeadlines {
    /// Returns the name of a deadline that leaves no time at all, if there is one.
    pub(super) fn empty(&self) -> Option<&'static str> {
        let Self { ready, answer, person, judge, show } = self;
        let named = [
            ("ready", ready),
            ("answer", answer),
            ("person", person),
            ("judge", judge),
            ("show", show),
        ];
        let is_empty = |limit: &Option<Duration>| limit.is_some_and(|limit| limit.is_zero());
        named.into_iter().find(|(_, limit)| is_empty(limit)).map(|(name, _)| name)
    }
}

/// The result did not come within this time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late(pub(super) Duration);

/// Returns the result of `work` if it comes within the limit.
pub(super) async fn within<T>(
    clock: &dyn Clock,
    limit: Option<Duration>,
    work: impl Future<Output = T>,
) -> Result<T, Late> {
    let Some(limit) = limit else {
        return Ok(work.await);
    };
    let until = clock.now() + limit;
    tokio::select! {
        // If the result is there at once, no timer is started.
        biased;
        done = work => Ok(done),
        () = clock.sleep_until(until) => Err(Late(limit)),
    }
}
