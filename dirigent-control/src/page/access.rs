//! The door: who asks is judged before anything is done, and every answer leaves with the headers that protect it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, OriginalUri, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tower_http::csrf::CsrfLayer;
use tower_http::timeout::RequestBodyDeadlineLayer;

use crate::page::auth::{Credential, Judgement, VisitorRole};
use crate::page::pages::{self, SignIn};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The largest body of a request that is no recording, in bytes.
const BODY_MAX: usize = 64 * 1024;
/// A body must have arrived by then.
const BODY_TIME: Duration = Duration::from_secs(20);

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// All routes behind the door.
pub(crate) fn guarded(shared: &Arc<PageContext>) -> Router {
    let (api, document) = crate::page::api::routes();
    let document = crate::page::api::served(document);
    let routes = Router::new()
        .merge(pages::routes())
        .merge(crate::page::live::routes())
        .nest("/api", api.merge(document))
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so);
    routes
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(RequestBodyDeadlineLayer::new(BODY_TIME))
        .layer(CsrfLayer::new().with_rejection_response(|_| {
            Problem::new(403, "cross-site", "the request comes from another site").into_response()
        }))
        .layer(from_fn_with_state(Arc::clone(shared), door))
        .with_state(Arc::clone(shared))
}

/// A path with a slash at its end is that without one.
async fn nowhere(State(shared): State<Arc<PageContext>>, request: Request) -> Response {
    let uri = request.uri();
    let is_asked = matches!(*request.method(), Method::GET | Method::HEAD);
    match uri.path().strip_suffix('/').filter(|_| is_asked) {
        // A path that begins with our own cannot lead to another host.
        Some(path) => {
            let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            Redirect::permanent(&format!("{}{path}{query}", shared.base)).into_response()
        }
        None => Problem::not_found("page").into_response(),
    }
}

async fn not_so() -> Problem {
    Problem::new(405, "method-not-allowed", "this cannot be asked for in that way")
}

/// Judges a request, and lets it in with its role.
async fn door(State(shared): State<Arc<PageContext>>, request: Request, next: Next) -> Response {
    let wants_page = wants_page(request.uri().path(), request.headers());
    let mut response = admit(&shared, request, next).await.unwrap_or_else(|refused| refused);
    if wants_page && response.extensions().get::<Problem>().is_some() {
        response = pages::problem_page(&shared, response);
    }
    protect(response.headers_mut());
    response
}

async fn admit(shared: &PageContext, request: Request, next: Next) -> Result<Response, Response> {
    let (mut parts, body) = request.into_parts();
    let is_sign_in = parts.method == Method::POST && parts.uri.path() == "/sign-in";
    if !is_sign_in {
        let visitor = visitor_of(shared, &parts).await.map_err(|judged| {
            let to = wants_page(parts.uri.path(), &parts.headers).then(|| asked_for(&parts));
            refuse(shared, judged, to.as_deref())
        })?;
        let role = visitor.role;
        if changes_something(&parts) && !role.may_change() {
            let problem =
                Problem::new(403, "read-only", "a viewer sees everything and changes nothing");
            return Err(problem.into_response());
        }
        parts.extensions.insert(role);
        parts.extensions.insert(visitor);
    }
    Ok(next.run(Request::from_parts(parts, body)).await)
}

/// Whether a request may change anything. A session is the visitor's own, and a recording is answered and not kept.
fn changes_something(parts: &Parts) -> bool {
    let is_safe = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let is_harmless =
        parts.method == Method::POST && matches!(parts.uri.path(), "/sign-out" | "/api/replay");
    !is_safe && !is_harmless
}

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) role: VisitorRole,
    /// The name, for the log of orders.
    pub(crate) name: Arc<str>,
}

async fn visitor_of(shared: &PageContext, parts: &Parts) -> Result<Visitor, Judgement> {
    let credential = credential(shared, &parts.headers);
    let (judged, name) = {
        let mut auth = shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
        let judged = auth.judge(shared.clock.now(), (shared.address)(parts), credential);
        let is_known = matches!(judged, Judgement::Admitted(_));
        (judged, is_known.then(|| auth.name_of(credential)).flatten())
    };
    match (judged, &shared.check) {
        (Judgement::Admitted(role), _) => {
            Ok(Visitor { role, name: name.unwrap_or_else(|| "operator".into()) })
        }
        (Judgement::Unknown, Some(check)) => {
            let role = check.role(parts).await.ok_or(judged)?;
            let name = check.name(parts).await.filter(|name| dirigent::host::plain::is_name(name));
            Ok(Visitor { role, name: name.map_or_else(|| "operator".into(), Arc::from) })
        }
        (judged, _) => Err(judged),
    }
}

/// Where a visitor wanted to go, as the browser named it.
fn asked_for(parts: &Parts) -> String {
    let uri = parts.extensions.get::<OriginalUri>().filter(|_| parts.method == Method::GET);
    let asked = uri.and_then(|OriginalUri(uri)| uri.path_and_query());
    asked.map(ToString::to_string).unwrap_or_default()
}

/// A bearer's token counts before a session.
fn credential<'a>(shared: &PageContext, headers: &'a HeaderMap) -> Credential<'a> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    if let Some(token) = bearer {
        return Credential::Bearer(token);
    }
    session(shared, headers).map_or(Credential::Nothing, Credential::Session)
}

/// The session that a browser brings along.
pub(crate) fn session<'a>(shared: &PageContext, headers: &'a HeaderMap) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(&*shared.cookie)?.strip_prefix('='))
}

/// The answer to who is not let in. A person who wanted to go somewhere gets the sign-in form, which leads there.
pub(crate) fn refuse(shared: &PageContext, judged: Judgement, to: Option<&str>) -> Response {
    let (problem, wait) = match judged {
        Judgement::TooMany { wait } => {
            let detail = "too many attempts from your address; wait a minute";
            (Problem::new(429, "too-many-attempts", detail), Some(wait))
        }
        Judgement::Unknown | Judgement::Admitted(_) => {
            let detail = "bring a token: Authorization: Bearer, or sign in with a browser";
            (Problem::new(401, "unauthorized", detail), None)
        }
    };
    let mut response = if let Some(to) = to {
        let said = (problem.status == 429).then(|| problem.detail.clone());
        let to = to.to_owned();
        pages::sign_in_page(shared, problem.status_code(), &SignIn { said, to })
    } else {
        problem.into_response()
    };
    if response.status() == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer realm=\"dirigent\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    if let Some(wait) = wait {
        // Whole seconds, and never one before the bar is over.
        let seconds = u64::try_from(wait.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX);
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Whether a person asks with a browser, and not a program.
fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    !path.starts_with("/api/") && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

/// Headers of every answer. A page that brings its own style says so in a policy of its own.
fn protect(headers: &mut HeaderMap) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in
        [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CACHE_CONTROL, "no-store")]
    {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// How a browser reaches the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// On this machine, where browsers keep a session without TLS.
    Here,
    /// With TLS, as far as is known.
    Secure,
    /// Without TLS from elsewhere, where a browser keeps no session that others on the way must not see.
    Open,
}

impl Way {
    /// The browser's own word counts first: behind a proxy the name of the host is often the proxy's.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        match text(header::ORIGIN).and_then(|origin| origin.split_once("://")) {
            Some(("http", host)) if is_here(host) => Self::Here,
            Some(("http", _)) => Self::Open,
            None if is_here(text(header::HOST).unwrap_or_default()) => Self::Here,
            Some(_) | None => Self::Secure,
        }
    }
}

/// Whether a host is this machine, as browsers see it.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name.ends_with(".localhost")
}
