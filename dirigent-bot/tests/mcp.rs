//! A seat over MCP, as clients that others wrote take it in `dirigent run`: the official SDK for Python (`.ci/first-hour`), and the
//! real opencode at a model by script (`.ci/opencode`).

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use crate::stage::{BotStage, PROGRAM, Program, SECRET, http, until};

/// How long a client may take for everything.
const PATIENCE: Duration = Duration::from_secs(120);

/// `dirigent run` with two personas that a model speaks for and pass, and the seat of a coder.
struct SeatStage {
    stage: BotStage,
    _model: LoopbackLlm,
    program: Program,
    /// The address of the front.
    front: String,
}

impl SeatStage {
    async fn new() -> Self {
        let (stage, model) = (BotStage::new().await, LoopbackLlm::start().await.unwrap());
        model.cycle([ScriptedAnswer::text("NO_REPLY")]);
        let seat = "[front]\nlisten = \"127.0.0.1:0\"\nhosts = [{ name = \"desk\", secret = { env = \"SECRET_OF_THIS_TEST\" }, agents = [\"coder\"] }]\n\
             [[agents]]\nname = \"coder\"\nkind = \"asks\"\npersona = { name = \"Coder\" }\n";
        stage.write(&(stage.config(&model.url()) + seat));
        let program = stage.start(&["--verbose", "run"]);
        let front = program.after("the front is at http://").await;
        program.says("take turns here").await;
        Self { stage, _model: model, program, front }
    }

    fn person_says(&self, words: &str) {
        self.stage.discord.say(self.stage.channel, self.stage.person, words);
    }

    /// What the coder said.
    fn said(&self) -> Vec<String> {
        let said = self.stage.said().into_iter().filter(|(name, _)| name == "Coder");
        said.map(|(_, words)| words).collect()
    }

    /// Uses a tool with the coder's secret.
    async fn uses(&self, tool: &str, arguments: Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } });
        let secret = format!("desk.{SECRET}");
        let (status, answer) = http(&self.front, "POST /mcp", &secret, &call.to_string()).await;
        assert_eq!(status, 200, "{answer}");
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        answer.pointer_mut("/result/structuredContent").unwrap().take()
    }

    /// The turn that the coder has, asked for as a client asks.
    async fn turn(&self) -> String {
        let told = self.uses("wait_for_turn", json!({})).await;
        told.get("turn").and_then(Value::as_str).unwrap().to_owned()
    }

    /// Nothing of what the coder brought stands in the log, with each turn in it.
    async fn end(self, words: &str) {
        self.program.signal("-TERM");
        let (code, out, errors) = self.program.end().await;
        assert_eq!(code, Some(0), "{errors}");
        for hidden in [SECRET, words] {
            assert!(!out.contains(hidden) && !errors.contains(hidden), "{hidden:?} is in {errors}");
        }
    }
}

/// The program beside this one.
fn dirigent_mcp() -> std::path::PathBuf {
    let program = Path::new(PROGRAM).with_file_name("dirigent-mcp");
    assert!(program.exists(), "cargo build -p dirigent-mcp");
    program
}

