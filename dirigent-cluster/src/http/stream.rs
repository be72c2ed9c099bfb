//! One question of a client, as the server sees it.

use std::future::poll_fn;
use std::sync::Arc;

use ::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use dirigent_relay::{QUESTION_MAX, Rejection};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};

use super::body::{self, ReadError};
use super::exchange::is_rule;
use super::server::HttpService;
use super::status;
use super::status::PATH;

/// Serves one question: reads it, has it answered, sends the answer.
pub(super) async fn serve_question(
    shared: Arc<HttpService>,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let answer = answer(&shared, request, &mut respond).await;
    let Some((status, body)) = answer else { return };
    let mut response = Response::new(());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    // A client that is gone is no trouble.
    let Ok(mut stream) = respond.send_response(response, false) else { return };
    let late = shared.clock.sleep_until(shared.clock.now() + shared.limits.answer);
    tokio::select! {
        biased;
        _ = body::write(&mut stream, body) => {}
        () = late => stream.send_reset(Reason::CANCEL),
    }
}

/// `None` where the client waits no longer.
async fn answer(
    shared: &HttpService,
    request: Request<RecvStream>,
    respond: &mut SendResponse<Bytes>,
) -> Option<(StatusCode, Bytes)> {
    let empty = |status| Some((status, Bytes::new()));
    let (head, mut stream) = request.into_parts();
    let Some(rule) = head.uri.path().strip_prefix(PATH).filter(|rule| is_rule(rule)) else {
        return empty(StatusCode::NOT_FOUND);
    };
    if head.method != Method::POST {
        return empty(StatusCode::METHOD_NOT_ALLOWED);
    }
    let Ok(_place) = shared.places.try_acquire() else {
        return empty(StatusCode::SERVICE_UNAVAILABLE);
    };
    let late = shared.clock.sleep_until(shared.clock.now() + shared.limits.question);
    let question = tokio::select! {
        biased;
        question = body::read(&mut stream, QUESTION_MAX, Some(&shared.bytes)) => question,
        () = late => return empty(StatusCode::REQUEST_TIMEOUT),
    };
    let question = match question {
        Ok(question) => question,
        Err(ReadError::TooLarge) => return Some(rejected(Rejection::TooLarge)),
        Err(ReadError::NoRoom) => return empty(StatusCode::SERVICE_UNAVAILABLE),
        Err(ReadError::Broken(_)) => return None,
    };
    tokio::select! {
        biased;
        answer = shared.server.answer(rule, &question.bytes) => Some(match answer {
            Ok(answer) => (StatusCode::OK, answer.into()),
            Err(rejection) => rejected(rejection),
        }),
        _ = poll_fn(|context| respond.poll_reset(context)) => None,
    }
}

fn rejected(rejection: Rejection) -> (StatusCode, Bytes) {
    (status::of(rejection), Bytes::from_static(rejection.code().as_bytes()))
}
