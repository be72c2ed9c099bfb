//! The program, as a user of another library meets it.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Starts the program and returns it with its address, `127.0.0.1:PORT`.
async fn start(arguments: &[&str]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopback-llm"));
    command.args(arguments).stdout(Stdio::piped()).kill_on_drop(true);
    let mut program = command.spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap().to_owned();
    (program, address)
}

/// What is answered to a request with this body.
async fn ask(address: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: model\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn the_program_prints_its_address_and_answers_whole_and_streamed() {
    let (_program, address) = start(&[]).await;
    let whole = ask(&address, r#"{"model": "any"}"#).await;
    assert!(
        whole.contains("application/json") && whole.contains("I like the sound of it."),
        "{whole}"
    );
    let streamed = ask(&address, r#"{"model": "any", "stream": true}"#).await;
    assert!(
        streamed.contains("text/event-stream") && streamed.contains("data: [DONE]"),
        "{streamed}"
    );
    assert!(streamed.contains("\"delta\":{\"content\":\"would \"}"), "{streamed}");
}

#[tokio::test]
async fn a_script_is_played_over_and_over_and_a_bad_one_is_refused() {
    let folder = std::env::temp_dir().join(format!("loopback-llm-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (script, bad) = (folder.join("script.jsonl"), folder.join("bad.jsonl"));
    std::fs::write(
        &script,
        "{\"text\": \"One.\"}\n\n{\"status\": 429, \"headers\": [[\"retry-after\", \"7\"]]}\n",
    )
    .unwrap();
    std::fs::write(&bad, "{\"text\": \"One.\"}\n{\"txt\": 7}\n").unwrap();
    let (_program, address) = start(&["--script", script.to_str().unwrap(), "--pause", "1"]).await;
    for _ in 0..2 {
        assert!(ask(&address, "{}").await.contains("One."));
        let limited = ask(&address, "{}").await;
        assert!(
            limited.starts_with("HTTP/1.1 429") && limited.contains("retry-after: 7"),
            "{limited}"
        );
    }
    let refused =
        Command::new(env!("CARGO_BIN_EXE_loopback-llm")).arg("--script").arg(&bad).output();
    let refused = refused.await.unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with("line 2 of the script"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn help_is_output_and_an_unknown_flag_is_refused() {
    let run =
        |flag: &'static str| Command::new(env!("CARGO_BIN_EXE_loopback-llm")).arg(flag).output();
    let (helped, refused) = (run("--help").await.unwrap(), run("--no-such-flag").await.unwrap());
    assert!(
        helped.status.success() && String::from_utf8_lossy(&helped.stdout).contains("--script")
    );
    assert_eq!(refused.status.code(), Some(2));
}
