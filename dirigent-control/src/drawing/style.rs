//! Styles and the script, which the HTML file and the pages of another crate share.

/// The colours and typefaces of both, as custom properties, for light and dark.
pub const TOKENS: &str = include_str!("../../assets/tokens.css");

/// The stylesheet of a score, a ring and a replay. It needs [`TOKENS`].
pub const STYLE: &str = concat!(
    include_str!("../../assets/score.css"),
    include_str!("../../assets/ring.css"),
    include_str!("../../assets/replay.css")
);

/// The script that shows a replay: `showReplay(element, replay)`, with the replay as JSON.
pub const SCRIPT: &str = include_str!("../../assets/replay.js");

/// The style of a score that is a file of its own: with the light colours themselves in place of their names.
pub(crate) fn file_style() -> String {
    let light = TOKENS.split('}').next().unwrap_or_default();
    let values = light.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "));
    let named = include_str!("../../assets/score.css").to_owned();
    values.fold(named, |style, (name, value)| {
        style.replace(&format!("var(--{name})"), value.trim_end_matches(';'))
    })
}
