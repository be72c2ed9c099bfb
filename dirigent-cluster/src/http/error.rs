//! What the transport says of what went wrong.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use dirigent_relay::{CarryError, HostId};

use super::address::HostAddress;

/// Why a question was not carried over HTTP: the source of a [`CarryError`], which says what may be concluded.
///
/// ```
/// use std::error::Error;
/// use dirigent_relay::CarryError;
/// use dirigent_cluster::http::HttpError;
///
/// let error = CarryError::unreachable(HttpError::NoAddress { host: "bot-1".parse()? });
/// let source = error.source().and_then(|source| source.downcast_ref());
/// assert!(matches!(source, Some(HttpError::NoAddress { .. })));
/// # Ok::<(), dirigent_relay::BadHostId>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// It is not known where the process is.
    #[error("there is no address for {host}: add it where the relay looks addresses up")]
    NoAddress {
        /// Which process.
        host: HostId,
    },
    /// The future that does the work of the relay has ended, or was dropped.
    #[error("the relay makes no connections any more: its HttpLink::run has ended")]
    LinkEnded,
    /// The name of the rule cannot stand in a path.
    #[error("a rule's name has 1 to 128 of a-z, A-Z, 0-9, '-', '_' and '.'")]
    BadRule,
    /// Without TLS, only this machine is reached.
    #[error(
        "{address} is not this machine, and without TLS no other is reached: use HttpRelay::builder with certificates"
    )]
    PlainNotLoopback {
        /// Which address.
        address: HostAddress,
    },
    /// No connection could be made.
    #[error("no connection to {address}: {source}")]
    Connect {
        /// Which address.
        address: HostAddress,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// A connection was made, but it is not encrypted as both want it: a certificate is not trusted, has expired or is missing, or
    /// there is no TLS 1.3.
    #[error("no TLS with {address}: {source}")]
    Tls {
        /// Which address.
        address: HostAddress,
        /// What TLS says.
        source: Arc<io::Error>,
    },
    /// What listens there speaks no HTTP/2.
    #[error("{address} does not speak HTTP/2: is it the port of a relay?")]
    NotHttp2 {
        /// Which address.
        address: HostAddress,
    },
    /// No connection was made in time.
    #[error("no connection to {address} within {within_ms} ms")]
    ConnectTime {
        /// Which address.
        address: HostAddress,
        /// In milliseconds.
        within_ms: u64,
    },
    /// The connection ended, or the process gave the question up.
    #[error("the connection, or the question's part of it, has ended: {source}")]
    Lost {
        /// What HTTP/2 says.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The process answered with a status that is no answer of a relay: 404 where something else listens, 408 where the question
    /// came too slowly, 503 where the process has too many questions at once.
    #[error("the status {status} is no answer of a relay{}", hint(*.status))]
    Status {
        /// Which status.
        status: u16,
    },
    /// The answer is larger than [`ANSWER_MAX`](dirigent_relay::ANSWER_MAX).
    #[error("the answer is too large")]
    AnswerTooLarge,
}

fn hint(status: u16) -> &'static str {
    match status {
        404 | 405 => ": is it the port of one?",
        408 => ": the question came too slowly",
        503 => ": it has too many questions at once",
        _ => "",
    }
}

impl HttpError {
    /// A question that was surely not sent.
    pub(super) fn unreachable(self) -> CarryError {
        CarryError::unreachable(self)
    }

    /// A question that may have been answered.
    pub(super) fn no_answer(self) -> CarryError {
        CarryError::no_answer(self)
    }

    pub(super) fn lost(source: h2::Error) -> Self {
        Self::Lost { source: Arc::new(source) }
    }
}

/// Why [`HttpServer::serve`](crate::http::HttpServer::serve) ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Without TLS, only this machine is answered.
    #[error(
        "without TLS the server answers on this machine only, and {address} is open to others: use HttpServer::builder with a certificate"
    )]
    PlainNotLoopback {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The listener failed.
    #[error("the listener failed: {0}")]
    Listener(#[from] io::Error),
}
