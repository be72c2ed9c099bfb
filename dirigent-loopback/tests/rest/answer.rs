//! A client of a few lines: one connection, one request, everything that comes back.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// Discord's code for a refusal.
    pub(crate) fn code(&self) -> u64 {
        self.json()["code"].as_u64().unwrap()
    }

    /// A refusal's status and code.
    pub(crate) fn refusal(&self) -> (u16, u64) {
        (self.status, self.code())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The ids of what is in a list.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let list = self.json();
        let ids = list.as_array().unwrap().iter().map(|entry| &entry["id"]);
        ids.map(|id| id.as_str().unwrap().parse().unwrap()).collect()
    }
}

/// Sends a request on a connection of its own; none when it is cut without an answer.
pub(crate) async fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.extend(["Content-Length: ", &body.len().to_string(), "\r\n\r\n"]);
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server may answer and close before all has been sent.
    let _ = stream.write_all(body).await;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, text) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    Some(Answer { status, headers, text: text.to_owned() })
}
