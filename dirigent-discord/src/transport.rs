//! Sends one request over HTTP, once.
//!
//! `twilight-http` builds the requests, but its client does not send them. That client repeats a 429 for ever, and
//! shows only the headers of successes, although those of failures contain the wait to report.

mod clients;
mod connector;
#[cfg(all(test, feature = "__rustls"))]
mod tests;

use std::pin::pin;
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use futures_util::future::{Either, select};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::connect::capture_connection;
use twilight_http::request::Request;

use crate::{AccountBuildError, RestError};
use clients::{Clients, Pings};
use connector::Connector;

const DISCORD: &str = "https://discord.com";

/// Discord refuses any other form.
const AGENT: &str = concat!(
    "DiscordBot (https://github.com/dirigent-rs/dirigent, ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// No expected answer is nearly as long as this.
const BODY_BYTES_MAX: usize = 16 << 20;

/// The longest wait of a request for its connection: the name, TCP, TLS, and its turn.
const CONNECT_MAX: Duration = Duration::from_secs(4);

/// The connections of one account.
pub(crate) struct Transport {
    clients: Clients,
    /// Scheme, host and version, before the route.
    base: String,
    authorization: HeaderValue,
}

/// An answer. Its body is missing if it was incomplete or too long.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

impl Answer {
    pub(crate) fn said(&self) -> &[u8] {
        self.body.as_deref().unwrap_or_default()
    }
}

impl Transport {
    pub(crate) fn new(token: &str, proxy: Option<&str>) -> Result<Self, AccountBuildError> {
        let token = token.trim();
        let bare = token.strip_prefix("Bot ").unwrap_or(token);
        if matches!(bare, "" | "Bot")
            || bare.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            return Err(AccountBuildError::BadToken);
        }
        let mut authorization = HeaderValue::from_str(&format!("Bot {bare}"))
            .map_err(|_| AccountBuildError::BadToken)?;
        authorization.set_sensitive(true);
        let origin = match proxy {
            Some(proxy) => origin(proxy).ok_or(AccountBuildError::BadProxy)?,
            None => DISCORD.to_owned(),
        };
        if !connector::HAS_TLS && origin.starts_with("https:") {
            return Err(AccountBuildError::NoTls);
        }
        Ok(Self::over(connector::connector()?, Pings::default(), &origin, authorization))
    }

    fn over(connector: Connector, pings: Pings, origin: &str, authorization: HeaderValue) -> Self {
        let clients = Clients::new(connector, pings);
        Self { clients, base: format!("{origin}/api/v10/"), authorization }
    }

    /// Sends a request, and returns its whole answer before the deadline or not at all. If only the body is lost, the
    /// headers are still returned.
    ///
    /// A request without a connection within [`CONNECT_MAX`] is `NotConnected`, because no byte was sent. If an answer
    /// does not come in time, later requests use new connections.
    pub(crate) async fn send(
        &self,
        request: &Request,
        clock: &dyn Clock,
        deadline: Timestamp,
    ) -> Result<Answer, RestError> {
        let mut request = self.http_request(request)?;
        let connection = capture_connection(&mut request);
        let is_connected = || connection.connection_metadata().is_some();
        let client = self.clients.current();
        let mut answering = pin!(client.request(request));
        let connected_by = deadline.min(clock.now() + CONNECT_MAX);
        let sent = match before(clock, connected_by, answering.as_mut()).await {
            None if is_connected() => before(clock, deadline, answering).await,
            early => early,
        };
        let response = match sent {
            Some(Ok(response)) => response,
            // Without a connection no byte of the request was written.
            Some(Err(error)) if error.is_connect() || !is_connected() => {
                return Err(RestError::NotConnected);
            }
            Some(Err(_)) => return Err(RestError::Broken),
            None if !is_connected() => return Err(RestError::NotConnected),
            None => {
                self.clients.replace(&client);
                return Err(RestError::Late);
            }
        };
        let (head, body) = response.into_parts();
        let body = before(clock, deadline, whole(body)).await;
        if body.is_none() {
            self.clients.replace(&client);
        }
        Ok(Answer { status: head.status, headers: head.headers, body: body.flatten() })
    }

    /// Reads at most `max` bytes of a file, before the deadline or not at all. It follows no redirections and sends no
    /// token.
    pub(crate) async fn read_file(
        &self,
        address: Uri,
        max: usize,
        clock: &dyn Clock,
        deadline: Timestamp,
    ) -> Result<Vec<u8>, RestError> {
        let request =
            http::Request::get(address).header(USER_AGENT, HeaderValue::from_static(AGENT));
        let request = request.body(Full::default()).map_err(|_| RestError::NotAcceptable)?;
        let client = self.clients.current();
        let reading = async {
            let response = client.request(request).await.map_err(|_| RestError::Broken)?;
            let status = response.status();
            if status != StatusCode::OK {
                return Err(RestError::Refused { status: status.as_u16(), code: None });
            }
            let (mut body, mut read) = (response.into_body(), Vec::new());
            while let Some(frame) = body.frame().await {
                let data = frame.map_err(|_| RestError::Broken)?.into_data().unwrap_or_default();
                read.extend_from_slice(
                    data.get(..data.len().min(max - read.len())).unwrap_or_default(),
                );
                if read.len() >= max {
                    break;
                }
            }
            Ok(read)
        };
        before(clock, deadline, reading).await.unwrap_or(Err(RestError::Late))
    }

    fn http_request(&self, request: &Request) -> Result<http::Request<Full<Bytes>>, RestError> {
        let unacceptable = |_| RestError::NotAcceptable;
        let (body, content_type) = match (request.form(), request.body()) {
            (Some(form), _) => (Some(form.clone().build().into()), form.content_type()),
            (None, body) => (body.map(Bytes::copy_from_slice), b"application/json".to_vec()),
        };
        let length = body.as_ref().map(Bytes::len);
        let mut built = http::Request::builder()
            .method(request.method().name())
            .uri(format!("{}{}", self.base, request.path()))
            .body(Full::new(body.unwrap_or_default()))
            .map_err(unacceptable)?;
        let headers = built.headers_mut();
        if request.use_authorization_token() {
            headers.insert(AUTHORIZATION, self.authorization.clone());
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        match length {
            Some(length) => {
                let content_type = HeaderValue::from_bytes(&content_type);
                headers.insert(CONTENT_TYPE, content_type.map_err(|_| RestError::NotAcceptable)?);
                headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
            }
            // Some servers insist on a length if a method usually has a body.
            None if matches!(request.method().name(), "POST" | "PUT" | "PATCH") => {
                headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
            }
            None => {}
        }
        let more = request.headers().into_iter().flatten();
        headers.extend(more.map(|(name, value)| (name.clone(), value.clone())));
        Ok(built)
    }
}

/// Returns the scheme and host of an address, if it has no other parts.
pub(crate) fn origin(proxy: &str) -> Option<String> {
    let uri: Uri = proxy.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    is_bare.then(|| format!("{scheme}://{authority}"))
}

async fn whole(body: Incoming) -> Option<Bytes> {
    let collected = Limited::new(body, BODY_BYTES_MAX).collect().await;
    collected.ok().map(http_body_util::Collected::to_bytes)
}

/// Returns the future's result, if it comes before the deadline.
async fn before<T>(
    clock: &dyn Clock,
    deadline: Timestamp,
    future: impl Future<Output = T>,
) -> Option<T> {
    match select(pin!(future), clock.sleep_until(deadline)).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}
