//! The words of an endpoint that refused a request.

use std::fmt;

use crate::error::ChatError;

/// A request that an endpoint refused, by its status or by an error within its answer. You get it only in the hooks
/// [`ChatAgent::on_refusal`](crate::ChatAgent::on_refusal) and [`Chat::on_refusal`](crate::Chat::on_refusal).
///
/// The endpoint's words may quote your request, or part of your key. For this reason `Debug` and all logs omit them.
///
/// ```
/// use dirigent_llm::{ChatAgent, Endpoint};
///
/// let agent = ChatAgent::new(Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2"))
///     .on_refusal(|turn, refusal| eprintln!("{}: {} {}", turn.agent(), refusal.status, refusal.body));
/// # let _ = agent;
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedRequest {
    /// The model that was asked, by the name in the endpoint's settings.
    pub model: String,
    /// The HTTP status. It is 200 if the error stood within an answer.
    pub status: u16,
    /// The error that follows from it.
    pub error: ChatError,
    /// The beginning of the body, at most 8 KiB. Bytes that are not UTF-8 are replaced.
    pub body: String,
}

/// The most bytes of a body that the hook gets.
const BODY_MAX: usize = 8 * 1_024;

impl RefusedRequest {
    pub(crate) fn new(model: &str, status: u16, error: ChatError, words: &[u8]) -> Self {
        let words = words.get(..BODY_MAX).unwrap_or(words);
        let mut body = String::from_utf8_lossy(words).into_owned();
        // A replacement character is longer than the byte it stands for.
        let end = (0..=BODY_MAX.min(body.len())).rev().find(|end| body.is_char_boundary(*end));
        body.truncate(end.unwrap_or_default());
        Self { model: model.to_owned(), status, error, body }
    }
}

impl fmt::Debug for RefusedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusedRequest")
            .field("model", &self.model)
            .field("status", &self.status)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_bounded_and_not_shown() {
        let error = ChatError::Reported { code: None };
        let refusal = RefusedRequest::new("small", 200, error, &vec![0xff; 100_000]);
        assert!(refusal.body.len() <= BODY_MAX && refusal.body.len() > BODY_MAX - 4);
        let refusal = RefusedRequest { body: "hidden".to_owned(), ..refusal };
        assert!(!format!("{refusal:?}").contains("hidden"));
    }
}
