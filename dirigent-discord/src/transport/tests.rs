//! TLS and HTTP/2 on loopback, and a connection that is silently dropped: its sockets stay open, and
//! nothing goes through any more.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::similar_names,
    reason = "a server that cannot be set up fails the test"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::{Clock, SystemClock};
use http::{HeaderValue, Version};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use twilight_http::request::Request;
use twilight_http::routing::Route;

use super::clients::Pings;
use super::{RestError, Transport, connector};

const NEVER: Pings =
    Pings { interval: Duration::from_secs(3_600), timeout: Duration::from_secs(3_600) };

/// A server with TLS and HTTP/2, and a line to it that can be silently dropped.
struct TlsStage {
    transport: Transport,
    clock: SystemClock,
    line: Line,
    served: Arc<AtomicUsize>,
}

impl TlsStage {
    async fn with(pings: Pings) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let served = Arc::new(AtomicUsize::new(0));
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let server = serve(&provider, certificate.clone(), key, Arc::clone(&served)).await;
        let line = Line::to(server).await;

        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate).unwrap();
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_only()
            .enable_http1()
            .enable_http2()
            .wrap_connector(connector::plain());
        let origin = format!("https://localhost:{}", line.address.port());
        let token = HeaderValue::from_static("Bot token");
        let transport = Transport::over(connector, pings, &origin, token);
        Self { transport, clock: SystemClock::new(), line, served }
    }

    /// Makes one request, with this time-out.
    async fn ask(&self, timeout: Duration) -> Result<(), RestError> {
        let request = Request::from_route(&Route::GetCurrentUser);
        let deadline = self.clock.now() + timeout;
        let answer = self.transport.send(&request, &self.clock, deadline).await?;
        assert_eq!(answer.body.as_deref(), Some(&b"{}"[..]));
        Ok(())
    }
}

/// Answers every request over HTTP/2 with an empty object.
async fn serve(
    provider: &Arc<rustls::crypto::CryptoProvider>,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    served: Arc<AtomicUsize>,
) -> SocketAddr {
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, served) = (acceptor.clone(), Arc::clone(&served));
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let answer = service_fn(move |request: http::Request<_>| {
                    let _: &hyper::body::Incoming = request.body();
                    assert_eq!(request.version(), Version::HTTP_2);
                    served.fetch_add(1, Ordering::Relaxed);
                    std::future::ready(http::Response::builder().body(Full::new(Bytes::from("{}"))))
                });
                let connection = http2::Builder::new(TokioExecutor::new());
                let _ = connection.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    address
}

/// Carries bytes to and fro, until its present connections are dropped without a word to either side.
struct Line {
    address: SocketAddr,
    drops: watch::Sender<usize>,
    open: Arc<AtomicUsize>,
}

impl Line {
    async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (drops, open) = (watch::Sender::new(0), Arc::new(AtomicUsize::new(0)));
        let (dropped, opened) = (drops.clone(), Arc::clone(&open));
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                opened.fetch_add(1, Ordering::Relaxed);
                let far = TcpStream::connect(server).await.unwrap();
                let (near, far) = (near.into_split(), far.into_split());
                tokio::spawn(carry(near.0, far.1, dropped.subscribe()));
                tokio::spawn(carry(far.0, near.1, dropped.subscribe()));
            }
        });
        Self { address, drops, open }
    }

    /// From now on nothing goes through the connections that are open. Their sockets stay open.
    fn drop_silently(&self) {
        self.drops.send_modify(|drops| *drops += 1);
    }

    fn connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut dropped: watch::Receiver<usize>,
) {
    let mut buffer = [0; 4_096];
    loop {
        tokio::select! {
            biased;
            _ = dropped.changed() => return std::future::pending().await,
            read = from.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(length) => if to.write_all(&buffer[..length]).await.is_err() { return },
            },
        }
    }
}

/// B2: pings find a connection that was silently dropped while nothing was asked: no request is lost.
#[tokio::test]
async fn a_silently_dropped_idle_connection_is_found_by_pings() {
    let tenth = Duration::from_millis(100);
    let stage = TlsStage::with(Pings { interval: tenth, timeout: tenth }).await;
    stage.ask(Duration::from_secs(4)).await.unwrap();
    stage.ask(Duration::from_secs(4)).await.unwrap();
    assert_eq!(stage.line.connections(), 1, "one connection carries many requests");
    stage.line.drop_silently();
    stage.clock.sleep_until(stage.clock.now() + tenth * 5).await;
    stage.ask(Duration::from_secs(1)).await.unwrap();
    assert_eq!((stage.line.connections(), stage.served.load(Ordering::Relaxed)), (2, 3));
}

/// B2: the same in the middle of a request, which then fails long before its own time-out.
#[tokio::test]
async fn a_silently_dropped_connection_in_use_is_found_by_pings() {
    let tenth = Duration::from_millis(100);
    let stage = TlsStage::with(Pings { interval: tenth, timeout: tenth }).await;
    stage.ask(Duration::from_secs(4)).await.unwrap();
    let began = stage.clock.now();
    stage.line.drop_silently();
    let lost = stage.ask(Duration::from_secs(60)).await;
    assert_eq!(lost.unwrap_err(), RestError::Broken);
    let took = stage.clock.now().since(began);
    assert!(took < Duration::from_secs(4), "{took:?}");
    stage.ask(Duration::from_secs(4)).await.unwrap();
}

/// B2: without pings one request is lost, by its own time-out; the next has a new connection.
#[tokio::test]
async fn after_a_time_out_the_next_request_has_a_new_connection() {
    let stage = TlsStage::with(NEVER).await;
    stage.ask(Duration::from_secs(4)).await.unwrap();
    stage.line.drop_silently();
    let lost = stage.ask(Duration::from_millis(300)).await;
    assert_eq!(lost.unwrap_err(), RestError::Late);
    stage.ask(Duration::from_secs(4)).await.unwrap();
    assert_eq!((stage.line.connections(), stage.served.load(Ordering::Relaxed)), (2, 2));
}

/// B2: as it is set up, a silently dropped connection is found within a minute.
#[test]
fn pings_find_a_dropped_connection_within_a_minute() {
    let pings = Pings::default();
    assert!(pings.interval + pings.timeout < Duration::from_secs(60));
}
