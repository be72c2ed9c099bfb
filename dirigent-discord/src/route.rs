//! One request to Discord, and the route that has its limits.

use http::{HeaderName, HeaderValue};
use serde::Serialize;
use twilight_http::request::{Form, Request, RequestBuilder};
use twilight_http::routing::Route;

use dirigent::ports::{ApiError, ErrorKind, ReplyFile};

/// A route: the kind of request, and its channel or guild. Each has limits of its own at Discord.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RouteKey {
    /// The name of the request in Discord's documentation.
    pub(crate) name: &'static str,
    /// The channel or guild, or 0 if there is none.
    pub(crate) major: u64,
    /// True if the bot's token is sent. Otherwise the answer says nothing about it.
    pub(crate) shows_token: bool,
}

impl RouteKey {
    pub(crate) const fn new(name: &'static str, major: u64) -> Self {
        Self { name, major, shows_token: true }
    }
}

pub(crate) struct Ask {
    pub(crate) key: RouteKey,
    pub(crate) request: Request,
}

impl Ask {
    pub(crate) fn bare(name: &'static str, major: u64, route: &Route<'_>) -> Self {
        Self { key: RouteKey::new(name, major), request: Request::from_route(route) }
    }

    /// Creates a request with a JSON body and, for the audit log, a reason.
    pub(crate) fn with_body(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
        body: &(impl Serialize + Sync),
        reason: Option<&'static str>,
    ) -> Result<Self, ApiError> {
        let reason = reason.map(reason_header).into_iter();
        Self::built(RouteKey::new(name, major), Request::builder(route).json(body).headers(reason))
    }

    /// Creates a request with a JSON body, and with files if there are any. Without the bot's token it shows only the
    /// one in its path.
    pub(crate) fn posting(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
        body: &(impl Serialize + Sync),
        files: &[ReplyFile],
        shows_token: bool,
    ) -> Result<Self, ApiError> {
        let request = Request::builder(route).use_authorization_token(shows_token);
        let request =
            if files.is_empty() { request.json(body) } else { request.form(form(body, files)?) };
        Self::built(RouteKey { name, major, shows_token }, request)
    }

    /// Creates a request without a body, which shows only the token in its path.
    pub(crate) fn bare_without_token(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
    ) -> Result<Self, ApiError> {
        let request = Request::builder(route).use_authorization_token(false);
        Self::built(RouteKey { name, major, shows_token: false }, request)
    }

    /// Creates a request with a reason for the audit log, and without a body.
    pub(crate) fn because(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
        reason: &'static str,
    ) -> Result<Self, ApiError> {
        let reason = std::iter::once(reason_header(reason));
        Self::built(RouteKey::new(name, major), Request::builder(route).headers(reason))
    }

    fn built(key: RouteKey, request: RequestBuilder) -> Result<Self, ApiError> {
        // Twilight's own error could show the body.
        let request = request.build().map_err(|_| invalid())?;
        Ok(Self { key, request })
    }
}

fn form(body: &(impl Serialize + Sync), files: &[ReplyFile]) -> Result<Form, ApiError> {
    let body = serde_json::to_vec(body).map_err(|_| invalid())?;
    let mut form = Form::new().json_part(b"payload_json", &body);
    for (number, file) in files.iter().enumerate() {
        let field = format!("files[{number}]");
        // A file's name has no character that would end it here.
        form = form.file_part(field.as_bytes(), file.name().as_bytes(), file.bytes());
    }
    Ok(form)
}

fn invalid() -> ApiError {
    ApiError::new(ErrorKind::Invalid)
}

fn reason_header(reason: &'static str) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static("x-audit-log-reason"), HeaderValue::from_static(reason))
}
