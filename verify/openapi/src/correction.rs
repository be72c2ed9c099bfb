//! Where a document is wrong.

use serde_json::Value;

/// A place where the document says something else than the API does, and what it should say.
///
/// It must fit: once the document says something else there, it is an error, so that a list of corrections
/// never outlives its reasons.
///
/// ```
/// use check_contract::{Correction, Document};
///
/// let correction = Correction {
///     at: "/paths/~1rooms/get/operationId",
///     from: r#""rooms""#,
///     to: r#""list_rooms""#,
///     because: "the documentation calls it so",
/// };
/// let text = r#"{"openapi": "3.1.0", "paths": {"/rooms": {"get": {"operationId": "rooms"}}}}"#;
/// assert!(Document::read(text, &[correction]).is_ok());
/// let text = r#"{"openapi": "3.1.0", "paths": {"/rooms": {"get": {"operationId": "list"}}}}"#;
/// assert!(Document::read(text, &[correction]).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a program lists them")]
pub struct Correction {
    /// Where, as a JSON pointer into the document.
    pub at: &'static str,
    /// What stands there, in JSON.
    pub from: &'static str,
    /// What should stand there, in JSON.
    pub to: &'static str,
    /// How that is known.
    pub because: &'static str,
}

impl Correction {
    pub(super) fn apply(&self, document: &mut Value) -> Result<(), String> {
        let read = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| e.to_string());
        let (from, to) = (read(self.from)?, read(self.to)?);
        let place = document.pointer_mut(self.at).ok_or("there is nothing")?;
        if *place != from {
            return Err(format!("it says {place}"));
        }
        *place = to;
        Ok(())
    }
}
