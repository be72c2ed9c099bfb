//! The errors of the chat and the store, and what they prove about a request.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The kind of a failure.
///
/// ```
/// use dirigent::ports::ErrorKind;
/// assert!(ErrorKind::RateLimited.is_retryable());
/// assert!(!ErrorKind::Forbidden.is_retryable());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The channel, message or member does not exist, or no longer exists.
    Gone,
    /// The account lacks a permission there.
    Forbidden,
    /// The account's token is not valid. No request works until it is replaced.
    Unauthorized,
    /// There were too many requests. `retry_after` says when to continue.
    RateLimited,
    /// The request itself is wrong, and would be refused again.
    Invalid,
    /// The other side has a server error, or cannot be reached. If no connection was made, the error has
    /// [`Certainty::NotDone`].
    Unavailable,
    /// The request was sent, and no answer came in time, or the connection broke.
    NoAnswer,
    /// The store could not read or write.
    Store,
    /// This implementation does not offer the operation.
    Unsupported,
}

impl ErrorKind {
    /// Returns whether the same request may succeed a little later.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::NoAnswer | Self::Store)
    }

    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Gone => "it does not exist any more",
            Self::Forbidden => {
                "the account lacks a permission there (to post: View Channels and Send Messages, in threads Send Messages \
                 in Threads, with embeds Embed Links, with files Attach Files)"
            }
            Self::Unauthorized => {
                "the account's token is not valid: take a new one from the developer portal"
            }
            Self::RateLimited => "too many requests",
            Self::Invalid => "the request is not acceptable",
            Self::Unavailable => "the other side is out of order",
            Self::NoAnswer => "no answer came",
            Self::Store => "the store could not read or write",
            Self::Unsupported => "the operation is not offered here",
        }
    }
}

/// Says whether a failed request was carried out.
///
/// ```
/// use dirigent::ports::Certainty;
/// assert_ne!(Certainty::NotDone, Certainty::Unknown);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "either it is certain or it is not")]
pub enum Certainty {
    /// The request was not carried out, and you may send it again.
    NotDone,
    /// The request may have been carried out. Send it again only with the same nonce, or look first.
    Unknown,
}

/// A failed attempt at the chat. It explains why a text is not in the channel.
///
/// ```
/// use dirigent::ports::{ErrorKind, PostFailure};
///
/// let failure = PostFailure { kind: ErrorKind::Invalid, code: Some(200_000) };
/// assert_eq!(failure.to_string(), "the chat does not take what it says (code 200000)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "a kind and a number")]
pub struct PostFailure {
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// The chat's own number for the reason, if it has one, for example Discord's error code. 200000 means that the
    /// guild's `AutoMod` blocks the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u64>,
}

impl PostFailure {
    /// Returns whether the chat refused the text for its words, so that it would refuse the same text again.
    pub const fn is_for_its_words(&self) -> bool {
        matches!(self.kind, ErrorKind::Invalid)
    }
}

impl fmt::Display for PostFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_for_its_words() {
            "the chat does not take what it says"
        } else {
            self.kind.describe()
        })?;
        match self.code {
            Some(code) => write!(f, " (code {code})"),
            None => Ok(()),
        }
    }
}

/// A failed attempt at the chat or the store.
///
/// ```
/// use dirigent::ports::{ApiError, Certainty, ErrorKind};
/// use std::time::Duration;
///
/// let busy = ApiError::new(ErrorKind::RateLimited).with_retry_after(Duration::from_secs(2));
/// assert_eq!(busy.certainty(), Certainty::NotDone);
/// assert_eq!(ApiError::new(ErrorKind::NoAnswer).certainty(), Certainty::Unknown);
/// ```
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiError {
    kind: ErrorKind,
    certainty: Certainty,
    #[serde(
        rename = "retryAfterMs",
        default,
        with = "crate::written::optional",
        skip_serializing_if = "Option::is_none"
    )]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<u64>,
    #[serde(default, with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ApiError {
    /// Creates an error of this kind. Its certainty is [`Certainty::NotDone`], except for [`ErrorKind::NoAnswer`],
    /// [`ErrorKind::Unavailable`] and [`ErrorKind::Store`].
    pub const fn new(kind: ErrorKind) -> Self {
        let certainty = match kind {
            ErrorKind::NoAnswer | ErrorKind::Unavailable | ErrorKind::Store => Certainty::Unknown,
            ErrorKind::Gone
            | ErrorKind::Forbidden
            | ErrorKind::Unauthorized
            | ErrorKind::RateLimited
            | ErrorKind::Invalid
            | ErrorKind::Unsupported => Certainty::NotDone,
        };
        Self { kind, certainty, retry_after: None, code: None, source: None }
    }

    /// Sets the certainty, if your implementation knows better.
    #[must_use]
    pub const fn with_certainty(mut self, certainty: Certainty) -> Self {
        self.certainty = certainty;
        self
    }

    /// Sets the time to wait before the next attempt.
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Sets the number of the chat's reason, for example Discord's error code.
    #[must_use]
    pub const fn with_code(mut self, code: u64) -> Self {
        self.code = Some(code);
        self
    }

    /// Sets the source of the error. It must contain no secret and no message text.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of the failure.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns whether the request was carried out, as far as it is known.
    pub const fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// Returns the kind of the failure, with the chat's own number.
    pub const fn post_failure(&self) -> PostFailure {
        PostFailure { kind: self.kind, code: self.code }
    }

    /// Returns the time to wait before the next attempt, if the other side said so.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.describe())?;
        if let Some(wait) = self.retry_after {
            write!(f, "; try again in {} ms", wait.as_millis())?;
        }
        match self.certainty {
            Certainty::NotDone => f.write_str(" (nothing was done)"),
            Certainty::Unknown => f.write_str(" (it may have been done)"),
        }
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
