//! Checks each visitor before a request does anything, and adds the protective headers to every answer.

use std::sync::{Arc, PoisonError};

use axum::extract::{OriginalUri, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use crate::page::auth::{Credential, Judgement};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;
use crate::page::sign_in::{NEEDS_TLS, SignIn, sign_in_page};
use crate::page::visitor::{Visitor, Way};

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The most sessions that are read from a request, because each is compared with every account.
const SESSIONS_MAX: usize = 20;

/// Lets a request in together with its visitor, or refuses it.
pub(crate) async fn admit(
    shared: &Arc<PageContext>,
    request: Request,
    next: Next,
) -> Result<Response, Response> {
    let (mut parts, body) = request.into_parts();
    let is_sign_in = parts.method == Method::POST && parts.uri.path() == "/sign-in";
    if !is_sign_in {
        let visitor = visitor_of(shared, &parts).await.map_err(|judged| {
            let to = wants_page(parts.uri.path(), &parts.headers).then(|| asked_for(&parts));
            refuse(shared, judged, to.as_deref(), Way::of_visit(&parts.headers))
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

/// Returns true if a request may change anything. A sign-out ends only the visitor's own session, and a replayed
/// recording is not stored, so these two do not count.
fn changes_something(parts: &Parts) -> bool {
    let is_safe = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let is_harmless = parts.method == Method::POST
        && matches!(parts.uri.path(), "/sign-out" | "/replay" | "/api/replay" | "/api/what-if");
    !is_safe && !is_harmless
}

async fn visitor_of(shared: &Arc<PageContext>, parts: &Parts) -> Result<Visitor, Judgement> {
    let has_session = {
        let auth = shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sessions = sessions(shared, &parts.headers);
        sessions.any(|session| auth.session_of(Credential::Session(session)).is_some())
    };
    // A sign-out asks the others itself.
    if has_session && parts.uri.path() != "/sign-out" {
        shared.hear_sign_outs().await;
    }
    let (judged, name, session) = {
        let mut auth = shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
        let now = shared.clock.now();
        // A bearer token counts before a session.
        let credential = match bearer(&parts.headers) {
            Some(token) => Credential::Bearer(token),
            None => auth
                .first_valid(now, sessions(shared, &parts.headers))
                .map_or(Credential::Nothing, Credential::Session),
        };
        let judged = auth.judge(now, (shared.address)(parts), credential);
        let is_known = matches!(judged, Judgement::Admitted(_));
        let name = is_known.then(|| auth.name_of(credential)).flatten();
        (judged, name, auth.session_of(credential))
    };
    match (judged, &shared.check) {
        (Judgement::Admitted(role), _) => {
            Ok(Visitor { role, name: name.unwrap_or_else(|| "operator".into()), session })
        }
        (Judgement::Unknown, Some(check)) => {
            let role = check.role(parts).await.ok_or(judged)?;
            let name = check.name(parts).await.filter(|name| dirigent::host::plain::is_name(name));
            let name = name.map_or_else(|| "operator".into(), Arc::from);
            Ok(Visitor { role, name, session: None })
        }
        (judged, _) => Err(judged),
    }
}

/// Returns the address that a visitor asked for, as the browser named it.
fn asked_for(parts: &Parts) -> String {
    let uri = parts.extensions.get::<OriginalUri>().filter(|_| parts.method == Method::GET);
    let asked = uri.and_then(|OriginalUri(uri)| uri.path_and_query());
    asked.map(ToString::to_string).unwrap_or_default()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the sessions that a browser sends. A browser can send several cookies with one name, for example one of a
/// shorter path. Cookies of other programs on the machine can contain any bytes and are not read.
pub(crate) fn sessions<'a>(
    shared: &'a PageContext,
    headers: &'a HeaderMap,
) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let own = pairs.filter_map(|pair| {
        pair.trim_ascii().strip_prefix(shared.cookie.as_bytes())?.strip_prefix(b"=")
    });
    own.filter_map(|value| std::str::from_utf8(value).ok()).take(SESSIONS_MAX)
}

/// Refuses a visitor. A person who asked for a page gets the sign-in form, which then leads to that page.
pub(crate) fn refuse(
    shared: &PageContext,
    judged: Judgement,
    to: Option<&str>,
    way: Way,
) -> Response {
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
        // The page says so before the token is sent, because afterwards others on the network could have read it.
        let said = match problem.status {
            429 => Some(problem.detail.clone()),
            _ => (way == Way::Open).then(|| NEEDS_TLS.to_owned()),
        };
        let to = to.to_owned();
        sign_in_page(shared, problem.status_code(), &SignIn { said, to })
    } else {
        problem.into_response()
    };
    if response.status() == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer realm=\"dirigent\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    if let Some(wait) = wait {
        // These are whole seconds, and the last one never ends before the block does.
        let seconds = u64::try_from(wait.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX);
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Returns true if a person asks with a browser, and not a program.
pub(crate) fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    !path.starts_with("/api/") && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

/// Adds the headers of every answer. A page with its own style names that style in its own policy.
pub(crate) fn protect(headers: &mut HeaderMap) {
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
