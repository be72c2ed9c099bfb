//! What an endpoint said when it refused.

use std::fmt;

use crate::error::ChatError;

/// What an endpoint said when it refused a request: its status was no success, or it reported an error within its answer. Given to
/// [`ChatAgent::on_refusal`](crate::ChatAgent::on_refusal) and [`Chat::on_refusal`](crate::Chat::on_refusal), and to nothing else.
///
/// Its words may quote the request, and a part of the key: `Debug` shows none of them, and no log has them.
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
    /// The model that was asked, as the endpoint's settings call it.
    pub model: String,
    /// The HTTP status: 200 where the error stood within an answer.
    pub status: u16,
    /// What the agent makes of it.
    pub error: ChatError,
    /// The beginning of the body, at most 8 KiB. What is no UTF-8 is replaced.
    pub body: String,
}

/// The most bytes of a body that a host hears.
const BODY_MAX: usize = 8 * 1_024;

impl RefusedRequest {
    pub(crate) fn new(model: &str, status: u16, error: ChatError, words: &[u8]) -> Self {
        let words = words.get(..BODY_MAX).unwrap_or(words);
        let mut body = String::from_utf8_lossy(words).into_owned();
        // A replacement is longer than what it stands for.
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
