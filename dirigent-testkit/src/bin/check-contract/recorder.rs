//! A server on loopback that writes down what it is asked and what it answers.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent_testkit::openapi::{Answer, Exchange, Request};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::answers::answer;

/// What has gone over the wire.
type Written = Arc<Mutex<Vec<Exchange>>>;

/// The server; it ends with this value.
pub(crate) struct Recorder {
    address: SocketAddr,
    written: Written,
    accepting: JoinHandle<()>,
}

impl Recorder {
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let written = Written::default();
        let shared = Arc::clone(&written);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { address, written, accepting })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Answers one connection until it ends or cannot be understood.
async fn serve(stream: TcpStream, written: Written) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        let answer = answer(&request);
        let mut bytes = head(&answer).into_bytes();
        bytes.extend_from_slice(&answer.body);
        let exchange = Exchange { request, answer };
        written.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn head(answer: &Answer) -> String {
    let body = match answer.status {
        204 => String::new(),
        _ => format!("content-type: application/json\r\ncontent-length: {}\r\n", answer.body.len()),
    };
    format!("HTTP/1.1 {} X\r\n{body}\r\n", answer.status)
}

/// Reads one request; `None` at the end of the connection.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let first = line(stream).await?;
    let mut words = first.split(' ');
    let mut request = Request::new(words.next()?, words.next()?);
    loop {
        let header = line(stream).await?;
        let Some((name, value)) = header.split_once(':') else { break };
        request = request.header(name, value.trim());
    }
    let length = request.get("content-length").map_or(Ok(0), str::parse).ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(request.body(body))
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}
