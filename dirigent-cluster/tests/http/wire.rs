//! What a client sends that is none of ours: HTTP/2 by hand, and byte by byte.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ::http::{Method, Request, StatusCode};
use bytes::Bytes;
use dirigent::async_trait;
use dirigent_cluster::http::HttpRelay;
use dirigent_relay::{CarryError, HostId, Relay};
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::fixture::LONG;

/// An HTTP/2 client of another make.
pub(super) struct Stranger {
    requests: SendRequest<Bytes>,
}

impl Stranger {
    pub(super) async fn at(address: SocketAddr) -> Self {
        Self::with(address, &h2::client::Builder::new()).await
    }

    pub(super) async fn with(address: SocketAddr, builder: &h2::client::Builder) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let (requests, connection) = builder.handshake(stream).await.unwrap();
        tokio::spawn(connection);
        Self { requests }
    }

    /// How many requests at once the server allows the client, as far as it was heard.
    pub(super) fn streams_max(&self) -> usize {
        self.requests.current_max_send_streams()
    }

    /// Begins a request, whose body is still to be sent.
    pub(super) async fn begin(&self, request: Request<()>) -> (ResponseFuture, SendStream<Bytes>) {
        self.requests.clone().ready().await.unwrap().send_request(request, false).unwrap()
    }

    pub(super) async fn ask(&self, method: Method, path: &str, body: &[u8]) -> StatusCode {
        let (response, mut stream) = self.begin(request(method, path)).await;
        stream.send_data(Bytes::copy_from_slice(body), true).unwrap();
        response.await.unwrap().status()
    }
}

pub(super) fn request(method: Method, path: &str) -> Request<()> {
    let uri = format!("http://localhost{path}");
    Request::builder().method(method).uri(uri).body(()).unwrap()
}

/// Reads a body whole.
pub(super) async fn read(mut body: RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        bytes.extend_from_slice(&piece?);
    }
    Ok(bytes)
}

/// The beginning of an HTTP/2 connection.
pub(super) fn preface() -> Vec<u8> {
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &frame(4, 0, 0, &[])[..]].concat()
}

/// A frame: 0 is data, 1 a head, 4 settings, 9 more of a head.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of `POST` to this path, as HPACK has it.
pub(super) fn head(path: &str) -> Vec<u8> {
    let literal = |name: u8, value: &str| {
        let length = u8::try_from(value.len()).unwrap();
        [&[name, length], value.as_bytes()].concat()
    };
    [&[0x83, 0x86], &literal(4, path)[..], &literal(1, "localhost")].concat()
}

/// The head is whole.
pub(super) const END_HEADERS: u8 = 4;
/// The body is whole.
pub(super) const END_STREAM: u8 = 1;

/// Sends these bytes, and waits until the other end closes the connection.
pub(super) async fn send_and_be_closed(address: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    closed(&mut stream).await;
}

/// Waits until the other end closes the connection.
pub(super) async fn closed(stream: &mut (impl AsyncRead + Unpin)) {
    // Closed or reset.
    let mut rest = Vec::new();
    let end = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await;
    assert!(end.is_ok(), "in vain: the connection is closed");
}

/// Keeps the last question instead of carrying it, when that is wanted.
pub(super) struct Keeping {
    pub(super) relay: HttpRelay,
    pub(super) keep: AtomicBool,
    pub(super) kept: Mutex<Vec<u8>>,
}

#[async_trait]
impl Relay for Keeping {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        if self.keep.load(Ordering::SeqCst) {
            *self.kept.lock().unwrap() = bytes;
            return Err(CarryError::unreachable("it is kept"));
        }
        self.relay.carry(to, rule, bytes).await
    }
}
