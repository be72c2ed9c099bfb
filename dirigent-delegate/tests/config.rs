//! The configuration, as hosts write it.

use dirigent_delegate::config::{OpencodeMode, OrchestratorConfig};
use serde_json::{Value, json};

/// The example of the specification, with its comments.
const EXAMPLE: &str = r#"{
  "orchestrator": {
    "enabled": true,
    "model": "google-gemini-cli/gemini-3-flash-preview",
    "fallbacks": ["openai-codex/gpt-5.2-codex"],
    "agents": {
      "opencode": {
        "enabled": true,
        "model": "anthropic/claude-sonnet-4",
        "mode": "cli",  // "cli" | "serve"
        "binary": "opencode",
        "timeoutMs": 300000
      },
      "research": { "enabled": true, "model": "google-gemini-cli/gemini-3-flash-preview" },
      "embedded": {
        "enabled": true,
        "model": null  // null = use agents.defaults.model
      }
    },
    "parallelExecution": true,
    "maxParallelAgents": 3
  }
}"#;

/// The example without what stands behind its values.
fn example() -> Value {
    let lines = EXAMPLE.lines().map(|line| line.split("  //").next().unwrap());
    serde_json::from_str(&lines.collect::<String>()).unwrap()
}

fn read(orchestrator: &Value) -> Result<OrchestratorConfig, String> {
    let document = json!({ "channels": {}, "orchestrator": orchestrator }).to_string();
    OrchestratorConfig::from_document(&document).map_err(|error| error.field().to_owned())
}

/// R289, R291, DG7
#[test]
fn the_example_is_read_and_written_as_it_is() {
    let config = OrchestratorConfig::from_document(EXAMPLE).unwrap();
    assert!(config.enabled && config.parallel_execution);
    assert_eq!(config.fallbacks, ["openai-codex/gpt-5.2-codex"]);
    assert_eq!(config.agents.opencode.model.as_deref(), Some("anthropic/claude-sonnet-4"));
    assert_eq!(config.agents.embedded.model, None, "null is the host's default model");
    let mut expected = example();
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
        "# no JSON\n{}",
        "{} /* without end",
        "{ / no comment\n}",
        "{\"orchestrator\": /* 1 */}",
        "{\"orchestrator\":{},}",
    ] {
        assert!(OrchestratorConfig::from_document(broken).is_err(), "{broken}");
    }
}

/// DG7: comments are left aside, wherever they stand, and what looks like one in a text is none.
#[test]
fn comments_are_read_as_nothing() {
    let file = r#"// first
/* second { */ {
  "homepage": "https://example.org/*no comment*/", // "orchestrator": 1
  "quoted": "a \" // b", /** / * **/ /***/
  "orchestrator": /**/ { "model": /* "x/y" */ "a//b", "maxParallelAgents": 2/* 3 */, "fallbacks": [
    "c/d" // "e/f"
  ] } } // last"#;
    for file in [file.to_owned(), file.replace('\n', "\r\n"), format!("\u{feff}{file}")] {
        let config = OrchestratorConfig::from_document(&file).unwrap();
        assert_eq!((&*config.model, config.max_parallel_agents.get()), ("a//b", 2));
        assert_eq!(config.fallbacks, ["c/d"]);
    }
    let error = OrchestratorConfig::from_document("{\n// one\n/* two\n */ oops }").unwrap_err();
    assert!(error.to_string().ends_with("at line 4 column 5"), "{error}: places stay");
}

/// DG7: what is optional may be null, as if it were not said.
#[test]
fn null_is_the_default_of_what_is_optional() {
    let usual = OrchestratorConfig::default();
    assert_eq!(OrchestratorConfig::from_document(r#"{ "orchestrator": null }"#).unwrap(), usual);
    let nulls = [
        json!({ "agents": null }),
        json!({ "agents": { "opencode": null, "research": null, "embedded": null } }),
        json!({ "fallbacks": null, "parallelExecution": null, "maxParallelAgents": null }),
        json!({ "agents": { "opencode": { "model": null, "binary": null, "timeoutMs": null, "servePort": null } } }),
        json!({ "agents": { "research": { "model": null }, "embedded": { "model": null } } }),
    ];
    let validator = jsonschema::validator_for(&OrchestratorConfig::json_schema()).unwrap();
    for orchestrator in nulls {
        assert_eq!(read(&orchestrator).as_ref(), Ok(&usual), "{orchestrator}");
        assert!(validator.is_valid(&orchestrator), "{orchestrator}");
    }
    for orchestrator in [
        json!({ "enabled": null }),
        json!({ "model": null }),
        json!({ "agents": { "opencode": { "mode": null } } }),
        json!({ "agents": { "opencode": { "enabled": null } } }),
    ] {
        assert!(
            read(&orchestrator).is_err() && !validator.is_valid(&orchestrator),
            "{orchestrator}"
        );
    }
}

/// DG7
#[test]
fn an_error_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moltbot.json");
    let shown = path.display();
    let error = || OrchestratorConfig::from_file(&path).unwrap_err();
    let missing = format!("{shown}: the configuration cannot be read: No such file");
    assert!(error().to_string().starts_with(&missing));
    std::fs::write(&path, r#"{ "orchestrator": { "maxParallelAgents": 0 } } // no"#).unwrap();
    let wrong = error();
    assert_eq!((wrong.file(), wrong.field()), (Some(&*path), "orchestrator.maxParallelAgents"));
    assert!(wrong.to_string().starts_with(&format!("{shown}: orchestrator.maxParallelAgents: ")));
    std::fs::write(&path, EXAMPLE).unwrap();
    assert!(OrchestratorConfig::from_file(&path).unwrap().enabled);
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
    let example = example();
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
