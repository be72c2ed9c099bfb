//! Visitors of the page, and the connections of their browsers.

use std::sync::Arc;

use http::{HeaderMap, header};

use crate::page::auth::{SessionId, VisitorRole};

/// A visitor who was let in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) role: VisitorRole,
    /// The name, for the log of orders.
    pub(crate) name: Arc<str>,
    /// The session that let the visitor in; none for a token or the host's own check.
    pub(crate) session: Option<SessionId>,
}

/// The connection of a browser to the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// On this machine. Browsers keep a session there without TLS.
    Here,
    /// With TLS, as far as is known.
    Secure,
    /// Without TLS from another machine. A browser then keeps no session, because others on the way could read it.
    Open,
}

impl Way {
    /// The browser's own word counts first, because behind a proxy the name of the host is often the proxy's.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        match text(header::ORIGIN).and_then(|origin| origin.split_once("://")) {
            Some(("http", host)) if is_here(host) => Self::Here,
            Some(("http", _)) => Self::Open,
            None if is_here(text(header::HOST).unwrap_or_default()) => Self::Here,
            Some(_) | None => Self::Secure,
        }
    }

    /// Returns the connection of a browser that asks for a page, and so names no origin. Browsers send `Sec-Fetch-Site` over TLS and
    /// on their own machine only. An old browser that never sends it is taken for one without TLS.
    pub(crate) fn of_visit(headers: &HeaderMap) -> Self {
        let way = Self::of(headers);
        let is_told = way != Self::Secure || headers.contains_key("sec-fetch-site");
        if is_told { way } else { Self::Open }
    }
}

/// Returns whether a host is this machine, as browsers see it.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name.ends_with(".localhost")
}
