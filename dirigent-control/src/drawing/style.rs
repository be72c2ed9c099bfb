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

/// The style of a score that is a file of its own.
pub(crate) const FILE_STYLE: &str =
    concat!(include_str!("../../assets/tokens.css"), include_str!("../../assets/score.css"));
