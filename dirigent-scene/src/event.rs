//! The events of the log.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::Error as _;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::slug::{COORDINATOR, Slug};

/// One event of a scene, which is a line or an element of the event log. `Debug` shows no text.
///
/// ```
/// use dirigent_scene::{SceneEvent, EventKind, Source};
///
/// let event: SceneEvent = serde_json::from_str(
///     r#"{"t": 2.5, "from": "coordinator", "type": "route", "target": "sam-reed", "text": "Forwarding Maria's speech to Sam"}"#,
/// )?;
/// assert_eq!((event.kind, event.from), (EventKind::Route, Source::Coordinator));
/// assert_eq!(event.at.as_millis(), 2_500);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SceneEvent {
    /// The time since the scene's first event, in whole milliseconds. In JSON it is `t`, in seconds.
    pub at: Duration,
    /// The source of the event.
    pub from: Source,
    /// The kind of event. In JSON it is `type`.
    pub kind: EventKind,
    /// The character that an event of the coordinator concerns. A `close` has none.
    pub target: Option<Slug>,
    /// The words of a think, speak or journal event, or a fixed text.
    pub text: Arc<str>,
    /// Why the scene ended. Only a `close` has it.
    pub reason: Option<CloseReason>,
    /// The characters that heard a whisper. Only a `speak` has it.
    pub audience: Option<Arc<[Slug]>>,
    /// The output that a `correct` event is about, if the scene stores such outputs
    /// ([`SceneBuilder::keep_raw`](crate::SceneBuilder::keep_raw)).
    pub raw: Option<Arc<str>>,
}

/// The source of an event.
///
/// ```
/// use dirigent_scene::{Slug, Source};
/// assert_eq!(Source::Coordinator.as_str(), "coordinator");
/// assert_eq!(Source::Character(Slug::new("sam")?).as_str(), "sam");
/// # Ok::<(), dirigent_scene::BadSlug>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third source")]
pub enum Source {
    /// The coordinator, which is not an actor.
    Coordinator,
    /// A character.
    Character(Slug),
}

impl Source {
    /// Returns the name in the log.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Coordinator => COORDINATOR,
            Self::Character(slug) => slug.as_str(),
        }
    }

    /// Returns the character, if the source is one.
    pub const fn character(&self) -> Option<&Slug> {
        match self {
            Self::Coordinator => None,
            Self::Character(slug) => Some(slug),
        }
    }
}

/// The kind of an event. There are exactly these eight.
///
/// ```
/// use dirigent_scene::EventKind;
/// assert_eq!(EventKind::ALL.map(EventKind::as_str).join(" "), "spawn brief think speak route correct journal close");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the log has these eight kinds")]
pub enum EventKind {
    /// An actor was created.
    Spawn,
    /// An actor was briefed, or got the wind-down prompt.
    Brief,
    /// A character thought.
    Think,
    /// A character spoke.
    Speak,
    /// A speech was passed on to another character.
    Route,
    /// An actor was asked to make its output follow the protocol.
    Correct,
    /// A character wrote a journal entry.
    Journal,
    /// The scene ended.
    Close,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Spawn,
        Self::Brief,
        Self::Think,
        Self::Speak,
        Self::Route,
        Self::Correct,
        Self::Journal,
        Self::Close,
    ];

    /// Returns the name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Brief => "brief",
            Self::Think => "think",
            Self::Speak => "speak",
            Self::Route => "route",
            Self::Correct => "correct",
            Self::Journal => "journal",
            Self::Close => "close",
        }
    }

    /// Returns true if characters are the source of such events. Otherwise it is the coordinator.
    pub const fn is_of_character(self) -> bool {
        matches!(self, Self::Think | Self::Speak | Self::Journal)
    }
}

/// Why a scene ended.
///
/// ```
/// assert_eq!(dirigent_scene::CloseReason::SoftCap.as_str(), "soft-cap");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CloseReason {
    /// A character closed the conversation with words or by leaving, or the judge found that the scene had ended.
    Natural,
    /// A character gave the explicit signal.
    Explicit,
    /// The scene closed after the wind-down prompt.
    SoftCap,
    /// The characters used up all their turns.
    HardCap,
    /// An actor failed or did not follow the protocol, or you stopped the scene.
    Aborted,
    /// An actor did not answer in time, or a speech could not be shown in time.
    TimedOut,
}

