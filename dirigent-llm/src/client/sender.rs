//! One request at one endpoint, and the answer as it comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use dirigent::Clock;
use futures_util::future::{Either, select};
use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use sse_stream::SseByteStream;

use crate::client::body::{BodyError, EventBytes, PacedBody};
use crate::client::endpoint::Endpoint;
use crate::client::limits::Limits;
use crate::client::partial::{Partial, code_of, reported_event};
use crate::client::wire::Completion;
use crate::error::ChatError;
use crate::question::ChatAnswer;
use crate::usage::Usage;

/// The longest body of a refusal that is read.
const REFUSAL_MAX: usize = 64 * 1_024;
/// How long it is waited for.
const REFUSAL_WAIT: Duration = Duration::from_secs(2);
/// How many bytes of JSON there may be for each byte of answer: letters may be escaped, and reasoning is not counted.
const WHOLE_FACTOR: usize = 8;
/// An event may always have this number of bytes: a piece may bring many events, which count before they are read.
const EVENT_MIN: usize = 1_024 * 1_024;
/// How many bytes of a stream there may be for each byte of answer, and beside it: each token comes in some 200 bytes.
const STREAM_FACTOR: usize = 512;

/// How long a stream may stay open after its last event.
const END_WAIT: Duration = Duration::from_millis(100);

/// Sends requests.
pub(crate) struct Sender<'a> {
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) limits: &'a Limits,
    /// Whether answers keep their tags.
    pub(crate) keeps_tags: bool,
}

/// What came of a request: what the answer used, if one came, and the answer.
pub(crate) struct Outcome {
    pub(crate) usage: Option<Usage>,
    pub(crate) answer: Result<ChatAnswer, ChatError>,
}

impl From<ChatError> for Outcome {
    fn from(error: ChatError) -> Self {
        Self { usage: None, answer: Err(error) }
    }
}

