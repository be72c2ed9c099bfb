//! The parts of opencode's JSON that are read. Unknown fields are ignored.

use serde::Deserialize;
use serde_json::Value;

use crate::permission::PermissionRequest;

/// A session, or something else that has an id.
#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

/// A message with its parts.
#[derive(Deserialize)]
pub(super) struct ModelMessage {
    pub(super) info: Info,
    #[serde(default)]
    pub(super) parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Info {
    pub(super) id: String,
    pub(super) role: String,
    #[serde(default)]
    pub(super) error: Option<Failure>,
    #[serde(default)]
    pub(super) time: Times,
    #[serde(rename = "providerID", default)]
    pub(super) provider: String,
    #[serde(rename = "modelID", default)]
    pub(super) model: String,
    #[serde(default)]
    pub(super) tokens: Tokens,
}

#[derive(Default, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) completed: Option<f64>,
}

#[derive(Default, Deserialize)]
pub(super) struct Tokens {
    #[serde(default)]
    pub(super) input: f64,
    #[serde(default)]
    pub(super) output: f64,
}

/// The reason why a message failed.
#[derive(Deserialize)]
pub(super) struct Failure {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) data: Value,
}

impl Failure {
    pub(super) fn message(&self) -> String {
        let said = self.data.get("message").and_then(Value::as_str).unwrap_or_default();
        match said {
            "" => format!("opencode failed ({}).", self.name),
            said => said.to_owned(),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: String,
    /// True if opencode wrote the part, and not the model.
    #[serde(default)]
    pub(super) synthetic: bool,
    #[serde(default)]
    pub(super) ignored: bool,
}

impl ModelMessage {
    /// Returns the model's text in the message.
    pub(super) fn said(&self) -> String {
        let said = self
            .parts
            .iter()
            .filter(|part| part.kind == "text" && !part.synthetic && !part.ignored);
        let texts: Vec<&str> =
            said.map(|part| part.text.trim()).filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    pub(super) fn is_answer(&self) -> bool {
        self.info.role == "assistant"
    }

    pub(super) fn is_over(&self) -> bool {
        self.info.time.completed.is_some() || self.info.error.is_some()
    }
}

/// A question that waits for an answer: a request for permission, or a question to the person.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pending {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    #[serde(default)]
    permission: String,
    #[serde(default)]
    patterns: Vec<String>,
    #[serde(default)]
    metadata: Value,
}

impl Pending {
    pub(super) fn permission(&self) -> PermissionRequest {
        PermissionRequest {
            permission: self.permission.clone(),
            patterns: self.patterns.clone(),
            metadata: self.metadata.clone(),
        }
    }
}

/// An event of the stream.
#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) properties: Value,
}

impl Event {
    /// Returns the session of the event.
    pub(super) fn session(&self) -> Option<&str> {
        let places = ["/sessionID", "/part/sessionID", "/info/sessionID"];
        places.iter().find_map(|place| self.text(place))
    }

    /// Returns the text at this place of the event's properties.
    pub(super) fn text(&self, place: &str) -> Option<&str> {
        self.properties.pointer(place)?.as_str()
    }
}

/// The state of a session: busy or idle.
#[derive(Deserialize)]
pub(super) struct SessionStatus {
    #[serde(rename = "type")]
    pub(super) kind: String,
}
