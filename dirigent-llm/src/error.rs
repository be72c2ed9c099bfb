//! Failures between an agent and its model.

use std::fmt;
use std::time::Duration;

/// Why a model gave no reply. Neither `Display` nor `Debug` shows a key, an address or a word of a message.
///
/// You get it in [`Builder::on_agent_error`](dirigent::host::Builder::on_agent_error), as the source of the agent's
/// failure.
///
/// ```
/// use dirigent_llm::ChatError;
/// use std::time::Duration;
///
/// let error = ChatError::RateLimited { retry_after: Some(Duration::from_secs(7)) };
/// assert_eq!(error.to_string(), "the endpoint's rate limit is reached, for 7 s more");
/// assert!(error.is_retryable());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The address or a header cannot be used. An example is an `https` address without the feature `tls`.
    #[error("the endpoint's address or a header cannot be used")]
    BadEndpoint,
    /// No connection could be made: no server listens there, its name is unknown, or TLS failed.
    #[error("the endpoint cannot be reached: check its address, and whether it runs")]
    Unreachable,
    /// Status 429.
    #[error("the endpoint's rate limit is reached{}", wait(*retry_after))]
    RateLimited {
        /// The wait that the endpoint asks for, if it does (`Retry-After`, in seconds or as a date, or `retry-after-ms`).
        retry_after: Option<Duration>,
    },
    /// Status 408, 409, 425 or 5xx: the endpoint may answer later.
    #[error("the endpoint is unavailable (status {status}){}", wait(*retry_after))]
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// The wait that the endpoint asks for, if it does.
        retry_after: Option<Duration>,
    },
    /// Any other status, for example because of a wrong key, an unknown model, a bad request or used up credit. It also
    /// stands for such an error within an answer; the status is then the one that the error names, or 200.
    #[error("the endpoint refuses the request (status {status}{}){}", Named(code), remedy(*status))]
    Refused {
        /// The HTTP status, or the status that the error within an answer names.
        status: u16,
        /// The error's code in the answer, such as `model_not_found`. It is `None` if the code is not a plain word.
        code: Option<Box<str>>,
    },
    /// No byte of an answer came in time ([`Limits::first_byte`](crate::Limits::first_byte)).
    #[error("the endpoint did not begin to answer within {} s", .after.as_secs())]
    NoFirstByte {
        /// The time that was waited.
        after: Duration,
    },
    /// An answer began and then paused for too long ([`Limits::between_bytes`](crate::Limits::between_bytes)).
    #[error("the endpoint stopped in the middle of its answer for {} s", .after.as_secs())]
    Stalled {
        /// The time that was waited.
        after: Duration,
    },
    /// An answer began and did not end in time ([`Limits::whole_answer`](crate::Limits::whole_answer)).
    #[error("the endpoint's answer was not whole within {} s", .after.as_secs())]
    TooSlow {
        /// The time that was waited.
        after: Duration,
    },
    /// The answer is incomplete. Its connection ended in the middle, or the endpoint named no end (`finish_reason`) or
    /// an unknown one, such as `abort`.
    #[error("the endpoint's answer broke off")]
    Broken,
    /// The answer is not JSON, or not a chat completion.
    #[error("the endpoint's answer is no chat completion")]
    NotChat,
    /// The endpoint reported an error within an answer that had begun well, and did not say that the error is
    /// permanent.
    #[error("the endpoint reported an error within its answer{}", Named(code))]
    Reported {
        /// The error's code. It is `None` if the code is not a plain word.
        code: Option<Box<str>>,
    },
    /// The model reasoned and gave no answer. Usually the answer was cut off because it reached its limit of tokens.
    #[error("the model reasoned and gave no answer{}", if *.is_cut { ": its tokens were used up" } else { "" })]
    OnlyReasoning {
        /// True if the answer was cut off at its limit of tokens.
        is_cut: bool,
    },
    /// The answer is empty, although not by the model's choice. It was cut off or filtered, or the endpoint named no end,
    /// or an unknown one.
    #[error("the model's answer was withheld or cut before its first word")]
    Withheld,
    /// The model repeated its instructions for the turn word for word, and gave no answer of its own.
    #[error("the model repeated its instructions and gave no answer")]
    Parroted,
    /// The answer is longer than [`Limits::answer_bytes`](crate::Limits::answer_bytes).
    #[error("the endpoint's answer is longer than {most} bytes")]
    TooLong {
        /// The limit in bytes.
        most: usize,
    },
    /// The model kept calling tools ([`Limits::tool_rounds`](crate::Limits::tool_rounds)).
    #[error("the model called tools in more than {rounds} rounds")]
    ToolRounds {
        /// The limit of rounds.
        rounds: usize,
    },
    /// The turn was taken away, so the request was cancelled.
    #[error("the turn was taken away")]
    Cancelled,
}

