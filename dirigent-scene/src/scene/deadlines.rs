//! How long a scene waits for others.

use std::time::Duration;

use dirigent::Clock;

/// How long a scene waits for actors, for its judge and for its outlet; `None` is without end. A wait that is over drops the future
/// that it was for. Time is that of the scene's [clock](crate::SceneBuilder::clock).
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
    /// How long an actor may take to be created, to be briefed, and to be restored, each. Default 5 min. After it the scene ends
    /// as [`TimedOut`](crate::CloseReason::TimedOut); one that is being resumed is not resumed.
    pub ready: Option<Duration>,
    /// How long an actor may take for one answer: a turn, a correction, a journal entry, an interview. Default 10 min. With a
    /// turn or its correction the scene ends then as [`TimedOut`](crate::CloseReason::TimedOut), because what the actor
    /// remembers of the cue is not known; a journal entry is missing then.
    pub answer: Option<Duration>,
    /// The same for an actor that is a [person](crate::Actor::is_person). Default 24 h.
    pub person: Option<Duration>,
    /// How long the judge may take for one speech. Default 1 min. After it the scene goes on, and
    /// [`Report::unjudged`](crate::Report::unjudged) names the speech.
    pub judge: Option<Duration>,
    /// How long the outlet may take to show one speech, attempts included. Default 10 min. After it the scene ends as
    /// [`TimedOut`](crate::CloseReason::TimedOut).
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
    /// The name of one that leaves no time at all, if there is one.
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

/// Something did not come within this time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late(pub(super) Duration);

/// What comes within the time that it has.
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
        // No timer is begun for what is there at once.
        biased;
        done = work => Ok(done),
        () = clock.sleep_until(until) => Err(Late(limit)),
    }
}
