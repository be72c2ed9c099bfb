//! Serves the front without a server of yours.

use std::io;
use std::time::Duration;

use dirigent::accept::{Shortage, connections_max};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;

use crate::front::Front;

/// The time for the head of a request, before the connection is closed.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The longest time without progress of a write, before the connection is closed.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// The most connections at once.
const CONNECTIONS_MAX: usize = 1_024;

impl Front {
    /// Serves the front over HTTP/1.1 until the future is dropped. Connections end with it. There are at most 1,024, and at
    /// most half as many as the process may have file descriptors.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` if other machines can reach the listener's address and TLS does not end before it: call
    /// [`FrontBuilder::behind_tls`](crate::FrontBuilder::behind_tls). Otherwise the listener failed.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        let address = listener.local_addr()?;
        if !self.may_listen_at(address.ip()) {
            let why = "the front listens beyond this machine only behind TLS, because secrets would go in plain text";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let (app, most) = (self.router(), connections_max(CONNECTIONS_MAX));
        let (mut connections, mut shortage) = (JoinSet::new(), Shortage::new("the front"));
        loop {
            while connections.len() >= most {
                let _ = connections.join_next().await;
            }
            match listener.accept().await {
                Ok((stream, _)) => {
                    shortage.accepted();
                    while connections.try_join_next().is_some() {}
                    connections.spawn(serve_one(app.clone(), stream));
                }
                Err(error) => {
                    let until = self.clock().now() + shortage.failed(error)?;
                    self.clock().sleep_until(until).await;
                }
            }
        }
    }
}

async fn serve_one(app: axum::Router, stream: TcpStream) {
    let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIME));
    // A client that goes away is no trouble.
    let _ = server
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(app))
        .await;
}
