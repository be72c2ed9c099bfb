//! The causes of failed attempts.

use std::time::Duration;

use dirigent::ports::{ApiError, Certainty, ErrorKind};
use http::StatusCode;

use crate::NeededPermission;

/// Why an attempt failed, in more detail than its [`ErrorKind`]. It is the source of every [`ApiError`] of this crate.
/// It contains no text of Discord's answer, because that may repeat what was sent.
///
/// ```
/// use std::error::Error;
/// use dirigent::ports::{ApiError, ErrorKind};
/// use dirigent_discord::RestError;
///
/// fn code(error: &ApiError) -> Option<u64> {
///     match error.source()?.downcast_ref()? {
///         RestError::Refused { code, .. } => *code,
///         _ => None,
///     }
/// }
/// let refused = RestError::Refused { status: 403, code: Some(50_013) };
/// let error = ApiError::new(ErrorKind::Forbidden).with_source(refused);
/// assert_eq!(code(&error), Some(50_013));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestError {
    /// Discord answered, but not with success.
    #[error("Discord answered with status {status}{}", with_code(*.code))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Discord's own error code. If it is `None`, the answer came from a proxy before Discord, for example
        /// Cloudflare. It then counts as an outage, whatever its status ([`ErrorKind::Unavailable`]).
        code: Option<u64>,
    },
    /// Discord reported success, but this crate cannot read the answer.
    #[error("Discord's answer could not be read")]
    Unreadable,
    /// No connection could be made. The name was not found, the connection was refused, or TCP and TLS took more than
    /// four seconds. No request was sent. ([`ErrorKind::Unavailable`], [`Certainty::NotDone`])
    #[error("no connection to Discord could be made")]
    NotConnected,
    /// The connection broke after the request may have been sent. ([`ErrorKind::NoAnswer`], [`Certainty::Unknown`])
    #[error("the connection broke before the answer was there")]
    Broken,
    /// The request was sent, but its answer did not come in time. ([`ErrorKind::NoAnswer`], [`Certainty::Unknown`])
    #[error("no answer was there in time")]
    Late,
    /// Not sent, because the answer would have been 429.
    #[error("not sent, since a rate limit of Discord allows no request now")]
    Paced,
    /// Not sent, because the token was recently refused with 401.
    #[error("not sent, since Discord refused the token a short while ago")]
    TokenRefused,
    /// Not sent, because this route was repeatedly refused with 403.
    #[error("not sent, since Discord forbade this several times in a row")]
    RouteRefused,
    /// Not sent, because the [`BanGuard`](crate::BanGuard) is closed.
    #[error(
        "not sent, since Discord blocks this IP address, or would do so after more invalid requests"
    )]
    NearBan,
    /// Not sent, because the account lacks the permission, as the gateway reported.
    #[error("not sent, since this account lacks the permission {0}")]
    Lacks(NeededPermission),
    /// Not sent, because Discord would not accept it, for example a text of more than 2,000 characters.
    #[error("not sent, since Discord does not accept such a request")]
    NotAcceptable,
}

fn with_code(code: Option<u64>) -> String {
    let Some(code) = code else {
        return String::new();
    };
    let meaning = match code {
        50_001 => ": this account is not let into the channel (View Channels)",
        50_013 => {
            ": this account lacks a permission (to post Send Messages, in threads Send Messages in Threads, with embeds \
             Embed Links, with files Attach Files; to create channels Manage Channels and Manage Roles; for personas \
             Manage Webhooks)"
        }
        WEBHOOKS_FULL => ": the channel has as many webhooks as Discord allows",
        20_009 => ": the content filter blocked it",
        200_000 => ": AutoMod blocked it",
        240_000 => ": it holds a link that Discord takes for harmful",
        _ => "",
    };
    format!(", code {code}{meaning}")
}

impl RestError {
    /// Returns the cause of an error of this crate.
    pub(crate) fn of(error: &ApiError) -> Option<Self> {
        std::error::Error::source(error)?.downcast_ref().copied()
    }

    /// Returns the error to report, if the cause alone decides it.
    pub(crate) fn report(self) -> ApiError {
        let (kind, certainty) = match self {
            Self::Refused { status, code } => kind_of(status, code),
            Self::Unreadable => (ErrorKind::Unavailable, Certainty::Unknown),
            Self::NotConnected => (ErrorKind::Unavailable, Certainty::NotDone),
            Self::Broken | Self::Late => (ErrorKind::NoAnswer, Certainty::Unknown),
            Self::Paced | Self::NearBan => (ErrorKind::RateLimited, Certainty::NotDone),
            Self::TokenRefused => (ErrorKind::Unauthorized, Certainty::NotDone),
            Self::RouteRefused | Self::Lacks(_) => (ErrorKind::Forbidden, Certainty::NotDone),
            Self::NotAcceptable => (ErrorKind::Invalid, Certainty::NotDone),
        };
        let error = ApiError::new(kind).with_certainty(certainty);
        let code = if let Self::Refused { code, .. } = self { code } else { None };
        let error = code.into_iter().fold(error, ApiError::with_code);
        error.with_source(self)
    }

    /// Returns the error to report, with the time to wait.
    pub(crate) fn report_until(self, wait: Duration) -> ApiError {
        self.report().with_retry_after(wait)
    }
}

/// Discord's code for a channel that has no room for a webhook.
pub(crate) const WEBHOOKS_FULL: u64 = 30_007;

/// Returns true if Discord's code is about the text of a message: its content filter, the guild's `AutoMod`, or a
/// harmful link.
pub(crate) const fn is_for_words(code: u64) -> bool {
    matches!(code, 20_009 | 200_000 | 240_000)
}

/// Returns true for Discord's codes for a webhook that does not exist, or has another token.
pub(crate) const fn is_webhooks_code(code: u64) -> bool {
    matches!(code, 10_015 | 50_027)
}

/// Returns the meaning of a status. A status that is neither success nor refusal leaves doubt, because a proxy may have
/// answered after Discord had begun.
///
/// A refusal by Discord has a code. Without one a proxy before Discord has answered (seen: a 403 as HTML from
/// Cloudflare, for a request that Discord would have accepted). It says nothing about permissions or the token, and the
/// request may be repeated.
fn kind_of(status: u16, code: Option<u64>) -> (ErrorKind, Certainty) {
    match StatusCode::from_u16(status).ok() {
        Some(status)
            if code.is_none()
                && status.is_client_error()
                && !matches!(
                    status,
                    StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
                ) =>
        {
            (ErrorKind::Unavailable, Certainty::Unknown)
        }
        // Whatever the status, the text of the message is not accepted.
        Some(status) if status.is_client_error() && code.is_some_and(is_for_words) => {
            (ErrorKind::Invalid, Certainty::NotDone)
        }
        Some(StatusCode::UNAUTHORIZED) => (ErrorKind::Unauthorized, Certainty::NotDone),
        Some(StatusCode::FORBIDDEN) => (ErrorKind::Forbidden, Certainty::NotDone),
        Some(StatusCode::NOT_FOUND) => (ErrorKind::Gone, Certainty::NotDone),
        Some(StatusCode::TOO_MANY_REQUESTS) => (ErrorKind::RateLimited, Certainty::NotDone),
        Some(StatusCode::REQUEST_TIMEOUT) => (ErrorKind::NoAnswer, Certainty::Unknown),
        Some(status) if status.is_client_error() => (ErrorKind::Invalid, Certainty::NotDone),
        Some(_) | None => (ErrorKind::Unavailable, Certainty::Unknown),
    }
}
