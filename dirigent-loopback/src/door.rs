//! The port that accepts connections, or refuses them for a while.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use dirigent::accept::Shortage;
use dirigent::{Clock as _, SystemClock};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;

/// The most connections that may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// The wait after the listener broke.
const BROKEN: Duration = Duration::from_secs(1);

/// A port on 127.0.0.1.
pub(super) struct Door {
    /// The address, whether open or not.
    pub(super) address: SocketAddr,
    place: Mutex<Place>,
    opened: Notify,
}

enum Place {
    Open(TcpListener),
    /// A socket that does not listen holds the port, so connections are refused. It is `None` if the system did not
    /// return the port.
    Closed(Option<TcpSocket>),
}

impl Door {
    /// Opens a port; 0 takes a free one.
    pub(super) async fn open_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { address, place: Mutex::new(Place::Open(listener)), opened: Notify::new() })
    }

    /// Returns the next connection. While the port is closed, it waits until it is open again.
    pub(super) async fn accept(&self) -> TcpStream {
        let (clock, mut shortage) = (SystemClock::new(), Shortage::new("the loopback Discord"));
        loop {
            let opened = self.opened.notified();
            tokio::select! {
                accepted = poll_fn(|context| match &*self.place() {
                    Place::Open(listener) => listener.poll_accept(context),
                    Place::Closed(_) => Poll::Pending,
                }) => match accepted {
                    Ok((stream, _)) => {
                        shortage.accepted();
                        return stream;
                    }
                    // Even if this listener can never accept again, wait, because the port may be opened anew.
                    Err(error) => {
                        let wait = shortage.failed(error).unwrap_or(BROKEN);
                        clock.sleep_until(clock.now() + wait).await;
                    }
                },
                () = opened => {}
            }
        }
    }

    /// Refuses connections, including those that wait to be accepted.
    pub(super) fn close(&self) {
        let mut place = self.place();
        if matches!(*place, Place::Closed(_)) {
            return;
        }
        // Drop the listener first, because no other socket can bind its port before.
        *place = Place::Closed(None);
        match self.reserve() {
            Ok(socket) => *place = Place::Closed(Some(socket)),
            Err(error) => tracing::error!(%error, "the loopback Discord could not keep its port"),
        }
    }

    /// Accepts connections again.
    pub(super) fn open(&self) {
        let mut place = self.place();
        let Place::Closed(reserved) = &mut *place else { return };
        let socket = reserved.take().map_or_else(|| self.reserve(), Ok);
        match socket.and_then(|socket| socket.listen(BACKLOG)) {
            Ok(listener) => {
                *place = Place::Open(listener);
                self.opened.notify_one();
            }
            Err(error) => tracing::error!(%error, "the loopback Discord could not listen again"),
        }
    }

    fn reserve(&self) -> io::Result<TcpSocket> {
        let socket = TcpSocket::new_v4()?;
        // Connections of the old listener may still exist.
        socket.set_reuseaddr(true)?;
        socket.bind(self.address)?;
        Ok(socket)
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
