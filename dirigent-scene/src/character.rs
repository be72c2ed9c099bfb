//! The characters of a scene.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::material::{Material, MaterialError, Unreadable};
use crate::slug::{BadSlug, Slug};

/// A character of a scene, with the texts that only its actor reads.
///
/// ```
/// use dirigent_scene::{Character, Material};
///
/// let maria = Character::new("Maria Stern")
///     .profile(Material::new("A doctor of few words."))
///     .perspective(Material::new("You open the door. It is Sam, whom you did not expect."));
/// assert_eq!(maria.name(), "Maria Stern");
/// ```
#[derive(Clone)]
pub struct Character {
    pub(crate) name: Arc<str>,
    pub(crate) slug: Result<Slug, BadSlug>,
    pub(crate) system_prompt: Option<Material>,
    pub(crate) profile: Material,
    pub(crate) journal: Material,
    pub(crate) perspective: Material,
    pub(crate) journal_file: Option<PathBuf>,
}

impl Character {
    /// Creates a character with a display name. The slug is derived from the name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        let slug = Slug::of_name(&name);
        let (profile, journal, perspective) = Default::default();
        Self { name, slug, system_prompt: None, profile, journal, perspective, journal_file: None }
    }

    /// Creates a character from its folder. It reads `profile.md` and, if there is one, `journal.md`. The entry of this
    /// scene is later appended to that journal. The slug is the folder's name, or is derived from it.
    ///
    /// # Errors
    ///
    /// Returns a [`MaterialError`] if a file cannot be used, or if there is no profile.
    pub fn from_folder(
        name: impl Into<Arc<str>>,
        folder: impl AsRef<Path>,
    ) -> Result<Self, MaterialError> {
        let folder = folder.as_ref();
        let profile = Material::read(folder.join("profile.md"))?;
        let path = folder.join("journal.md");
        let journal = match Material::read(&path) {
            Ok(journal) => journal,
            Err(MaterialError { why: Unreadable::Io(error), .. })
                if error.kind() == std::io::ErrorKind::NotFound =>
            {
                Material::default()
            }
            Err(error) => return Err(error),
        };
        let mut character = Self::new(name).profile(profile).journal(journal).journal_file(path);
        if let Some(slug) = folder.file_name().and_then(|name| name.to_str()) {
            character.slug = Slug::new(slug).or_else(|_| Slug::of_name(slug));
        }
        Ok(character)
    }

    /// Sets the slug. It is checked when you build the scene. By default it is derived from the name.
    #[must_use]
    pub fn slug(mut self, slug: &str) -> Self {
        self.slug = Slug::new(slug);
        self
    }

    /// Sets the actor's system prompt, for example because it plays with another model. By default it is that of the
    /// scene.
    #[must_use]
    pub fn system_prompt(mut self, text: Material) -> Self {
        self.system_prompt = Some(text);
        self
    }

    /// Sets the character's profile. Empty by default.
    #[must_use]
    pub fn profile(mut self, text: Material) -> Self {
        self.profile = text;
        self
    }

    /// Sets the character's journal of earlier scenes. Empty by default.
    #[must_use]
    pub fn journal(mut self, text: Material) -> Self {
        self.journal = text;
        self
    }

    /// Sets the scene as this character sees it. Empty by default.
    #[must_use]
    pub fn perspective(mut self, text: Material) -> Self {
        self.perspective = text;
        self
    }

    /// Sets the file to which the journal entry of this scene is appended. By default it is `SLUG/journal.md` in the
    /// scene's folder.
    #[must_use]
    pub fn journal_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.journal_file = Some(path.into());
        self
    }

    /// Returns the display name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Character {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Character").field("name", &self.name).finish_non_exhaustive()
    }
}
