//! Answers, good and bad.

use dirigent::ports::Timestamp;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::limits::{Scope, Standing, TooMany};

/// An answer without its headers.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    body: Body,
    /// Headers of this answer.
    headers: Vec<(&'static str, String)>,
    /// The scope of a rate limit.
    pub(crate) scope: Option<Scope>,
    /// True if it comes from a proxy before Discord, and has none of Discord's headers.
    is_from_before: bool,
}

#[derive(Clone, Debug)]
enum Body {
    Empty,
    Json(Value),
    Page(&'static str),
}

impl Reply {
    fn new(status: u16, body: Body) -> Self {
        Self { status, body, headers: Vec::new(), scope: None, is_from_before: false }
    }

    pub(crate) fn json(value: Value) -> Self {
        Self::new(200, Body::Json(value))
    }

    pub(crate) fn list(values: impl IntoIterator<Item = Value>) -> Self {
        Self::json(values.into_iter().collect())
    }

    pub(crate) fn created(value: Value) -> Self {
        Self::new(201, Body::Json(value))
    }

    pub(crate) fn nothing() -> Self {
        Self::new(204, Body::Empty)
    }

    /// Returns 500 like Discord, or 502 like a proxy.
    pub(crate) fn server_error(status: u16) -> Self {
        if status == 502 {
            let page = "<html><head><title>502 Bad Gateway</title></head></html>";
            return Self { is_from_before: true, ..Self::new(502, Body::Page(page)) };
        }
        let said = json!({ "message": "500: Internal Server Error", "code": 0 });
        Self::new(status, Body::Json(said))
    }

    pub(crate) fn too_many(too_many: &TooMany) -> Self {
        let seconds = too_many.wait.as_secs_f64();
        let is_global = too_many.scope == Scope::Global;
        let said = json!({
            "message": "You are being rate limited.",
            "retry_after": seconds,
            "global": is_global,
        });
        let mut reply = Self::new(429, Body::Json(said));
        reply.scope = Some(too_many.scope);
        reply.headers.push((RETRY_AFTER.as_str(), whole_seconds(too_many.wait)));
        reply.headers.push(("x-ratelimit-scope", too_many.scope.name().to_owned()));
        if is_global {
            reply.headers.push(("x-ratelimit-global", "true".to_owned()));
        }
        reply
    }

    /// Returns the answer of a proxy to a banned address.
    pub(crate) fn turned_away(wait: std::time::Duration) -> Self {
        let page =
            "<html><head><title>Access denied</title></head><body>error code: 1015</body></html>";
        let mut reply = Self::new(429, Body::Page(page));
        reply.headers.push((RETRY_AFTER.as_str(), whole_seconds(wait)));
        reply.is_from_before = true;
        reply
    }

    /// Returns the answer with the headers of its limit.
    pub(crate) fn respond(self, standing: Option<&Standing>) -> Response<Full<Bytes>> {
        let (content_type, bytes) = match self.body {
            Body::Empty => (None, Bytes::new()),
            Body::Json(value) => (Some("application/json"), Bytes::from(value.to_string())),
            Body::Page(page) => {
                (Some("text/html; charset=UTF-8"), Bytes::from_static(page.as_bytes()))
            }
        };
        let mut response = Response::new(Full::new(bytes));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if !self.is_from_before {
            headers.insert("via", HeaderValue::from_static("1.1 google"));
            if let Some(standing) = standing.filter(|_| self.scope != Some(Scope::Global)) {
                let status = self.status;
                tell(headers, standing, status == 429 && self.scope == Some(Scope::User));
            }
        }
        for (name, value) in self.headers {
            set(headers, name, &value);
        }
        response
    }
}

fn tell(headers: &mut HeaderMap, standing: &Standing, is_over: bool) {
    let remaining = if is_over { 0 } else { standing.remaining };
    set(headers, "x-ratelimit-limit", &standing.limit.to_string());
    set(headers, "x-ratelimit-remaining", &remaining.to_string());
    set(headers, "x-ratelimit-reset", &seconds_of(standing.reset));
    set(headers, "x-ratelimit-reset-after", &format!("{:.3}", standing.reset_after.as_secs_f64()));
    set(headers, "x-ratelimit-bucket", &standing.bucket);
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

fn seconds_of(at: Timestamp) -> String {
    format!("{}.{:03}", at.as_millis() / 1_000, at.as_millis() % 1_000)
}

/// Rounds up, because the header has no fractions.
fn whole_seconds(wait: std::time::Duration) -> String {
    wait.as_millis().div_ceil(1_000).to_string()
}
