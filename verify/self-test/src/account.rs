//! An account's REST requests, sent once each and answered with everything that Discord says.
//!
//! The adapter is not asked: it hides the headers and the refusals that a self-test looks at.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, ResponseFuture};
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use super::budget::Ticket;
use super::trouble::Trouble;

/// Discord accepts no other form of it.
const AGENT: &str = concat!(
    "DiscordBot (https://github.com/dirigent-rs/dirigent, ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// The longest wait that a limit may ask for: a self-test has less than two minutes.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// The wait after a 429 that does not say how long.
const WAIT_UNSAID: Duration = Duration::from_secs(5);

/// The connections to a Discord, which all accounts share.
pub(crate) type Connections = Client<Connector, Full<Bytes>>;

/// Connections to Discord, or without TLS to an address on this machine.
pub(crate) fn connections(address: Option<&str>) -> Result<Connections, Trouble> {
    if address.is_none() && !cfg!(feature = "tls") {
        return Err(Trouble::NoTls);
    }
    Ok(Client::builder(TokioExecutor::new()).build(connector()?))
}

#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;

#[cfg(feature = "tls")]
fn connector() -> Result<Connector, Trouble> {
    let mut plain = HttpConnector::new();
    plain.enforce_http(false);
    let provider = rustls::crypto::ring::default_provider();
    let builder = hyper_rustls::HttpsConnectorBuilder::new();
    let builder = builder.with_provider_and_platform_verifier(provider);
    let builder = builder.map_err(|_| Trouble::NoTls)?;
    Ok(builder.https_or_http().enable_http1().enable_http2().wrap_connector(plain))
}

#[cfg(not(feature = "tls"))]
#[expect(clippy::unnecessary_wraps, reason = "with TLS it may fail")]
fn connector() -> Result<Connector, Trouble> {
    Ok(HttpConnector::new())
}

/// One request; its path stands below the version.
#[derive(Clone)]
pub(crate) struct Request {
    /// The route, by which limits are kept.
    route: &'static str,
    method: Method,
    path: String,
    body: Option<Value>,
    has_token: bool,
}

impl Request {
    pub(crate) fn new(method: Method, route: &'static str, path: impl Into<String>) -> Self {
        Self { route, method, path: path.into(), body: None, has_token: true }
    }

    pub(crate) fn body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Whether the token goes with it.
    #[cfg(test)]
    pub(crate) const fn has_token(&self) -> bool {
        self.has_token
    }

    /// Leaves the token out.
    pub(crate) fn without_token(self) -> Self {
        Self { has_token: false, ..self }
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: HeaderMap,
    /// The body; null where there is none.
    pub(crate) body: Value,
    pub(crate) sent_at: Timestamp,
    pub(crate) answered_at: Timestamp,
}

impl Answer {
    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// The id of the answer's object.
    pub(crate) fn id(&self) -> Option<u64> {
        id_in(&self.body)
    }

    /// Discord's own code of a refusal.
    pub(crate) fn code(&self) -> Option<u64> {
        self.body.get("code")?.as_u64()
    }

    /// The objects of a list.
    pub(crate) fn list(&self) -> &[Value] {
        self.body.as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.header(name)?.trim().parse().ok()
    }

    /// How long a 429 says to wait: in its body to the millisecond, in its header rounded up.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let exact = self.body.get("retry_after").and_then(Value::as_f64);
        let seconds = exact.or_else(|| self.number(RETRY_AFTER.as_str()))?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The status, and the code if there is one, as a row of the table shows them.
    pub(crate) fn shown(&self) -> String {
        match self.code().filter(|_| !self.is_success()) {
            Some(code) => format!("status {}, code {code}", self.status),
            None => format!("status {}", self.status),
        }
    }
}

/// The id of an object.
pub(crate) fn id_in(object: &Value) -> Option<u64> {
    object.get("id")?.as_str()?.parse().ok()
}

/// An account, and when its limits allow the next request.
pub(crate) struct Account {
    connections: Connections,
    base: String,
    authorization: HeaderValue,
    clock: Arc<dyn Clock>,
    paused: HashMap<&'static str, Timestamp>,
}

impl Account {
    /// An account at Discord, or at the address of one on this machine.
    pub(crate) fn new(
        token: &str,
        (connections, address): (Connections, Option<&str>),
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Trouble> {
        let token = token.trim();
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        let mut authorization =
            HeaderValue::from_str(&format!("Bot {token}")).map_err(|_| Trouble::BadToken)?;
        authorization.set_sensitive(true);
        let origin = address.unwrap_or("https://discord.com").trim_end_matches('/');
        let base = format!("{origin}/api/v10/");
        Ok(Self { connections, base, authorization, clock, paused: HashMap::new() })
    }

    /// Waits until the limits of the request's route allow it, and sends it.
    pub(crate) async fn send(
        &mut self,
        ticket: Ticket,
        request: &Request,
    ) -> Result<Answer, Trouble> {
        if let Some(until) = self.paused.remove(request.route) {
            self.clock.sleep_until(until).await;
        }
        self.send_now(ticket, request).await
    }

    /// Sends a request, whatever the limits are.
    pub(crate) async fn send_now(
        &mut self,
        ticket: Ticket,
        request: &Request,
    ) -> Result<Answer, Trouble> {
        ticket.spend();
        let sent_at = self.clock.now();
        let (route, request) = (request.route, self.http_request(request)?);
        let answer = tokio::select! {
            answer = whole(self.connections.request(request)) => answer.ok_or(Trouble::NoAnswer(route))?,
            () = self.clock.sleep_until(sent_at + PATIENCE) => return Err(Trouble::NoAnswer(route)),
        };
        let (head, bytes) = answer;
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let (status, headers) = (head.status.as_u16(), head.headers);
        let answered_at = self.clock.now();
        let answer = Answer { status, headers, body, sent_at, answered_at };
        if let Some(pause) = pause_after(&answer) {
            self.paused.insert(route, answered_at + pause.min(WAIT_MAX));
        }
        if status >= 500 { Err(Trouble::Unavailable(route, status)) } else { Ok(answer) }
    }

    fn http_request(&self, request: &Request) -> Result<http::Request<Full<Bytes>>, Trouble> {
        let bytes = request.body.as_ref().map(|body| Bytes::from(body.to_string()));
        let mut built = http::Request::builder()
            .method(request.method.clone())
            .uri(format!("{}{}", self.base, request.path))
            .body(Full::new(bytes.clone().unwrap_or_default()))
            .map_err(|_| Trouble::BadAddress)?;
        let headers = built.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if request.has_token {
            headers.insert(AUTHORIZATION, self.authorization.clone());
        }
        if let Some(bytes) = bytes {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        } else if request.method != Method::GET {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
        }
        Ok(built)
    }
}

/// An answer to its last byte; none if it breaks off.
async fn whole(answering: ResponseFuture) -> Option<(http::response::Parts, Bytes)> {
    let (head, body) = answering.await.ok()?.into_parts();
    Some((head, body.collect().await.ok()?.to_bytes()))
}

/// How long the route of an answer rests.
fn pause_after(answer: &Answer) -> Option<Duration> {
    if answer.status == 429 {
        return Some(answer.wait().unwrap_or(WAIT_UNSAID));
    }
    let is_empty = answer.number("x-ratelimit-remaining")? < 1.0;
    let reset_after = answer.number("x-ratelimit-reset-after").filter(|_| is_empty)?;
    Duration::try_from_secs_f64(reset_after).ok()
}

#[cfg(test)]
mod tests {
    use dirigent_testkit::ManualClock;

    use super::*;

    #[tokio::test]
    async fn only_a_request_without_a_token_has_none_and_no_token_is_shown() {
        let address = Some("http://127.0.0.1:9");
        let clock = Arc::new(ManualClock::new());
        let connections = connections(address).unwrap();
        let account = Account::new(" Bot secret", (connections, address), clock).unwrap();
        let request = Request::new(Method::POST, "a route", "interactions/1/2/callback");
        let built = account.http_request(&request).unwrap();
        assert_eq!(built.headers()[AUTHORIZATION], "Bot secret");
        assert!(!format!("{built:?}").contains("secret"));
        let built = account.http_request(&request.without_token()).unwrap();
        assert!(!built.headers().contains_key(AUTHORIZATION));
    }
}