impl ChatError {
    /// Returns true if the same request may succeed later. Such a request is repeated within the turn's deadline.
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable
                | Self::RateLimited { .. }
                | Self::Unavailable { .. }
                | Self::NoFirstByte { .. }
                | Self::Stalled { .. }
                | Self::Broken
                | Self::NotChat
                | Self::Reported { .. }
        )
    }

    /// Returns how long the endpoint asks you to wait.
    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } | Self::Unavailable { retry_after, .. } => {
                *retry_after
            }
            Self::BadEndpoint
            | Self::Unreachable
            | Self::Refused { .. }
            | Self::NoFirstByte { .. }
            | Self::Stalled { .. }
            | Self::Broken
            | Self::NotChat
            | Self::Reported { .. }
            | Self::OnlyReasoning { .. }
            | Self::Withheld
            | Self::Parroted
            | Self::TooSlow { .. }
            | Self::TooLong { .. }
            | Self::ToolRounds { .. }
            | Self::Cancelled => None,
        }
    }
}

fn wait(after: Option<Duration>) -> String {
    after.map_or_else(String::new, |after| format!(", for {} s more", after.as_secs()))
}

/// Returns advice on a request that was refused with this status, or an empty text.
const fn remedy(status: u16) -> &'static str {
    match status {
        401 | 403 => ": check its key",
        402 => ": check its credit",
        404 => ": check its address and the model's name",
        _ => "",
    }
}

struct Named<'a>(&'a Option<Box<str>>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|code| write!(f, ", {code}"))
    }
}

/// The longest code that is shown.
const CODE_MAX: usize = 48;

/// Returns an error's code if it is a plain word. Only letters and underscores are allowed, because no key and no
/// message can hide in those.
pub(crate) fn plain_code(code: &str) -> Option<Box<str>> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
    let fits = (1..=CODE_MAX).contains(&code.len());
    (fits && code.chars().all(is_plain)).then(|| code.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_will_not() {
        let (after, code, retry_after) = (Duration::from_secs(1), None, None);
        let may_pass = [
            ChatError::Unreachable,
            ChatError::RateLimited { retry_after },
            ChatError::Unavailable { status: 503, retry_after },
            ChatError::NoFirstByte { after },
            ChatError::Stalled { after },
            ChatError::Broken,
            ChatError::NotChat,
            ChatError::Reported { code: code.clone() },
        ];
        assert!(may_pass.iter().all(ChatError::is_retryable));
        let stays = [
            ChatError::BadEndpoint,
            ChatError::Refused { status: 404, code },
            ChatError::TooSlow { after },
            ChatError::OnlyReasoning { is_cut: true },
            ChatError::Withheld,
            ChatError::Parroted,
            ChatError::TooLong { most: 1 },
            ChatError::ToolRounds { rounds: 1 },
            ChatError::Cancelled,
        ];
        assert!(!stays.iter().any(ChatError::is_retryable));
    }
}
