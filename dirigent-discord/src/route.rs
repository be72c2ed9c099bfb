//! One request to Discord, and the route by which its limits are kept.

use http::{HeaderName, HeaderValue};
use serde::Serialize;
use twilight_http::request::{Form, Request};
use twilight_http::routing::Route;

use dirigent::ports::{ApiError, ErrorKind, ReplyFile};

/// A route: what is asked, and the channel or guild of which. Discord limits each of them on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RouteKey {
    /// What is asked, as Discord's documentation calls it.
    pub(crate) name: &'static str,
    /// The channel or guild; 0 where there is none.
    pub(crate) major: u64,
    /// Whether the bot's token is shown. If not, the answer says nothing of that.
    pub(crate) shows_token: bool,
}

impl RouteKey {
    pub(crate) const fn new(name: &'static str, major: u64) -> Self {
        Self { name, major, shows_token: true }
    }

    /// Whether it is a route of this channel.
    pub(crate) const fn concerns(&self, channel: u64) -> bool {
        self.major == channel
    }
}

/// One request, ready to be sent.
pub(crate) struct Ask {
    pub(crate) key: RouteKey,
    pub(crate) request: Request,
}

impl Ask {
    /// A request without a body.
    pub(crate) fn bare(name: &'static str, major: u64, route: &Route<'_>) -> Self {
        Self { key: RouteKey::new(name, major), request: Request::from_route(route) }
    }

    /// A request with a JSON body and, for the audit log, a reason.
    pub(crate) fn with_body(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
        body: &(impl Serialize + Sync),
        reason: Option<&'static str>,
    ) -> Result<Self, ApiError> {
        let reason = reason.map(reason_header);
        let built = Request::builder(route).json(body).headers(reason.into_iter()).build();
        // What twilight says of it could show the body.
        let request = built.map_err(|_| invalid())?;
        Ok(Self { key: RouteKey::new(name, major), request })
    }

    /// A request with a JSON body, and with files if there are any. Without the bot's token it shows none but the one in
    /// its path.
    pub(crate) fn posting(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
        body: &(impl Serialize + Sync),
        files: &[ReplyFile],
        shows_token: bool,
    ) -> Result<Self, ApiError> {
        let request = Request::builder(route).use_authorization_token(shows_token);
        let built = if files.is_empty() {
            request.json(body).build()
        } else {
            request.form(form(body, files)?).build()
        };
        let request = built.map_err(|_| invalid())?;
        Ok(Self { key: RouteKey { name, major, shows_token }, request })
    }

    /// A request without a body that shows no token but the one in its path.
    pub(crate) fn bare_without_token(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
    ) -> Result<Self, ApiError> {
        let built = Request::builder(route).use_authorization_token(false).build();
        let request = built.map_err(|_| invalid())?;
        Ok(Self { key: RouteKey { name, major, shows_token: false }, request })
    }

    /// A request with a reason for the audit log and no body.
    pub(crate) fn because(
        name: &'static str,
        major: u64,
        route: &Route<'_>,
        reason: &'static str,
    ) -> Result<Self, ApiError> {
        let built = Request::builder(route).headers(std::iter::once(reason_header(reason))).build();
        let request = built.map_err(|_| invalid())?;
        Ok(Self { key: RouteKey::new(name, major), request })
    }
}

fn form(body: &(impl Serialize + Sync), files: &[ReplyFile]) -> Result<Form, ApiError> {
    let body = serde_json::to_vec(body).map_err(|_| invalid())?;
    let mut form = Form::new().json_part(b"payload_json", &body);
    for (number, file) in files.iter().enumerate() {
        let field = format!("files[{number}]");
        // A file's name has no sign that would end it here.
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
