//! The configuration, as hosts write it.

use dirigent_delegate::config::{OpencodeMode, OrchestratorConfig};
use serde_json::{Value, json};

/// The example of the specification, without its comment.
const EXAMPLE: &str = r#"{
  "orchestrator": {
    "enabled": true,
    "model": "google-gemini-cli/gemini-3-flash-preview",
    "fallbacks": ["openai-codex/gpt-5.2-codex"],
    "agents": {
      "opencode": {
        "enabled": true,
        "model": "anthropic/claude-sonnet-4",
        "mode": "cli",
        "binary": "opencode",
        "timeoutMs": 300000
      },
      "research": { "enabled": true, "model": "google-gemini-cli/gemini-3-flash-preview" },
      "embedded": { "enabled": true, "model": null }
    },
    "parallelExecution": true,
    "maxParallelAgents": 3
  }
}"#;

fn read(orchestrator: &Value) -> Result<OrchestratorConfig, String> {
    let document = json!({ "channels": {}, "orchestrator": orchestrator }).to_string();
    OrchestratorConfig::from_document(&document).map_err(|error| error.field().to_owned())
}

/// R289, R291
#[test]
fn the_example_is_read_and_written_as_it_is() {
    let config = OrchestratorConfig::from_document(EXAMPLE).unwrap();
    assert!(config.enabled && config.parallel_execution);
    assert_eq!(config.fallbacks, ["openai-codex/gpt-5.2-codex"]);
    assert_eq!(config.agents.opencode.model.as_deref(), Some("anthropic/claude-sonnet-4"));
    assert_eq!(config.agents.embedded.model, None, "null is the host's default model");
    let mut expected: Value = serde_json::from_str(EXAMPLE).unwrap();
    expected["orchestrator"]["agents"]["opencode"]["servePort"] = Value::Null;
    assert_eq!(serde_json::to_value(&config).unwrap(), expected["orchestrator"]);
}

/// R286, R289, R307
#[test]
fn what_is_not_said_has_its_default() {
    let silent = OrchestratorConfig::from_document("{}").unwrap();
    assert_eq!(silent, OrchestratorConfig::default());
    assert_eq!(read(&json!({})).unwrap(), silent);
    assert!(!silent.enabled, "off unless it is switched on");
    assert_eq!(silent.model, "google-gemini-cli/gemini-3-flash-preview");
    assert!(silent.fallbacks.is_empty() && silent.parallel_execution);
    assert_eq!(silent.max_parallel_agents.get(), 3);
    let agents = &silent.agents;
    assert!(agents.opencode.enabled && agents.research.enabled && agents.embedded.enabled);
    let opencode = &agents.opencode;
    assert_eq!((opencode.mode, &*opencode.binary), (OpencodeMode::Cli, "opencode"));
    assert_eq!((opencode.timeout_ms.get(), opencode.serve_port), (300_000, None));
    let models = [&opencode.model, &agents.research.model, &agents.embedded.model];
    assert_eq!(models, [&None; 3]);
}

/// R290
#[test]
fn what_is_wrong_is_refused_with_the_fields_name() {
    let wrong = [
        (json!({ "maxParallelAgents": 0 }), "maxParallelAgents"),
        (json!({ "maxParallelAgents": -1 }), "maxParallelAgents"),
        (json!({ "maxParallelAgents": 1.5 }), "maxParallelAgents"),
        (json!({ "maxParallelAgents": 4_294_967_296_u64 }), "maxParallelAgents"),
        (json!({ "enabled": "yes" }), "enabled"),
        (json!({ "model": null }), "model"),
        (json!({ "model": " " }), "model"),
        (json!({ "modle": "a/b" }), "modle"),
        (json!({ "fallbacks": ["a/b", 7] }), "fallbacks[1]"),
        (json!({ "fallbacks": ["a/b", ""] }), "fallbacks[1]"),
        (json!({ "agents": { "opencode": { "timeoutMs": 0 } } }), "agents.opencode.timeoutMs"),
        (json!({ "agents": { "opencode": { "timeoutMs": -5 } } }), "agents.opencode.timeoutMs"),
        (json!({ "agents": { "opencode": { "mode": "http" } } }), "agents.opencode.mode"),
        (json!({ "agents": { "opencode": { "mode": "CLI" } } }), "agents.opencode.mode"),
        (json!({ "agents": { "opencode": { "binary": "" } } }), "agents.opencode.binary"),
        (json!({ "agents": { "opencode": { "servePort": 0 } } }), "agents.opencode.servePort"),
        (json!({ "agents": { "opencode": { "servePort": 70_000 } } }), "agents.opencode.servePort"),
        (json!({ "agents": { "opencode": { "model": "" } } }), "agents.opencode.model"),
        (json!({ "agents": { "embedded": { "model": 7 } } }), "agents.embedded.model"),
        (json!({ "agents": { "research": { "binary": "x" } } }), "agents.research.binary"),
        (json!({ "agents": { "planner": {} } }), "agents.planner"),
        (json!({ "agents": [] }), "agents"),
        (json!({ "agents": { "opencode": [] } }), "agents.opencode"),
    ];
    for (orchestrator, field) in wrong {
        let expected = format!("orchestrator.{field}");
        assert_eq!(read(&orchestrator), Err(expected), "{orchestrator}");
    }
    for broken in [
        "",
        "{",
        "[]",
        "{} {}",
        "{\"orchestrator\": 1}",
        "// no JSON\n{}",
        "{\"orchestrator\":{},}",
    ] {
        assert!(OrchestratorConfig::from_document(broken).is_err(), "{broken}");
    }
}

#[test]
fn an_error_names_the_field_and_what_is_expected() {
    let file = r#"{ "orchestrator": { "agents": { "opencode": { "mode": "http" } } } }"#;
    let error = OrchestratorConfig::from_document(file).unwrap_err().to_string();
    assert!(error.starts_with("orchestrator.agents.opencode.mode: unknown variant"), "{error}");
}

/// R289, R290
#[test]
fn the_exported_schema_takes_and_refuses_what_the_reader_does() {
    let schema = OrchestratorConfig::json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let example: Value = serde_json::from_str(EXAMPLE).unwrap();
    assert!(validator.is_valid(&example["orchestrator"]) && validator.is_valid(&json!({})));
    let fields =
        ["enabled", "model", "fallbacks", "agents", "parallelExecution", "maxParallelAgents"];
    let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert!(
        known.len() == fields.len()
            && fields.iter().all(|field| known.contains(&&(*field).to_owned()))
    );
    let wrong = [
        json!({ "maxParallelAgents": 0 }),
        json!({ "agents": { "opencode": { "timeoutMs": 0 } } }),
        json!({ "agents": { "opencode": { "mode": "http" } } }),
        json!({ "agents": { "opencode": { "servePort": 0 } } }),
        json!({ "agents": { "opencode": { "servePort": 70_000 } } }),
        json!({ "fallbacks": [""] }),
        json!({ "model": "" }),
        json!({ "modle": "a/b" }),
    ];
    for value in wrong {
        assert!(!validator.is_valid(&value) && read(&value).is_err(), "{value}");
    }
}
