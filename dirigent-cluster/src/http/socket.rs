//! A connection, encrypted or not.

use tokio::io::{AsyncRead, AsyncWrite};

/// What bytes are read from and written to.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection, encrypted or not.
pub(super) type Socket = Box<dyn Duplex>;

/// The only protocol that is spoken.
pub(super) const ALPN: &[u8] = b"h2";
