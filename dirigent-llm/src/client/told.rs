//! Decides what an error of an endpoint means: whether it may pass, wherever the endpoint reports
//! it.

use dirigent::Clock;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::client::sender::retry_after;
use crate::error::{ChatError, plain_code};

/// Names of errors that waiting does not help against, in lower case.
const PERMANENT: [&str; 35] = [
    "authentication_error",
    "authenticationerror",
    "bad_request",
    "badrequesterror",
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "context_window_exceeded",
    "deploymentnotfound",
    "exceed_context_size_error",
    "forbidden",
    "invalid_api_key",
    "invalid_argument",
    "invalid_authentication_error",
    "invalid_model",
    "invalid_request",
    "invalid_value",
    "model_decommissioned",
    "model_not_found",
    "model_not_supported",
    "not_found",
    "not_found_error",
    "notfounderror",
    "permission_denied",
    "permission_denied_error",
    "permission_error",
    "permissiondeniederror",
    "request_too_large",
    "unauthenticated",
    "unauthorized",
    "unprocessable_entity",
    "unprocessableentityerror",
    "unsupported_parameter",
    "unsupported_value",
    "wrong_api_format",
];
/// The type of most refusals. Some gateways also use it for an outage.
const INVALID_REQUEST: &str = "invalid_request_error";
/// Names of errors that say that your credit is used up.
const NO_CREDIT: [&str; 9] = [
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_too_low",
    "exceeded_current_quota_error",
    "insufficient_balance",
    "insufficient_credits",
    "insufficient_quota",
    "payment_required",
];
/// Names of errors that say that you asked too often.
const TOO_OFTEN: [&str; 5] = [
    "rate_limit_error",
    "rate_limit_exceeded",
    "ratelimiterror",
    "resource_exhausted",
    "too_many_requests",
];

/// Returns the error that an event of the kind `error` reports, whatever it contains.
pub(crate) fn reported_event(data: &str) -> ChatError {
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    reported(data.get("error").unwrap_or(&data))
}

/// Returns the error that an endpoint reports inside an answer.
pub(crate) fn reported(error: &Value) -> ChatError {
    let code = code_of(error);
    let status = status_of(error);
    if is_named(error, &NO_CREDIT) || is_named(error, &PERMANENT) {
        return ChatError::Refused { status: status.unwrap_or(200), code };
    }
    match status {
        Some(429) => ChatError::RateLimited { retry_after: None },
        Some(status @ (408 | 409 | 425 | 500..=599)) => {
            ChatError::Unavailable { status, retry_after: None }
        }
        Some(status @ 400..=499) => ChatError::Refused { status, code },
        _ if is_named(error, &TOO_OFTEN) => ChatError::RateLimited { retry_after: None },
        _ if is_named(error, &[INVALID_REQUEST]) => ChatError::Refused { status: 200, code },
        _ => ChatError::Reported { code },
    }
}

/// Returns the error for a status other than success.
pub(crate) fn refusal(
    status: StatusCode,
    headers: &HeaderMap,
    words: &[u8],
    clock: &dyn Clock,
) -> ChatError {
    let retry_after = retry_after(headers, clock);
    let told: Option<Value> = serde_json::from_slice(words).ok();
    let error = told.as_ref().map(|told| {
        // Some endpoints answer with a list with one entry.
        let inner = told.get(0).unwrap_or(told);
        inner.get("error").unwrap_or(inner)
    });
    let code = error.and_then(code_of);
    let status = status.as_u16();
    let has_no_credit = error.is_some_and(|error| is_named(error, &NO_CREDIT));
    let is_permanent = has_no_credit || error.is_some_and(|error| is_named(error, &PERMANENT));
    match status {
        429 if !has_no_credit => ChatError::RateLimited { retry_after },
        408 | 409 | 425 | 500..=599 if !is_permanent => {
            ChatError::Unavailable { status, retry_after }
        }
        _ => ChatError::Refused { status, code },
    }
}

