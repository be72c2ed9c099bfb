//! Visitors of the page, and the connections of their browsers.

use std::sync::Arc;

use http::{HeaderMap, header};

use crate::page::auth::{SessionId, VisitorRole};

/// An admitted visitor.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) role: VisitorRole,
    /// The visitor's name for the log of orders.
    pub(crate) name: Arc<str>,
    /// The session of the visitor. `None` for a token or for your own check.
    pub(crate) session: Option<SessionId>,
}

/// The connection of a browser to the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The browser is on this machine. Browsers keep a session there without TLS.
    Here,
    /// The connection has TLS, as far as is known.
    Secure,
    /// The connection comes from another machine without TLS. A browser then keeps no session, because others on the
    /// network could read it.
    Open,
}

impl Way {
    /// Returns the connection of a request. The browser's own header counts first, because behind a proxy the name of
    /// the host is often that of the proxy.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        match text(header::ORIGIN).and_then(|origin| origin.split_once("://")) {
            Some(("http", host)) if is_here(host) => Self::Here,
            Some(("http", _)) => Self::Open,
            None if is_here(text(header::HOST).unwrap_or_default()) => Self::Here,
            Some(_) | None => Self::Secure,
        }
    }

    /// Returns the connection of a browser that asks for a page, so that the request has no origin. Browsers send
    /// `Sec-Fetch-Site` only over TLS and on their own machine. An old browser that never sends it counts as one
    /// without TLS.
    pub(crate) fn of_visit(headers: &HeaderMap) -> Self {
        let way = Self::of(headers);
        let is_told = way != Self::Secure || headers.contains_key("sec-fetch-site");
        if is_told { way } else { Self::Open }
    }
}

/// Returns true if a host is this machine, as browsers see it.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name.ends_with(".localhost")
}
