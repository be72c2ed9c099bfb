//! The images of a task, as files that a program can be given.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use crate::request::Image;

/// Files that are gone when it is dropped, in a folder that other users cannot read.
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
    /// A sentence for the person, without a word of the message.
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

/// How the file's name ends: programs tell from it what a file is. A media type is a person's own text, and is no part of a path.
fn extension(image: &Image) -> &'static str {
    match &*image.mime_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => "bin",
    }
}
