//! What went wrong at the boundary, and what may be concluded from it.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What kind of failure it was.
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
    /// The channel, message or member does not exist (any more).
    Gone,
    /// The account lacks a permission there.
    Forbidden,
    /// The account's token is not valid: nothing will work until it is replaced.
    Unauthorized,
    /// Too many requests; `retry_after` says when to go on.
    RateLimited,
    /// The request itself is wrong and would be refused again.
    Invalid,
    /// The other side is out of order (a server error), or cannot be reached: where no connection came
    /// about, the error says [`Certainty::NotDone`].
    Unavailable,
    /// The request was sent, and no answer came in time, or the connection broke.
    NoAnswer,
    /// The store could not read or write.
    Store,
    /// The operation is not offered by this implementation.
    Unsupported,
}

impl ErrorKind {
    /// Whether the same request may succeed a little later.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::NoAnswer | Self::Store)
    }

    /// The kind in words.
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

/// What may be concluded about a request that failed.
///
/// ```
/// use dirigent::ports::Certainty;
/// assert_ne!(Certainty::NotDone, Certainty::Unknown);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "either it is certain or it is not")]
pub enum Certainty {
    /// Nothing was done; it may be asked again.
    NotDone,
    /// It may have been done; ask again only with the same nonce, or look first.
    Unknown,
}

/// How an attempt at the chat failed, for who wants to know why something is not in the channel.
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
    /// What kind of failure it was.
    pub kind: ErrorKind,
    /// The chat's own number for the reason, where it has one: Discord's error code. 200000 is a text that the guild's
    /// `AutoMod` blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u64>,
}

impl PostFailure {
    /// Whether the chat refused it for what it says: said again, it would be refused again.
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
    /// An error of this kind. It is certain that nothing was done, except for
    /// [`ErrorKind::NoAnswer`], [`ErrorKind::Unavailable`] and [`ErrorKind::Store`].
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

    /// Says what is certain, where the implementation knows better.
    #[must_use]
    pub const fn with_certainty(mut self, certainty: Certainty) -> Self {
        self.certainty = certainty;
        self
    }

    /// Says how long to wait before asking again.
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Says by which number the chat names its reason, such as Discord's error codes.
    #[must_use]
    pub const fn with_code(mut self, code: u64) -> Self {
        self.code = Some(code);
        self
    }

    /// Keeps what caused it. It must hold no secret and no message text.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure it was.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What may be concluded.
    pub const fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// What was refused, and by which of the chat's own numbers.
    pub const fn post_failure(&self) -> PostFailure {
        PostFailure { kind: self.kind, code: self.code }
    }

    /// How long to wait before asking again, where the other side said so.
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
