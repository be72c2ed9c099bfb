//! Accepts connections and sends answers.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Sleep;

use crate::script::answer::ScriptedAnswer;
use crate::script::server::{Received, ServedScript};

/// The pause after a connection could not be accepted, in milliseconds.
const ACCEPT_AGAIN_MS: u64 = 100;

/// Serves until dropped. Dropping it stops all connections.
pub(crate) async fn serve(listener: TcpListener, state: Arc<ServedScript>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // The process may be out of file descriptors, for example. Others close soon.
                    if let Some(pause) = pause(ACCEPT_AGAIN_MS) {
                        pause.await;
                    }
                    continue;
                };
                let state = Arc::clone(&state);
                state.connect();
                let _ = stream.set_nodelay(true);
                connections.spawn(async move {
                    let service = service_fn(|request| respond(Arc::clone(&state), request));
                    let connection =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    // The script does not care if a client goes away.
                    let _ = connection.await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Counts the request as given up if it is dropped before its answer is sent.
struct Answering {
    state: Arc<ServedScript>,
    is_over: bool,
}

impl Drop for Answering {
    fn drop(&mut self) {
        if !self.is_over {
            self.state.give_up();
        }
    }
}

type Answered = Response<Either<Full<Bytes>, Chunks>>;

async fn respond(
    state: Arc<ServedScript>,
    request: Request<Incoming>,
) -> Result<Answered, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let path = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    if !head.uri.path().ends_with("/chat/completions") {
        return Ok(refused(StatusCode::NOT_FOUND));
    }
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers = head.headers.iter().map(text).collect();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_streamed = body.get("stream") == Some(&Value::Bool(true));
    let model = body.get("model").and_then(Value::as_str).unwrap_or("model").to_owned();
    let answer = state.answer(Received { path, headers, body });
    let mut answering = Answering { state, is_over: false };
    if answer.is_mute {
        std::future::pending::<()>().await;
    }
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = if let Some(body) = &answer.body {
        answering.is_over = true;
        of(status, "text/html", body.clone())
    } else if status != StatusCode::OK {
        answering.is_over = true;
        refused(status)
    } else if is_streamed {
        let mut response = Response::new(Either::Right(Chunks::new(&answer, &model, answering)));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    } else {
        if let Some(pause) = pause(answer.pause_ms) {
            pause.await;
        }
        answering.is_over = true;
        of(status, "application/json", answer.whole(&model))
    };
    for (name, value) in &answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

fn of(status: StatusCode, kind: &'static str, body: String) -> Answered {
    let mut response = Response::new(Either::Left(Full::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn refused(status: StatusCode) -> Answered {
    of(status, "application/json", r#"{"error":{"message":"No."}}"#.to_owned())
}

#[expect(clippy::disallowed_methods, reason = "this is a server of its own, in real time")]
fn pause(millis: u64) -> Option<Pin<Box<Sleep>>> {
    (millis > 0).then(|| Box::pin(tokio::time::sleep(Duration::from_millis(millis))))
}

/// The body of a stream.
struct Chunks {
    left: std::vec::IntoIter<String>,
    sent: usize,
    stalls_after: Option<usize>,
    breaks_after: Option<usize>,
    pause_ms: u64,
    pause: Option<Pin<Box<Sleep>>>,
    answering: Answering,
}

impl Chunks {
    fn new(answer: &ScriptedAnswer, model: &str, answering: Answering) -> Self {
        Self {
            left: answer.chunks(model).into_iter(),
            sent: 0,
            stalls_after: answer.stalls_after,
            breaks_after: answer.breaks_after,
            pause_ms: answer.pause_ms,
            pause: pause(answer.pause_ms),
            answering,
        }
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let body = &mut *self;
        if body.stalls_after == Some(body.sent) {
            // It is dropped when the client leaves.
            return Poll::Pending;
        }
        if body.breaks_after == Some(body.sent) {
            body.answering.is_over = true;
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
        }
        if let Some(pause) = &mut body.pause {
            if pause.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        let Some(chunk) = body.left.next() else {
            body.answering.is_over = true;
            return Poll::Ready(None);
        };
        body.sent += 1;
        body.pause = pause(body.pause_ms);
        Poll::Ready(Some(Ok(Frame::data(format!("data: {chunk}\n\n").into()))))
    }
}
