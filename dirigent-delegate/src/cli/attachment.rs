//! Writes the images of a task to files for a program.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use crate::request::Image;

/// Files in a folder that other users cannot read. They are deleted on drop.
#[derive(Debug)]
pub(super) struct Attachments {
    pub(super) files: Vec<PathBuf>,
    _folder: TempDir,
}

impl Attachments {
    /// Writes the images.
    ///
    /// # Errors
    ///
    /// Returns a sentence for the person, without a word of the message.
    pub(super) fn write(images: &[Image]) -> Result<Self, String> {
        let cannot = |file: &Path, error: std::io::Error| {
            format!("An image cannot be written to {}: {error}.", file.display())
        };
        let folder = tempfile::tempdir().map_err(|error| cannot(&std::env::temp_dir(), error))?;
        let mut files = Vec::new();
        for (number, image) in images.iter().enumerate() {
            let bytes = STANDARD.decode(&image.data);
            let bytes = bytes.map_err(|_| "An image of the message is not in base64.")?;
            let file = folder.path().join(format!("image-{number}.{}", extension(image)));
            fs::write(&file, bytes).map_err(|error| cannot(&file, error))?;
            files.push(file);
        }
        Ok(Self { files, _folder: folder })
    }
}

/// Returns the extension of the file, because programs recognise images by it. The media type is text from a person, so
/// it must not become part of a path.
fn extension(image: &Image) -> &'static str {
    match &*image.mime_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => "bin",
    }
}
