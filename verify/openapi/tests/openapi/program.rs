//! The program `check-contract`, with documents that are not Discord's.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// The program's exit code and what it wrote; what is wrong with a call goes to standard error.
fn run(arguments: &[&Path]) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_check-contract");
    let ended = Command::new(program).args(arguments).output().unwrap();
    (ended.status.code(), String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap())
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_wrong_call_or_an_unusable_document_ends_with_2() {
    let (code, said) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(said.contains("Usage: check-contract <FILE>"), "{said}");
    assert_eq!(run(&[Path::new("--help")]).0, Some(0));
    assert_eq!(run(&[Path::new("--halp")]).0, Some(2));
    let empty = file("empty.json", "{}");
    assert_eq!(run(&[&empty, &empty]).0, Some(2));
    assert_eq!(run(&[Path::new("/no/such/file")]).0, Some(2));
    let (code, said) = run(&[&empty]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no OpenAPI 3.1 document"), "{said}");
}

/// The corrections are Discord's; a document that they do not fit is not read past them.
#[test]
fn a_document_that_the_corrections_do_not_fit_ends_with_2() {
    let (code, said) = run(&[&file("small.json", super::SMALL)]);
    assert_eq!(code, Some(2));
    assert!(said.contains("does not fit"), "{said}");
}

/// A document that knows the corrected places and one operation: all other requests are findings.
#[test]
fn a_request_that_the_document_does_not_have_ends_with_1() {
    let bits = json!({"type": ["integer", "null"]});
    let command = json!({"properties": {"default_member_permissions":
        {"type": ["integer", "null"], "minimum": 0, "maximum": 18_014_398_509_481_983_u64}}});
    let schemas = json!({
        "ChannelPermissionOverwriteRequest": {"properties": {"allow": bits, "deny": bits}},
        "MessageCreateRequest": {"properties": {
            "content": {"type": ["string", "null"], "maxLength": 4000}
        }},
        "MessageReferenceType": {"oneOf": [
            {"title": "DEFAULT", "description": "Reference to a message", "const": 0}
        ]},
        "ApplicationCommandCreateRequest": command,
        "ApplicationCommandUpdateRequest": command,
    });
    let overwrite = json!({"properties": {"allow": bits, "deny": bits}});
    let ids: Vec<Value> = ["channel_id", "overwrite_id"]
        .map(|name| json!({"name": name, "in": "path", "schema": {"type": "string"}}))
        .to_vec();
    let document = json!({
        "openapi": "3.1.0",
        "servers": [{"url": "https://discord.com/api/v10"}],
        "paths": {"/channels/{channel_id}/permissions/{overwrite_id}": {"parameters": ids, "put": {
            "requestBody": {"content": {"application/json": {"schema": overwrite}}},
            "responses": {"204": {}},
        }}},
        "components": {"schemas": schemas},
    });
    let (code, said) = run(&[&file("narrow.json", &document.to_string())]);
    assert_eq!(code, Some(1), "{said}");
    for expected in [
        "PUT /channels/{channel_id}/permissions/{overwrite_id}, body: Unevaluated properties",
        "POST /api/v10/channels/700/messages, the operation: the document has no such path",
        "calls that did not end as they should: none",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}
