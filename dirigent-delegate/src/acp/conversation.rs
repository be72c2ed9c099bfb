//! The conversation with an agent, as a value: lines come in, and lines and an outcome go out.
//!
//! ```text
//! initialize ──► session/new ──► session/prompt ──► stop reason
//!                                  │ session/update: what the agent says
//!                                  │ session/request_permission: answered by policy
//! ```

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::CliDelegate;
use crate::delegate::{Task, TaskOutcome};
use crate::permission::{Decide, PermissionReply, PermissionRequest};

/// The version of the protocol.
const VERSION: u64 = 1;
/// The ids of the three requests.
const INITIALIZE: u64 = 0;
const NEW_SESSION: u64 = 1;
const PROMPT: u64 = 2;
/// JSON-RPC's error for an unknown method.
const METHOD_NOT_FOUND: i64 = -32_601;

/// A task in a session.
pub(super) struct Conversation<'a> {
    task: &'a Task,
    folder: &'a Path,
    decide: &'a Decide,
    process: &'a CliDelegate,
    session: Option<String>,
    takes_images: bool,
    said: String,
}

/// The result of a line.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) answers: Vec<Value>,
    /// True if the agent has said more.
    pub(super) is_more: bool,
    pub(super) outcome: Option<TaskOutcome>,
}

impl Heard {
    fn answer(answer: Value) -> Self {
        Self { answers: vec![answer], ..Self::default() }
    }

    fn outcome(outcome: TaskOutcome) -> Self {
        Self { outcome: Some(outcome), ..Self::default() }
    }
}

impl<'a> Conversation<'a> {
    pub(super) fn new(
        task: &'a Task,
        folder: &'a Path,
        decide: &'a Decide,
        process: &'a CliDelegate,
    ) -> Self {
        let (said, session) = (String::new(), None);
        Self { task, folder, decide, process, session, takes_images: false, said }
    }

    fn says(&self, what: &str) -> String {
        self.process.says(what)
    }

