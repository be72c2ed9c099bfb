//! Sends one request to one endpoint, and reads its answer as it comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use dirigent::Clock;
use dirigent::ports::Timestamp;
use futures_util::future::{Either, select};
use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use sse_stream::{Sse, SseByteStream};

use crate::client::body::{BodyError, EventBytes, PacedBody};
use crate::client::endpoint::Endpoint;
use crate::client::limits::Limits;
use crate::client::partial::Partial;
use crate::client::told::{refusal, reported_event};
use crate::client::wire::Completion;
use crate::error::ChatError;
use crate::question::ChatAnswer;
use crate::refusal::RefusedRequest;
use crate::usage::Usage;

/// The most bytes of a refusal that are read.
const REFUSAL_MAX: usize = 64 * 1_024;
/// The longest wait for the body of a refusal.
const REFUSAL_WAIT: Duration = Duration::from_secs(2);
/// The most bytes of JSON for each byte of answer. Letters may be escaped, and reasoning does not count.
const WHOLE_FACTOR: usize = 8;
/// An event may always have this many bytes. A piece may bring many events, and they count before they are read.
const EVENT_MIN: usize = 1_024 * 1_024;
/// The most bytes of a stream for each byte of answer, and beside it. Each token takes some 200 bytes.
const STREAM_FACTOR: usize = 512;

/// The longest time that a stream may stay open after its last event.
const END_WAIT: Duration = Duration::from_millis(100);
/// The longest wait for the token counts after a finish that came by itself.
const NUMBERS_WAIT: Duration = Duration::from_secs(2);

/// Sends requests.
pub(crate) struct Sender<'a> {
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) limits: &'a Limits,
    /// True if answers keep their tags.
    pub(crate) keeps_tags: bool,
}

/// The result of a request. It has the usage if an answer came, the words of the endpoint if it refused, and the
/// answer.
pub(crate) struct Outcome {
    pub(crate) usage: Option<Usage>,
    pub(crate) refusal: Option<RefusedRequest>,
    pub(crate) answer: Result<ChatAnswer, ChatError>,
}

/// Why no answer came, with the words of an endpoint that refused.
struct Failure {
    error: ChatError,
    said: Option<(StatusCode, Vec<u8>)>,
}

impl Failure {
    /// Creates a failure from an error that the endpoint reported in these words. Any other error is no refusal, so it
    /// has no words.
    fn told(error: ChatError, status: StatusCode, words: &[u8]) -> Self {
        let is_told = matches!(
            error,
            ChatError::Refused { .. }
                | ChatError::RateLimited { .. }
                | ChatError::Unavailable { .. }
                | ChatError::Reported { .. }
        );
        Self { error, said: is_told.then(|| (status, words.to_vec())) }
    }
}

impl From<ChatError> for Failure {
    fn from(error: ChatError) -> Self {
        Self { error, said: None }
    }
}

