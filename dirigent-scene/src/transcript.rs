//! The transcript: what was said, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use dirigent_core::Timestamp;
use time::OffsetDateTime;

use crate::actor::CastRole;
use crate::event::{CloseReason, EventKind, SceneEvent};
use crate::slug::Slug;

/// What stands above the lines of a transcript.
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

/// The day of a moment, in UTC, as `YYYY-MM-DD`.
pub(crate) fn date(at: Timestamp) -> String {
    let seconds = i64::try_from(at.as_millis() / 1_000).unwrap_or(i64::MAX);
    let moment = OffsetDateTime::from_unix_timestamp(seconds);
    moment.unwrap_or(OffsetDateTime::UNIX_EPOCH).date().to_string()
}

impl Transcript {
    /// Begins a transcript with a title and the characters, in the order in which they are listed.
    pub fn new(title: impl Into<Arc<str>>, roles: impl IntoIterator<Item = CastRole>) -> Self {
        let (title, roles) = (title.into(), roles.into_iter().collect());
        Self { title, setting: "".into(), date: date(Timestamp::default()), roles }
    }

    /// Sets the setting. Default: empty.
    #[must_use]
    pub fn setting(mut self, setting: impl Into<Arc<str>>) -> Self {
        self.setting = setting.into();
        self
    }

    /// Sets the day of the scene, in UTC. Default: 1970-01-01.
    #[must_use]
    pub fn date(mut self, at: Timestamp) -> Self {
        self.date = date(at);
        self
    }

    /// Writes the transcript of these events. A character that is not among those of the transcript is called by its slug;
    /// one of whom no event tells did not come, and is no participant.
    pub fn render(&self, events: &[SceneEvent]) -> String {
        let names: BTreeMap<&Slug, &str> =
            self.roles.iter().map(|role| (role.slug(), role.name())).collect();
        let name = |slug: &'_ Slug| {
            names.get(slug).copied().map_or_else(|| slug.to_string(), str::to_owned)
        };
        let end = events.iter().find(|event| event.kind == EventKind::Close).or(events.last());
        let duration = end.map_or(0, |event| event.at.as_secs());
        let came: BTreeSet<&Slug> = events
            .iter()
            .flat_map(|event| event.from.character().into_iter().chain(&event.target))
            .collect();
        let participants = || self.roles.iter().filter(|role| came.contains(role.slug()));
        let names_of: Vec<&str> = participants().map(CastRole::name).collect();
        let mut text = format!(
            "# {}\n\n**Date:** {}\n**Duration:** {} minutes (real-time generation)\n**Participants:** {}\n**Setting:** {}\n\n---\n",
            self.title,
            self.date,
            (duration + 30) / 60,
            names_of.join(", "),
            self.setting
        );
        let mut turns: BTreeMap<&Slug, usize> = BTreeMap::new();
        let mut corrections = 0;
        for event in events {
            corrections += usize::from(event.kind == EventKind::Correct);
            let Some(slug) = event.from.character().filter(|_| event.kind == EventKind::Speak)
            else {
                continue;
            };
            *turns.entry(slug).or_default() += 1;
            if !event.text.is_empty() {
                let _ = write!(text, "\n**{}:** {}\n", name(slug).to_uppercase(), event.text);
            }
        }
        let reason = events.iter().rev().find_map(|event| event.reason);
        let counts = participants().map(|role| {
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
}
