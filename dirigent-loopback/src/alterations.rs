//! What a test changes on its way: requests, answers and events.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::UserId;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde_json::Value;

use super::LoopbackDiscord;
use super::endpoint::RestRoute;

/// A request before it is carried out, as [`Alterations::requests`] may change it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::{RestRoute, LoopbackDiscord};
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// // A Discord that makes two messages of two posts with one nonce.
/// server.alter().requests(|request| {
///     if request.endpoint == RestRoute::CreateMessage {
///         request.body["enforce_nonce"] = false.into();
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct AlteredRequest {
    /// The route.
    pub endpoint: RestRoute,
    /// The account whose token the request has; none for an answer to a command.
    pub account: Option<UserId>,
    /// What stands after the question mark.
    pub query: BTreeMap<String, String>,
    /// The body; null where there is none.
    pub body: Value,
}

/// An answer before it is sent, as [`Alterations::answers`] may change it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::LoopbackDiscord;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// // A Discord that says nothing of its limits.
/// server.alter().answers(|answer| answer.headers.retain(|name, _| !name.starts_with("x-ratelimit-")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct AlteredAnswer {
    /// The route.
    pub endpoint: RestRoute,
    /// The account whose token the request had; none for an answer to a command.
    pub account: Option<UserId>,
    /// The HTTP status.
    pub status: u16,
    /// The headers; the names are in small letters.
    pub headers: BTreeMap<String, String>,
    /// The body; null where there is none, or where it is not JSON.
    pub body: Value,
}

/// An event of the gateway before a session gets it, as [`Alterations::events`] may change it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::LoopbackDiscord;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// // A Discord that pushes no deletions.
/// server.alter().events(|event| event.name != "MESSAGE_DELETE");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct AlteredEvent {
    /// The account whose session it is.
    pub account: UserId,
    /// The name, for instance `MESSAGE_CREATE`.
    pub name: &'static str,
    /// The data.
    pub data: Value,
    /// Whether a connection has the session; if none has it, the event waits for a resume.
    pub is_connected: bool,
}

/// A file before the file host sends it, as [`Alterations::files`] may change it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::LoopbackDiscord;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// // A file host that sends bots elsewhere.
/// server.alter().files(|file| {
///     file.status = 302;
///     file.headers.insert("location".to_owned(), "http://127.0.0.1:9/".to_owned());
/// });
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub struct AlteredFile {
    /// The path, for example `/attachments/11/12/message.txt`.
    pub path: String,
    /// The HTTP status.
    pub status: u16,
    /// The headers; the names are in small letters. A `content-length` that you set stays, even if it is wrong.
    pub headers: BTreeMap<String, String>,
    /// The bytes, as many as you like and of any kind.
    pub bytes: Vec<u8>,
    /// The time between the headers and the bytes, by the clock of the [`MemoryDiscord`]; 0 at first.
    ///
    /// [`MemoryDiscord`]: dirigent_testkit::MemoryDiscord
    pub delay: Duration,
}

impl fmt::Debug for AlteredFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlteredFile")
            .field("path", &self.path)
            .field("status", &self.status)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

type Change<T> = Arc<dyn Fn(&mut T) + Send + Sync>;
type Filter<T> = Arc<dyn Fn(&mut T) -> bool + Send + Sync>;

/// All changes that a test makes to what goes between a server and its clients, by [`LoopbackDiscord::alter`]. Several changes
/// of a kind are made in the order in which they were set.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::LoopbackDiscord;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// // A Discord that takes every session for over, and never says where its limits are.
/// server.alter().refuse_resumes();
/// server.alter().answers(|answer| answer.headers.clear());
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Alterations(Mutex<Set>);

impl fmt::Debug for Alterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alterations").finish_non_exhaustive()
    }
}

#[derive(Clone, Default)]
struct Set {
    requests: Vec<Change<AlteredRequest>>,
    answers: Vec<Change<AlteredAnswer>>,
    files: Vec<Change<AlteredFile>>,
    events: Vec<Filter<AlteredEvent>>,
    refuses_resumes: bool,
}

