//! Problems for programs, in the form `application/problem+json` (RFC 9457).

use std::collections::BTreeMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use dirigent::CallError;
use dirigent::operate::DriverEnd;
use dirigent::ports::{ApiError, RegisterError};
use dirigent::tools::ToolError;
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::openapi::{self, RefOr};
use utoipa::{IntoResponses, ToSchema};

/// The start of the name of every kind of problem.
const KIND: &str = "urn:dirigent:problem:";
/// The kind of problem if another process acts for the channel.
const ELSEWHERE: &str = "elsewhere";
/// The kind of problem if the process is shutting down.
const SHUT_DOWN: &str = "shut-down";

/// A problem with a request, and advice about it.
///
/// ```
/// let problem = dirigent_control::Problem::new(404, "channel-unknown", "there is no such channel");
/// assert_eq!(problem.status, 404);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[non_exhaustive]
pub struct Problem {
    /// A stable name of the kind of problem, after `urn:dirigent:problem:`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The HTTP status.
    pub status: u16,
    /// A sentence with the problem and the advice.
    pub detail: String,
}

impl Problem {
    /// Creates a problem of this kind.
    pub fn new(status: u16, kind: &str, detail: impl Into<String>) -> Self {
        Self { kind: format!("{KIND}{kind}"), status, detail: detail.into() }
    }

    /// Returns the name of its kind, without the prefix.
    pub(crate) fn name(&self) -> &str {
        self.kind.strip_prefix(KIND).unwrap_or(&self.kind)
    }

    /// Returns true if another process acts for the channel, so that this one did nothing.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.name() == ELSEWHERE
    }

    /// Returns true if the process is shutting down. It did nothing. If there are several processes, another one will
    /// soon act for its channels.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.name() == SHUT_DOWN
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(404, "not-found", format!("there is no such {what}"))
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(422, "invalid", detail)
    }

    pub(crate) fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns the status in words.
    pub(crate) fn title(&self) -> &'static str {
        self.status_code().canonical_reason().unwrap_or("Problem")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status_code();
        let mut response = (status, Json(&self)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        // If a person asks, the route in front turns this into a page.
        response.extensions_mut().insert(self);
        response
    }
}

/// Describes problems in the OpenAPI document.
impl IntoResponses for Problem {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let schema = openapi::Ref::from_schema_name("Problem");
        let response = openapi::Response::builder()
            .description("What went wrong, and what to do")
            .content("application/problem+json", openapi::Content::new(Some(schema)));
        BTreeMap::from([("default".to_owned(), response.build().into())])
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        let detail = error.to_string();
        match error {
            CallError::UnknownChannel | CallError::NoChannel => {
                Self::new(404, "channel-unknown", detail)
            }
            CallError::UnknownAgent(_) => Self::new(404, "agent-unknown", detail),
            CallError::Refused(refusal) => Self::new(409, refusal.as_str(), detail),
            CallError::Barred(_) | CallError::Unreadable(_) => {
                Self::new(409, "record-unusable", detail)
            }
            CallError::Elsewhere => Self::new(503, ELSEWHERE, detail),
            CallError::Ended(DriverEnd::ShutDown) => Self::new(503, SHUT_DOWN, detail),
            CallError::NotRunning | CallError::Ended(_) => Self::new(503, "not-running", detail),
            CallError::NotStored => Self::new(503, "not-stored", detail),
            CallError::Failed(error) => error.into(),
            CallError::Config(_) | _ => Self::new(500, "failed", detail),
        }
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self::new(503, "unavailable", error.to_string())
    }
}

impl From<RegisterError> for Problem {
    fn from(error: RegisterError) -> Self {
        if let RegisterError::Store(error) = error {
            return error.into();
        }
        Self::new(409, "account-taken", error.to_string())
    }
}

impl From<ToolError> for Problem {
    fn from(error: ToolError) -> Self {
        if let ToolError::Failed(error) = error {
            return error.into();
        }
        Self::invalid(error.to_string())
    }
}
