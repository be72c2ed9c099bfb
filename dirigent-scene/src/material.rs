//! Texts that only an actor may read.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text for one actor's briefing: a system prompt, a profile, a journal or a perspective. The coordinator carries it
/// but cannot read it, because it cannot be compared, sorted, measured or printed. The words appear in only one place,
/// the [`Briefing`](crate::Briefing) of its own character.
///
/// ```
/// use dirigent_scene::Material;
///
/// let profile = Material::new("Maria is a doctor. She does not talk about the war.");
/// assert_eq!(format!("{profile:?}"), "Material(..)");
/// ```
#[derive(Clone, Default)]
pub struct Material(Arc<str>);

impl Material {
    /// The largest file that [`Material::read`] accepts, in bytes: 4 MiB.
    pub const FILE_MAX: u64 = 4 << 20;

    /// Creates a material from a text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Reads a text from a file.
    ///
    /// # Errors
    ///
    /// Returns a [`MaterialError`] if there is no such file, or if it cannot be read, is not UTF-8, or is larger than
    /// [`Material::FILE_MAX`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MaterialError> {
        let path = path.as_ref();
        let failed = |why| MaterialError { path: path.to_owned(), why };
        let metadata = fs::metadata(path).map_err(|error| failed(Unreadable::Io(error)))?;
        if metadata.len() > Self::FILE_MAX {
            return Err(failed(Unreadable::TooLarge));
        }
        let bytes = fs::read(path).map_err(|error| failed(Unreadable::Io(error)))?;
        let text = String::from_utf8(bytes).map_err(|_| failed(Unreadable::NotUtf8))?;
        Ok(Self::new(text))
    }

    /// Returns the words, for the briefing of their own actor.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Material(..)")
    }
}

/// Why a character's file cannot be used. The scene has not begun, so correct the file and try again.
///
/// ```
/// use dirigent_scene::Material;
/// let error = Material::read("/nowhere/profile.md").unwrap_err();
/// assert!(error.to_string().starts_with("cannot read /nowhere/profile.md"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {why}", path.display())]
#[non_exhaustive]
pub struct MaterialError {
    /// The file.
    pub path: PathBuf,
    /// The problem with the file.
    #[source]
    pub why: Unreadable,
}

/// Why a file cannot be used.
///
/// ```
/// use dirigent_scene::Unreadable;
/// assert!(Unreadable::NotUtf8.to_string().contains("UTF-8"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The operating system reports an error.
    #[error("{0}")]
    Io(std::io::Error),
    /// The file is not UTF-8 text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The file is larger than [`Material::FILE_MAX`].
    #[error("it is larger than {} bytes", Material::FILE_MAX)]
    TooLarge,
}
