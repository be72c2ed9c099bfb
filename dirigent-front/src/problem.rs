//! Refusals, as programs read them: `application/problem+json` (RFC 9457).

use axum::Json;
use axum::response::{IntoResponse, Response};
use dirigent::ports::ApiError;
use dirigent::{AgentId, CallError};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

/// A refusal with its reason, and what to do. An agent that reads one stays silent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// A stable name, after `urn:dirigent:problem:`.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: &'static str,
    /// The HTTP status.
    status: u16,
    /// One sentence for people.
    pub(crate) detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { kind, status: status.as_u16(), detail: detail.into() }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "urn:dirigent:problem:invalid", detail)
    }

    pub(crate) fn not_bound(agent: &AgentId) -> Self {
        let detail = format!(
            "{agent} is not bound to your secret: add it to the host in the front's configuration"
        );
        Self::new(StatusCode::FORBIDDEN, "urn:dirigent:problem:not-bound", detail)
    }

    pub(crate) fn not_here() -> Self {
        let detail = "none of your agents is in this channel";
        Self::new(StatusCode::FORBIDDEN, "urn:dirigent:problem:not-here", detail)
    }

    /// Another process answered in another form, because it has another version.
    pub(crate) fn strange() -> Self {
        let detail = "another process answered something else: does it have this version?";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "urn:dirigent:problem:unavailable", detail)
    }

    /// The chat did not say who is in the channel, so the request is refused.
    pub(crate) fn chat(error: &ApiError) -> Self {
        let detail = format!("the chat does not say who is in the channel: {error}");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "urn:dirigent:problem:chat", detail)
    }
}

/// No [`CallError`] contains a message's text or a secret, so its words can go to the program.
impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "whatever else fails may go better later"
        )]
        let (status, kind) = match error {
            CallError::Refused(_) => (StatusCode::CONFLICT, "urn:dirigent:problem:refused"),
            CallError::UnknownAgent(_) => {
                (StatusCode::NOT_FOUND, "urn:dirigent:problem:unknown-agent")
            }
            CallError::UnknownChannel => {
                (StatusCode::NOT_FOUND, "urn:dirigent:problem:unknown-channel")
            }
            _ => (StatusCode::SERVICE_UNAVAILABLE, "urn:dirigent:problem:unavailable"),
        };
        Self::new(status, kind, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        let mut response = (status, Json(self)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

/// A body without the documented form.
impl From<axum::extract::rejection::JsonRejection> for Problem {
    fn from(rejected: axum::extract::rejection::JsonRejection) -> Self {
        Self { status: rejected.status().as_u16(), ..Self::invalid(rejected.body_text()) }
    }
}
