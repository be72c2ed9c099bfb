//! The door: who asks is judged before anything is done, and every answer leaves with the headers that protect it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
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
/// What the session's cookie is called.
pub(crate) const COOKIE: &str = "dirigent_session";

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

async fn nowhere() -> Problem {
    Problem::not_found("page")
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
        let role = role_of(shared, &parts).await.map_err(|judged| {
            refuse(shared, judged, wants_page(parts.uri.path(), &parts.headers))
        })?;
        if changes_something(&parts) && !role.may_change() {
            let problem =
                Problem::new(403, "read-only", "a viewer sees everything and changes nothing");
            return Err(problem.into_response());
        }
        parts.extensions.insert(role);
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

async fn role_of(shared: &PageContext, parts: &Parts) -> Result<VisitorRole, Judgement> {
    let credential = credential(&parts.headers);
    let judged = {
        let mut auth = shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
        auth.judge(shared.clock.now(), (shared.address)(parts), credential)
    };
    match (judged, &shared.check) {
        (Judgement::Admitted(role), _) => Ok(role),
        (Judgement::Unknown, Some(check)) => check.role(parts).await.ok_or(judged),
        (judged, _) => Err(judged),
    }
}

/// A bearer's token counts before a session.
fn credential(headers: &HeaderMap) -> Credential<'_> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    if let Some(token) = bearer {
        return Credential::Bearer(token);
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';'));
    let session = pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    session.map_or(Credential::Nothing, Credential::Session)
}

/// The answer to who is not let in.
pub(crate) fn refuse(shared: &PageContext, judged: Judgement, wants_page: bool) -> Response {
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
    let mut response = if wants_page {
        let said = (problem.status == 429).then(|| problem.detail.clone());
        pages::sign_in_page(shared, problem.status_code(), &SignIn { said })
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

/// Whether a visitor asks on this machine, where browsers keep a cookie without TLS.
pub(crate) fn is_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}
