//! Serves the page alone, without your own server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::extract::Extension;
use dirigent::Clock;
use dirigent::accept::{Shortage, connections_max};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower::Layer as _;

use crate::page::control::Control;

/// The longest time for the head of a request. After that the connection is closed.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The longest time without progress in a write. After that the connection is closed.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// The most connections at the same time.
const CONNECTIONS_MAX: usize = 4_096;

impl Control {
    /// Serves the page at its path, over HTTP/1.1, until you drop the future. All connections end with it. If other
    /// machines can reach the page, put a proxy with TLS in front.
    ///
    /// There are at most 4,096 connections, and at most half as many as the process may have file descriptors. Live
    /// pages use at most three quarters of them, so that there is always a connection for an order. A visitor who sends
    /// no request within 10 s is disconnected, and so is a visitor who reads no byte of an answer for 30 s. If no
    /// connection can be accepted, for example because there are no file descriptors left, you find one line in the
    /// log. The page then tries again every 100 ms.
    ///
    /// # Errors
    ///
    /// Returns an error if the listener failed.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let app = self.at_its_path();
        let most = connections_max(CONNECTIONS_MAX);
        leave_room(&self.shared.streams, most);
        let mut connections = JoinSet::new();
        let mut shortage = Shortage::new("the control page");
        loop {
            while connections.len() >= most {
                let _ = connections.join_next().await;
            }
            let (stream, peer) = next(&listener, &mut shortage, &self.shared.clock).await?;
            while connections.try_join_next().is_some() {}
            connections.spawn(serve_one(app.clone(), stream, peer, WRITE_TIME));
        }
    }
}

/// Limits live pages to three quarters of these connections, so that there is one for an order.
fn leave_room(streams: &Semaphore, connections: usize) {
    let most = (connections * 3 / 4).max(1);
    streams.forget_permits(streams.available_permits().saturating_sub(most));
}

/// The source of connections.
trait Accept: Sync {
    fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send;
}

impl Accept for TcpListener {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        Self::accept(self).await
    }
}

/// Returns the next connection as soon as one can be accepted.
async fn next(
    listener: &impl Accept,
    shortage: &mut Shortage,
    clock: &Arc<dyn Clock>,
) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                shortage.accepted();
                return Ok(accepted);
            }
            Err(error) => {
                let wait = shortage.failed(error)?;
                clock.sleep_until(clock.now() + wait).await;
            }
        }
    }
}

async fn serve_one(app: Router, stream: TcpStream, peer: SocketAddr, write_time: Duration) {
    // This layer is around the router, because a layer inside the router would copy every route for each connection.
    let app = Extension(ConnectInfo(peer)).layer(app);
    let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let service = TowerToHyperService::new(app);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write_time));
    // A client that goes away is not an error.
    let _ = server.serve_connection(TokioIo::new(Box::pin(stream)), service).await;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::routing::get;
    use dirigent::SystemClock;
    use dirigent_testkit::{Log, ManualClock};
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// A listener that fails a number of times, as one does without file descriptors, and then accepts.
    struct Short {
        listener: TcpListener,
        fails: usize,
        asked: AtomicUsize,
    }

    impl Accept for Short {
        async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            if self.asked.fetch_add(1, Ordering::Relaxed) < self.fails {
                return Err(io::Error::from_raw_os_error(24));
            }
            self.listener.accept().await
        }
    }

    /// PG2: without file descriptors the page waits between its attempts, and says so once.
    #[tokio::test]
    async fn a_shortage_of_file_descriptors_is_waited_for() {
        let clock = ManualClock::new();
        let time: Arc<dyn Clock> = Arc::new(clock.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let short = Short { listener, fails: 50, asked: AtomicUsize::new(0) };
        let log = Log::default();
        let listening = log.listen();
        let mut shortage = Shortage::new("the page");
        let accepting = next(&short, &mut shortage, &time);
        let passing = async {
            for asked in 1..=50 {
                while short.asked.load(Ordering::Relaxed) < asked {
                    tokio::task::yield_now().await;
                }
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                    assert_eq!(short.asked.load(Ordering::Relaxed), asked, "it spins");
                }
                clock.advance_to_next_wake();
            }
        };
        let (accepted, ()) = tokio::join!(accepting, passing);
        assert_eq!(accepted.unwrap().1, client.local_addr().unwrap());
        drop(listening);
        assert_eq!(log.lines().len(), 2, "{:?}", log.lines());
    }

    /// PG2: however many pages are live, connections are left for orders.
    #[test]
    fn live_pages_leave_connections_for_orders() {
        for (places, connections, expected) in [(2_000, 512, 384), (10, 512, 10), (2_000, 1, 1)] {
            let streams = Semaphore::new(places);
            leave_room(&streams, connections);
            assert_eq!(streams.available_permits(), expected, "of {connections}");
        }
    }

    /// PG2: a visitor who asks and does not read is let go.
    #[tokio::test]
    async fn a_visitor_who_does_not_read_is_let_go() {
        let app = Router::new().route("/", get(async || "x".repeat(64 * 1_024 * 1_024)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, peer) = listener.accept().await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let clock = SystemClock::new();
        tokio::select! {
            () = serve_one(app, stream, peer, Duration::from_millis(200)) => {}
            () = clock.sleep_until(clock.now() + Duration::from_secs(20)) => panic!("it keeps the connection"),
        }
        drop(client);
    }
}
