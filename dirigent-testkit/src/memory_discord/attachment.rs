//! Files of messages.

use std::fmt;
use std::sync::Arc;

use dirigent::ports;

/// A file of a message. It is deleted with the message.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    pub id: u64,
    pub filename: String,
    /// A description for people who do not see it.
    pub description: Option<String>,
    /// The media type.
    pub content_type: String,
    pub bytes: Arc<[u8]>,
}

impl Attachment {
    /// Creates the file of a post.
    pub(crate) fn of_post(id: u64, file: &ports::ReplyFile) -> Self {
        Self {
            id,
            filename: file.name().to_owned(),
            description: None,
            content_type: "application/octet-stream".to_owned(),
            bytes: Arc::clone(file.bytes()),
        }
    }

    /// Returns the file in the driver's form. It has no address outside a server.
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
