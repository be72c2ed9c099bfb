//! Shows a scene while it is played, for example in a Discord channel (`channel`).

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use crate::judge::SpokenLine;

pub(crate) mod channel;

/// Shows speeches to people while the scene is played, for example in a terminal. The scene waits for it: a speech is
/// routed only after it was shown. It gets only speech, never thinking.
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
    /// Shows a speech, which is never empty, and returns when people can see it. `is_repeat` is true if the scene was
    /// killed at this point, so the speech may already be visible.
    ///
    /// # Errors
    ///
    /// Return a [`ShowError`] if you cannot show it; the scene is then closed as aborted.
    ///
    /// # Cancellation
    ///
    /// If the [deadline](crate::SceneDeadlines::show) passes, the future is dropped and the scene is closed as timed
    /// out.
    async fn show(&mut self, line: &SpokenLine, is_repeat: bool) -> Result<(), ShowError>;
}

/// Why a speech could not be shown. Do not put words of the scene into its text.
///
/// ```
/// assert_eq!(dirigent_scene::ShowError::new("the terminal is gone").to_string(), "the terminal is gone");
/// ```
#[derive(Debug)]
pub struct ShowError(Box<dyn Error + Send + Sync>);

impl ShowError {
    /// Creates it from an error or a text.
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
