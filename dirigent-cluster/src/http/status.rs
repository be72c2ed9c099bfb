//! Rejections as statuses of HTTP, and back.

use ::http::StatusCode;
use dirigent_relay::Rejection;

/// What stands before the rule in a path. The number is the version of what is carried.
pub(super) const PATH: &str = "/dirigent/relay/1/";

/// The longest code of a rejection.
pub(super) const CODE_MAX: usize = 64;

/// Which status a rejection has.
pub(super) const fn of(rejection: Rejection) -> StatusCode {
    match rejection {
        Rejection::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Rejection::Misdirected => StatusCode::MISDIRECTED_REQUEST,
        Rejection::UnknownHost => StatusCode::UNAUTHORIZED,
        Rejection::Forged => StatusCode::FORBIDDEN,
        Rejection::Replayed => StatusCode::CONFLICT,
        Rejection::Malformed | _ => StatusCode::BAD_REQUEST,
    }
}

/// Which rejection a response is, if it is one.
pub(super) fn read(status: StatusCode, body: &[u8]) -> Option<Rejection> {
    let rejection = Rejection::named(std::str::from_utf8(body).ok()?)?;
    (of(rejection) == status).then_some(rejection)
}
