//! Errors in a configuration.

use std::fmt;
use std::path::{Path, PathBuf};

/// A field of the configuration that cannot be used. No part of that configuration takes effect.
///
/// ```
/// use dirigent_delegate::config::OrchestratorConfig;
///
/// let wrong = r#"{ "orchestrator": { "agents": { "opencode": { "mode": "http" } } } }"#;
/// let error = OrchestratorConfig::from_document(wrong).unwrap_err();
/// assert_eq!(error.field(), "orchestrator.agents.opencode.mode");
/// assert!(error.to_string().contains("expected `cli` or `serve`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrchestratorConfigError {
    file: Option<PathBuf>,
    field: String,
    problem: String,
}

impl OrchestratorConfigError {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: None, field: field.into(), problem: problem.into() }
    }

    pub(crate) fn read(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = error.path().to_string();
        // If the text is not JSON, no single field is to blame.
        let field = if path == "." { String::new() } else { path };
        Self::new(field, error.into_inner().to_string())
    }

    pub(crate) fn in_file(self, file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    /// Returns the file, if the configuration came from
    /// [`OrchestratorConfig::from_file`](super::OrchestratorConfig::from_file).
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the full name of the field, for example `orchestrator.agents.opencode.mode`. It is empty if the text is
    /// not JSON.
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for OrchestratorConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        match self.field.as_str() {
            "" => write!(f, "the configuration cannot be read: {}", self.problem),
            field => write!(f, "{field}: {}", self.problem),
        }
    }
}

impl std::error::Error for OrchestratorConfigError {}
