//! The styles and the script of drawings. The HTML file and the pages share them.

/// The colours and typefaces as custom properties, for light and for dark pages.
pub const TOKENS: &str = include_str!("../../assets/tokens.css");

/// The stylesheet of a score, a ring and a replay. It needs [`TOKENS`].
pub const STYLE: &str = concat!(
    include_str!("../../assets/score.css"),
    include_str!("../../assets/ring.css"),
    include_str!("../../assets/replay.css")
);

/// The script that shows a replay. It defines `showReplay(element, replay)`, which takes the replay as JSON.
pub const SCRIPT: &str = include_str!("../../assets/replay.js");

/// Returns the style for a score in its own file. It contains the light colours themselves instead of their
/// names.
pub(crate) fn file_style() -> String {
    let light = TOKENS.split('}').next().unwrap_or_default();
    let values = light.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "));
    let named = include_str!("../../assets/score.css").to_owned();
    values.fold(named, |style, (name, value)| {
        style.replace(&format!("var(--{name})"), value.trim_end_matches(';'))
    })
}
