//! The HTML file, and the pieces of it that a page of another crate uses too.

use crate::replay::Replay;
use crate::svg::escaped;

/// The colours and typefaces of both, as custom properties, for light and dark.
pub const TOKENS: &str = include_str!("../assets/tokens.css");

/// The stylesheet of a score, a ring and a replay. It needs [`TOKENS`].
pub const STYLE: &str = concat!(
    include_str!("../assets/score.css"),
    include_str!("../assets/ring.css"),
    include_str!("../assets/replay.css")
);

/// The script that shows a replay: `showReplay(element, replay)`, with the replay as JSON.
pub const SCRIPT: &str = include_str!("../assets/replay.js");

/// The style of a score that is a file of its own.
pub(crate) const FILE_STYLE: &str =
    concat!(include_str!("../assets/tokens.css"), include_str!("../assets/score.css"));

const PAGE: &str = include_str!("../assets/page.css");

pub(crate) fn page(replay: &Replay, title: &str) -> String {
    // In a script element only "<" could end the element or begin a comment.
    let data = serde_json::to_string(replay).unwrap_or_default().replace('<', "\\u003c");
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{TOKENS}{PAGE}{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"lead\">The recording, given to the turn machine again: after each step how the channel \
         stands, who was asked, who was denied and why.</p>\n<div class=\"replay\" id=\"replay\"></div>\n</main>\n\
         <script type=\"application/json\" id=\"replay-data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
