//! The parts of our message besides its text.

use std::sync::Arc;

use dirigent_core::MessageId;

use crate::values::embed::Embed;
use crate::values::extras::Extras;
use crate::values::reply_file::ReplyFile;

/// The parts of our message besides its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) reply_to: Option<MessageId>,
    /// The extras with its embeds.
    pub(crate) extras: Option<Arc<Extras>>,
    /// The files of the message.
    pub(crate) files: Box<[ReplyFile]>,
}

impl Beside {
    pub(crate) fn embeds(&self) -> &[Embed] {
        self.extras.as_deref().map_or(&[], |extras| &extras.embeds)
    }
}
