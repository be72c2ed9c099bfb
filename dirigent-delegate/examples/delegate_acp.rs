//! An agent for tests that speaks the Agent Client Protocol. It reads its prompt as a list of words, and does what each
//! word says:
//!
//! | word | what it does |
//! | --- | --- |
//! | `say TEXT` | says it, in two pieces, and thinks before |
//! | `raw JSON` | says the text in this string of JSON, which has no spaces |
//! | `ask KIND` | asks whether it may use a tool of this kind, and says which option was chosen |
//! | `read` | asks for a file of the host's, and says the error's code |
//! | `garbage` | writes lines that are no messages of the protocol |
//! | `flood` | writes a line without end |
//! | `talk`, `think`, `beg`, `babble` | says words, thinks, asks for permissions, writes what is no message, without end |
//! | `moan` | complains |
//! | `note FOLDER` | notes its process in this folder |
//! | `images` | says how many images are in the prompt |
//! | `wait` | waits for ever; a `session/cancel` is noted as `cancelled` in the folder noted before |
//! | `die` | ends, with a complaint |
//! | `stop REASON`, `fail` | answers the prompt with this reason, with an error; without either with `end_turn` |
//!
//! Its arguments: `--version N` speaks that version of the protocol, `--blind` refuses images, and `--deaf` never
//! reads.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for tests"
)]

use std::env;
use std::fs;
use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has("--deaf") {
        std::thread::park();
    }
    let version = if has("--version") { 7 } else { 1 };
    let images = !has("--blind");
    println!("Welcome to the agent!");
    while let Some(message) = read() {
        let id = &message["id"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let can = json!({ "promptCapabilities": { "image": images } });
                reply(id, &json!({ "protocolVersion": version, "agentCapabilities": can }));
            }
            "session/new" => {
                assert!(Path::new(message["params"]["cwd"].as_str().unwrap()).is_absolute());
                reply(id, &json!({ "sessionId": "one" }));
            }
            "session/prompt" => obey(id, &message["params"]["prompt"]),
            _ => {}
        }
    }
}

fn obey(id: &Value, prompt: &Value) {
    let order = prompt[0]["text"].as_str().unwrap();
    let (mut words, mut folder) = (order.split_whitespace(), PathBuf::new());
    let mut answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } });
    while let Some(word) = words.next() {
        match word {
            "say" => {
                update("agent_thought_chunk", "Hm.", "one");
                update("agent_message_chunk", "not this", "another");
                let (one, two) = words.next().unwrap().split_at(1);
                say(one);
                say(two);
            }
            "raw" => say(&serde_json::from_str::<String>(words.next().unwrap()).unwrap()),
            "ask" => {
                let option = |id: &str| json!({ "optionId": id, "name": id, "kind": id });
                let options = ["allow_always", "allow_once", "reject_once"].map(option);
                let call = json!({ "toolCallId": "1", "kind": words.next(), "locations": [{ "path": "a.py" }] });
                let answer = ask(
                    "session/request_permission",
                    &json!({ "sessionId": "one", "toolCall": call, "options": options }),
                );
                say(answer["result"]["outcome"]["optionId"].as_str().unwrap());
            }
            "read" => {
                let answer = ask("fs/read_text_file", &json!({ "path": "/etc/passwd" }));
                say(&answer["error"]["code"].to_string());
            }
            "garbage" => {
                stdout()
                    .write_all(b"\xff\xfe\n[1, 2]\n{}\n\n{\"id\": 99, \"result\": 1}\n")
                    .unwrap();
            }
            "flood" => while stdout().write_all(&[b'x'; 4_096]).is_ok() {},
            "talk" | "think" | "beg" | "babble" => flood(word),
            "moan" => eprintln!("no key"),
            "note" => {
                folder = words.next().unwrap().into();
                fs::write(folder.join(std::process::id().to_string()), "").unwrap();
            }
            "images" => {
                let parts = prompt.as_array().unwrap();
                say(&parts.iter().filter(|part| part["type"] == "image").count().to_string());
            }
            "wait" => {
                while let Some(message) = read() {
                    if message["method"] == "session/cancel" {
                        fs::write(folder.join("cancelled"), "").unwrap();
                    }
                }
            }
            "die" => {
                eprintln!("no key");
                std::process::exit(3);
            }
            "stop" => answer["result"]["stopReason"] = words.next().into(),
            "fail" => {
                let error = json!({ "code": -32_000, "message": "sign in first" });
                answer = json!({ "id": id, "error": error });
            }
            _ => {}
        }
    }
    println!("{answer}");
}

/// Writes messages of this sort for ever.
fn flood(sort: &str) -> ! {
    let asked = json!({ "sessionId": "one", "options": [] });
    let asked = json!({ "id": 1, "method": "session/request_permission", "params": asked });
    loop {
        match sort {
            "talk" => say("word "),
            "think" => update("agent_thought_chunk", "Hm.", "one"),
            "beg" => println!("{asked}"),
            _ => println!("I am no message."),
        }
    }
}

fn read() -> Option<Value> {
    let line = stdin().lock().lines().next()?.ok()?;
    Some(serde_json::from_str(&line).unwrap())
}

fn reply(id: &Value, result: &Value) {
    println!("{}", json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn ask(method: &str, params: &Value) -> Value {
    println!("{}", json!({ "jsonrpc": "2.0", "id": "a1", "method": method, "params": params }));
    read().unwrap()
}

fn say(text: &str) {
    update("agent_message_chunk", text, "one");
}

fn update(kind: &str, text: &str, session: &str) {
    let update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    let params = json!({ "sessionId": session, "update": update });
    println!("{}", json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
}
