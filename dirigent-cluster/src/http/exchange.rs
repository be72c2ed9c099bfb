//! One question over a connection, as the asker sees it.

use std::future::poll_fn;
use std::sync::Arc;

use ::http::{HeaderValue, Request, StatusCode, Uri, header};
use bytes::Bytes;
use dirigent_relay::{ANSWER_MAX, CarryError};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, SendStream};
use tokio::sync::Notify;

use super::address::HostAddress;
use super::body::{self, ReadError};
use super::error::HttpError;
use super::status;
use super::status::PATH;

/// The most bytes of a rule's name.
const RULE_MAX: usize = 128;

/// A connection that is open, or was until a moment ago.
#[derive(Clone)]
pub(super) struct Line {
    requests: SendRequest<Bytes>,
    /// Told when a question over it was given up.
    suspicion: Arc<Notify>,
}

/// A question that is being sent.
pub(super) struct Exchange {
    response: ResponseFuture,
    stream: SendStream<Bytes>,
    question: Bytes,
    watch: Watch,
}

/// Tells that a question was given up, unless it was answered.
struct Watch {
    suspicion: Arc<Notify>,
    is_over: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.is_over {
            self.suspicion.notify_one();
        }
    }
}

/// Whether this rule can stand in a path.
pub(super) fn is_rule(rule: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=RULE_MAX).contains(&rule.len()) && rule.bytes().all(is_allowed)
}

/// Writes the head of a question.
pub(super) fn head(
    address: &HostAddress,
    is_encrypted: bool,
    rule: &str,
    length: usize,
) -> Result<Request<()>, HttpError> {
    if !is_rule(rule) {
        return Err(HttpError::BadRule);
    }
    let uri = Uri::builder()
        .scheme(if is_encrypted { "https" } else { "http" })
        .authority(address.authority().clone())
        .path_and_query(format!("{PATH}{rule}"))
        .build();
    let request = Request::post(uri.map_err(|_| HttpError::BadRule)?)
        .header(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"))
        .header(header::CONTENT_LENGTH, HeaderValue::from(length));
    request.body(()).map_err(|_| HttpError::BadRule)
}

impl Line {
    pub(super) fn new(requests: SendRequest<Bytes>, suspicion: Arc<Notify>) -> Self {
        Self { requests, suspicion }
    }

    /// Begins a question. An error means that it was surely not sent.
    pub(super) async fn begin(
        &self,
        head: Request<()>,
        question: Bytes,
    ) -> Result<Exchange, HttpError> {
        let mut requests = self.requests.clone();
        poll_fn(|context| requests.poll_ready(context)).await.map_err(HttpError::lost)?;
        let sent = requests.send_request(head, false);
        let (response, stream) = sent.map_err(HttpError::lost)?;
        let watch = Watch { suspicion: self.suspicion.clone(), is_over: false };
        Ok(Exchange { response, stream, question, watch })
    }
}

/// Why a question that was begun has no answer.
pub(super) enum Unanswered {
    /// The connection was being closed by the other end, which says that it did not look at the question.
    NotLookedAt(HttpError),
    /// Anything else.
    Failed(CarryError),
}

impl Exchange {
    /// Sends what is left of the question, and reads the answer.
    pub(super) async fn finish(self) -> Result<Vec<u8>, Unanswered> {
        let Self { response, mut stream, question, mut watch } = self;
        let answer = answer(response, &mut stream, question).await;
        watch.is_over = true;
        answer
    }
}

async fn answer(
    response: ResponseFuture,
    stream: &mut SendStream<Bytes>,
    question: Bytes,
) -> Result<Vec<u8>, Unanswered> {
    let response = {
        tokio::pin!(response);
        tokio::select! {
            biased;
            // It may come before the question was sent whole: a rejection.
            response = response.as_mut() => response,
            // Where the question cannot be sent the response says why, or that there is none.
            _ = body::write(stream, question) => response.as_mut().await,
        }
    };
    let mut response = response.map_err(lost)?;
    let status = response.status();
    let max = if status == StatusCode::OK { ANSWER_MAX } else { status::CODE_MAX };
    let body = body::read(response.body_mut(), max, None).await;
    understood(status, body).map_err(Unanswered::Failed)
}

fn understood(
    status: StatusCode,
    body: Result<body::Body<'_>, ReadError>,
) -> Result<Vec<u8>, CarryError> {
    let other = || HttpError::Status { status: status.as_u16() }.no_answer();
    match (status, body) {
        (StatusCode::OK, Ok(body)) => Ok(body.bytes),
        (StatusCode::OK, Err(ReadError::TooLarge | ReadError::NoRoom)) => {
            Err(HttpError::AnswerTooLarge.no_answer())
        }
        (StatusCode::OK, Err(ReadError::Broken(error))) => Err(HttpError::lost(error).no_answer()),
        (status, Ok(body)) => {
            Err(status::read(status, &body.bytes).map_or_else(other, CarryError::Rejected))
        }
        (_, Err(_)) => Err(other()),
    }
}

/// There is no response. Two of the reasons say that the question was surely not looked at: the stream was refused, or is one of
/// those that the other end names when it closes the connection.
fn lost(error: h2::Error) -> Unanswered {
    let is_refused = error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM);
    let (is_refused, is_left_out) =
        (error.is_remote() && is_refused, error.is_remote() && error.is_go_away());
    let error = HttpError::lost(error);
    if is_left_out {
        Unanswered::NotLookedAt(error)
    } else if is_refused {
        Unanswered::Failed(error.unreachable())
    } else {
        Unanswered::Failed(error.no_answer())
    }
}
