//! The transcript: only what was said.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use dirigent_core::Timestamp;
use time::OffsetDateTime;

use crate::actor::CastRole;
use crate::event::{CloseReason, EventKind, SceneEvent};
use crate::lines::write_marked;
use crate::slug::Slug;

/// The transcript of a scene, with its title and its characters.
///
/// ```
/// use dirigent_scene::{SceneLog, CastRole, Slug, Transcript};
///
/// let log = SceneLog::parse(br#"[{"t": 61.0, "from": "sam", "type": "speak", "text": "Hello."}]"#)?;
/// let transcript = Transcript::new("Scene 001 — Morning kitchen", [CastRole::new(Slug::new("sam").unwrap(), "Sam Reed")])
///     .setting("A kitchen, early");
/// assert!(transcript.render(log.events()).contains("\n**SAM REED:** Hello.\n"));
/// # Ok::<(), dirigent_scene::LogError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub(crate) title: Arc<str>,
    pub(crate) setting: Arc<str>,
    pub(crate) date: String,
    pub(crate) roles: Vec<CastRole>,
}

/// Returns the day of a time, in UTC, as `YYYY-MM-DD`.
pub(crate) fn date(at: Timestamp) -> String {
    let seconds = i64::try_from(at.as_millis() / 1_000).unwrap_or(i64::MAX);
    let moment = OffsetDateTime::from_unix_timestamp(seconds);
    moment.unwrap_or(OffsetDateTime::UNIX_EPOCH).date().to_string()
}

impl Transcript {
    /// Begins a transcript with a title and the characters. It lists them in this order.
    pub fn new(title: impl Into<Arc<str>>, roles: impl IntoIterator<Item = CastRole>) -> Self {
        let (title, roles) = (title.into(), roles.into_iter().collect());
        Self { title, setting: "".into(), date: date(Timestamp::default()), roles }
    }

    /// Sets the setting. Empty by default.
    #[must_use]
    pub fn setting(mut self, setting: impl Into<Arc<str>>) -> Self {
        self.setting = setting.into();
        self
    }

    /// Sets the day of the scene, in UTC. Default 1970-01-01.
    #[must_use]
    pub fn date(mut self, at: Timestamp) -> Self {
        self.date = date(at);
        self
    }

    /// Writes the transcript of these events. A character that the transcript does not know is called by its slug. One
    /// that appears in no event did not enter, so it is not listed as a participant. Each line of a speech after its
    /// first begins with `>`, so that none reads like another's.
    pub fn render(&self, events: &[SceneEvent]) -> String {
        let end = events.iter().find(|event| event.kind == EventKind::Close).or(events.last());
        let seconds = end.map_or(0, |event| event.at.as_secs());
        let duration = format!("{} minutes (real-time generation)", (seconds + 30) / 60);
        let mut text = self.begin(events, &duration);
        let mut turns: BTreeMap<&Slug, usize> = BTreeMap::new();
        for slug in events.iter().filter_map(speaker) {
            *turns.entry(slug).or_default() += 1;
        }
        let corrections = events.iter().filter(|event| event.kind == EventKind::Correct).count();
        let reason = events.iter().rev().find_map(|event| event.reason);
        let counts = self.participants(events).map(|role| {
            format!("{}: {}", role.name(), turns.get(role.slug()).copied().unwrap_or(0))
        });
        let counts: Vec<String> = counts.collect();
        let _ = write!(
            text,
            "\n*[end of scene]*\n\n---\n\n## Post-scene notes\n- Close reason: {}\n- Turn count: {} ({})\n- Coordinator's correction prompts issued: {corrections}\n",
            reason.map_or("none yet", CloseReason::as_str),
            turns.values().sum::<usize>(),
            counts.join(", ")
        );
        text
    }

    /// Returns the transcript of a running scene, up to its last line.
    pub(crate) fn render_running(&self, events: &[SceneEvent]) -> String {
        self.begin(events, "not over yet")
    }

    /// Returns the characters that appear in events.
    fn participants(&self, events: &[SceneEvent]) -> impl Iterator<Item = &CastRole> {
        let came: BTreeSet<&Slug> = events
            .iter()
            .flat_map(|event| event.from.character().into_iter().chain(&event.target))
            .collect();
        self.roles.iter().filter(move |role| came.contains(role.slug()))
    }

    /// Writes the heading and the lines.
    fn begin(&self, events: &[SceneEvent], duration: &str) -> String {
        let names: Vec<&str> = self.participants(events).map(CastRole::name).collect();
        let mut text = format!(
            "# {}\n\n**Date:** {}\n**Duration:** {duration}\n**Participants:** {}\n**Setting:** {}\n\n---\n",
            self.title,
            self.date,
            names.join(", "),
            self.setting
        );
        for event in events {
            self.write_line(event, &mut text);
        }
        text
    }

    /// Writes the event's line, if it is a speech with words.
    pub(crate) fn write_line(&self, event: &SceneEvent, text: &mut String) {
        let Some(slug) = speaker(event).filter(|_| !event.text.is_empty()) else {
            return;
        };
        let role = self.roles.iter().find(|role| role.slug() == slug);
        let name = role.map_or(slug.as_str(), CastRole::name);
        let _ = write!(text, "\n**{}:** ", name.to_uppercase());
        let _ = write_marked(text, &event.text);
        text.push('\n');
    }
}

/// Returns the speaker, if the event is a speech.
fn speaker(event: &SceneEvent) -> Option<&Slug> {
    event.from.character().filter(|_| event.kind == EventKind::Speak)
}