/// Returns the code of an error, if it has a plain one.
pub(crate) fn code_of(error: &Value) -> Option<Box<str>> {
    names_of(error).find_map(plain_code)
}

fn names_of(error: &Value) -> impl Iterator<Item = &str> {
    ["/code", "/type", "/status"].into_iter().filter_map(|path| error.pointer(path)?.as_str())
}

fn is_named(error: &Value, names: &[&str]) -> bool {
    names_of(error).any(|name| names.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Returns the HTTP status that an error names, as a number or as text.
fn status_of(error: &Value) -> Option<u16> {
    let mut told = ["/code", "/status", "/status_code"].iter().filter_map(|path| {
        let status = error.pointer(path)?;
        let text = || status.as_str()?.trim().parse().ok();
        u16::try_from(status.as_u64().or_else(text)?).ok()
    });
    told.find(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use dirigent_testkit::ManualClock;
    use serde_json::json;

    use super::*;

    /// LM8: what no waiting helps against is known by number or by name.
    #[test]
    fn a_permanent_error_is_known_wherever_it_stands() {
        let refused =
            |status, code: Option<&str>| ChatError::Refused { status, code: code.map(Into::into) };
        for (error, expected) in [
            (json!({"code": 400, "type": "BadRequestError"}), refused(400, None)),
            (json!({"code": "401"}), refused(401, None)),
            (json!({"type": "invalid_request_error"}), refused(200, Some("invalid_request_error"))),
            (json!({"code": "model_not_found"}), refused(200, Some("model_not_found"))),
            (json!({"status": "INVALID_ARGUMENT"}), refused(200, None)),
            (
                json!({"code": 500, "type": "exceed_context_size_error"}),
                refused(500, Some("exceed_context_size_error")),
            ),
            (
                json!({"code": "insufficient_quota", "status": 429}),
                refused(429, Some("insufficient_quota")),
            ),
        ] {
            assert_eq!(reported(&error), expected, "{error}");
            assert!(!expected.is_retryable());
        }
        for error in [
            json!({"code": 408}),
            json!({"code": 500, "type": "invalid_request_error"}),
            json!({"type": "rate_limit_error"}),
            json!({"type": "overloaded_error"}),
            json!({"code": 40001}),
            json!("No."),
            json!(null),
        ] {
            assert!(reported(&error).is_retryable(), "{error}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_status_and_a_plain_code() {
        let read = |status: u16, words: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            refusal(status, &HeaderMap::new(), words.as_bytes(), &ManualClock::new())
        };
        let refused = |status, code: &str| ChatError::Refused { status, code: Some(code.into()) };
        let unavailable = |status| ChatError::Unavailable { status, retry_after: None };
        assert_eq!(read(429, "slow down"), ChatError::RateLimited { retry_after: None });
        let no_credit = r#"{"error": {"message": "Pay", "code": "insufficient_quota"}}"#;
        assert_eq!(read(429, no_credit), refused(429, "insufficient_quota"));
        assert_eq!(
            read(404, r#"[{"error": {"code": 5}}]"#),
            ChatError::Refused { status: 404, code: None }
        );
        assert_eq!(
            read(404, r#"{"error": {"code": "model_not_found"}}"#),
            refused(404, "model_not_found")
        );
        for status in [408, 409, 425, 500, 529] {
            assert_eq!(read(status, "<html>"), unavailable(status));
        }
        let too_long = r#"{"error": {"code": 500, "type": "exceed_context_size_error"}}"#;
        assert_eq!(read(500, too_long), refused(500, "exceed_context_size_error"));
        let outage = r#"{"error": {"type": "invalid_request_error"}}"#;
        assert_eq!(read(503, outage), unavailable(503));
        let key = r#"{"error": {"code": "sk-proj-abc", "type": "sk_proj_4"}}"#;
        assert_eq!(read(401, key), ChatError::Refused { status: 401, code: None });
        assert_eq!(read(302, ""), ChatError::Refused { status: 302, code: None });
    }
}
