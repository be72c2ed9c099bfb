//! The parts of our message besides its text.

use std::sync::Arc;

use dirigent_core::MessageId;

use crate::values::embed::Embed;
use crate::values::extras::Extras;
use crate::values::reply_file::ReplyFile;

/// The parts of our message besides its text, such as its embeds and files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) reply_to: Option<MessageId>,
    pub(crate) extras: Option<Arc<Extras>>,
    pub(crate) files: Box<[ReplyFile]>,
}

impl Beside {
    pub(crate) fn embeds(&self) -> &[Embed] {
        self.extras.as_deref().map_or(&[], |extras| &extras.embeds)
    }
}
