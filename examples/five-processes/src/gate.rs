//! Ways to others that can be made to fail: bytes go through this process's own hands, and stand still while a switch is off.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// Lets bytes through or holds them, as in a network that is parted: no connection is closed, nothing is refused, and what was held
/// arrives when it is whole again.
#[derive(Clone)]
pub(crate) struct Switch(Arc<watch::Sender<bool>>);

impl Switch {
    pub(crate) fn on() -> Self {
        Self(Arc::new(watch::Sender::new(true)))
    }

    pub(crate) fn set(&self, is_on: bool) {
        self.0.send_replace(is_on);
    }

    async fn open(&self) {
        // The sender is kept here, so that waiting does not fail.
        let _ = self.0.subscribe().wait_for(|is_on| *is_on).await;
    }
}

/// Where a gate leads.
#[derive(Clone)]
pub(crate) enum Target {
    Tcp(SocketAddr),
    Socket(PathBuf),
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Target {
    async fn dial(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Self::Socket(path) => Box::new(UnixStream::connect(path).await?),
        })
    }
}

/// Begins to carry what comes to a port of this machine (0: any) to the target, while the switch is on. Returns the address.
pub(crate) async fn gate(port: u16, target: Target, switch: Switch) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(carry(stream, target.clone(), switch.clone()));
        }
    });
    Ok(address)
}

/// Where the target does not answer the connection is closed, as it would be there.
async fn carry(near: TcpStream, target: Target, switch: Switch) {
    switch.open().await;
    let Ok(far) = target.dial().await else { return };
    let _ = near.set_nodelay(true);
    let (near_read, near_write) = tokio::io::split(near);
    let (far_read, far_write) = tokio::io::split(far);
    tokio::join!(pump(near_read, far_write, &switch), pump(far_read, near_write, &switch));
}

/// An end of the stream, or an error, ends this direction on the other side, too.
async fn pump(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, switch: &Switch) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        switch.open().await;
        let read = bytes.get(..count).unwrap_or_default();
        if to.write_all(read).await.is_err() {
            break;
        }
    }
    switch.open().await;
    let _ = to.shutdown().await;
}
