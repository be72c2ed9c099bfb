//! A channel's newest turn in the log, for who only looks: nothing is opened for writing, and nothing is judged lost.

use std::path::{Path, PathBuf};

use dirigent::ChannelId;

use super::super::change;
use super::frame::{Kind, scan};
use super::segment::{content_of, numbers, path_of};
use crate::error::StoreError;

/// The text of the channel's newest turn that is sound, and the log's file that it stands in. `None` where the
/// channel's own file is as new as all that the log says.
pub(crate) fn newest_turn(
    root: &Path,
    channel: ChannelId,
) -> Result<Option<(Vec<u8>, PathBuf)>, StoreError> {
    let mut newest: Option<(Vec<u8>, PathBuf)> = None;
    for number in numbers(root)? {
        let path = path_of(root, number);
        let content = content_of(&path)?;
        let frames = scan(&content).frames.into_iter();
        for frame in frames.filter(|frame| frame.header.channel == channel && frame.is_sound) {
            let body = content.get(frame.body).unwrap_or_default();
            let text = match frame.header.kind {
                Kind::Turn => Some(body.to_vec()),
                Kind::Change => newest.as_ref().and_then(|(old, _)| change::apply(old, body)),
                Kind::Lost | Kind::Fact | Kind::Erased => None,
            };
            newest = text.map(|text| (text, path.clone()));
        }
    }
    Ok(newest)
}
