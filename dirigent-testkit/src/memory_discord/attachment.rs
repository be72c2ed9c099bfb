//! Files that came with a message.

use std::fmt;
use std::sync::Arc;

use dirigent::ports;

/// A file that came with a message. It goes with the message.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    pub id: u64,
    pub filename: String,
    /// What it shows, for those who do not see it.
    pub description: Option<String>,
    /// What sort of file it is, as HTTP names it.
    pub content_type: String,
    pub bytes: Arc<[u8]>,
}

impl Attachment {
    /// The file of a post.
    pub(crate) fn of_post(id: u64, file: &ports::ReplyFile) -> Self {
        Self {
            id,
            filename: file.name().to_owned(),
            description: None,
            content_type: "application/octet-stream".to_owned(),
            bytes: Arc::clone(file.bytes()),
        }
    }

    /// The file in the form that the driver takes. It has no address outside a server.
    pub(crate) fn told(&self) -> ports::Attachment {
        let size = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        ports::Attachment {
            content_type: Some(self.content_type.as_str().into()),
            description: self.description.as_deref().map(Arc::from),
            ..ports::Attachment::new(
                self.filename.as_str(),
                format!("attachment://{}", self.id),
                size,
            )
        }
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("id", &self.id)
            .field("size", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
