//! The limits of a route, as an answer reports them.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use serde::Deserialize;

/// The longest wait that is believed. If an answer asks for more, the request is repeated a day
/// later.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait after a 429 that does not name one.
const WAIT_UNSAID: Duration = Duration::from_secs(5);

/// The limits of a route, from the headers of any answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LimitHeaders {
    /// The name of the bucket that the route shares with others.
    pub(crate) bucket: Option<String>,
    /// The requests that fit into one window.
    pub(crate) limit: Option<u32>,
    pub(crate) remaining: Option<u32>,
    pub(crate) reset_after: Option<Duration>,
}

impl LimitHeaders {
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        Self {
            bucket: text(headers, "x-ratelimit-bucket").map(str::to_owned),
            limit: text(headers, "x-ratelimit-limit").and_then(|text| text.parse().ok()),
            remaining: text(headers, "x-ratelimit-remaining").and_then(|text| text.parse().ok()),
            reset_after: text(headers, "x-ratelimit-reset-after").and_then(seconds),
        }
    }
}

/// The requests that a 429 concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// This account, in the bucket of the route.
    User,
    /// All accounts in the bucket. It does not count as an invalid request.
    Shared,
    /// All requests of this account.
    Global,
    /// Not given. The answer came from a proxy before Discord, and concerns all requests of this
    /// address.
    Unsaid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) scope: Scope,
    pub(crate) wait: Duration,
}

#[derive(Default, Deserialize)]
struct Body {
    retry_after: Option<f64>,
    #[serde(default)]
    global: bool,
}

impl TooMany {
    /// Reads a 429. The body has the wait in milliseconds, and the header in whole seconds. If they
    /// disagree, the longer one counts.
    pub(crate) fn read(headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Body = serde_json::from_slice(body).unwrap_or_default();
        let is_global = body.global || text(headers, "x-ratelimit-global") == Some("true");
        let scope = match text(headers, "x-ratelimit-scope") {
            _ if is_global => Scope::Global,
            Some("global") => Scope::Global,
            Some("shared") => Scope::Shared,
            Some("user") => Scope::User,
            Some(_) | None if text(headers, "x-ratelimit-bucket").is_some() => Scope::User,
            Some(_) | None => Scope::Unsaid,
        };
        let exact = body.retry_after.and_then(duration);
        let rounded = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let rounded = rounded.and_then(seconds);
        let wait = match (exact, rounded) {
            (Some(exact), Some(rounded)) => {
                exact.max(rounded.saturating_sub(Duration::from_secs(1)))
            }
            (Some(wait), None) | (None, Some(wait)) => wait,
            (None, None) => LimitHeaders::read(headers).reset_after.unwrap_or(WAIT_UNSAID),
        };
        Self { scope, wait }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Reads a number of seconds, with or without fraction.
fn seconds(text: &str) -> Option<Duration> {
    duration(text.trim().parse().ok()?)
}

/// Rounds a wait up to whole milliseconds, because our time has no finer ones.
fn duration(seconds: f64) -> Option<Duration> {
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    let wait = Duration::from_secs_f64(seconds.min(WAIT_MAX.as_secs_f64()));
    let millis = u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
    Some(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &'static str)| {
            (http::HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        lines.iter().map(line).collect()
    }

    /// R120, R283: the documented headers, without a scope, are understood.
    #[test]
    fn the_documented_headers_are_read() {
        let read = LimitHeaders::read(&headers(&[
            ("x-ratelimit-bucket", "abcd1234"),
            ("x-ratelimit-limit", "5"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset-after", "1.4701"),
        ]));
        assert_eq!(read.bucket.as_deref(), Some("abcd1234"));
        assert_eq!((read.limit, read.remaining), (Some(5), Some(0)));
        assert_eq!(read.reset_after, Some(Duration::from_millis(1_471)), "rounded up");
        let odd = headers(&[("x-ratelimit-limit", "many"), ("x-ratelimit-reset-after", "-1")]);
        assert_eq!(LimitHeaders::read(&odd), LimitHeaders::default());
    }

    type Lines<'a> = &'a [(&'a str, &'a str)];

    /// R120: who is meant by a 429, and for how long, in every shape that it has.
    #[test]
    fn every_429_says_how_long_and_for_whom() {
        let scope = "x-ratelimit-scope";
        let bucket = ("x-ratelimit-bucket", "b");
        let cases: [(Lines<'_>, &str, Scope, u64); 12] = [
            (
                &[(scope, "user"), bucket, ("retry-after", "2")],
                r#"{"retry_after":1.2}"#,
                Scope::User,
                1_200,
            ),
            (&[(scope, "shared"), bucket, ("retry-after", "3")], "{}", Scope::Shared, 3_000),
            (
                &[(scope, "global"), ("retry-after", "7")],
                r#"{"retry_after":6.5,"global":true}"#,
                Scope::Global,
                6_500,
            ),
            (&[("x-ratelimit-global", "true"), ("retry-after", "7")], "", Scope::Global, 7_000),
            (&[("retry-after", "600")], "<html>", Scope::Unsaid, 600_000),
            (&[bucket, ("retry-after", "1")], "", Scope::User, 1_000),
            (&[bucket, ("x-ratelimit-reset-after", "0.25")], "", Scope::User, 250),
            (&[], r#"{"retry_after":0.5,"global":true}"#, Scope::Global, 500),
            (&[], "", Scope::Unsaid, 5_000),
            (&[("retry-after", "60")], r#"{"retry_after":0}"#, Scope::Unsaid, 59_000),
            (&[("retry-after", "-3")], r#"{"retry_after":-1}"#, Scope::Unsaid, 5_000),
            (&[], r#"{"retry_after":1e300}"#, Scope::Unsaid, 86_400_000),
        ];
        for (lines, body, scope, millis) in cases {
            let lines: Vec<_> = lines
                .iter()
                .map(|(name, value)| {
                    (http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap())
                })
                .collect();
            let read = TooMany::read(&lines.into_iter().collect(), body.as_bytes());
            let expected = TooMany { scope, wait: Duration::from_millis(millis) };
            assert_eq!(read, expected, "{body}");
        }
    }
}
