//! Changes that a test makes to requests, answers and events on their way.

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

/// A request before it is performed. You change it with [`Alterations::requests`].
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
    /// The account of the request's token. An answer to a command has none.
    pub account: Option<UserId>,
    /// The query parameters.
    pub query: BTreeMap<String, String>,
    /// The body, or null if there is none.
    pub body: Value,
}

/// An answer before it is sent. You change it with [`Alterations::answers`].
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
    /// The account of the request's token. An answer to a command has none.
    pub account: Option<UserId>,
    /// The HTTP status.
    pub status: u16,
    /// The headers. Their names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body. It is null if there is none, or if it is not JSON.
    pub body: Value,
}

/// An event of the gateway before a session gets it. You change it with [`Alterations::events`].
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
    /// The account of the session.
    pub account: UserId,
    /// The name, for example `MESSAGE_CREATE`.
    pub name: &'static str,
    /// The data.
    pub data: Value,
    /// True if the session has a connection. Otherwise the event waits for a resume.
    pub is_connected: bool,
}

/// A file before the file host sends it. You change it with [`Alterations::files`].
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
    /// The headers. Their names are in lower case. If you set a `content-length`, it stays, even if it is wrong.
    pub headers: BTreeMap<String, String>,
    /// The bytes, as many as you like and of any kind.
    pub bytes: Vec<u8>,
    /// The time between the headers and the bytes, by the clock of the [`MemoryDiscord`]. It begins as 0.
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

/// All changes that your test makes to the traffic between a server and its clients. You get it from
/// [`LoopbackDiscord::alter`]. If you set several changes of one kind, they apply in that order.
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
    /// Changes every request from now on, after its token was accepted and before it is performed.
    pub fn requests(&self, change: impl Fn(&mut AlteredRequest) + Send + Sync + 'static) {
        self.set().requests.push(Arc::new(change));
    }

    /// Changes every answer from now on, before it is sent, for example to remove a header. The request has been
    /// performed, but its client reads something else. [`LoopbackDiscord::traffic`] and the limits see the unchanged
    /// answer.
    pub fn answers(&self, change: impl Fn(&mut AlteredAnswer) + Send + Sync + 'static) {
        self.set().answers.push(Arc::new(change));
    }

    /// Changes every file from now on, before the file host sends it. For example, give it a wrong length, a redirect,
    /// bytes that are not text, too many of them, or none for a while.
    pub fn files(&self, change: impl Fn(&mut AlteredFile) + Send + Sync + 'static) {
        self.set().files.push(Arc::new(change));
    }

    /// Changes every event from now on, including `READY` and `GUILD_CREATE`. If `change` returns `false`, the event
    /// does not reach its session. Events of [`LoopbackDiscord::push`] are not changed. Do not call the server or its
    /// [`MemoryDiscord`] in it, because their locks are held.
    ///
    /// [`MemoryDiscord`]: dirigent_testkit::MemoryDiscord
    pub fn events(&self, change: impl Fn(&mut AlteredEvent) -> bool + Send + Sync + 'static) {
        self.set().events.push(Arc::new(change));
    }

    /// Refuses every resume from now on, as if the session were over. The client must identify again, and events that
    /// it missed are only in the history.
    pub fn refuse_resumes(&self) {
        self.set().refuses_resumes = true;
    }

    fn set(&self) -> MutexGuard<'_, Set> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a request. Returns its query and its body.
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
        // A body that is not JSON goes out unchanged, unless the test set one.
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

    /// Changes an event, or returns `None` to keep it from its session.
    pub(crate) fn change_event(&self, mut event: AlteredEvent) -> Option<Value> {
        let filters = self.set().events.clone();
        filters.iter().all(|filter| filter(&mut event)).then_some(event.data)
    }

    pub(crate) fn refuses_resumes(&self) -> bool {
        self.set().refuses_resumes
    }
}

/// Returns the headers to send, without those that HTTP does not allow.
pub(crate) fn headers(set: &BTreeMap<String, String>) -> HeaderMap {
    let parsed =
        set.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
    parsed.collect()
}

impl LoopbackDiscord {
    /// Returns the changes to the traffic between the server and its clients. Add your own to them.
    pub fn alter(&self) -> &Alterations {
        &self.state.alterations
    }
}
