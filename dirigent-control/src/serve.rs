//! Serving the page alone, without a host's own server.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::extract::Extension;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::Layer as _;

use crate::control::Control;

/// Who has not sent the head of a request by then is let go.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The most connections at once.
const CONNECTIONS_MAX: usize = 4_096;

impl Control {
    /// Serves the page at its path, over HTTP/1.1, until the future is dropped. Connections end with it. For the outer
    /// world put a proxy with TLS in front.
    ///
    /// # Errors
    ///
    /// When the listener fails.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let app = Router::new().nest(&self.shared.base, self.router());
        let mut connections = JoinSet::new();
        loop {
            while connections.len() >= CONNECTIONS_MAX {
                let _ = connections.join_next().await;
            }
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) if is_passing(&error) => {
                    // Out of file descriptors, for example: others end soon.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::task::yield_now().await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            while connections.try_join_next().is_some() {}
            connections.spawn(serve_one(app.clone(), stream, peer));
        }
    }
}

async fn serve_one(app: Router, stream: tokio::net::TcpStream, peer: SocketAddr) {
    // Around the router as it is: a layer of the router's own would be a copy of every route for each connection.
    let app = Extension(ConnectInfo(peer)).layer(app);
    let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let service = TowerToHyperService::new(app);
    // A client that goes away is no trouble.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// Whether only this connection failed, or there is none free at the moment.
fn is_passing(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected)
}
