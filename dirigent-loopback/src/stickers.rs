//! Stickers, which are pictures with a name beside a message.

use std::collections::BTreeMap;

use serde::Serialize;

use super::LoopbackDiscord;

/// The most stickers of a message (resources/message).
pub(crate) const STICKERS_MAX: usize = 3;

/// A sticker in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StickerItem {
    id: String,
    name: String,
    /// Discord's number for the kind of picture: PNG.
    format_type: u8,
}

/// All stickers by id. Every account may use each.
#[derive(Debug, Default)]
pub(crate) struct Stickers(BTreeMap<u64, String>);

impl Stickers {
    /// Returns the stickers with these ids, if all of them exist.
    pub(crate) fn items(&self, ids: &[u64]) -> Option<Vec<StickerItem>> {
        let item = |id: &u64| {
            let name = self.0.get(id)?.clone();
            Some(StickerItem { id: id.to_string(), name, format_type: 1 })
        };
        ids.iter().map(item).collect()
    }
}

impl LoopbackDiscord {
    /// Adds a sticker that every account may use everywhere. Returns its id, for [`Said::sticker`] and for bots.
    ///
    /// [`Said::sticker`]: crate::Said::sticker
    pub fn add_sticker(&self, name: impl Into<String>) -> u64 {
        let id = self.state.discord.world().next_id();
        self.state.parts.stickers().0.insert(id, name.into());
        id
    }
}
