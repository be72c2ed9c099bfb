//! A server on loopback that writes down what it is asked and what is answered: by fixed answers, or by another
//! server behind it.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::exchange::{Answer, Exchange, Request};

/// Who answers what a [`Recorder`] is asked.
///
/// ```
/// use check_contract::{Answer, Partner};
///
/// let silent = Partner::Fixed(|_| Answer { status: 204, body: Vec::new() });
/// assert!(matches!(silent, Partner::Fixed(_)));
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way to answer")]
pub enum Partner {
    /// This function.
    Fixed(fn(&Request) -> Answer),
    /// A server. Web sockets go through to it, and are not recorded.
    Server(SocketAddr),
}

/// What has gone over the wire.
type Written = Arc<Mutex<Vec<Exchange>>>;

/// A server on loopback that records its requests and answers. It ends with this value.
///
/// ```
/// use check_contract::{Answer, Partner, Recorder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let silent = Partner::Fixed(|_| Answer { status: 204, body: Vec::new() });
/// let recorder = Recorder::start(silent).await?;
/// assert!(recorder.exchanges().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Recorder {
    address: SocketAddr,
    written: Written,
    accepting: JoinHandle<()>,
}

impl Recorder {
    /// Starts on a free port, in a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the port cannot be opened.
    pub async fn start(partner: Partner) -> io::Result<Self> {
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

    /// Returns the address that a client takes in the place of its server's.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what was asked and answered so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
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
        let (answer, headers) = match partner {
            Partner::Fixed(answer) => (answer(&request), String::new()),
            Partner::Server(address) => {
                let Some(mut server) = ask(address, &request).await else { return };
                if request.get("upgrade").is_some() {
                    // It ends when one of the two ends it.
                    drop(tokio::io::copy_bidirectional(&mut stream, &mut server).await);
                    return;
                }
                match answered(&mut server).await {
                    Some(answered) => answered,
                    None => return,
                }
            }
        };
        let mut bytes = head(&answer, &headers).into_bytes();
        bytes.extend_from_slice(&answer.body);
        let exchange = Exchange { request, answer };
        written.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Asks the server behind this one; `None` if it cannot be reached.
async fn ask(address: SocketAddr, request: &Request) -> Option<BufReader<TcpStream>> {
    let mut stream = BufReader::new(TcpStream::connect(address).await.ok()?);
    let query = request.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = format!("{} {}{query} HTTP/1.1\r\n", request.method(), request.path());
    for (name, value) in request.headers() {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(request.bytes()).await.ok()?;
    Some(stream)
}

/// Reads its answer, and those of the headers that a client goes by, as lines; `None` if it cannot be understood.
async fn answered(stream: &mut BufReader<TcpStream>) -> Option<(Answer, String)> {
    let status = line(stream).await?.split(' ').nth(1)?.parse().ok()?;
    let headers = headers(stream, Request::new("", "")).await?;
    let body = body(stream, &headers).await?;
    let is_told = |name: &str| name.starts_with("x-ratelimit-") || name == "retry-after";
    let told = headers.headers().filter(|(name, _)| is_told(name));
    let told: Vec<_> = told.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    Some((Answer { status, body }, told.concat()))
}

fn head(answer: &Answer, headers: &str) -> String {
    let body = match answer.status {
        204 => String::new(),
        _ => format!("content-type: application/json\r\ncontent-length: {}\r\n", answer.body.len()),
    };
    format!("HTTP/1.1 {} X\r\n{headers}{body}\r\n", answer.status)
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