impl Alterations {
    /// Changes every request from now on, after its token was accepted and before it is carried out.
    pub fn requests(&self, change: impl Fn(&mut AlteredRequest) + Send + Sync + 'static) {
        self.set().requests.push(Arc::new(change));
    }

    /// Changes every answer from now on, before it is sent: what was asked is done, and its client hears something
    /// else. [`LoopbackDiscord::traffic`] and the limits have the answer before the change.
    pub fn answers(&self, change: impl Fn(&mut AlteredAnswer) + Send + Sync + 'static) {
        self.set().answers.push(Arc::new(change));
    }

    /// Changes every file from now on, before the file host sends it: a wrong length, a redirect, bytes that are no
    /// text, too many of them, or none for a while.
    pub fn files(&self, change: impl Fn(&mut AlteredFile) + Send + Sync + 'static) {
        self.set().files.push(Arc::new(change));
    }

    /// Changes every event from now on, `READY` and `GUILD_CREATE` included; an event for which `change` returns
    /// `false` does not reach its session. Those of [`LoopbackDiscord::push`] are not changed. The change must not call
    /// the server or its [`MemoryDiscord`], whose locks are taken meanwhile.
    ///
    /// [`MemoryDiscord`]: dirigent_testkit::MemoryDiscord
    pub fn events(&self, change: impl Fn(&mut AlteredEvent) -> bool + Send + Sync + 'static) {
        self.set().events.push(Arc::new(change));
    }

    /// Refuses every resume from now on, as when the session is over: the client has to identify anew, and what was
    /// said meanwhile is in the history only.
    pub fn refuse_resumes(&self) {
        self.set().refuses_resumes = true;
    }

    fn set(&self) -> MutexGuard<'_, Set> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a request; its query and its body come back.
    pub(crate) fn change_request(
        &self,
        mut request: AlteredRequest,
    ) -> (BTreeMap<String, String>, Value) {
        let changes = self.set().requests.clone();
        for change in &changes {
            change(&mut request);
        }
        (request.query, request.body)
    }

    /// Changes an answer.
    pub(crate) async fn change_answer(
        &self,
        (endpoint, account): (RestRoute, Option<UserId>),
        response: Response<Full<Bytes>>,
    ) -> Response<Full<Bytes>> {
        let changes = self.set().answers.clone();
        if changes.is_empty() {
            return response;
        }
        let (mut head, body) = response.into_parts();
        let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes);
        let before: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let mut answer = AlteredAnswer {
            endpoint,
            account,
            status: head.status.as_u16(),
            headers: head.headers.iter().map(|(name, it)| (name.to_string(), text(it))).collect(),
            body: before.clone(),
        };
        for change in &changes {
            change(&mut answer);
        }
        head.status = StatusCode::from_u16(answer.status).unwrap_or(head.status);
        head.headers = headers(&answer.headers);
        // A body that is no JSON, and was left alone, goes out as it is.
        let bytes = if answer.body == before {
            bytes
        } else if answer.body.is_null() {
            Bytes::new()
        } else {
            let json = HeaderValue::from_static("application/json");
            head.headers.entry(CONTENT_TYPE).or_insert(json);
            answer.body.to_string().into()
        };
        Response::from_parts(head, Full::new(bytes))
    }

    /// Changes a file.
    pub(crate) fn change_file(&self, mut file: AlteredFile) -> AlteredFile {
        let changes = self.set().files.clone();
        for change in &changes {
            change(&mut file);
        }
        file
    }

    /// Changes an event, or keeps it from its session.
    pub(crate) fn change_event(&self, mut event: AlteredEvent) -> Option<Value> {
        let filters = self.set().events.clone();
        filters.iter().all(|filter| filter(&mut event)).then_some(event.data)
    }

    pub(crate) fn refuses_resumes(&self) -> bool {
        self.set().refuses_resumes
    }
}

/// Headers as they go out, without those that HTTP does not allow.
pub(crate) fn headers(set: &BTreeMap<String, String>) -> HeaderMap {
    let parsed =
        set.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
    parsed.collect()
}

impl LoopbackDiscord {
    /// Changes what goes between the server and its clients from now on.
    pub fn alter(&self) -> &Alterations {
        &self.state.alterations
    }
}
