//! Makes a connection, and keeps it until it ends.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dirigent::Clock;
use h2::client::{Connection, SendRequest};
use h2::{Ping, PingPong};
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::Notify;
use tokio_rustls::TlsConnector;

use super::address::HostAddress;
use super::error::HttpError;
use super::exchange::Line;
use super::keep_alive::until_silent;
use super::limits::{CONNECTION_WINDOW, HEAD_MAX, STREAM_WINDOW};
use super::pool::{Order, Phase};
use super::socket::{ALPN, Socket};

/// Makes connections.
#[derive(Clone)]
pub(super) struct Connector {
    /// `None`: not encrypted, and only to this machine.
    pub(super) tls: Option<Arc<rustls::ClientConfig>>,
    pub(super) clock: Arc<dyn Clock>,
    /// How long a connection may take to be made.
    pub(super) limit: Duration,
}

/// A connection whose other end has answered.
struct Opened {
    requests: SendRequest<Bytes>,
    connection: Connection<Socket, Bytes>,
    pings: Option<PingPong>,
}

impl Connector {
    /// Makes the connection that was ordered, and drives it until it ends.
    pub(super) async fn carry_out(self, order: Order) {
        let Order { address, phase } = order;
        let late = self.clock.sleep_until(self.clock.now() + self.limit);
        let opened = tokio::select! {
            biased;
            opened = self.open(&address) => opened,
            () = late => {
                let within_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
                Err(HttpError::ConnectTime { address: address.clone(), within_ms })
            }
        };
        let Opened { requests, mut connection, pings } = match opened {
            Ok(opened) => opened,
            Err(why) => {
                tracing::debug!(%address, %why, "no connection to another process");
                phase.send_replace(Phase::failed(why, self.clock.now()));
                return;
            }
        };
        let suspicion = Arc::new(Notify::new());
        phase.send_replace(Phase::Ready(Line::new(requests, suspicion.clone())));
        let silent = until_silent(pings, self.clock.clone(), &suspicion);
        tokio::pin!(silent);
        let mut is_wanted = true;
        loop {
            tokio::select! {
                ended = &mut connection => {
                    let why = ended.err();
                    tracing::debug!(%address, ?why, "the connection to another process has ended");
                    break;
                }
                () = &mut silent => {
                    tracing::warn!(%address, "another process does not answer; the connection is closed");
                    break;
                }
                // The process has another connection now, or none is wanted: this one ends with its last question.
                () = phase.closed(), if is_wanted => {
                    is_wanted = false;
                    phase.send_replace(Phase::Lost);
                }
            }
        }
        phase.send_replace(Phase::Lost);
    }

    async fn open(&self, address: &HostAddress) -> Result<Opened, HttpError> {
        let failed =
            |source| HttpError::Connect { address: address.clone(), source: Arc::new(source) };
        let found = lookup_host((address.name(), address.port())).await.map_err(failed)?;
        let found: Vec<SocketAddr> = found.collect();
        if self.tls.is_none() && found.iter().any(|found| !found.ip().is_loopback()) {
            return Err(HttpError::PlainNotLoopback { address: address.clone() });
        }
        let stream = TcpStream::connect(&found[..]).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let socket = self.encrypted(address, stream).await?;
        let opened = h2::client::Builder::new()
            .enable_push(false)
            .max_header_list_size(HEAD_MAX)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(socket)
            .await;
        let failed = |error| self.no_http2(address, error);
        let (requests, mut connection) = opened.map_err(failed)?;
        let mut pings = connection.ping_pong();
        if let Some(pings) = &mut pings {
            // In TLS 1.3 a client learns only now that its certificate is refused. What is not sent before is surely not sent.
            tokio::select! {
                pong = pings.ping(Ping::opaque()) => { pong.map_err(failed)?; }
                ended = &mut connection => return Err(ended.map_or_else(failed, |()| {
                    HttpError::NotHttp2 { address: address.clone() }
                })),
            }
        }
        Ok(Opened { requests, connection, pings })
    }

    async fn encrypted(
        &self,
        address: &HostAddress,
        stream: TcpStream,
    ) -> Result<Socket, HttpError> {
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let failed = |source| HttpError::Tls { address: address.clone(), source: Arc::new(source) };
        let name = ServerName::try_from(address.name().to_owned())
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        let stream = TlsConnector::from(tls.clone()).connect(name, stream).await.map_err(failed)?;
        if stream.get_ref().1.alpn_protocol() != Some(ALPN) {
            return Err(HttpError::NotHttp2 { address: address.clone() });
        }
        Ok(Box::new(stream))
    }

    /// The other end does not answer as HTTP/2 has it.
    fn no_http2(&self, address: &HostAddress, error: h2::Error) -> HttpError {
        let address = address.clone();
        let Some(source) = error.into_io() else { return HttpError::NotHttp2 { address } };
        // So TLS says that a certificate was refused; h2 keeps the kind and the words of an error.
        let is_tls = self.tls.is_some() && source.kind() == io::ErrorKind::InvalidData;
        let source = Arc::new(source);
        if is_tls {
            HttpError::Tls { address, source }
        } else {
            HttpError::Connect { address, source }
        }
    }
}
