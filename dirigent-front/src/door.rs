//! Lets a request in, or refuses it before anything is done.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::parts::FrontParts;
use crate::problem::Problem;

/// The largest body of a request, in bytes.
const BODY_MAX: usize = 256 * 1024;
/// The time for the whole body of a request.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Names of this machine for itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

pub(crate) async fn door(
    State(front): State<Arc<FrontParts>>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    if let Err(problem) = is_meant_for_us(&front, headers) {
        return problem.into_response();
    }
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let Some(asker) = token.and_then(|token| front.keys.asker(token)) else {
        let detail = "bring your secret: Authorization: Bearer NAME.SECRET";
        let problem =
            Problem::new(StatusCode::UNAUTHORIZED, "urn:dirigent:problem:unauthorized", detail);
        let mut response = problem.into_response();
        let asks = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, asks);
        return response;
    };
    request.extensions_mut().insert(asker);
    // rmcp logs whole requests at `debug`, so the secret ends here: it is not needed behind the door.
    request.headers_mut().remove(header::AUTHORIZATION);
    let request = match whole(&front, request).await {
        Ok(request) => request,
        Err(problem) => return problem.into_response(),
    };
    let mut response = next.run(request).await;
    let never = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, never);
    response
}

/// Reads the whole body first, so that no request waits half sent.
async fn whole(front: &FrontParts, request: Request) -> Result<Request, Problem> {
    let (head, body) = request.into_parts();
    let until = front.clock.now() + BODY_TIME;
    let read = tokio::select! {
        biased;
        read = to_bytes(body, BODY_MAX) => read,
        () = front.clock.sleep_until(until) => {
            let detail = "the rest of the request did not come in time";
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "urn:dirigent:problem:slow", detail));
        }
    };
    let read = read.map_err(|_| {
        let detail = format!("a request has at most {BODY_MAX} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "urn:dirigent:problem:too-large", detail)
    })?;
    Ok(Request::from_parts(head, Body::from(read)))
}

/// Refuses requests that a page in a browser could send, for example under another name (DNS rebinding) or across sites.
fn is_meant_for_us(front: &FrontParts, headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(header::ORIGIN) {
        let detail = "requests from a browser are not answered";
        return Err(Problem::new(StatusCode::FORBIDDEN, "urn:dirigent:problem:browser", detail));
    }
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name =
        host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    let is_ours = |own: &str| own.eq_ignore_ascii_case(name);
    if LOOPBACK.iter().any(|own| is_ours(own)) || front.names.iter().any(|own| is_ours(own)) {
        return Ok(());
    }
    let detail = "this is not the name of the front: give it to the builder with `name`";
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "urn:dirigent:problem:host", detail))
}
