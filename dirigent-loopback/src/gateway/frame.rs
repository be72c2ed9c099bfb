//! Payloads in both directions (docs: topics/opcodes-and-status-codes, gateway opcodes).

use serde_json::{Value, json};

use super::close::Close;
use super::heartbeat;
use super::identify::Identify;
use super::members::MembersRequest;

/// The longest payload of a client, in bytes.
const PAYLOAD_MAX: usize = 4_096;

/// A payload of a client.
pub(super) enum ClientFrame {
    /// A sign of life.
    Heartbeat,
    /// A request for a new session.
    Identify(Identify),
    /// A request for the old session.
    Resume(Resume),
    /// The client's presence. It is recorded, but shown to no other account.
    Presence,
    /// A request for the members of a guild.
    Members(MembersRequest),
}

/// The session that a client wants to resume.
pub(super) struct Resume {
    pub(super) token: String,
    pub(super) session: String,
    pub(super) seq: u64,
}

/// Reads a payload, or returns why it ends the connection.
pub(super) fn read(payload: &[u8]) -> Result<ClientFrame, Close> {
    if payload.len() > PAYLOAD_MAX {
        return Err(Close::DecodeError);
    }
    let frame: Value = serde_json::from_slice(payload).map_err(|_| Close::DecodeError)?;
    let op = frame.get("op").and_then(Value::as_u64).ok_or(Close::DecodeError)?;
    let data = frame.get("d").unwrap_or(&Value::Null);
    match op {
        1 if data.is_null() || data.is_u64() => Ok(ClientFrame::Heartbeat),
        2 => Identify::read(data).map(ClientFrame::Identify),
        3 if data.is_object() => Ok(ClientFrame::Presence),
        1 | 3 => Err(Close::DecodeError),
        4 => Err(Close::Lacking("This Discord has no voice.")),
        6 => read_resume(data).map(ClientFrame::Resume).ok_or(Close::DecodeError),
        8 => MembersRequest::read(data).map(ClientFrame::Members),
        31 => Err(Close::Lacking("This Discord has no soundboard.")),
        _ => Err(Close::UnknownOpcode),
    }
}

fn read_resume(data: &Value) -> Option<Resume> {
    let text = |name| data.get(name).and_then(Value::as_str).map(str::to_owned);
    let seq = data.get("seq").and_then(Value::as_u64)?;
    Some(Resume { token: text("token")?, session: text("session_id")?, seq })
}

/// Returns the first payload of a connection.
pub(super) fn hello() -> String {
    let interval = u64::try_from(heartbeat::INTERVAL.as_millis()).unwrap_or(u64::MAX);
    bare(10, &json!({ "heartbeat_interval": interval }))
}

/// Returns the answer to a heartbeat.
pub(super) fn heartbeat_ack() -> String {
    bare(11, &Value::Null)
}

/// Returns a request for a heartbeat.
pub(super) fn heartbeat_request() -> String {
    bare(1, &Value::Null)
}

/// Returns a request to reconnect.
pub(super) fn reconnect() -> String {
    bare(7, &Value::Null)
}

/// Returns that the session is invalid, and whether the client may try to resume it.
pub(super) fn invalid_session(resumable: bool) -> String {
    bare(9, &Value::Bool(resumable))
}

/// Returns an event with its number.
pub(super) fn dispatch(seq: u64, name: &str, data: &Value) -> String {
    json!({ "t": name, "s": seq, "op": 0, "d": data }).to_string()
}

fn bare(op: u8, data: &Value) -> String {
    json!({ "t": null, "s": null, "op": op, "d": data }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_payload_is_told_apart() {
        let code = |payload: &str| read(payload.as_bytes()).err().unwrap().code();
        assert_eq!(code("hello"), 4002);
        assert_eq!(code("{}"), 4002);
        assert_eq!(code(r#"{"op":"1"}"#), 4002);
        assert_eq!(code(r#"{"op":1,"d":"x"}"#), 4002);
        assert_eq!(code(r#"{"op":0,"d":null}"#), 4001);
        assert_eq!(code(r#"{"op":99,"d":null}"#), 4001);
        assert_eq!(code(r#"{"op":6,"d":{"token":"t"}}"#), 4002);
        assert_eq!(code(r#"{"op":4,"d":{}}"#), 4000);
        let long = format!(r#"{{"op":3,"d":{{"x":"{}"}}}}"#, "x".repeat(4_096));
        assert_eq!(code(&long), 4002);
        assert!(matches!(read(br#"{"op":1,"d":null}"#), Ok(ClientFrame::Heartbeat)));
    }
}
