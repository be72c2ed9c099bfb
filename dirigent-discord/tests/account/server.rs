//! A server that answers what it was told to, in order, and remembers what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// What happens to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// The connection is closed without an answer.
    Break,
    /// No answer ever comes.
    Silence,
    /// The head of a 200 comes, then half a body, then the end.
    CutShort,
    /// The head of this status comes, and never a body.
    Stuck(u16),
}

impl Reply {
    pub(crate) fn ok(body: impl Into<String>) -> Self {
        Self::status(200, body)
    }

    pub(crate) fn status(status: u16, body: impl Into<String>) -> Self {
        Self::Answer { status, headers: Vec::new(), body: body.into() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }

    /// The limits of a bucket, as Discord tells them with most answers: without a scope.
    pub(crate) fn bucket(self, name: &str, limit: u32, remaining: u32, reset_after: &str) -> Self {
        self.header("X-RateLimit-Bucket", name)
            .header("X-RateLimit-Limit", limit.to_string())
            .header("X-RateLimit-Remaining", remaining.to_string())
            .header("X-RateLimit-Reset-After", reset_after)
    }
}

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[derive(Debug, Default)]
struct Played {
    script: VecDeque<Reply>,
    /// What begins like this is answered like that, and uses up nothing of the script.
    rules: Vec<(String, Reply)>,
    asked: Vec<Asked>,
}

impl Played {
    fn reply(&mut self, asked: &Asked) -> Reply {
        let rule = self.rules.iter().rev().find(|(start, _)| asked.line.starts_with(start));
        if let Some((_, reply)) = rule {
            return reply.clone();
        }
        let unexpected = Reply::status(500, "{\"message\":\"nothing is scripted\"}");
        self.script.pop_front().unwrap_or(unexpected)
    }
}

pub(crate) struct Server {
    address: SocketAddr,
    played: Arc<Mutex<Played>>,
    counted: watch::Sender<usize>,
    accepting: Option<JoinHandle<()>>,
    /// Keeps the port while nothing listens there.
    reserved: Option<TcpSocket>,
}

impl Server {
    pub(crate) async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = script.into_iter().collect();
        let played = Arc::new(Mutex::new(Played { script, ..Played::default() }));
        let counted = watch::Sender::new(0);
        let mut server = Self { address, played, counted, accepting: None, reserved: None };
        server.accept_from(listener);
        server
    }

    fn accept_from(&mut self, listener: TcpListener) {
        let (played, counted) = (Arc::clone(&self.played), self.counted.clone());
        self.accepting = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&played), counted.clone()));
            }
        }));
    }

    /// Closes every connection and refuses new ones.
    pub(crate) async fn refuse(&mut self) {
        let accepting = self.accepting.take().unwrap();
        accepting.abort();
        accepting.await.unwrap_err();
        let reserved = TcpSocket::new_v4().unwrap();
        reserved.set_reuseaddr(true).unwrap();
        reserved.bind(self.address).unwrap();
        self.reserved = Some(reserved);
    }

    /// Accepts connections again.
    pub(crate) fn listen(&mut self) {
        let listener = self.reserved.take().unwrap().listen(64).unwrap();
        self.accept_from(listener);
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn script(&self, more: impl IntoIterator<Item = Reply>) {
        self.played.lock().unwrap().script.extend(more);
    }

    /// Answers whatever begins with this method and path (without the version) like that, from now on.
    pub(crate) fn rule(&self, start: &str, reply: Reply) {
        let start = start.replacen(" /", " /api/v10/", 1);
        self.played.lock().unwrap().rules.push((start, reply));
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.played.lock().unwrap().asked.clone()
    }

    /// The first lines of all requests so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    pub(crate) fn count(&self) -> usize {
        *self.counted.borrow()
    }

    /// Waits until so many requests have arrived.
    pub(crate) async fn arrived(&self, wanted: usize) {
        let mut count = self.counted.subscribe();
        count.wait_for(|count| *count >= wanted).await.unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(accepting) = &self.accepting {
            accepting.abort();
        }
    }
}

async fn serve(stream: TcpStream, played: Arc<Mutex<Played>>, counted: watch::Sender<usize>) {
    let mut stream = BufReader::new(stream);
    while let Some(asked) = read(&mut stream).await {
        let reply = {
            let mut played = played.lock().unwrap();
            let reply = played.reply(&asked);
            played.asked.push(asked);
            counted.send_replace(played.asked.len());
            reply
        };
        let text = match reply {
            Reply::Break => return,
            Reply::Silence => return std::future::pending().await,
            Reply::Stuck(status) => {
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 9\r\n\r\n");
                stream.write_all(head.as_bytes()).await.unwrap();
                return std::future::pending().await;
            }
            Reply::CutShort => {
                let half = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"id\":";
                stream.write_all(half.as_bytes()).await.unwrap();
                return;
            }
            Reply::Answer { status, headers, body } => {
                let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
                let headers: String = headers.collect();
                let length = if status == 204 {
                    String::new()
                } else {
                    format!("content-length: {}\r\n", body.len())
                };
                format!("HTTP/1.1 {status} X\r\n{headers}{length}\r\n{body}")
            }
        };
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads one request; `None` at the end of the connection.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut asked = Asked { line: line(stream).await?, ..Asked::default() };
    loop {
        let header = line(stream).await?;
        let Some((name, value)) = header.split_once(": ") else { break };
        asked.headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    asked.body = String::from_utf8(body).unwrap();
    Some(asked)
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}
