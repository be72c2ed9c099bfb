//! A connection that breaks: what passes through is cut, or kept back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Stands between the two processes.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    state: Arc<ProxyCounts>,
    frozen: watch::Sender<bool>,
}

struct ProxyCounts {
    connections: AtomicUsize,
    closed: AtomicUsize,
    /// How many bytes pass until each connection is cut: to the server, and to the client.
    to_server: AtomicUsize,
    to_client: AtomicUsize,
}

impl Proxy {
    pub(super) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(ProxyCounts {
            connections: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            to_server: AtomicUsize::new(usize::MAX),
            to_client: AtomicUsize::new(usize::MAX),
        });
        let (frozen, freezing) = watch::channel(false);
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, freezing) = (shared.clone(), freezing.clone());
                tokio::spawn(async move {
                    pass(client, server, &shared, freezing).await;
                    shared.closed.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, state, frozen }
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many there are.
    pub(super) fn open(&self) -> usize {
        self.connections() - self.state.closed.load(Ordering::SeqCst)
    }

    /// Cuts each new connection after so many bytes.
    pub(super) fn cut_after(&self, to_server: usize, to_client: usize) {
        self.state.to_server.store(to_server, Ordering::SeqCst);
        self.state.to_client.store(to_client, Ordering::SeqCst);
    }

    /// Keeps back what comes over the connections that there are; new ones pass.
    pub(super) fn freeze(&self) {
        self.frozen.send_replace(true);
    }

    /// For new connections.
    pub(super) fn thaw(&self) {
        self.frozen.send_replace(false);
    }
}

async fn pass(
    client: TcpStream,
    server: SocketAddr,
    state: &ProxyCounts,
    frozen: watch::Receiver<bool>,
) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let limits = (state.to_server.load(Ordering::SeqCst), state.to_client.load(Ordering::SeqCst));
    // Where one direction is cut both are.
    tokio::select! {
        () = one_way(from_client, to_server, limits.0, frozen.clone()) => {}
        () = one_way(from_server, to_client, limits.1, frozen) => {}
    }
}

async fn one_way(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut left: usize,
    mut frozen: watch::Receiver<bool>,
) {
    let mut bytes = [0; 4_096];
    loop {
        let read = tokio::select! {
            biased;
            () = async { drop(frozen.wait_for(|is_frozen| *is_frozen).await) } => None,
            read = from.read(&mut bytes) => Some(read),
        };
        let Some(read) = read else { return std::future::pending().await };
        let Ok(read @ 1..) = read else { return };
        let passed = read.min(left);
        left -= passed;
        if to.write_all(&bytes[..passed]).await.is_err() || left == 0 {
            return;
        }
    }
}