impl Sender<'_> {
    /// Sends a request and reads the answer. Dropping it ends the request.
    pub(crate) async fn send(&self, endpoint: &Endpoint, body: Bytes) -> Outcome {
        match self.receive(endpoint, body).await {
            Ok(partial) => {
                let (usage, answer) = partial.into_answer(endpoint.model(), self.keeps_tags);
                Outcome { usage: Some(usage), answer }
            }
            Err(error) => error.into(),
        }
    }

    async fn receive(&self, endpoint: &Endpoint, body: Bytes) -> Result<Partial, ChatError> {
        let (url, headers, client) = endpoint.target()?;
        let began = self.clock.now();
        let end = began + self.limits.whole_answer;
        let until = end.min(began + self.limits.first_byte);
        let request = client
            .post(url)
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(body);
        let sent = Box::pin(request.send());
        let response = match select(sent, self.clock.sleep_until(until)).await {
            Either::Left((Ok(response), _)) => response,
            Either::Left((Err(error), _)) if error.is_builder() => {
                return Err(ChatError::BadEndpoint);
            }
            Either::Left((Err(error), _)) if error.is_connect() => {
                return Err(ChatError::Unreachable);
            }
            Either::Left((Err(_), _)) => return Err(ChatError::Broken),
            Either::Right(_) => return Err(self.body_error(BodyError::late(false, until, end))),
        };
        let is_stream = content_type(&response).contains("event-stream");
        let (status, headers) = (response.status(), response.headers().clone());
        let pieces = response.bytes_stream();
        if !status.is_success() {
            // What a refusal says beyond its status is of little use: a body that does not come changes nothing.
            let until = end.min(self.clock.now() + REFUSAL_WAIT);
            let mut body = PacedBody::new(pieces, self.clock, (until, until), REFUSAL_WAIT);
            let words = body.read_all(REFUSAL_MAX).await.unwrap_or_default();
            return Err(refusal(status, &headers, &words, self.clock.as_ref()));
        }
        let body = PacedBody::new(pieces, self.clock, (until, end), self.limits.between_bytes);
        if is_stream { self.read_stream(body).await } else { self.read_whole(body).await }
    }

    async fn read_whole(&self, mut body: PacedBody<'_>) -> Result<Partial, ChatError> {
        let most = self.limits.answer_bytes.saturating_mul(WHOLE_FACTOR);
        let bytes = body.read_all(most).await.map_err(|error| self.body_error(error))?;
        // Some endpoints begin with a mark of the byte order.
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let completion: Completion<'_> = match serde_json::from_slice(json) {
            Ok(completion) => completion,
            // A stream under another name.
            Err(_) if is_event_stream(&bytes) => {
                let bytes = std::future::ready(Ok(Bytes::from(bytes)));
                let stream = futures_util::stream::once(bytes);
                return self.read_events(stream, &EventBytes::default()).await;
            }
            Err(_) => return Err(ChatError::NotChat),
        };
        let mut partial = Partial::default();
        partial.add(completion)?;
        self.check_size(&partial)?;
        if partial.is_chat() { Ok(partial) } else { Err(ChatError::NotChat) }
    }

    async fn read_stream(&self, body: PacedBody<'_>) -> Result<Partial, ChatError> {
        let most = self.limits.answer_bytes.saturating_mul(STREAM_FACTOR);
        let event = self.limits.answer_bytes.saturating_mul(WHOLE_FACTOR).max(EVENT_MIN);
        let (body, event) = body.bounded(most, event);
        self.read_events(body, &event).await
    }

    async fn read_events(
        &self,
        body: impl Stream<Item = Result<Bytes, BodyError>> + Send,
        of_event: &EventBytes,
    ) -> Result<Partial, ChatError> {
        // Some endpoints leave out the empty line that ends the last event.
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let last_line = futures_util::stream::once(async move {
            ends.store(true, Ordering::Relaxed);
            Ok(Bytes::from_static(b"\n\n"))
        });
        let mut events = SseByteStream::new(Box::pin(body.chain(last_line)));
        let mut partial = Partial::default();
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| self.stream_error(&error))?;
            of_event.renew();
            let is_error = event.event.is_some_and(|kind| kind.eq_ignore_ascii_case("error"));
            let data = event.data.unwrap_or_default();
            let data = data.trim();
            if is_error {
                return Err(reported_event(data));
            }
            if data == "[DONE]" {
                self.read_end(events).await;
                return if partial.is_chat() { Ok(partial) } else { Err(ChatError::NotChat) };
            }
            if data.is_empty() {
                continue;
            }
            if let Err(error) = partial.add_chunk(data) {
                // At the very end it is an event that was cut.
                let is_cut = error == ChatError::NotChat && is_over.load(Ordering::Relaxed);
                return Err(if is_cut { ChatError::Broken } else { error });
            }
            self.check_size(&partial)?;
        }
        // Some endpoints end without saying so once the answer is whole.
        if partial.is_finished() && partial.is_chat() {
            Ok(partial)
        } else {
            Err(ChatError::Broken)
        }
    }

    /// Reads on to the stream's end, so that its connection can be used again; not for long, since everything is said.
    async fn read_end(&self, mut events: impl Stream + Unpin + Send) {
        let until = self.clock.now() + END_WAIT;
        let ended = Box::pin(async move { while events.next().await.is_some() {} });
        select(ended, self.clock.sleep_until(until)).await;
    }

    fn check_size(&self, partial: &Partial) -> Result<(), ChatError> {
        let most = self.limits.answer_bytes;
        if partial.bytes() > most { Err(ChatError::TooLong { most }) } else { Ok(()) }
    }

    fn stream_error(&self, error: &sse_stream::Error) -> ChatError {
        if let sse_stream::Error::Body(source) = error {
            let source = source.downcast_ref::<BodyError>().copied();
            return self.body_error(source.unwrap_or(BodyError::Broken));
        }
        ChatError::NotChat
    }

    const fn body_error(&self, error: BodyError) -> ChatError {
        match error {
            BodyError::Broken => ChatError::Broken,
            BodyError::NoFirstByte => ChatError::NoFirstByte { after: self.limits.first_byte },
            BodyError::TooSlow => ChatError::TooSlow { after: self.limits.whole_answer },
            BodyError::Stalled => ChatError::Stalled { after: self.limits.between_bytes },
            BodyError::TooLong => ChatError::TooLong { most: self.limits.answer_bytes },
        }
    }
}