impl Sender<'_> {
    /// Sends a request and reads its answer. Dropping the future ends the request.
    pub(crate) async fn send(&self, endpoint: &Endpoint, body: Bytes) -> Outcome {
        match self.receive(endpoint, body).await {
            Ok(partial) => {
                let from = endpoint.identity();
                let (usage, answer) = partial.into_answer(endpoint.model(), self.keeps_tags, &from);
                Outcome { usage: Some(usage), refusal: None, answer }
            }
            Err(Failure { error, said }) => {
                let refusal = said.map(|(status, words)| {
                    RefusedRequest::new(endpoint.model(), status.as_u16(), error.clone(), &words)
                });
                Outcome { usage: None, refusal, answer: Err(error) }
            }
        }
    }

    async fn receive(&self, endpoint: &Endpoint, body: Bytes) -> Result<Partial, Failure> {
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
                return Err(ChatError::BadEndpoint.into());
            }
            Either::Left((Err(error), _)) if error.is_connect() => {
                return Err(ChatError::Unreachable.into());
            }
            Either::Left((Err(_), _)) => return Err(ChatError::Broken.into()),
            Either::Right(_) => {
                return Err(self.body_error(BodyError::late(false, until, end)).into());
            }
        };
        let is_stream = content_type(&response).contains("event-stream");
        let (status, headers) = (response.status(), response.headers().clone());
        let pieces = response.bytes_stream();
        if !status.is_success() {
            // The status alone says enough if the body does not arrive.
            let until = end.min(self.clock.now() + REFUSAL_WAIT);
            let mut body = PacedBody::new(pieces, self.clock, (until, until), REFUSAL_WAIT);
            let (words, _) = body.read_all(REFUSAL_MAX).await;
            let error = refusal(status, &headers, &words, self.clock.as_ref());
            return Err(Failure { error, said: Some((status, words)) });
        }
        let body = PacedBody::new(pieces, self.clock, (until, end), self.limits.between_bytes);
        if is_stream { self.read_stream(body).await } else { self.read_whole(body).await }
    }

    async fn read_whole(&self, mut body: PacedBody<'_>) -> Result<Partial, Failure> {
        let most = self.limits.answer_bytes.saturating_mul(WHOLE_FACTOR);
        let (bytes, ended) = body.read_all(most).await;
        // A complete answer counts, even if its connection ended badly.
        if let Err(error @ BodyError::TooLong) = ended {
            return Err(self.body_error(error).into());
        }
        // Some endpoints begin with a byte order mark.
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        // Some endpoints report an error as a list with one entry.
        let read = serde_json::from_slice(json)
            .or_else(|_| serde_json::from_slice(json).map(|(only,): (Completion<'_>,)| only));
        let completion: Completion<'_> = match (read, ended) {
            (Ok(completion), _) => completion,
            // This is a stream with the wrong content type.
            (Err(_), ended) if is_event_stream(&bytes) => {
                let pieces = [Ok(Bytes::from(bytes)), ended.map(|()| Bytes::new())];
                let stream = futures_util::stream::iter(pieces);
                return self.read_events(stream, &EventBytes::default()).await;
            }
            (Err(_), Err(error)) => return Err(self.body_error(error).into()),
            (Err(_), Ok(())) => return Err(ChatError::NotChat.into()),
        };
        let mut partial = Partial::default();
        partial.add(completion).map_err(|error| Failure::told(error, StatusCode::OK, json))?;
        self.check_size(&partial)?;
        match ended {
            Err(error) if !partial.is_finished() => Err(self.body_error(error).into()),
            _ if partial.is_chat() => Ok(partial),
            _ => Err(ChatError::NotChat.into()),
        }
    }

    async fn read_stream(&self, body: PacedBody<'_>) -> Result<Partial, Failure> {
        let most = self.limits.answer_bytes.saturating_mul(STREAM_FACTOR);
        let event = self.limits.answer_bytes.saturating_mul(WHOLE_FACTOR).max(EVENT_MIN);
        let (mut body, event) = body.bounded(most, event);
        // Some endpoints report an error like this, or answer as a whole although a stream was asked for.
        if body.begins_as_json().await.map_err(|error| self.body_error(error))? {
            return self.read_whole(body).await;
        }
        self.read_events(body, &event).await
    }

    async fn read_events(
        &self,
        body: impl Stream<Item = Result<Bytes, BodyError>> + Send,
        of_event: &EventBytes,
    ) -> Result<Partial, Failure> {
        // Some endpoints omit the empty line that ends the last event.
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let last_line = futures_util::stream::once(async move {
            ends.store(true, Ordering::Relaxed);
            Ok(Bytes::from_static(b"\n\n"))
        });
        let mut events = SseByteStream::new(Box::pin(body.chain(last_line)));
        let mut partial = Partial::default();
        // The deadline for what may follow a finish. Signs of life do not extend it.
        let mut until = None;
        while let Some(event) = self.next_event(&mut events, until).await {
            let event = match event {
                Ok(event) => event,
                // The answer is complete, so it does not matter how the connection ends.
                Err(_) if partial.is_finished() => break,
                Err(error) => return Err(self.stream_error(&error).into()),
            };
            of_event.renew();
            let data = event.data.unwrap_or_default();
            let data = data.trim();
            let kind = event.event.unwrap_or_default().to_ascii_lowercase();
            if kind.contains("error") {
                return Err(Failure::told(reported_event(data), StatusCode::OK, data.as_bytes()));
            }
            if data == "[DONE]" {
                self.read_end(events).await;
                return if partial.is_chat() {
                    Ok(partial)
                } else {
                    Err(ChatError::NotChat.into())
                };
            }
            if data.is_empty() {
                continue;
            }
            let before = partial.bytes();
            match partial.add_chunk(data) {
                Ok(()) => {}
                // An event of an unknown kind, or one after the answer, says nothing.
                Err(ChatError::NotChat) if is_other_kind(&kind) || partial.is_finished() => {
                    continue;
                }
                // At the very end this is an event that was cut off.
                Err(ChatError::NotChat) if is_over.load(Ordering::Relaxed) => {
                    return Err(ChatError::Broken.into());
                }
                Err(error) => return Err(Failure::told(error, StatusCode::OK, data.as_bytes())),
            }
            self.check_size(&partial)?;
            if !partial.is_finished() {
                until = None;
            } else if until.is_none() || partial.bytes() != before {
                let wait = self.limits.between_bytes;
                let wait = if partial.is_closed() { wait.min(NUMBERS_WAIT) } else { wait };
                until = Some(self.clock.now() + wait);
            }
        }
        // Some endpoints close the stream without a word once the answer is whole.
        if partial.is_finished() && partial.is_chat() {
            Ok(partial)
        } else {
            Err(ChatError::Broken.into())
        }
    }

    /// Returns the next event, or `None` at the end of the stream or after `until`.
    async fn next_event(
        &self,
        events: &mut (impl Stream<Item = Result<Sse, sse_stream::Error>> + Unpin + Send),
        until: Option<Timestamp>,
    ) -> Option<Result<Sse, sse_stream::Error>> {
        let Some(until) = until else {
            return events.next().await;
        };
        match select(events.next(), self.clock.sleep_until(until)).await {
            Either::Left((event, _)) => event,
            Either::Right(_) => None,
        }
    }

    /// Reads to the end of the stream so that its connection can be used again. It waits only briefly, because the
    /// answer is complete.
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

/// Returns true if an event has a kind that this protocol does not have.
fn is_other_kind(kind: &str) -> bool {
    !matches!(kind, "" | "message" | "data" | "completion" | "chunk")
}

/// Returns true if a body that is not JSON begins like a stream of events.
fn is_event_stream(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    ["data:", "event:", "id:", ":"].iter().any(|field| body.starts_with(field.as_bytes()))
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_ascii_lowercase()
}

/// Returns how long the endpoint asks you to wait. It may say so in milliseconds, in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, clock: &dyn Clock) -> Option<Duration> {
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
}
