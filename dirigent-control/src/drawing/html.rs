//! Writes the HTML file.

use crate::drawing::replay::Replay;
use crate::drawing::style::{SCRIPT, STYLE, TOKENS};
use crate::drawing::svg::escaped;

const PAGE: &str = include_str!("../../assets/page.css");

pub(crate) fn page(replay: &Replay, title: &str) -> String {
    // In a script element only "<" can end the element or start a comment.
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