    /// Returns the first request. It offers the agent no files and no terminal.
    pub(super) fn begin() -> Value {
        let capabilities =
            json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let client = json!({ "name": "dirigent", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": VERSION, "clientCapabilities": capabilities, "clientInfo": client });
        request(INITIALIZE, "initialize", &params)
    }

    pub(super) fn said(&self) -> &str {
        self.said.trim()
    }

    /// Returns the messages that tell the agent to stop.
    pub(super) fn cancel(&self) -> Vec<Value> {
        let cancel = |session: &String| json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
        self.session.iter().map(cancel).collect()
    }

    /// Reads a line. A line that is no message of the protocol is ignored, because programs print greetings.
    pub(super) fn hear(&mut self, line: &[u8]) -> Heard {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Heard::default();
        };
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some("session/request_permission"), Some(id)) => {
                let outcome = self.permission(&message);
                Heard::answer(
                    json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } }),
                )
            }
            (Some(_), Some(id)) => {
                let error = json!({ "code": METHOD_NOT_FOUND, "message": "This client does not offer it." });
                Heard::answer(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
            }
            (Some("session/update"), None) => self.update(&message),
            (None, Some(id)) => self.answered(id.as_u64(), &message),
            (Some(_) | None, None) => Heard::default(),
        }
    }

    /// Handles the agent's answer to a request.
    fn answered(&mut self, id: Option<u64>, message: &Value) -> Heard {
        if let Some(error) = message.get("error") {
            let said = text(error, "/message").filter(|said| !said.trim().is_empty());
            let said =
                said.map_or_else(|| self.says("refused, and did not say why."), str::to_owned);
            let output = self.said().to_owned();
            return Heard::outcome(TaskOutcome { output, ..TaskOutcome::error(said) });
        }
        let version = message.pointer("/result/protocolVersion").and_then(Value::as_u64);
        match id {
            Some(INITIALIZE) if version == Some(VERSION) => {
                let takes = message.pointer("/result/agentCapabilities/promptCapabilities/image");
                self.takes_images = takes.and_then(Value::as_bool).unwrap_or_default();
                let params = json!({ "cwd": self.folder, "mcpServers": [] });
                Heard::answer(request(NEW_SESSION, "session/new", &params))
            }
            Some(INITIALIZE) => Heard::outcome(TaskOutcome::error(
                self.says("speaks another version of the protocol."),
            )),
            Some(NEW_SESSION) => match text(message, "/result/sessionId") {
                Some(session) => {
                    self.session = Some(session.to_owned());
                    let params = json!({ "sessionId": session, "prompt": self.prompt() });
                    Heard::answer(request(PROMPT, "session/prompt", &params))
                }
                None => Heard::outcome(TaskOutcome::error(self.says("opened no session."))),
            },
            Some(PROMPT) => Heard::outcome(self.outcome(text(message, "/result/stopReason"))),
            Some(_) | None => Heard::default(),
        }
    }

    /// Returns the task as content. If the agent takes no images, the text says that there are some.
    fn prompt(&self) -> Vec<Value> {
        let images = self.task.images();
        let mut order = self.task.prompt().into_owned();
        if !images.is_empty() && !self.takes_images {
            order.push_str("\n\n(The person sent images, which cannot be shown here.)");
        }
        let image = |image: &crate::request::Image| json!({ "type": "image", "mimeType": image.mime_type, "data": image.data });
        let shown = images.iter().filter(|_| self.takes_images).map(image);
        std::iter::once(json!({ "type": "text", "text": order })).chain(shown).collect()
    }

    /// Handles what the agent says, or reports that it does.
    fn update(&mut self, message: &Value) -> Heard {
        let said = text(message, "/params/update/content/text").unwrap_or_default();
        let is_ours = text(message, "/params/sessionId") == self.session.as_deref();
        let kind = text(message, "/params/update/sessionUpdate");
        let is_said = kind == Some("agent_message_chunk");
        if !is_ours || !is_said || said.is_empty() {
            return Heard::default();
        }
        let most = self.process.bounds().output;
        if self.said.len() + said.len() > most {
            let message = self.says(&format!("said more than {most} bytes, and was killed."));
            return Heard::outcome(TaskOutcome::partial(self.said(), message));
        }
        self.said.push_str(said);
        Heard { is_more: true, ..Heard::default() }
    }

    /// Answers a request for permission with the option of the decided kind, if the agent offers it.
    fn permission(&self, message: &Value) -> Value {
        let locations = message.pointer("/params/toolCall/locations").and_then(Value::as_array);
        let paths = locations.into_iter().flatten().filter_map(|place| text(place, "/path"));
        let permission = PermissionRequest {
            permission: text(message, "/params/toolCall/kind").unwrap_or("other").to_owned(),
            patterns: paths.map(str::to_owned).collect(),
            metadata: message.pointer("/params/toolCall").cloned().unwrap_or_default(),
        };
        let kinds = match (self.decide)(&permission) {
            PermissionReply::Once => ["allow_once", "allow_once"],
            PermissionReply::Always => ["allow_always", "allow_once"],
            PermissionReply::Reject => ["reject_once", "reject_always"],
        };
        let options = message.pointer("/params/options").and_then(Value::as_array);
        let of_kind = |kind: &str| {
            let option = options?.iter().find(|option| text(option, "/kind") == Some(kind))?;
            text(option, "/optionId")
        };
        match kinds.into_iter().find_map(of_kind) {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        }
    }

    /// Returns the outcome of the prompt.
    fn outcome(&self, reason: Option<&str>) -> TaskOutcome {
        let said = self.said();
        match reason {
            Some("end_turn") if said.is_empty() => {
                TaskOutcome::partial("", self.says("ended well and said nothing."))
            }
            Some("end_turn") => TaskOutcome::success(said),
            Some("max_tokens") => TaskOutcome::partial(said, self.says("had its model cut off.")),
            Some("max_turn_requests") => {
                TaskOutcome::partial(said, self.says("asked its model as often as it may."))
            }
            Some("refusal") => {
                let output = said.to_owned();
                TaskOutcome { output, ..TaskOutcome::error(self.says("refused the task.")) }
            }
            Some(_) | None => {
                let output = said.to_owned();
                TaskOutcome {
                    output,
                    ..TaskOutcome::error(self.says("stopped, and did not say why."))
                }
            }
        }
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Returns the text at this place of a message.
fn text<'v>(message: &'v Value, place: &str) -> Option<&'v str> {
    message.pointer(place)?.as_str()
}
