//! A server on loopback that writes down what it is asked and what is answered: by fixed answers, or by another
//! server behind it.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use check_contract::{Answer, Exchange, Request};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::answers::answer;

/// Who answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Partner {
    /// The fixed answers.
    Fixed,
    /// A server.
    Server(SocketAddr),
}

/// What has gone over the wire.
type Written = Arc<Mutex<Vec<Exchange>>>;

/// The server; it ends with this value.
pub(crate) struct Recorder {
    address: SocketAddr,
    written: Written,
    accepting: JoinHandle<()>,
}

impl Recorder {
    pub(crate) async fn start(partner: Partner) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let written = Written::default();
        let shared = Arc::clone(&written);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, partner, Arc::clone(&shared)));
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
async fn serve(stream: TcpStream, partner: Partner, written: Written) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        let answer = match partner {
            Partner::Fixed => answer(&request),
            Partner::Server(address) => match forwarded(address, &request).await {
                Some(answer) => answer,
                None => return,
            },
        };
        let mut bytes = head(&answer).into_bytes();
        bytes.extend_from_slice(&answer.body);
        let exchange = Exchange { request, answer };
        written.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Asks the server behind this one; `None` if it does not answer or cannot be understood.
async fn forwarded(address: SocketAddr, request: &Request) -> Option<Answer> {
    let mut stream = BufReader::new(TcpStream::connect(address).await.ok()?);
    let query = request.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = format!("{} {}{query} HTTP/1.1\r\n", request.method(), request.path());
    for (name, value) in request.headers() {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(request.bytes()).await.ok()?;
    let status = line(&mut stream).await?.split(' ').nth(1)?.parse().ok()?;
    let headers = headers(&mut stream, Request::new("", "")).await?;
    let body = body(&mut stream, &headers).await?;
    Some(Answer { status, body })
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
    let request = Request::new(words.next()?, words.next()?);
    let request = headers(stream, request).await?;
    let body = body(stream, &request).await?;
    Some(request.body(body))
}

/// Reads headers, into a request even where they are an answer's.
async fn headers(stream: &mut BufReader<TcpStream>, mut into: Request) -> Option<Request> {
    loop {
        let header = line(stream).await?;
        let Some((name, value)) = header.split_once(':') else { return Some(into) };
        into = into.header(name, value.trim());
    }
}

async fn body(stream: &mut BufReader<TcpStream>, headers: &Request) -> Option<Vec<u8>> {
    let length = headers.get("content-length").map_or(Ok(0), str::parse).ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(body)
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}