/// Runs a client to its end, and returns what it printed.
async fn run(command: &mut Command) -> String {
    let command = command.stdin(Stdio::null()).kill_on_drop(true);
    let ended = timeout(PATIENCE, command.output())
        .await
        .unwrap_or_else(|_| panic!("it does not end"))
        .unwrap();
    let (out, errors) =
        (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{out}\n{errors}");
    out.into_owned()
}

/// The library that speaks MCP logs whole requests.
#[tokio::test]
async fn words_over_mcp_reach_the_channel_and_no_log_line() {
    let stage = SeatStage::new().await;
    stage.person_says("Who tests the parser?");
    let words = json!({ "turn": stage.turn().await, "text": "I do, in secret." });
    assert_eq!(stage.uses("say", words).await, json!({ "accepted": true, "duplicate": false }));
    until("the words", || stage.said() == ["I do, in secret."]).await;
    stage.end("in secret").await;
}

#[tokio::test]
#[ignore = "needs the official SDK for Python: .ci/first-hour"]
async fn the_sdk_for_python_takes_its_turns_over_http_and_over_stdio() {
    let python = std::env::var("DIRIGENT_PYTHON").unwrap();
    let seat = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dirigent-mcp/clients/seat.py");
    let stage = SeatStage::new().await;
    let (url, secret) = (format!("http://{}", stage.front), format!("desk.{SECRET}"));
    let program = dirigent_mcp();
    for how in [Path::new("auto"), Path::new("legacy"), &program] {
        let before = stage.said().len();
        stage.person_says("Who tests the parser?");
        let mut client = Command::new(&python);
        let asks_again = async {
            until("its first turn", || stage.said().len() > before).await;
            stage.person_says("And who reviews it?");
        };
        let client = client.arg(&seat).args([&url, &secret]).arg(how);
        let (out, ()) = tokio::join!(run(client), asks_again);
        print!("{out}");
    }
    let said = stage.said();
    let over: Vec<_> = said.iter().map(|it| it.split_once(" over ").unwrap().1).collect();
    assert_eq!(over, ["auto.", "legacy.", "stdio."], "each once: {said:?}");
    stage.end(" over legacy").await;
}

/// opencode in a home and a project of its own, with the seat as an MCP server.
#[tokio::test]
#[ignore = "needs opencode: .ci/opencode"]
async fn the_real_opencode_takes_part_in_turn() {
    let opencode = std::env::var("DIRIGENT_OPENCODE").unwrap();
    let stage = SeatStage::new().await;
    let secret = format!("desk.{SECRET}");
    let url = format!("http://{}", stage.front);
    let local = json!({ "type": "local", "command": [dirigent_mcp()], "timeout": 60_000,
        "environment": { "DIRIGENT_URL": url, "DIRIGENT_SECRET": secret } });
    let remote = json!({ "type": "remote", "url": format!("{url}/mcp"), "oauth": false, "timeout": 60_000,
        "headers": { "Authorization": format!("Bearer {secret}") } });
    for (name, seat) in [("local", local), ("remote", remote)] {
        let (model, folder) = (LoopbackLlm::start().await.unwrap(), tempfile::tempdir().unwrap());
        let provider = json!({ "npm": "@ai-sdk/openai-compatible", "name": "Local",
            "options": { "baseURL": model.url() },
            "models": { "smol": { "name": "smol", "limit": { "context": 32_000, "output": 512 } } } });
        let config = json!({ "model": "local/smol", "provider": { "local": provider }, "mcp": { "dirigent": seat },
            "agent": { "title": { "disable": true } }, "permission": { "*": "deny", "dirigent_*": "allow" } });
        for name in ["home", "project"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("project/opencode.json"), config.to_string()).unwrap();
        stage.person_says("Who tests the parser?");
        let turn = stage.turn().await;
        let words = format!("opencode does, {name}.");
        model.script([
            ScriptedAnswer::call("dirigent_wait_for_turn", &json!({})),
            ScriptedAnswer::call("dirigent_read", &json!({ "limit": 5 })),
            ScriptedAnswer::call("dirigent_say", &json!({ "turn": turn, "text": words })),
            ScriptedAnswer::text("It was my turn."),
        ]);
        let mut command = Command::new(&opencode);
        command.args([
            "run",
            "--print-logs",
            "--model",
            "local/smol",
            "--title",
            "a seat",
            "Take part at the table.",
        ]);
        command.current_dir(folder.path().join("project"));
        command.env("PWD", folder.path().join("project"));
        command.env("HOME", folder.path().join("home"));
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        for off in ["AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD"] {
            command.env(format!("OPENCODE_DISABLE_{off}"), "1");
        }
        let out = run(&mut command).await;
        assert!(out.contains("It was my turn."), "{out}");
        let told = model.requests().last().unwrap().said_by("tool").join("\n");
        assert!(told.contains(&turn) && told.contains("Who tests the parser?"), "{told}");
        until("the words of opencode", || stage.said().contains(&words)).await;
    }
    assert_eq!(stage.said(), ["opencode does, local.", "opencode does, remote."]);
    stage.end("opencode does").await;
}
