//! Reads the pictures of a channel, for models that can see.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dirigent::ports::Attachment;
use dirigent::{ChatMessage, Turn};

use crate::client::limits::Limits;
use crate::message::Image;

/// The number of pictures, and of their bytes, that may still be read in this turn.
pub(crate) struct Pictures<'t> {
    turn: &'t Turn,
    count: usize,
    bytes: usize,
}

impl<'t> Pictures<'t> {
    pub(crate) const fn new(turn: &'t Turn, limits: &Limits) -> Self {
        Self { turn, count: limits.pictures, bytes: limits.picture_bytes }
    }

    /// Reads the pictures of a message, within the limits that remain.
    pub(crate) async fn of(&mut self, message: &ChatMessage) -> Vec<Image> {
        let mut images = Vec::new();
        for file in &message.attachments {
            if self.count == 0 {
                break;
            }
            images.extend(self.read(file).await);
        }
        images
    }

    async fn read(&mut self, file: &Attachment) -> Option<Image> {
        let is_picture = |kind: &str| kind.starts_with("image/");
        let size =
            usize::try_from(file.size).ok().filter(|size| (1..=self.bytes).contains(size))?;
        file.content_type.as_deref().filter(|kind| is_picture(kind))?;
        let bytes = match self.turn.file(file, size).await {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::debug!(channel = %self.turn.channel(), %error, "a picture cannot be read");
                return None;
            }
        };
        // Part of a picture is useless, and only its own bytes say which format it has.
        let mime_type = kind_of(&bytes).filter(|_| bytes.len() == size)?;
        self.count -= 1;
        self.bytes -= size;
        Some(Image::new(mime_type, STANDARD.encode(bytes)))
    }
}

/// Returns the media type that the first bytes of a picture show.
fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_what_its_bytes_say() {
        assert_eq!(kind_of(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(kind_of(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(kind_of(b"GIF89a"), Some("image/gif"));
        assert_eq!(kind_of(b"RIFF1234WEBPVP8 "), Some("image/webp"));
        for other in [&b"<svg>"[..], b"%PDF", b"RIFF1234WAVE", b"", b"GIF8"] {
            assert_eq!(kind_of(other), None);
        }
    }
}
