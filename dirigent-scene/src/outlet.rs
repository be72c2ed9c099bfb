//! Shows a scene while it is played, for example in a Discord channel (`channel`).

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use crate::judge::SpokenLine;

pub(crate) mod channel;

/// Shows what is said, where people see it. The scene waits for it: a speech is routed when it stands there. It is given
/// speech alone; thinking never comes here.
///
/// ```
/// use dirigent_scene::{SpokenLine, Outlet, ShowError, async_trait};
///
/// struct Terminal;
///
/// #[async_trait]
/// impl Outlet for Terminal {
///     async fn show(&mut self, line: &SpokenLine, _is_repeat: bool) -> Result<(), ShowError> {
///         println!("{}: {}", line.speaker.name(), line.speech.as_str());
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Outlet: Send {
    /// Shows a speech that is not empty, and returns when it stands there. `is_repeat` says that the scene was killed while
    /// it was shown: it may stand there already.
    ///
    /// # Errors
    ///
    /// [`ShowError`]: the scene is closed as aborted.
    ///
    /// # Cancellation
    ///
    /// A scene whose [deadline](crate::SceneDeadlines::show) is over drops the future, and is closed as timed out.
    async fn show(&mut self, line: &SpokenLine, is_repeat: bool) -> Result<(), ShowError>;
}

/// A speech could not be shown. Its text must hold nothing that was said.
///
/// ```
/// assert_eq!(dirigent_scene::ShowError::new("the terminal is gone").to_string(), "the terminal is gone");
/// ```
#[derive(Debug)]
pub struct ShowError(Box<dyn Error + Send + Sync>);

impl ShowError {
    /// Takes an error, or a text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ShowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