impl CloseReason {
    /// Returns the name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Explicit => "explicit",
            Self::SoftCap => "soft-cap",
            Self::HardCap => "hard-cap",
            Self::Aborted => "aborted",
            Self::TimedOut => "timed-out",
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl SceneEvent {
    pub(crate) fn new(at: Duration, from: Source, kind: EventKind, text: Arc<str>) -> Self {
        let (target, reason, audience, raw) = (None, None, None, None);
        Self { at, from, kind, target, text, reason, audience, raw }
    }

    /// Returns true if both events are equal except for their times.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.from == other.from
            && self.kind == other.kind
            && self.target == other.target
            && self.text == other.text
            && self.reason == other.reason
            && self.audience == other.audience
    }

    /// Returns how the event contradicts the schema, if it does.
    fn contradiction(&self) -> Option<&'static str> {
        let is_of_character = self.from != Source::Coordinator;
        if self.kind.is_of_character() != is_of_character {
            return Some("the source does not fit the type");
        }
        let has_target = !self.kind.is_of_character() && self.kind != EventKind::Close;
        if self.target.is_some() != has_target {
            return Some("there is a target too many or too few");
        }
        if self.reason.is_some() != (self.kind == EventKind::Close) {
            return Some("a reason belongs to close and to nothing else");
        }
        if self.audience.is_some() && self.kind != EventKind::Speak {
            return Some("an audience belongs to speak and to nothing else");
        }
        None
    }
}

impl fmt::Debug for SceneEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SceneEvent")
            .field("at", &self.at)
            .field("from", &self.from.as_str())
            .field("kind", &self.kind)
            .field("target", &self.target)
            .field("text", &format_args!("{} bytes", self.text.len()))
            .field("reason", &self.reason)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

impl Serialize for SceneEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(clippy::cast_precision_loss, reason = "a scene does not last 285,000 years")]
        let seconds = self.at.as_millis() as f64 / 1_000.0;
        let mut line = serializer.serialize_struct("Event", 8)?;
        line.serialize_field("t", &seconds)?;
        line.serialize_field("from", self.from.as_str())?;
        line.serialize_field("type", self.kind.as_str())?;
        if let Some(target) = &self.target {
            line.serialize_field("target", target)?;
        }
        line.serialize_field("text", &*self.text)?;
        if let Some(reason) = self.reason {
            line.serialize_field("reason", reason.as_str())?;
        }
        if let Some(audience) = &self.audience {
            line.serialize_field("audience", &**audience)?;
        }
        if let Some(raw) = &self.raw {
            line.serialize_field("raw", &**raw)?;
        }
        line.end()
    }
}

/// An event as it is in JSON. Other fields are ignored.
#[derive(Deserialize)]
struct SpokenLine {
    t: f64,
    from: String,
    #[serde(rename = "type")]
    kind: EventKind,
    #[serde(default)]
    target: Option<Slug>,
    text: String,
    #[serde(default)]
    reason: Option<CloseReason>,
    #[serde(default)]
    audience: Option<Vec<Slug>>,
    #[serde(default)]
    raw: Option<String>,
}

/// The longest scene, in seconds: about 31 years. Up to it, times are exact to the millisecond.
const SECONDS_MAX: f64 = 1e9;

impl<'de> Deserialize<'de> for SceneEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SpokenLine { t, from, kind, target, text, reason, audience, raw } =
            SpokenLine::deserialize(deserializer)?;
        if !(0.0..=SECONDS_MAX).contains(&t) {
            return Err(D::Error::custom("t is no number of seconds"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let at = Duration::from_millis((t * 1_000.0).round() as u64);
        let from = if from == COORDINATOR {
            Source::Coordinator
        } else {
            Source::Character(Slug::new(&from).map_err(|_| D::Error::custom("from is no slug"))?)
        };
        let (audience, raw) = (audience.map(Into::into), raw.map(Into::into));
        let event = Self { at, from, kind, target, text: text.into(), reason, audience, raw };
        event.contradiction().map_or(Ok(event), |why| Err(D::Error::custom(why)))
    }
}
