//! Writes the HTML file.

use crate::drawing::replay::Replay;
use crate::drawing::style::{SCRIPT, STYLE, TOKENS};
use crate::drawing::svg::escaped;
use crate::drawing::what_if::WhatIf;

const PAGE: &str = include_str!("../../assets/page.css");

/// Returns a page with a replay, with an evening under other rules, or with both.
pub(crate) fn page(title: &str, replay: Option<&Replay>, what_if: Option<&WhatIf>) -> String {
    let title = escaped(title);
    let compared = what_if.map(|what_if| format!("<h2>Under other rules</h2>\n{}", what_if.part()));
    let (shown, run) = replay.map(replayed).unwrap_or_default();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{TOKENS}{PAGE}{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{shown}{}</main>\n{run}</body>\n</html>\n",
        compared.unwrap_or_default()
    )
}

/// Returns the place of a replay, and the data and the script that fill it.
fn replayed(replay: &Replay) -> (String, String) {
    // In a script element only "<" can end the element or start a comment.
    let data = serde_json::to_string(replay).unwrap_or_default().replace('<', "\\u003c");
    let shown = "<p class=\"lead\">The recording, given to the turn machine again: after each step how the channel \
                 stands, who was asked, who was denied and why.</p>\n<div class=\"replay\" id=\"replay\"></div>\n";
    let run = format!(
        "<script type=\"application/json\" id=\"replay-data\">{data}</script>\n<script>\n{SCRIPT}</script>\n"
    );
    (shown.to_owned(), run)
}
