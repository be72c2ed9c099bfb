//! What a message of ours has besides its text.

use std::sync::Arc;

use dirigent_core::MessageId;

use crate::values::embed::Embed;
use crate::values::extras::Extras;
use crate::values::reply_file::ReplyFile;

/// What a message of ours has besides its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) reply_to: Option<MessageId>,
    /// Whose embeds it shows.
    pub(crate) extras: Option<Arc<Extras>>,
    /// What it brings.
    pub(crate) files: Box<[ReplyFile]>,
}

impl Beside {
    pub(crate) fn embeds(&self) -> &[Embed] {
        self.extras.as_deref().map_or(&[], |extras| &extras.embeds)
    }
}
