//! Sends requests to an opencode server.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dirigent::Clock;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::wire::{ModelMessage, Named, Pending, SessionStatus};
use crate::permission::PermissionReply;

/// The longest time of one request. The stream of events has no limit.
const REQUEST: Duration = Duration::from_secs(20);
/// The longest answer that is read, in bytes.
const ANSWER: usize = 16 * 1_024 * 1_024;
/// The number of a session's messages that are read.
const MESSAGES: &str = "100";

/// A server and its address. Clones share their connections.
#[derive(Clone)]
pub(super) struct Api {
    client: Client<HttpConnector, Full<Bytes>>,
    /// The address without a slash at its end.
    base: String,
    authorization: HeaderValue,
    /// The folder that requests are about, if the server has several.
    folder: Option<String>,
    clock: Arc<dyn Clock>,
}

/// A request that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    #[error("opencode's address cannot be used")]
    BadAddress,
    #[error("opencode's server does not answer")]
    Unreachable,
    #[error("opencode's server refuses the password")]
    Password,
    #[error("opencode's server does not know the session")]
    NotFound,
    #[error("opencode's server refuses the request (status {0})")]
    Refused(u16),
    #[error("opencode's answer cannot be read")]
    Unreadable,
}

impl Api {
    pub(super) fn new(
        address: &str,
        password: &str,
        folder: Option<String>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, ApiError> {
        let base = address.trim().trim_end_matches('/').to_owned();
        let uri: Uri = base.parse().map_err(|_| ApiError::BadAddress)?;
        if uri.scheme_str() != Some("http") || uri.host().is_none() {
            return Err(ApiError::BadAddress);
        }
        let credentials = STANDARD.encode(format!("opencode:{password}"));
        let authorization = HeaderValue::try_from(format!("Basic {credentials}"));
        let mut authorization = authorization.map_err(|_| ApiError::BadAddress)?;
        authorization.set_sensitive(true);
        let client = Client::builder(TokioExecutor::new()).build_http();
        Ok(Self { client, base, authorization, folder, clock: Arc::clone(clock) })
    }

    /// Returns the address of a path with a query. Ids come from the server, so only a plain word is put into an
    /// address.
    fn uri(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Uri, ApiError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if path.iter().any(|part| part.is_empty() || !part.chars().all(is_plain)) {
            return Err(ApiError::Unreadable);
        }
        let mut queries = form_urlencoded::Serializer::new(String::new());
        queries.extend_pairs(query);
        queries.extend_pairs(self.folder.iter().map(|folder| ("directory", folder)));
        let address = format!("{}/{}?{}", self.base, path.join("/"), queries.finish());
        address.parse().map_err(|_| ApiError::BadAddress)
    }

    async fn send(
        &self,
        method: Method,
        uri: Uri,
        accept: &'static str,
        body: Bytes,
    ) -> Result<Response<Incoming>, ApiError> {
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, accept);
        let request = request.body(Full::new(body)).map_err(|_| ApiError::BadAddress)?;
        let response = self.client.request(request).await.map_err(|_| ApiError::Unreachable)?;
        check(response.status())?;
        Ok(response)
    }

    /// Sends a request and reads its answer, within the time limit.
    async fn ask(&self, method: Method, uri: Uri, body: Bytes) -> Result<Bytes, ApiError> {
        let until = self.clock.now() + REQUEST;
        let asking = async {
            let response = self.send(method, uri, "application/json", body).await?;
            let body = Limited::new(response.into_body(), ANSWER).collect().await;
            Ok(body.map_err(|_| ApiError::Unreachable)?.to_bytes())
        };
        tokio::select! {
            answer = asking => answer,
            () = self.clock.sleep_until(until) => Err(ApiError::Unreachable),
        }
    }

    async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, ApiError> {
        let body = self.ask(Method::GET, self.uri(path, &[])?, Bytes::new()).await?;
        serde_json::from_slice(&body).map_err(|_| ApiError::Unreadable)
    }

    async fn post(&self, path: &[&str], body: &Value) -> Result<Bytes, ApiError> {
        self.ask(Method::POST, self.uri(path, &[])?, body.to_string().into()).await
    }

    /// Returns `Ok` if the server is there and accepts the password.
    pub(super) async fn health(&self) -> Result<(), ApiError> {
        let _: Value = self.get(&["global", "health"]).await?;
        Ok(())
    }

    pub(super) async fn create_session(&self) -> Result<String, ApiError> {
        let body = self.post(&["session"], &json!({})).await?;
        let session: Named = serde_json::from_slice(&body).map_err(|_| ApiError::Unreadable)?;
        Ok(session.id)
    }

    /// Gives a session a task. The answer comes later.
    pub(super) async fn prompt(&self, session: &str, prompt: &Value) -> Result<(), ApiError> {
        self.post(&["session", session, "prompt_async"], prompt).await.map(drop)
    }

    pub(super) async fn abort(&self, session: &str) -> Result<(), ApiError> {
        self.post(&["session", session, "abort"], &json!({})).await.map(drop)
    }

    /// Returns the newest messages of a session, oldest first.
    pub(super) async fn messages(&self, session: &str) -> Result<Vec<ModelMessage>, ApiError> {
        let uri = self.uri(&["session", session, "message"], &[("limit", MESSAGES)])?;
        let body = self.ask(Method::GET, uri, Bytes::new()).await?;
        serde_json::from_slice(&body).map_err(|_| ApiError::Unreadable)
    }

    /// Returns true if a session is busy. A session that is not listed is idle.
    pub(super) async fn is_busy(&self, session: &str) -> Result<bool, ApiError> {
        let all: HashMap<String, SessionStatus> = self.get(&["session", "status"]).await?;
        Ok(all.get(session).is_some_and(|status| status.kind != "idle"))
    }

    /// Returns the sessions that a session started.
    pub(super) async fn children(&self, session: &str) -> Result<Vec<String>, ApiError> {
        let children: Vec<Named> = self.get(&["session", session, "children"]).await?;
        Ok(children.into_iter().map(|child| child.id).collect())
    }

    pub(super) async fn permissions(&self) -> Result<Vec<Pending>, ApiError> {
        self.get(&["permission"]).await
    }

    pub(super) async fn permit(&self, id: &str, reply: PermissionReply) -> Result<(), ApiError> {
        let body = json!({ "reply": reply.as_str() });
        self.post(&["permission", id, "reply"], &body).await.map(drop)
    }

    pub(super) async fn questions(&self) -> Result<Vec<Pending>, ApiError> {
        self.get(&["question"]).await
    }

    pub(super) async fn reject_question(&self, id: &str) -> Result<(), ApiError> {
        self.post(&["question", id, "reject"], &json!({})).await.map(drop)
    }

    /// Opens the stream of events.
    pub(super) async fn events(&self) -> Result<Incoming, ApiError> {
        let uri = self.uri(&["event"], &[])?;
        let response = self.send(Method::GET, uri, "text/event-stream", Bytes::new()).await?;
        Ok(response.into_body())
    }
}

fn check(status: StatusCode) -> Result<(), ApiError> {
    match status.as_u16() {
        200..=299 => Ok(()),
        401 | 403 => Err(ApiError::Password),
        404 => Err(ApiError::NotFound),
        other => Err(ApiError::Refused(other)),
    }
}

/// Hides the password and the parts of the address that may contain one.
impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("folder", &self.folder).finish_non_exhaustive()
    }
}