/// Whether a body that is no JSON begins as a stream of events does.
fn is_event_stream(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    ["data:", "event:", "id:", ":"].iter().any(|field| body.starts_with(field.as_bytes()))
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_ascii_lowercase()
}

/// What a status other than success means.
fn refusal(status: StatusCode, headers: &HeaderMap, words: &[u8], clock: &dyn Clock) -> ChatError {
    let retry_after = retry_after(headers, clock);
    let told: Option<Value> = serde_json::from_slice(words).ok();
    let code = told.as_ref().and_then(|told| {
        // Some endpoints answer with a list of one.
        let inner = told.get(0).unwrap_or(told);
        code_of(inner.get("error").unwrap_or(inner))
    });
    let status = status.as_u16();
    // No waiting helps where there is no credit left.
    let is_out_of_credit = matches!(code.as_deref(), Some("insufficient_quota"));
    match status {
        429 if !is_out_of_credit => ChatError::RateLimited { retry_after },
        408 | 409 | 425 | 500..=599 => ChatError::Unavailable { status, retry_after },
        _ => ChatError::Refused { status, code },
    }
}

/// How long the endpoint asks to be left alone: in milliseconds, in seconds, or until a date.
fn retry_after(headers: &HeaderMap, clock: &dyn Clock) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |name: &str| {
        let number = text(name)?.trim().parse::<f64>().ok()?;
        Duration::try_from_secs_f64(number).ok()
    };
    if let Some(millis) = number("retry-after-ms") {
        return Some(millis / 1_000);
    }
    if let Some(seconds) = number(RETRY_AFTER.as_str()) {
        return Some(seconds);
    }
    let date = httpdate::parse_http_date(text(RETRY_AFTER.as_str())?.trim()).ok()?;
    let date = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(date.saturating_sub(Duration::from_millis(clock.now().as_millis())))
}

#[cfg(test)]
mod tests {
    use dirigent_testkit::ManualClock;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), value.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn the_time_to_wait_is_read_in_all_its_forms() {
        let clock = ManualClock::new();
        let read = |pairs: &[(&'static str, &str)]| retry_after(&headers(pairs), &clock);
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(read(&[("retry-after", " 0.5 ")]), Some(Duration::from_millis(500)));
        let both = [("retry-after", "7"), ("retry-after-ms", "250")];
        assert_eq!(read(&both), Some(Duration::from_millis(250)));
        // 15 June 2025, 15:06:40 is where the clock stands.
        let date = [("retry-after", "Sun, 15 Jun 2025 15:07:00 GMT")];
        assert_eq!(read(&date), Some(Duration::from_secs(20)));
        let past = [("retry-after", "Sun, 15 Jun 2025 15:00:00 GMT")];
        assert_eq!(read(&past), Some(Duration::ZERO));
        for none in ["soon", "-1", "NaN", "1e300", ""] {
            assert_eq!(read(&[("retry-after", none)]), None, "{none}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_status_and_a_plain_code() {
        let read = |status: u16, words: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            refusal(status, &HeaderMap::new(), words.as_bytes(), &ManualClock::new())
        };
        let refused = |status, code: &str| ChatError::Refused { status, code: Some(code.into()) };
        let unavailable = |status| ChatError::Unavailable { status, retry_after: None };
        assert_eq!(read(429, "slow down"), ChatError::RateLimited { retry_after: None });
        let no_credit = r#"{"error": {"message": "Pay", "code": "insufficient_quota"}}"#;
        assert_eq!(read(429, no_credit), refused(429, "insufficient_quota"));
        assert_eq!(
            read(404, r#"[{"error": {"code": 5}}]"#),
            ChatError::Refused { status: 404, code: None }
        );
        assert_eq!(
            read(404, r#"{"error": {"code": "model_not_found"}}"#),
            refused(404, "model_not_found")
        );
        for status in [408, 409, 425, 500, 529] {
            assert_eq!(read(status, "<html>"), unavailable(status));
        }
        let key = r#"{"error": {"code": "sk-proj-abc", "type": "sk_proj_4"}}"#;
        assert_eq!(read(401, key), ChatError::Refused { status: 401, code: None });
        assert_eq!(read(302, ""), ChatError::Refused { status: 302, code: None });
    }
}
