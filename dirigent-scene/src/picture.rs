//! Draws the scene as one HTML file that needs no network.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::actor::CastRole;
use crate::event::SceneEvent;
use crate::log::SceneLog;

/// Draws a scene. Each character has a lane that shows its thinking, speaking and writing over time, and arrows show
/// the routing. Below are the texts, with filters, and a button plays the scene. The picture shows thinking, too, so
/// give it only to people who may read the event log.
///
/// ```
/// use dirigent_scene::{SceneLog, Picture};
///
/// let log = SceneLog::parse(br#"[{"t": 1.0, "from": "sam", "type": "speak", "text": "</script><b>Hello.</b>"}]"#)?;
/// let html = Picture::of("Scene 001", &log).render(log.events());
/// assert!(html.starts_with("<!doctype html>") && !html.contains("<b>Hello"));
/// # Ok::<(), dirigent_scene::LogError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    title: Arc<str>,
    /// Display names by slug, in the order of the lanes.
    names: Vec<(Arc<str>, Arc<str>)>,
}

impl Picture {
    /// Begins a picture with a title, and a lane for each character.
    pub fn new(title: &str, roles: &[CastRole]) -> Self {
        let names = roles.iter().map(|role| (role.slug().as_str().into(), role.name().into()));
        Self { title: title.into(), names: names.collect() }
    }

    /// Begins a picture of a log. Its characters have only slugs.
    pub fn of(title: &str, log: &SceneLog) -> Self {
        let mut slugs = log.characters();
        let speakers = log.events().iter().filter_map(|event| event.from.character().cloned());
        slugs.extend(speakers);
        let mut names: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        for slug in slugs {
            if names.iter().all(|(known, _)| **known != *slug.as_str()) {
                names.push((slug.as_str().into(), slug.as_str().into()));
            }
        }
        Self { title: title.into(), names }
    }

    /// Writes the file.
    pub fn render(&self, events: &[SceneEvent]) -> String {
        let title = escape(&self.title);
        let names: Vec<BTreeMap<&str, &str>> = self
            .names
            .iter()
            .map(|(slug, name)| BTreeMap::from([("slug", &**slug), ("name", &**name)]))
            .collect();
        let mut html = String::new();
        let _ = write!(
            html,
            "{HEAD}<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{BODY}\
             <script>\n\"use strict\";\nconst LANES = {};\nconst EVENTS = {};\n{SCRIPT}</script>\n</body>\n</html>\n",
            data(&names),
            data(&events)
        );
        html
    }
}

/// Returns JSON that cannot end a script, whatever it contains.
fn data(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|_| "[]".to_owned());
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
const STYLE: &str = include_str!("picture/style.css");
const BODY: &str = include_str!("picture/body.html");
const SCRIPT: &str = include_str!("picture/script.js");
